"""The tutorials: Markdown that Jupyter opens by jupytext, run when the site is built."""

from __future__ import annotations

import tempfile
from pathlib import Path

import jupytext
import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from nbclient import NotebookClient
from nbconvert import MarkdownExporter

VECTORS = '%config InlineBackend.figure_formats = ["svg"]'


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str | None:
    """The page with what its cells print and draw, and the notebook beside it."""
    if "jupytext" not in page.meta:
        return None
    notebook = jupytext.reads(markdown, fmt="md")
    place = page.file.src_uri.removesuffix(".md")
    _run(notebook, Path(config.docs_dir).resolve().parent, Path(config.docs_dir).name / Path(place).parent)
    files.append(File.generated(config, f"{place}.ipynb", content=nbformat.writes(notebook)))
    body, resources = MarkdownExporter().from_notebook_node(notebook)
    for name, drawn in resources.get("outputs", {}).items():
        files.append(File.generated(config, f"{place}/{name}", content=drawn))
        body = body.replace(f"]({name})", f"]({Path(place).name}/{name})")
    title, text = body.lstrip().split("\n", 1)
    return f"{title}\n\n[This page as a notebook]({Path(place).name}.ipynb)\n{text}"


def _run(notebook: nbformat.NotebookNode, root: Path, place: Path) -> None:
    """Runs it as if it was opened where it lies after cloning, and nothing is left behind."""
    notebook.cells.insert(0, nbformat.v4.new_code_cell(VECTORS))
    with tempfile.TemporaryDirectory() as folder:
        for name in ("examples", "papers"):
            (Path(folder) / name).symlink_to(root / name)
        where = Path(folder) / place
        where.mkdir(parents=True)
        NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(where)}}).execute()
    del notebook.cells[0]
