"""The directive ``example-gallery``: the examples as sections with their picture, what they show, and their code.

    ```{example-gallery}
    roller_crank tippe_top
    ```

Each name is a script of ``examples``; its docstring is the text. The picture is ``docs/pictures/<name>.png``, drawn by
``docs/draw.py``, where there is one. Nothing is run when the site is built.
"""

from docutils import nodes
from file_header import ROOT, FileHeader


class ExampleGallery(FileHeader):
    """Sections of the named examples."""

    required_arguments = 0
    has_content = True

    def run(self):
        return [self.example(name) for name in " ".join(self.content).split()]

    def example(self, name):
        """Section of one example: picture below the title, code at the end, folded up."""
        path = f"examples/{name}.py"
        section = self.section(path)
        if (ROOT / "docs" / "pictures" / f"{name}.png").exists():
            uri = f"/pictures/{name}.png"
            self.env.note_dependency(str(ROOT / "docs" / uri.lstrip("/")))
            image = nodes.image(uri=self.env.relfn2path(uri)[0], alt=section[0].astext())
            section.insert(1, image)
        code = (ROOT / path).read_text(encoding="utf-8")
        section += nodes.raw("", "<details><summary>Code</summary>", format="html")
        section += nodes.literal_block(code, code, language="python")
        section += nodes.raw("", "</details>", format="html")
        return section


def setup(app):
    app.add_directive("example-gallery", ExampleGallery)
    return {"parallel_read_safe": True}
