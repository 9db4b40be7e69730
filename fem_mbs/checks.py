"""Checks: values computed by an example or benchmark, compared with a reference within a tolerance.

return Checks(
    # digits of the source
    Check("tip deflection [m]", reference=0.4183, obtained=x, abs=5e-5),
)
"""

import itertools
import math
import re
import sys
import textwrap
from collections.abc import Container, Mapping, Sequence
from typing import Any, SupportsFloat

from fem_mbs.arguments.checked import Checked
from fem_mbs.errors import FemMbsError


class Check(Checked):
    """One number compared with its reference.

    Parameters
    ----------
    name : str
        Quantity and unit, "force at rest [N]".
    reference, obtained : float, or a number of NumPy
    rel : float, optional
        Allowed |obtained − reference| / |reference|; needs a reference that is not zero.
    abs : float, optional
        Allowed |obtained − reference|. With both, either is enough.

    Attributes
    ----------
    error : float, relative if ``rel`` alone was given, else absolute
    ok : bool; a value that is not finite is never ok
    """

    def __init__(
        self,
        name: str,
        *,
        reference: SupportsFloat,
        obtained: SupportsFloat,
        rel: float | None = None,
        abs: float | None = None,
    ) -> None:
        self.name: str = name
        self.reference = self.number("reference", reference)
        # obtained values may be anything: one that is not finite is never ok
        self.obtained = float(self.as_array("obtained", obtained, (), finite=False))
        self.rel = None if rel is None else self.positive("rel", rel, allow_zero=True)
        self.abs = None if abs is None else self.positive("abs", abs, allow_zero=True)
        if rel is None and abs is None:
            raise FemMbsError(f"check '{name}': give a tolerance, rel=… or abs=…")
        if rel is not None and self.reference == 0.0 and abs is None:
            raise FemMbsError(f"check '{name}': a relative tolerance has no meaning for the reference 0; give abs=…")
        difference = math.fabs(self.obtained - self.reference)
        relative = difference / math.fabs(self.reference) if self.reference else math.inf
        self.error = difference if rel is None or abs is not None else relative
        self.ok = bool((abs is not None and difference <= abs) or (rel is not None and relative <= rel))

    @property
    def ratio(self) -> float:
        """Error over tolerance: up to 1 is ok; of two tolerances the one that allows more."""
        difference, size = math.fabs(self.obtained - self.reference), math.fabs(self.reference)
        allowed = [t for t in (self.abs, None if self.rel is None else self.rel * size) if t is not None]
        if not math.isfinite(difference):
            return math.inf
        if max(allowed) == 0.0:
            return 0.0 if difference == 0.0 else math.inf
        return difference / max(allowed)

    @property
    def tolerance(self) -> str:
        """Text of the tolerance: "1e-06 rel"."""
        parts = [f"{self.rel:.2g} rel"] if self.rel is not None else []
        parts += [f"{self.abs:.2g}"] if self.abs is not None else []
        return " or ".join(parts)

    def __repr__(self):
        return f"Check({self.name!r}, reference={self.reference!r}, obtained={self.obtained!r}, ok={self.ok})"


class Checks:
    """Several checks, printed as a table."""

    def __init__(self, *checks: Any) -> None:
        self.checks = list(checks)

    @property
    def ok(self) -> bool:
        """True if every check holds."""
        return all(check.ok for check in self.checks)

    @property
    def failed(self) -> list:
        """The checks that do not hold."""
        return [check for check in self.checks if not check.ok]

    def __iter__(self):
        return iter(self.checks)

    def __len__(self):
        return len(self.checks)

    def __add__(self, other):
        return Checks(*self.checks, *other.checks)

    def __repr__(self):
        return f"Checks({len(self)} checks, {len(self.failed)} failed)"

    def __str__(self):
        rows = [("quantity", "reference", "obtained", "error", "tolerance", "")]
        for c in self.checks:
            verdict = "ok" if c.ok else "FAILED"
            rows.append((c.name, f"{c.reference:.9g}", f"{c.obtained:.9g}", f"{c.error:.2e}", c.tolerance, verdict))
        return table(rows, left=(0, 4, 5))

    def print(self) -> None:
        """Print the table; end the program with exit code 1 if a check fails.

        Meant as the last line of a script. Use ``ok`` and ``failed`` to go on after a failure.
        """
        print(self)
        if not self.ok:
            sys.stdout.flush()
            raise SystemExit(1)


def table(rows: Sequence[Sequence[str]], left: Container[int] = (0,), most: Mapping[int, int] | None = None) -> str:
    """Text of rows of strings in aligned columns, the first row underlined; columns in ``left`` are flush left.

    ``most``: largest widths of columns; longer texts go on in further lines.
    """
    if most:
        rows = [line for row in rows for line in _wrapped(row, most)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  ".join(c.ljust(w) if i in left else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))).rstrip()
        for row in rows
    ]
    lines.insert(1, "-" * max(len(line) for line in lines))
    return "\n".join(lines)


class _Wrapper(textwrap.TextWrapper):
    """Lines that may end at the slashes of a path too."""

    def _split(self, text):
        return [part for chunk in super()._split(text) for part in re.split(r"(?<=/)", chunk) if part]


def _wrapped(row, most):
    """Lines of a row whose texts are no wider than ``most`` (column -> width)."""
    cells = [_Wrapper(most[i]).wrap(text) if i in most else [text] for i, text in enumerate(row)]
    return list(itertools.zip_longest(*cells, fillvalue=""))
