"""What the pictures have in common: where they go, panels in a row, examples as they are run."""

import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
sys.path += [str(ROOT / "examples"), str(ROOT / "benchmarks")]


def example(name):
    """Run the main function of an example in the current folder, as its command line does."""
    return runpy.run_path(str(ROOT / "examples" / f"{name}.py"))["main"]()


def panels(count, size, rows=1, **options):
    """Figure of a size [inch] with panels in rows, and the panels."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(rows, count, figsize=size, layout="constrained", **options)
    return figure, axes


def keep(figure, name, colors=128):
    """Write docs/pictures/<name>.png; many curves on top of each other need more colours."""
    path = PICTURES / f"{name}.png"
    figure.savefig(path, dpi=110)
    shrink(path, colors)


def shrink(path, colors=128):
    """Write a picture of curves again with a palette of colours: half the size, and it looks the same."""
    from PIL import Image

    Image.open(path).convert("RGB").quantize(colors, dither=Image.Dither.NONE).save(path, optimize=True)
