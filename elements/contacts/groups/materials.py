"""Materials: the coefficients of contacts, by pairs of materials."""

from fem_mbs.arguments.checked import Checked
from fem_mbs.element.contact import Contact
from fem_mbs.errors import ParameterError

ANY = "*"


class MaterialTable(Checked):
    """Contact laws by pairs of materials.

    Parameters
    ----------
    laws : dict
        (material, material) -> dict of coefficients (`Contact`: friction, restitution, rolling_resistance, …). The
        order of the two does not matter; "*" stands for any material. The most precise entry counts: both names, then
        one name and "*", then ("*", "*").

    Raises
    ------
    ParameterError
        A key that is not a pair of names, a pair that is given twice, coefficients that a contact does not have.

    Examples
    --------
    >>> table = MaterialTable({
    ...     ("ball", "ball"): dict(friction=0.06, restitution=0.93),
    ...     ("ball", "cloth"): dict(friction=0.2, rolling_resistance=0.005),
    ...     ("ball", "*"): dict(restitution=0.85),
    ... })
    >>> table.law("cloth", "ball")
    {'friction': 0.2, 'rolling_resistance': 0.005}
    >>> table.law("ball", "cushion")
    {'restitution': 0.85}
    """

    def __init__(self, laws: dict) -> None:
        self.laws = {}
        for key, law in self.as_instance("laws", laws, dict, "a dict of pairs of materials").items():
            if not (isinstance(key, tuple) and len(key) == 2 and all(isinstance(k, str) for k in key)):
                raise ParameterError(self, "laws", key, "is not a pair of names of materials")
            pair = tuple(sorted(key))
            if pair in self.laws:
                raise ParameterError(self, "laws", key, "is given twice")
            self.laws[pair] = dict(self.as_instance("laws", law, dict, f"for {key} a dict of coefficients"))
            self._check(key, law)

    def _check(self, key, law):
        """Raise an error for invalid coefficients, in the words of the table."""
        try:
            Contact((), **law)
        except ParameterError as error:
            reason = f"{error.reason} (law of '{key[0]}' and '{key[1]}')"
            raise ParameterError(self, error.parameter, error.value, reason) from None

    @property
    def names(self) -> list[str]:
        """Names of materials that occur, sorted, without "*"."""
        return sorted({name for pair in self.laws for name in pair} - {ANY})

    def law(self, first: str, second: str) -> dict:
        """Coefficients of a pair, for a contact element: ``SphereOnPlane(…, **table.law("ball", "cloth"))``.

        Raises
        ------
        ParameterError
            If no entry fits; ParameterError too when two with "*" fit and differ, which would be a matter of chance.
        """
        first, second = self.as_text("first", first), self.as_text("second", second)
        exact = self.laws.get(tuple(sorted((first, second))))
        if exact is not None:
            return dict(exact)
        halves = [self.laws[p] for p in {tuple(sorted((first, ANY))), tuple(sorted((second, ANY)))} if p in self.laws]
        if len(halves) == 2 and halves[0] != halves[1]:
            message = f"fits ('{first}', '*') and ('{second}', '*'), which differ; give the pair itself"
            raise ParameterError(self, "law", (first, second), message)
        for law in (*halves, self.laws.get((ANY, ANY))):
            if law is not None:
                return dict(law)
        known = ", ".join(" - ".join(p) for p in self.laws) or "none"
        raise ParameterError(self, "law", (first, second), f"is not in the table; it has: {known}")
