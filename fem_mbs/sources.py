"""Publications that cases, docstrings and pages cite: one table, with the numbers of what can be cited of five of them.

A citation is a key, or names and a year, and the number of a section, equation, figure or table as the publication
prints it: "Bruls2014, 10.1", "Sanchez2025, A.6.3", "Capobianco2024, (53)-(59)". Numbers are known for the five sources
of the time steppers and of their examples; sections are listed one by one, everything else is numbered consecutively up
to the largest number known. Headings are empty where the printed wording is not known.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Section:
    """Section of a publication.

    Parameters
    ----------
    about : str
        Its content in words of this project.
    heading : str, optional
        Its heading as printed; empty where that is not known.
    """

    about: str
    heading: str = ""


Numbers = Mapping[str, int]  # chapter or annex, "" without one -> largest number known


@dataclass(frozen=True)
class Source:
    """Publication.

    Parameters
    ----------
    key : str
        Name in citations: "Bruls2014".
    authors, title, place : str
        Place: journal, volume and pages, or publisher.
    year : int, optional
        None for collections that grow.
    note : str, optional
        What was not compared with the original, an identifier.
    sections : dict, optional
        Number -> `Section`, those that may be cited.
    equations, figures, tables, algorithms : dict, optional
        Chapter or annex, "" without one -> largest number known.
    """

    key: str
    authors: str
    title: str
    place: str
    year: int | None = None
    note: str = ""
    sections: Mapping[str, Section] = field(default_factory=dict)
    equations: Numbers = field(default_factory=dict)
    figures: Numbers = field(default_factory=dict)
    tables: Numbers = field(default_factory=dict)
    algorithms: Numbers = field(default_factory=dict)

    @property
    def reference(self) -> str:
        """Authors, year, title and place."""
        year = f" ({self.year})" if self.year is not None else ""
        note = f" {self.note}." if self.note else ""
        return f"{self.authors}{year}: {self.title}. {self.place}.{note}"

    @property
    def labels(self) -> tuple[str, ...]:
        """Names and year, as texts cite it: "Kane et al. 1987", "Kane, Ryan and Banerjee 1987"."""
        names = [re.sub(r"^(?:[\w'’.-]+\. ?)+(?=\S)", "", name) for name in self.authors.split(", ")]
        year = f" {self.year}" if self.year is not None else ""
        known = [" and ".join([", ".join(names[:-1]), names[-1]]) if names[1:] else names[0]]
        known += [f"{names[0]} et al."] if len(names) > 2 else []
        return tuple(name + year for name in known)

    def has(self, kind: str, number: str) -> bool:
        """True if a section, an equation, a figure, a table or an algorithm has this number.

        Parameters
        ----------
        kind : {"section", "equation", "figure", "table", "algorithm"}
        number : str
            "10.1", "A.6.3", "53", "C.12b"; a letter at the end is a part of the number before it.
        """
        number = re.sub(r"(?<=\d)[a-z]$", "", number)
        if kind == "section":
            return number in self.sections
        counts: Numbers = getattr(self, f"{kind}s")
        chapter, _, last = number.rpartition(".")
        return last.isdigit() and 0 < int(last) <= counts.get(chapter, 0)


def cited(text: str) -> list[Source]:
    """Sources that a text cites by key, or by names and year.

    Parameters
    ----------
    text : str
    """
    plain = re.sub(r"\s+", " ", text).replace("(", "").replace(")", "")
    return [one for one in SOURCES.values() if any(re.search(rf"\b{re.escape(k)}\b", plain) for k in _names(one))]


def _names(source):
    """Key and labels; a label without year is too short to be found in texts."""
    return (source.key, *source.labels) if source.year is not None else (source.key,)


def _about(texts):
    """Sections, from number -> content."""
    return {number: Section(about) for number, about in texts.items()}


ANNEX_A = (
    "Non-smooth numerical solution for Coulomb friction and sliding, rolling and spinning resistance of spheres "
    "applied to flexible multibody system dynamics"
)
ANNEX_B = "Simulation of impacts between spherical rigid bodies with frictional effects"
ANNEX_C = "Contact force multiscale calculation in the framework of the non-smooth dynamic approach"
SANCHEZ = {
    **_about({
        "1": "introduction", "1.4.4": "time integration methods",
        "2": "equations of motion and integration", "2.3.4": "laws of impact",
        "2.4": "decoupled nonsmooth generalized-α",
        "3": "contact elements and recovery of forces", "3.1.3": "roller-crank", "3.2.3": "billiard break",
        "3.3.1": "filter of impulses", "3.3.2": "first approximation of the force", "3.3.3": "crank with clearance",
        "4": "ball bearing", "4.5": "crank mechanism with a ball bearing",
        "5": "conclusions", "5.2": "future work",
    }),
    "A": Section("friction of spheres on planes", ANNEX_A),
    "B": Section("friction between spheres, multiple impacts", ANNEX_B),
    "C": Section("recovery of contact forces", ANNEX_C),
    **_about({
        "A.5": "sphere-plane element", "A.6": "examples", "A.6.1": "sliding, rolling and spinning sphere",
        "A.6.2": "sphere that slides and rolls", "A.6.3": "roller-crank", "A.6.4": "ball against a wall",
        "B.4": "sphere-sphere element", "B.5": "examples", "B.5.1": "two spheres", "B.5.2": "30° rule",
        "B.5.3": "spinning cue ball", "B.5.4": "three balls in line", "B.5.5": "Bernoulli's balls",
        "B.5.6": "billiard break",
        "C.6": "examples", "C.6.1": "bouncing ball", "C.6.2": "two spheres",
        "C.6.3": "slider and block", "C.6.4": "crank with clearance",
    }),
}  # fmt: skip
BRULS = _about({
    "3": "Moreau's sweeping process", "6": "the scheme", "7": "contacts of the velocity level",
    "7.2": "predictions of the gap", "9": "schemes for comparison", "9.1": "Moreau-Jean scheme",
    "10": "examples", "10.1": "bouncing ball", "10.2": "bouncing pendulum", "10.3": "elastic bar",
    "10.4": "rocking block",
})  # fmt: skip
CAPOBIANCO_2021 = _about({
    "4": "stabilisation", "5": "generalized-α method", "7": "friction", "8": "general kinematic equation",
    "10": "examples", "10.1": "bouncing ball", "10.2": "ball in a corner", "10.3": "ball in a cylinder",
    "10.4": "Painlevé's rod", "10.5": "guided hopper", "10.6": "tippe top",
})  # fmt: skip
CAPOBIANCO_2024 = _about({
    "4": "the scheme for any number of stages", "6": "examples", "6.1": "bouncing ball",
    "6.2": "slider-crank with clearance", "6.3": "point mass on a slope",
})  # fmt: skip

# topic -> its publications
TOPICS: dict[str, tuple[Source, ...]] = {
    "Decoupled nonsmooth generalized-α (the default time stepper)": (
        Source("Cosimo2020a", "A. Cosimo, F. J. Cavalieri, J. Galvez, A. Cardona, O. Brüls",
               "A robust nonsmooth generalized-α scheme for flexible systems with impacts",
               "Multibody System Dynamics 48, 127-149", 2020),
        Source("Cosimo2020b", "A. Cosimo, F. J. Cavalieri, A. Cardona, O. Brüls",
               "On the adaptation of local impact laws for multiple impact problems",
               "Nonlinear Dynamics 102, 1997-2016", 2020),
        Source("Sanchez2025", "E. Sánchez", "PhD thesis", "Directors: F. J. Cavalieri, A. Cardona", 2025,
               note="Annexes A, B and C are Sanchez2023, Sanchez2024 and Cavalieri2025", sections=SANCHEZ,
               equations={"2": 42, "3": 41, "4": 13, "A": 58, "B": 53, "C": 42},
               figures={"3": 7, "4": 8, "A": 16, "B": 26, "C": 25}, tables={"2": 1, "4": 2, "C": 1}),
    ),
    "Friction of spheres, frictional multiple impacts, recovery of contact forces": (
        Source("Sanchez2023", "E. Sánchez, A. Cosimo, O. Brüls, A. Cardona, F. J. Cavalieri",
               ANNEX_A,
               "Multibody System Dynamics 59, 69-103", 2023),
        Source("Sanchez2024", "E. Sánchez, A. Cosimo, O. Brüls, A. Cardona, F. J. Cavalieri",
               ANNEX_B,
               "International Journal for Numerical Methods in Engineering 125(20), e7556", 2024),
        Source("Cavalieri2025", "F. J. Cavalieri, E. Sánchez, A. Cardona",
               ANNEX_C, "Multibody System Dynamics", 2025),
    ),
    "Impacts on bodies that deform": (
        Source("Timoshenko1913", "S. P. Timoshenko", "Zur Frage nach der Wirkung eines Stoßes auf einen Balken",
               "Zeitschrift für Mathematik und Physik 62, 198-209", 1913),
        Source("Zener1941", "C. Zener", "The intrinsic inelasticity of large plates",
               "Physical Review 59, 669-673", 1941),
    ),
    "Moreau-Jean time stepping": (
        Source("Moreau1999", "J. J. Moreau", "Numerical aspects of the sweeping process",
               "Computer Methods in Applied Mechanics and Engineering 177, 329-349", 1999),
        Source("Jean1999", "M. Jean", "The non-smooth contact dynamics method",
               "Computer Methods in Applied Mechanics and Engineering 177, 235-257", 1999),
        Source("Acary2008", "V. Acary, B. Brogliato", "Numerical Methods for Nonsmooth Dynamical Systems", "Springer",
               2008),
    ),
    "Cone complementarity": (
        Source("Anitescu2010", "M. Anitescu, A. Tasora",
               "An iterative approach for cone complementarity problems for nonsmooth dynamics",
               "Computational Optimization and Applications 47, 207-235", 2010),
        Source("Tasora2011", "A. Tasora, M. Anitescu",
               "A matrix-free cone complementarity approach for solving large-scale, nonsmooth, rigid body dynamics",
               "Computer Methods in Applied Mechanics and Engineering 200, 439-453", 2011),
        Source("Negrut2018", "D. Negrut, R. Serban, A. Tasora",
               "Posing multibody dynamics with friction and contact as a differential complementarity problem",
               "Journal of Computational and Nonlinear Dynamics 13, 014503", 2018, note="doi:10.1115/1.4037415",
               equations={"": 12}),
        Source("Mazhar2015", "H. Mazhar, T. Heyn, D. Negrut, A. Tasora",
               "Using Nesterov's method to accelerate multibody dynamics with friction and contact",
               "ACM Transactions on Graphics 34(3), 32", 2015),
    ),
    "Lobatto IIIA-IIIB time stepping": (
        Source("Capobianco2024", "G. Capobianco, J. Harsch, S. Leyendecker",
               "Lobatto-type variational integrators for mechanical systems with frictional contact",
               "Computer Methods in Applied Mechanics and Engineering 418, 116496", 2024,
               note="doi:10.1016/j.cma.2023.116496", sections=CAPOBIANCO_2024, equations={"": 74}, figures={"": 9}),
        Source("Jay1996", "L. O. Jay", "Symplectic partitioned Runge-Kutta methods for constrained Hamiltonian systems",
               "SIAM Journal on Numerical Analysis 33, 368-387", 1996),
        Source("Hairer2006", "E. Hairer, Ch. Lubich, G. Wanner", "Geometric Numerical Integration", "Springer", 2006),
    ),
    "Sliding coupled with drilling (Coulomb-Contensou), tippe top": (
        Source("Leine2003", "R. I. Leine, Ch. Glocker", "A set-valued force law for spatial Coulomb-Contensou friction",
               "European Journal of Mechanics A/Solids 22, 193-216", 2003),
        Source("Capobianco2021", "G. Capobianco, J. Harsch, S. R. Eugster, R. I. Leine",
               "A nonsmooth generalized-alpha method for mechanical systems with frictional contact",
               "International Journal for Numerical Methods in Engineering", 2021, note="doi:10.1002/nme.6801",
               sections=CAPOBIANCO_2021, equations={"": 157}, figures={"": 7}),
    ),
    "Contact ellipse and stresses": (
        Source("Hertz1882", "H. Hertz", "Über die Berührung fester elastischer Körper",
               "Journal für die reine und angewandte Mathematik 92, 156-171", 1882),
        Source("Seely1952", "F. B. Seely, J. O. Smith", "Advanced Mechanics of Materials", "Wiley", 1952),
    ),
    "Constraints at position and velocity level": (
        Source("Bruls2014", "O. Brüls, V. Acary, A. Cardona",
               "Simultaneous enforcement of constraints at position and velocity levels in the nonsmooth generalized-α "
               "scheme", "Computer Methods in Applied Mechanics and Engineering 281, 131-161", 2014, sections=BRULS,
               equations={"": 52}, figures={"": 24}, algorithms={"": 1}),
        Source("Chen2013", "Q.-z. Chen, V. Acary, G. Virlez, O. Brüls",
               "A nonsmooth generalized-α scheme for flexible multibody systems with unilateral constraints",
               "International Journal for Numerical Methods in Engineering 96, 487-511", 2013),
    ),
    "Lie-group time integration": (
        Source("Bruls2012", "O. Brüls, A. Cardona, M. Arnold",
               "Lie group generalized-α time integration of constrained flexible multibody systems",
               "Mechanism and Machine Theory 48, 121-137", 2012),
        Source("Arnold2007", "M. Arnold, O. Brüls",
               "Convergence of the generalized-α scheme for constrained mechanical systems",
               "Multibody System Dynamics 18, 185-202", 2007),
    ),
    "Generalized-α method, steps of variable size": (
        Source("Chung1993", "J. Chung, G. M. Hulbert",
               "A time integration algorithm for structural dynamics with improved numerical dissipation: the "
               "generalized-α method", "Journal of Applied Mechanics 60, 371-375", 1993),
        Source("Zienkiewicz1991", "O. C. Zienkiewicz, Y. M. Xie",
               "A simple error estimator and adaptive time stepping procedure for dynamic analysis",
               "Earthquake Engineering and Structural Dynamics 20, 871-887", 1991),
    ),
    "Newmark, HHT and WBZ methods": (
        Source("Newmark1959", "N. M. Newmark", "A method of computation for structural dynamics",
               "Journal of the Engineering Mechanics Division, ASCE 85(3), 67-94", 1959,
               note="Not compared with the original"),
        Source("Hilber1977", "H. M. Hilber, T. J. R. Hughes, R. L. Taylor",
               "Improved numerical dissipation for time integration algorithms in structural dynamics",
               "Earthquake Engineering and Structural Dynamics 5, 283-292", 1977,
               note="Not compared with the original"),
        Source("Wood1980", "W. L. Wood, M. Bossak, O. C. Zienkiewicz", "An alpha modification of Newmark's method",
               "International Journal for Numerical Methods in Engineering 15, 1562-1566", 1980,
               note="Not compared with the original"),
    ),
    "Restitution by approach speed": (
        Source("Johnson1985", "K. L. Johnson", "Contact Mechanics", "Cambridge University Press", 1985,
               note="Not compared with the original"),
        Source("Thornton1997", "C. Thornton",
               "Coefficient of restitution for collinear collisions of elastic-perfectly plastic spheres",
               "Journal of Applied Mechanics 64, 383-386", 1997, note="Not compared with the original"),
    ),
    "Friction that depends on the direction": (
        Source("Goyal1991", "S. Goyal, A. Ruina, J. Papadopoulos",
               "Planar sliding with dry friction, part 1: limit surface and moment function", "Wear 143, 307-330", 1991,
               note="Not compared with the original"),
    ),
    "Fatigue": (
        Source("ASTM1985", "ASTM International", "E1049-85: Standard practices for cycle counting in fatigue analysis",
               "West Conshohocken", 1985, note="Not compared with the original"),
        Source("Miner1945", "M. A. Miner", "Cumulative damage in fatigue", "Journal of Applied Mechanics 12, A159-A164",
               1945, note="Not compared with the original"),
    ),
    "Contact problems with friction": (
        Source("Acary2011", "V. Acary, F. Cadoux, C. Lemaréchal, J. Malick",
               "A formulation of the linear discrete Coulomb friction problem via convex optimization",
               "ZAMM 91, 155-175", 2011),
    ),
    "Impacts with friction along their impulse, Kane's paradox": (
        Source("Darboux1880", "G. Darboux", "Étude géométrique sur les percussions et le choc des corps",
               "Bulletin des Sciences Mathématiques et Astronomiques 4, 126-160", 1880,
               note="Cited after later papers, not compared with the original"),
        Source("Kane1985", "T. R. Kane, D. A. Levinson", "Dynamics: Theory and Applications", "McGraw-Hill", 1985,
               note="The double pendulum that gains energy"),
        Source("Keller1986", "J. B. Keller", "Impact with friction", "Journal of Applied Mechanics 53, 1-4", 1986,
               note="doi:10.1115/1.3171712"),
        Source("Stronge1990", "W. J. Stronge", "Rigid body collisions with friction",
               "Proceedings of the Royal Society of London A 431, 169-181", 1990, note="doi:10.1098/rspa.1990.0125"),
        Source("Wang1992", "Y. Wang, M. T. Mason", "Two-dimensional rigid-body collisions with friction",
               "Journal of Applied Mechanics 59, 635-642", 1992, note="doi:10.1115/1.2893771"),
        Source("Batlle1996", "J. A. Batlle", "The sliding velocity flow of rough collisions in multibody systems",
               "Journal of Applied Mechanics 63, 804-809", 1996,
               note="Volume and pages not compared with the publisher's"),
    ),
    "Flexible multibody systems by finite elements": (
        Source("Geradin2001", "M. Géradin, A. Cardona", "Flexible Multibody Dynamics: A Finite Element Approach",
               "Wiley", 2001),
    ),
    "Beam with helicoidal kinematics": (
        Source("Sonneville2014", "V. Sonneville, A. Cardona, O. Brüls",
               "Geometrically exact beam finite element formulated on the special Euclidean group SE(3)",
               "Computer Methods in Applied Mechanics and Engineering 268, 451-474", 2014),
    ),
    "Mixed Newton iteration in beams": (
        Source("Magisano2017", "D. Magisano, L. Leonetti, G. Garcea",
               "How to improve efficiency and robustness of the Newton method in geometrically non-linear structural "
               "problem discretized via displacement-based finite elements",
               "Computer Methods in Applied Mechanics and Engineering 313, 986-1005", 2017),
    ),
    "Rolling and blades (non-holonomic constraints)": (
        Source("Neimark1972", "Ju. I. Neimark, N. A. Fufaev", "Dynamics of Nonholonomic Systems",
               "American Mathematical Society", 1972),
        Source("OReilly1996", "O. M. O'Reilly", "The dynamics of rolling disks and sliding disks",
               "Nonlinear Dynamics 10, 287-305", 1996),
    ),
    "Benchmarks of mechanisms": (
        Source("IFToMM", "IFToMM Technical Committee for Multibody Dynamics",
               "Library of Computational Benchmark Problems", "Web page"),
        Source("Mazzia", "F. Mazzia, C. Magherini", "Test Set for Initial Value Problem Solvers", "University of Bari"),
        Source("Simeon1996", "B. Simeon",
               "Modelling a flexible slider crank mechanism by a mixed system of DAEs and PDEs",
               "Mathematical Modelling of Systems 2, 1-18", 1996),
        Source("Bauchau2016",
               "O. A. Bauchau, P. Betsch, A. Cardona, J. Gerstmayr, B. Jonker, P. Masarati, V. Sonneville",
               "Validation of flexible multibody dynamics beam formulations using benchmark problems",
               "Multibody System Dynamics 37, 29-48", 2016),
    ),
    "Benchmarks of beams, frames and their stability": (
        Source("Simo1986", "J. C. Simo, L. Vu-Quoc",
               "On the dynamics of flexible beams under large overall motions: the plane case",
               "Journal of Applied Mechanics 53, 849-863", 1986),
        Source("Simo1988", "J. C. Simo, L. Vu-Quoc",
               "On the dynamics in space of rods undergoing large motions: a geometrically exact approach",
               "Computer Methods in Applied Mechanics and Engineering 66, 125-161", 1988),
        Source("Mattiasson1981", "K. Mattiasson",
               "Numerical results from large deflection beam and frame problems analysed by means of elliptic "
               "integrals", "International Journal for Numerical Methods in Engineering 17, 145-153", 1981),
        Source("Bathe1979", "K. J. Bathe, S. Bolourchi",
               "Large displacement analysis of three-dimensional beam structures",
               "International Journal for Numerical Methods in Engineering 14, 961-986", 1979),
        Source("MacNeal1985", "R. H. MacNeal, R. L. Harder",
               "A proposed standard set of problems to test finite element accuracy",
               "Finite Elements in Analysis and Design 1, 3-20", 1985),
        Source("Timoshenko1961", "S. P. Timoshenko, J. M. Gere", "Theory of Elastic Stability", "McGraw-Hill", 1961),
        Source("Dowell1975", "E. H. Dowell, J. J. Traybar",
               "An experimental study of the nonlinear stiffness of a rotor blade undergoing flap, lag and twist "
               "deformations", "Princeton University, AMS report", 1975),
        Source("NourOmid1991", "B. Nour-Omid, C. C. Rankin",
               "Finite rotation analysis and consistent linearization using projectors",
               "Computer Methods in Applied Mechanics and Engineering 93, 353-384", 1991),
        Source("Argyris1979",
               "J. H. Argyris, H. Balmer, J. St. Doltsinis, P. C. Dunne, M. Haase, M. Kleiber, G. A. Malejannakis, "
               "H.-P. Mlejnek, M. Müller, D. W. Scharpf", "Finite element method: the natural approach",
               "Computer Methods in Applied Mechanics and Engineering 17-18, 1-106", 1979),
        Source("Goto1992", "Y. Goto, Y. Watanabe, T. Kasugai, M. Obata",
               "Elastic buckling phenomenon applicable to deployable rings",
               "International Journal of Solids and Structures 29, 893-909", 1992),
        Source("Beck1952", "M. Beck", "Die Knicklast des einseitig eingespannten, tangential gedrückten Stabes",
               "Zeitschrift für angewandte Mathematik und Physik 3, 225-228", 1952),
        Source("Lee1968", "S.-L. Lee, F. S. Manuel, E. C. Rossow", "Large deflections and stability of elastic frames",
               "Journal of the Engineering Mechanics Division, ASCE 94, 521-547", 1968),
        Source("DaDeppo1975", "D. A. DaDeppo, R. Schmidt",
               "Instability of clamped-hinged circular arches subjected to a point load",
               "Journal of Applied Mechanics 42, 894-896", 1975),
        Source("Kane1987", "T. R. Kane, R. R. Ryan, A. K. Banerjee",
               "Dynamics of a cantilever beam attached to a moving base",
               "Journal of Guidance, Control, and Dynamics 10, 139-151", 1987),
        Source("Wu1988", "S.-C. Wu, E. J. Haug",
               "Geometric non-linear substructuring for dynamics of flexible mechanical systems",
               "International Journal for Numerical Methods in Engineering 26, 2211-2226", 1988),
    ),
    "Rotors": (
        Source("Cardona1988", "A. Cardona, M. Géradin", "A beam finite element non-linear theory with finite rotations",
               "International Journal for Numerical Methods in Engineering 26, 2403-2438", 1988),
        Source("Friswell2010", "M. I. Friswell, J. E. T. Penny, S. D. Garvey, A. W. Lees",
               "Dynamics of Rotating Machines", "Cambridge University Press", 2010),
    ),
    "Particles": (
        Source("Beverloo1961", "W. A. Beverloo, H. A. Leniger, J. van de Velde",
               "The flow of granular solids through orifices", "Chemical Engineering Science 15, 260-269", 1961),
        Source("Rose1959", "H. E. Rose, T. Tanaka", "Rate of discharge of granular materials from bins and hoppers",
               "The Engineer 208, 465-469", 1959),
        Source("Zhou2001", "Y. C. Zhou, B. H. Xu, A. B. Yu, P. Zulli",
               "Numerical investigation of the angle of repose of monosized spheres", "Physical Review E 64, 021301",
               2001),
        Source("Mueth1998", "D. M. Mueth, H. M. Jaeger, S. R. Nagel", "Force distribution in a granular medium",
               "Physical Review E 57, 3164-3169", 1998),
        Source("Lovoll1999", "G. Løvoll, K. J. Måløy, E. G. Flekkøy", "Force measurements on static granular materials",
               "Physical Review E 60, 5872-5878", 1999),
    ),
    "Sparse solver KLU": (
        Source("Davis2010", "T. A. Davis, E. Palamadai Natarajan",
               "Algorithm 907: KLU, a direct sparse solver for circuit simulation problems",
               "ACM Transactions on Mathematical Software 37(3), 36", 2010),
    ),
}  # fmt: skip
SOURCES: dict[str, Source] = {one.key: one for found in TOPICS.values() for one in found}
