"""Draw the pictures of README and documentation: ``python docs/draw.py`` writes docs/pictures/*.png and *.gif (some
fifteen minutes); with names of functions, ``python docs/draw.py nsga_step``, only theirs."""

import os
import sys
import tempfile

import draw_beams
import draw_benchmarks
import draw_comparison
import draw_examples
import draw_flexible
import draw_geometry
import draw_mechanisms
import draw_methods
import draw_published
import draw_source
from drawing import PICTURES


def main():
    PICTURES.mkdir(exist_ok=True)
    modules = (
        draw_examples, draw_mechanisms, draw_flexible, draw_methods, draw_geometry, draw_beams, draw_source,
        draw_published, draw_comparison, draw_benchmarks,
    )  # fmt: skip
    drawings = [draw for module in modules for draw in module.DRAWINGS]
    for draw in [draw for draw in drawings if draw.__name__ in sys.argv[1:] or not sys.argv[1:]]:
        with tempfile.TemporaryDirectory() as folder:
            before = os.getcwd()
            os.chdir(folder)
            try:
                draw()
            finally:
                os.chdir(before)


if __name__ == "__main__":
    main()
