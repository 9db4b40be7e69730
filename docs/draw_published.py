"""Pages of docs/as_published.md, one function per source: Bruls2014 takes two minutes, the others one each."""

from drawing import keep

from fem_mbs.cases.figures.pages import pages


def _draw(source):
    """Write the pages of a source, each once, under the name of the first case that it shows."""
    drawn = []
    for name, page in pages().items():
        if name.startswith(source) and page not in drawn:
            keep(page.draw(), name.replace("-", "_"), colors=256)
            drawn.append(page)


def bruls2014():
    """Figures 2-24 of Bruls2014."""
    _draw("bruls2014")


def capobianco2021():
    """Figures 1 to 5 of Capobianco2021."""
    _draw("capobianco2021")


def capobianco2024():
    """Figures 3, 4, 6, 8 and 9 of Capobianco2024."""
    _draw("capobianco2024")


DRAWINGS = (bruls2014, capobianco2021, capobianco2024)
