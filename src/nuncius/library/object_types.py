"""What SIMBAD's object types mean, in words.

Source: https://simbad.cds.unistra.fr/guide/otypes.htx
"""

_WORDS = """
*  star
** double or multiple star
*iA star in an association
*iC star in a cluster
*iN star in a nebula
AB* asymptotic giant branch star
Ae* Herbig Ae/Be star
AGN active galactic nucleus
As* association of stars
BD* brown dwarf
Be* Be star
BH black hole
BiC brightest galaxy of a cluster
BLL BL Lac object
Bla blazar
bL* binary star of the β Lyr type
bC* variable star of the β Cep type
BS* blue straggler
BY* variable star of the BY Dra type
C* carbon star
cC* classical Cepheid
Cl* star cluster
Cld cloud
ClG cluster of galaxies
CGG compact group of galaxies
cor dense core
CV* cataclysmic variable
DNe dark nebula
dS* variable star of the δ Sct type
EB* eclipsing binary
El* ellipsoidal variable star
EmG emission-line galaxy
EmO emission object
Em* emission-line star
Er* eruptive variable star
Ev  event
FIR far-infrared source
FRB fast radio burst
G   galaxy
gam gamma-ray source
gB  gamma-ray burst
gD* variable star of the γ Dor type
GiC galaxy in a cluster
GiG galaxy in a group
GiP galaxy in a pair
GlC globular cluster
glb Bok globule
GNe nebula
GrG group of galaxies
GWE gravitational-wave event
H2G H II galaxy
HB* horizontal branch star
HH  Herbig-Haro object
HI  H I source
HII H II region
HS* hot subdwarf
HV* high-velocity star
HVC high-velocity cloud
HXB high-mass X-ray binary
IG  interacting galaxies
IR  infrared source
ISM interstellar matter
LI* star with lithium
LIN LINER-type active galaxy nucleus
LM* low-mass star
LP* long-period variable star
LSB low surface brightness galaxy
LXB low-mass X-ray binary
Ma* massive star
MGr moving group
Mas maser
Mi* variable star of the Mira type
mul composite object
MoC molecular cloud
N*  neutron star
No* nova
OH* OH/IR star
OpC open cluster
Or* variable star of the Orion type
OVV optically violently variable object
PaG pair of galaxies
pA* post-AGB star
Pe* chemically peculiar star
Pl  extra-solar planet
PM* high proper motion star
PN  planetary nebula
Psr pulsar
Pu* pulsating variable star
QSO quasar
Rad radio source
rB  radio burst
RC* variable star of the R CrB type
reg region
rG  radio galaxy
RG* red giant branch star
RNe reflection nebula
Ro* rotating variable star
RR* variable star of the RR Lyr type
RS* variable star of the RS CVn type
RV* variable star of the RV Tau type
S*  S star
s*b blue supergiant
s*r red supergiant
s*y yellow supergiant
SB* spectroscopic binary
SBG starburst galaxy
SCG supercluster of galaxies
SFR star-forming region
sg* evolved supergiant
SN* supernova
SNR supernova remnant
St* stellar stream
SX* variable star of the SX Phe type
Sy* symbiotic star
Sy1 Seyfert 1 galaxy
Sy2 Seyfert 2 galaxy
SyG Seyfert galaxy
TT* T Tauri star
ULX ultra-luminous X-ray source
V*  variable star
vid void
WD* white dwarf
WR* Wolf-Rayet star
WV* type II Cepheid
X   X-ray source
XB* X-ray binary
Y*O young stellar object
"""
WORDS = {
    code: words for line in _WORDS.split("\n") if line for code, words in [line.split(None, 1)]
}
_NOT_STARS = frozenset({"Cl*", "As*", "St*", "C?*"})


def in_words(code: str) -> str:
    """Return what a code means; nothing for one that is not known. ``?`` says candidate."""
    if code.endswith("?") and (words := WORDS.get(code[:-1]) or WORDS.get(f"{code[:-1]}*")):
        return f"candidate: {words}"
    return WORDS.get(code, "")


def is_star(code: str) -> bool:
    """Tell whether a code is that of a star, which may have planets."""
    return ("*" in code or code in {"Psr", "HXB", "LXB"}) and code not in _NOT_STARS


def is_planet(code: str) -> bool:
    """Tell whether a code is that of a planet or of a candidate."""
    return code in {"Pl", "Pl?"}
