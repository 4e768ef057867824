"""What of the repository lies outside ``docs`` and belongs to the site, and where links to the rest lead."""

from __future__ import annotations

import os
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

PAGES = ["README.md", "examples/*.md", "papers/*/README.md", "papers/*/figures/*.svg"]

LINK = re.compile(r"\]\((?!\w+:|#)(?P<target>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages; the README is the front page."""
    root = _root(config)
    for source in sorted(path for pattern in PAGES for path in root.glob(pattern)):
        place = source.relative_to(root).as_posix()
        uri = "index.md" if place == "README.md" else place
        files.append(File.generated(config, uri, abs_src_path=str(source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leads links to where the file is on the site, or else in the repository. Those to nothing stay, and are
    warned of."""
    places = {os.path.realpath(file.abs_src_path): file.src_uri for file in files if file.abs_src_path}
    folder = Path(page.file.abs_src_path).parent
    here = Path(page.file.src_uri).parent

    def led(link: re.Match[str]) -> str:
        target = os.path.realpath(folder / link["target"])
        if target in places:
            address = os.path.relpath(places[target], here)
        elif os.path.exists(target):
            address = f"{config.repo_url}/blob/main/{Path(target).relative_to(_root(config)).as_posix()}"
        else:
            return link[0]
        return f"]({address}{link['anchor'] or ''})"

    return LINK.sub(led, markdown)


def _root(config: MkDocsConfig) -> Path:
    return Path(config.docs_dir).resolve().parent
