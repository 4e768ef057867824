"""CITATION.cff is one, of this program and of the papers that are repeated."""

import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
CITATION = ROOT / "CITATION.cff"


def test_it_is_valid():
    words = ["-m", "check_jsonschema", "--builtin-schema", "vendor.citation-file-format", str(CITATION)]
    checked = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


def test_it_names_every_paper_that_is_repeated():
    titles = {reference["title"] for reference in yaml.safe_load(CITATION.read_text())["references"]}
    pages = [" ".join(page.read_text().split()) for page in (ROOT / "papers").glob("*/README.md")]
    named = {title for page in pages for title in titles if f"*{title}*" in page}
    assert named == titles and len(pages) == len(titles)
