"""Documentation names only what the code has."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATH = re.compile(r"`((?:\w+::)+\w+)(?:\(.*?\))?`")


def test_paths_of_rust_in_documentation_are_defined():
    source = "\n".join(file.read_text(encoding="utf-8") for file in ROOT.glob("crates/*/src/**/*.rs"))
    crates = {file.name.replace("-", "_") for file in (ROOT / "crates").iterdir()}
    words = set(re.findall(r"\b(?:fn|struct|enum|mod|const|trait|type)\s+(\w+)", source))
    fields_and_variants = set(re.findall(r"^\s+(?:pub )?(\w+)(?::|,|\(| \{|$)", source, re.MULTILINE))
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "ARCHITECTURE.md"]
    named = [(page.name, path) for page in pages for path in PATH.findall(page.read_text(encoding="utf-8"))]
    assert len(named) > 20
    missing = [
        (page, path)
        for page, path in named
        if not set(path.split("::")) <= crates | words | fields_and_variants
    ]
    assert missing == []
