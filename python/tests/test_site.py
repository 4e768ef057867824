"""The site builds without a warning, its notebooks run, and it needs nothing from elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    words = ["-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    program = [sys.executable, *words]
    built = subprocess.run(program, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder


def test_every_guide_is_a_page(site: Path):
    guides = {str(page.relative_to(ROOT / "docs").with_suffix(".html")) for page in (ROOT / "docs").rglob("*.md")}
    pages = {str(page.relative_to(site)) for page in site.rglob("*.html")}
    assert guides | {"index.html", "papers/tdp/index.html"} <= pages


def test_pages_load_nothing_from_elsewhere(site: Path):
    scripts = r'<(?:script|img|iframe|source)[^>]*\ssrc="(?:https?:)?//'
    sheets = r'<link[^>]*stylesheet[^>]*"(?:https?:)?//'
    loads = re.compile(f"{scripts}|{sheets}")
    for page in site.rglob("*.html"):
        assert not loads.search(page.read_text(encoding="utf-8")), page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(\W?https?:|@import", sheet.read_text(encoding="utf-8")), sheet


def test_links_out_of_the_guides_lead_somewhere(site: Path):
    page = (site / "dwcs.html").read_text(encoding="utf-8")
    assert 'href="https://github.com/laxity/laxity/blob/main/examples/media-server.toml"' in page
    assert 'href="papers/dwcs/index.html"' in page


def test_tutorials_show_what_came_out(site: Path):
    for name, drawn in (("home-uplink", 2), ("study", 1), ("scheduler", 1), ("paper", 0)):
        notebook = nbformat.read(site / f"tutorials/{name}.ipynb", as_version=4)
        outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
        pictures = [output for output in outputs if "image/svg+xml" in output.get("data", {})]
        assert len(outputs) >= 5 and len(pictures) == drawn
        assert len(list((site / f"tutorials/{name}").glob("*.svg"))) == drawn
        assert f'src="{name}/' in (site / f"tutorials/{name}.html").read_text(encoding="utf-8") or not drawn
