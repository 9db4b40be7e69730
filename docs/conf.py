"""Sphinx: ``make docs`` builds the site in docs/_build/html and fails on any warning."""

import re
import sys
from pathlib import Path

from sphinx import addnodes

sys.path.insert(0, str(Path(__file__).parent))

import fem_mbs
from fem_mbs.element.base import Element

project = "fem_mbs"
author = "the fem_mbs authors"
copyright = f"2026, {author}"
version = release = fem_mbs.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "file_header",
    "example_gallery",
    "published_cases",
]
exclude_patterns = ["_build"]
default_role = "py:obj"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
# sections of our docstrings that numpydoc does not define
napoleon_custom_sections = [
    ("Outputs", "params_style"),
    ("Class attributes", "params_style"),
    ("Instance attributes", "params_style"),
]

html_theme = "furo"
html_title = "fem_mbs"
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_copy_source = False

suppress_warnings = ["config.cache"]


def escape_bars(app, what, name, obj, options, lines):
    """``|g|`` is an absolute value in our docstrings, not a substitution of reStructuredText."""
    for i, line in enumerate(lines):
        if not line.startswith("    >>>"):
            lines[i] = re.sub(r"\|", r"\\|", line)


def link_classes_only(app, doctree):
    """Words of the lists of attributes and outputs link to classes, not to whatever attribute has that name somewhere.

    Sphinx looks for each word in all classes, and warns where several have one of that name (`velocity`).
    """
    for link in list(doctree.findall(addnodes.pending_xref)):
        if link.get("refspecific") and not link["reftarget"].rpartition(".")[2][:1].isupper():
            link.replace_self(link.children)


def skip_contract(app, what, name, obj, skip, options):
    """Leave out members that are not for users: those that completion hides too (`Checked.__dir__`)."""
    function = getattr(obj, "fget", None) or getattr(obj, "func", None) or getattr(obj, "__func__", obj)
    owner = sys.modules.get(getattr(function, "__module__", None))
    for part in getattr(function, "__qualname__", "").split(".")[:-1]:
        owner = getattr(owner, part, None)
    if not isinstance(owner, type):
        return None
    hidden = Element._inside if issubclass(Element, owner) else getattr(owner, "_inside", ())
    return True if name in hidden else None


def setup(app):
    app.connect("autodoc-skip-member", skip_contract)
    app.connect("autodoc-process-docstring", escape_bars, priority=900)
    app.connect("doctree-read", link_classes_only)
