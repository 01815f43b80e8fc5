"""The documentation site: `make docs`."""

import sys
from pathlib import Path

import structlearn

sys.path.insert(0, str(Path(__file__).parent))

project = "structlearn"
copyright = "2026, the structlearn developers"
version = release = structlearn.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "gallery"]
myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"structlearn {release}"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_use_rtype = False
napoleon_use_ivar = True
