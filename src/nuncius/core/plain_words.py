"""Words of everyday English that questions are made of: they say little about which paper is meant."""

from nuncius.core.stem import stem

_WORDS = """
able about above account achieve across actual add addition adopt affect agree aim allow almost alone along already
alternative although always among amount appear apply approach arise around article ask assess assign assume attempt
author available avoid away base bear become begin behave behind believe belong best better big bring build call carry case
cause certain change characteristic choice choose claim clear close collect combine come common compare complete compute
conclude conclusion condition confirm consider consist consistent contain contribute control correspond cost count cover
create current cut deal decide deduce define degree deliver demand depend derive describe design detail detect determine
develop differ difference different difficult direct discuss dismiss display divide draw drop due each early easy effect
effective employ enable end enough ensure entire equal especially establish estimate evaluate event evidence exactly examine
example exclude exist expect explain explore express extend extract face fact fail fall favour favor feature few figure final
find finish first fit follow force form former found free full function general generally get give goal good great group grow half
handle happen hard help hence high hint hold idea identify impact implement imply important improve include increase
indicate individual infer influence inform information initial input instead interest introduce investigate involve issue join
keep kind know known lack large last late latter lead learn least leave less level lie like likely limit line list little long
look lose low main mainly maintain major make manner mark matter mean measure mention method middle minimum miss mode
modern modify move name namely near nearly necessary need new next normal note notice number object observe obtain occur
offer often old omit open operate opposite option order origin original overall own paper part particular pass perform perhaps
person pick place plan play point possible possibly precise predict prefer prepare present prevent previous principle problem
procedure process produce program proper propose prove provide publish purpose put quantity question quick quote raise reach
read ready real really reason receive recent recommend recover reduce refer regard reject relate relative release rely remain
remove repeat replace report represent require research respect respectively rest restrict result return reveal right role rule
run safe same save scheme second see seek seem select separate series serve set several shape share short show side sign
significant similar simple simply since single situation small so solve source special specific spend split stand start
state stay step stop strategy strong study subject succeed suffer suggest suitable support suppose sure surround take talk task
technique tell tend term test thank thing think thought three thus tie time today together tool top total toward treat treatment
true try turn two type typical typically understand unit unlike usual usually value variety various vary version view want
way well whole wide work world worth write wrong year yield
according whether within without work works team people someone anyone everybody instrument software code package
""".split()

PLAIN = frozenset(map(stem, _WORDS))
"""Their stems."""
