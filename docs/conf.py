"""Sphinx builds the site from this file: `make docs`."""

import sys
from pathlib import Path

import netlearn

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # docstrings and figure_style are beside this file

project = "netlearn"
author = "The netlearn developers"
project_copyright = "The netlearn developers, BSD-3-Clause"
version = release = netlearn.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # formulas show without network access
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
    "docstrings",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
templates_path = ["_templates"]
exclude_patterns = [
    "_build",
    "examples",
    "**/GALLERY_HEADER.rst",
    "images/*.py",
    "evidence_table.md",
    "everyday_table.md",
    "theory/measured_runs.md",
    "theory/measured_table.md",
    "reliability_bad_input.md",
]
default_role = "code"
highlight_language = "none"  # formulas and commands; code says that it is Python

myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"

copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py",
    "subsection_order": ["examples/start", "examples/uses", "examples/limits", "examples/data"],
    "reset_modules": ("matplotlib", "figure_style.apply"),
    "download_all_examples": False,
    "image_srcset": ["2x"],
    "min_reported_time": 1e9,  # seconds depend on the machine
    "write_computation_times": False,
    "show_signature": False,
    "remove_config_comments": True,
    "ignore_repr_types": r"matplotlib",  # what a last line happens to return says nothing
}

html_theme = "pydata_sphinx_theme"
html_title = "netlearn"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
_ALONE = "index api architecture faq genindex glossary intuition jobs references reliability scale search which_tool"
html_sidebars = {page: [] for page in _ALONE.split()}  # pages that a list of pages below would not help
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
