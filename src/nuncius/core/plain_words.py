"""Words of everyday English that questions are made of: they say little about which paper is meant."""

from nuncius.core.stem import stem

_WORDS = """
able about above abstract accept accompany accomplish according account accumulate achieve acquire across act
actual add addition adjust admit adopt advance advise affect afford agree agreed aid aim alike allow almost
alone along already alter alternative although always among amongst amount annoy anticipate anyone anyway apart
appear appendix apply approach appropriate arise around arrange arrive article ask assert assess assign assist
assume attach attack attempt attend attract attribute author available avoid avoided await award aware away back
bad balance bare barely base basic bear beat beautiful become beforehand begin behave behind believe belong
beneath beside besides best better big bigger bit block blow board boil bold borrow bother bottom bound box
brave break brief briefly bring broad broken brought build busy buy calculate call calm cancel capable capture
careful carefully carried carry case catch caught cause cease central certain chance change chapter characterise
characteristic characterize charge cheap check chief choice choose circumstance cite claim claimed clarify
classic classify clean clear close closely code coincide collect combine come coming commit common commonly
comparable compare compete complain complement complete comprise compute conceive concentrate concern conclude
conclusion condition conduct confine confirm confuse connect conserve consider considerable consist consistent
constantly constitute construct consult contact contain content contrast contribute control convenient convert
convey convince cooperate cope copy correctly correspond cost count couple course cover create critical cross
crucial current customary cut daily damage danger dare date day deal debate decide decline dedicate deduce
deeply defeat defend defer define degree delay delete deliberately deliver demand demonstrate denote deny depart
depend depict derive describe deserve design desire despite destroy detail detect determine develop devise
devote diagnose dictate die differ difference different differently difficult difficulty diminish direct
directly disagree disappear discard disclose discourage discover discriminate discuss dismiss display disregard
distinct distinguish divide dominate doubt dozen draft dramatic draw drive drop dry dub due each eager earlier
earliest early earn ease easily easy eat edit educate effect effective effort eight elaborate elect eliminate
elsewhere embed emerge emphasis emphasise emphasize employ empty enable encompass encounter encourage end
enforce engage enhance enjoy enormous enough enrich ensure entail enter entire entirely entitle envisage equal
equation equip escape especially essential essentially establish estimate evaluate event everybody everyday
everything everywhere evidence evolve exact exactly examine example exceed excellent except exchange exclude
excuse execute exercise exhibit exist expand expect expense experience expert explain exploit explore expose
express extend extent extra extract extreme extremely face facilitate fact fail fair fairly faithful fall fallen
false familiar famous fashion favor favour fear feasible feature feed feel fell few fewer fifteen fifth fifty
fight figure fill final finalise finally find fine finish firm first fit five fix fluctuate focus folk follow
following foot forbid force forget form formal former formulate fortunate forward foster found foundation four
fourth free frequent frequently fresh friend front fulfil full function fundamental funny future gain gather
gave general generally generate gentle genuine get give given glad glance goal goes going gone good govern grand
grant grasp grateful great group grow grown guarantee guard guess guide habit half hand handle handy hang happen
happy hard hardly hate head hear heard heart height held help helpful hence hesitate hide high highlight hinder
hint hire history hit hold home honest hope hour huge hundred hunt hurry hurt idea ideal identical identify
ignore illuminate illustrate imagine immediate immediately impact implement implicate imply important impose
impossible impress improve inclined include incorporate increase indeed independent indicate individual induce
infer influence inform information inhibit initial initially initiate innovate input insert inspect inspire
install instance instead instrument integrate intend intention interact interest interpret intervene introduce
invent invest investigate invite invoke involve isolate issue item job join journey judge jump justify keen keep
kept key kick kill kind kindly knew knock know known label labour lack large last late latter launch lay lead
league lean leap learn least leave led left legal lend length less lest letter level lie lift lighten like
likely limit line link list listen little load local locate lock logical long longer look loose lose lot loud
love low luck made main mainly maintain major majority make man manage manipulate manner manual mark market
marry match matter maximise maximize maybe mean meaningful meanwhile measure measured meet mental mention mere
merely merit message method mid middle mild mind minimise minimize minimum minor minute miss mistake mitigate
mix mode modern modest modify moment money month morning mostly motivate mount mouth move movement multiple
multiply mutual myself name namely narrow native natural naturally near nearly neat necessary need negate
neglect neither nevertheless new next nice night nine nobody none nonetheless normal normally north notable
notably note nothing notice notion notwithstanding novel nowadays nowhere number numerous obey object observe
obtain obvious obviously occasion occasionally occupy occur odd offer often ok omit onto open operate opinion
oppose opposed opposite optimise optimize option order ordinary orient origin original originate ought ours
outcome outline output outside outweigh overall overcome overlap overlook oversee owe own owner pace package
page paid pair paper parallel part partially participate particular partly party pass past patient pause pay
penetrate people perceive percent perfect perform perhaps permanent permit persist person personal persuade
pertain phrase physical pick picture piece pinpoint place plan play pleasant please plenty plus point pointed
poor popular pose position positive possess possible possibly post postpone practical practice precede preceding
precise preclude predict prefer preliminary prepare present preserve press presumably presume pretty prevail
prevent previous prime principal principally principle print prior prioritise private probably problem procedure
proceed process produce product profit program progress prohibit project prolong promise promote prompt
pronounce proof proper properly proportion propose protect proud prove provide publish pull pure purely purpose
pursue push put qualify quantify quantity quarter quest question quick quickly quiet quit quite quote raise rank
rare rarely rather reach react reaction read readily ready real realise reality realize really rear reason
reassure recall receive recent recognise recognize recommend reconcile reconstruct recover reduce refer refine
reflect regard regardless regular regularly reinforce reiterate reject relate relative release rely remain
remark remarkable remember remind remote remove render repeat replace reply report represent reproduce request
require research resemble reserve resist resolve resort respect respectively responsible rest restore restrict
result retain retrieve return reveal reverse revise revisit right rise risk road role root rough roughly round
routine row rule run rush safe said sake same satisfactory satisfy save say scan scarce scarcely scenario
schedule scheme scope search season second secondly secret section secure see seek seem seen seldom select sell
send sense sentence separate separately series serious serve set settle seven several severe shall shape share
sharp shed shoot shop short show shut sick side sign significant similar simple simplify simply simulate
simultaneously since single sit situation six sixth skill skip slight slightly slip slowly small smart so
so-called society soft software sole solely solid solve somebody somehow someone somewhat somewhere soon sort
sought source spare speak special specific specify speculate spend spent split spot spread stable stage stand
standard start state stay steady stem step stick stimulate stop straight strange strategic strategy street
strengthen stress strict strictly strike strong strongly struggle stuck study style subject submit subsequent
subsequently substantial substantially substitute subtract succeed success successful successfully such sudden
suddenly suffer suggest suitable sum summarise summarize superior supplement supply support suppose supposed
suppress sure surely surpass surprise surprising surprisingly surrender surround suspect suspend sustain switch
table tackle tailor take taken talk tall task taught teach team tear technique tell ten tend tendency tenth term
terminate test testify thank thanks theme thereby thing think third thirty thorough thought thousand threaten
three throw thrown thus tie tight time tiny tire title today together told tolerate tomorrow tone took tool top
topic total touch tough toward towards trade tradition traditional transfer translate travel treat treatment
trend trial trick tried tries trigger trim trouble true trust try turn turned twelve twenty twice twist two type
typical typically ultimate ultimately unable uncommon uncover undergo underlie underlying undermine understand
undertake unexpected unfortunately unify unique unit unlike unlikely unusual unveil update upper urge usable
useful usual usually utilise utilize valid validate valuable value variety various vary vast verify version via
view vital voice vote wait wake walk wall wander want warn wash waste watch way weaken wear week weigh welcome
well went west whatever whenever whereas wherever whether whoever whole wholly whose wide widely widen win wise
wish withdraw within without withstand wonder wonderful wood work worker works world worse worsen worst worth
worthwhile write wrong wrote year yes yesterday yet yield
""".split()

PLAIN = frozenset(map(stem, _WORDS))
"""Their stems."""
