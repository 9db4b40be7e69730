"""A matplotlib figure that notebooks display also where pyplot, and with it a way to show figures, is not loaded."""

from io import BytesIO

from matplotlib.figure import Figure as _Figure


class Figure(_Figure):
    """`matplotlib.figure.Figure` that a notebook displays."""

    def _repr_png_(self) -> bytes:
        data = BytesIO()
        self.savefig(data, format="png", dpi=100)
        return data.getvalue()
