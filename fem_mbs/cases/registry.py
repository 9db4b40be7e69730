"""All cases by name. A file of cases has a list ``CASES``; it is added here."""

import functools
from collections.abc import Sequence

from fem_mbs.arguments.checked import Keywords
from fem_mbs.cases.case import Case, Method
from fem_mbs.errors import FemMbsError


@functools.cache
def cases() -> dict[str, Case]:
    """Name -> case, in the order of the files."""
    from fem_mbs.cases import (
        beam_mechanisms,
        beams_dynamic,
        bruls2014,
        capobianco2021,
        capobianco2024,
        classical,
        examples,
        flexible_crank,
        free_rotation,
        iftomm,
        iterations,
        load_paths,
        negrut2018,
        nonholonomic,
        rotors,
        sanchez2025,
        stability,
        tip_pendulum,
        whirl,
    )
    from fem_mbs.cases.crank_bearing import cases as crank_bearing

    smooth = (classical, iftomm, free_rotation, nonholonomic, flexible_crank)
    beams = (stability, load_paths, beams_dynamic, rotors, whirl, beam_mechanisms)
    nonsmooth = (
        bruls2014,
        capobianco2021,
        capobianco2024,
        negrut2018,
        sanchez2025,
        crank_bearing,
        tip_pendulum,
        iterations,
    )
    found = [case for part in (examples, *smooth, *beams, *nonsmooth) for case in part.CASES]
    names = [case.name for case in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise FemMbsError(f"two cases are called {', '.join(twice)}; names must differ")
    return dict(zip(names, found))


def chosen(names: Sequence[str] = (), fast: bool = False) -> list[Case]:
    """The named cases, all without names; of these the fast ones only, if asked."""
    known = cases()
    for name in names:
        if name not in known:
            several = [other for other in known if other.startswith(name.lower())]
            hint = f"there are: {', '.join(several)}" if len(several) > 1 else Keywords.meant(name, known)
            raise FemMbsError(f"no case is called '{name}'; {hint}")
    return [known[name] for name in (names or known) if known[name].fast or not fast]


def runs(found: Sequence[Case], methods: Sequence[str] = ()) -> list[tuple[Case, Method]]:
    """What is to be run: each case with its methods that this version has, or with the named ones of them."""
    import fem_mbs

    steppers = [method.stepper for case in cases().values() for method in case.methods if method.exists]
    known = list(dict.fromkeys([*fem_mbs.solvers.STEPPERS, *steppers]))
    for name in methods:
        if name not in known:
            hint = "give names of cases before --method" if name in cases() else Keywords.meant(name, known)
            raise FemMbsError(f"no time stepper is called '{name}'; {hint}")
    result = [(case, method) for case in found for method in case.methods if method.exists]
    return [(case, method) for case, method in result if not methods or method.stepper in methods]
