"""README, the guides and the examples' pages do what they say: every block is run, read or said to be neither.

The blocks of a page share a folder, as after cloning, and their Python shares its names. Tutorials run where they lie, as
Jupyter opens them, other pages at the top.
Blocks that are typed go into a shell of the page, as root, in namespaces.
Languages without a runner are refused. ``text`` is no code: a drawing, a formula, or what depends on the machine.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import laxity as lx
import pytest
import yaml
from shell import Shell, first_time_ms, missing, without_figures
from snippets import Block, blocks, commands, fits, is_search, lines, names_a_plan, whole

ROOT = Path(__file__).parents[2]
TUTORIALS = ROOT / "docs/tutorials"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").glob("*.md"))]
BLOCKS = [block for page in PAGES for block in blocks(page)]


class Place:
    """Where the blocks of a page run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, object] = {}
        self.shell: Shell | None = None


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path], Place]]:
    """The place of a page, made when its first block comes."""
    made: dict[Path, Place] = {}

    def of(page: Path) -> Place:
        if page not in made:
            folder = tmp_path_factory.mktemp(page.stem)
            (folder / "examples").mkdir()
            for example in (ROOT / "examples").iterdir():
                (folder / "examples" / example.name).symlink_to(example)
            (folder / "papers").symlink_to(ROOT / "papers")
            (folder / "my-capture.pcapng").symlink_to(ROOT / "examples/home-uplink.pcap")
            where = folder / page.parent.relative_to(ROOT) if page.parent == TUTORIALS else folder
            where.mkdir(parents=True, exist_ok=True)
            made[page] = Place(where)
        return made[page]

    yield of
    for place in made.values():
        if place.shell is not None:
            place.shell.close()


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.page.relative_to(ROOT)}:{block.line}")
def test_a_block_does_what_it_says(block: Block, places: Callable[[Path], Place], monkeypatch: pytest.MonkeyPatch):
    if "not run" in block.notes:
        assert block.notes["not run"], "without a reason nothing is left out"
        pytest.skip(block.notes["not run"])
    assert block.language in RUNNERS, f"blocks in “{block.language}” cannot be run: say why not above it"
    place = places(block.page)
    monkeypatch.chdir(place.folder)
    monkeypatch.setenv("MPLBACKEND", "agg")
    if "file" in block.notes:
        Path(block.notes["file"]).write_text(block.text, encoding="utf-8")
    if "typed" in block.notes:
        return typed(block, place)
    RUNNERS[block.language](block, place)


def laxity(*words: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-m", "laxity", *words]
    return subprocess.run(program, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def python(block: Block, place: Place) -> None:
    text = "\n" * (block.line - 1) + block.text
    exec(compile(text, str(block.page), "exec"), place.names)


def shell(block: Block, _: Place) -> None:
    for command in commands(block):
        match shlex.split(command.line, comments=True):
            case ["laxity", *words] | ["cargo", "run", "--release", "--", *words]:
                words += shlex.split(block.notes.get("with", ""))
            case ["cargo", "run", *_, "-p", crate, "--example", example]:
                # Cargo builds it with the tests.
                assert list((ROOT / f"crates/{crate}/examples").glob(f"{example}*")), f"there is no {example}"
                continue
            case _:
                pytest.fail(f"`{command.line}` is no command of laxity: say above why it is not run")
        ended = laxity(*words)
        if ended.returncode == 3 and "live" in words:
            pytest.skip(ended.stderr)
        # A plan that is not admitted is an answer, too.
        assert ended.returncode in (0, 1), f"`{command.line}`: {ended.stderr}"
        printed = ended.stdout + ended.stderr
        assert not command.output or fits(command.output, printed.splitlines()), f"prints:\n{printed}"


def typed(block: Block, place: Place) -> None:
    """In the shell of the page. What it prints is as shown but for its figures; the first time is held to the limit."""
    if place.shell is None:
        if (reason := missing()) is not None:
            pytest.skip(reason)
        place.shell = Shell(place.folder)
    limit = re.fullmatch(r"in the page's shell|(less|more) than (\d+) ms", block.notes["typed"])
    assert limit is not None, f"“typed: {block.notes['typed']}” is no limit"
    if block.language == "sh":
        place.shell.types(block.text)
        return
    typings = [(command, place.shell.types(command.line)) for command in commands(block)]
    for command, printed in typings:
        as_shown = fits(without_figures(command.output), without_figures(printed))
        assert as_shown, f"`{command.line}` prints:\n" + "\n".join(printed)
    if limit[1] is not None:
        took = first_time_ms(line for _, printed in typings for line in printed)
        assert (took < float(limit[2])) == (limit[1] == "less"), f"{took} ms"


def toml(block: Block, place: Place) -> None:
    """That Laxity reads it. A study lies beside its plan, as the examples do, and next to nothing of it is run."""
    if not names_a_plan(block):
        lx.Plan.parse(whole(block), name=f"{block.page.name}, line {block.line}")
        return
    command, less = (["tune"], "search.trials = 1\n") if is_search(block) else (["sweep", "--shard", "1/1000000"], "")
    (place.folder / "examples/study.toml").write_text(less + lines(block), encoding="utf-8")
    ended = laxity(*command, "examples/study.toml", "--out", f"out/{block.line}")
    # That nothing is found is an answer, too.
    assert ended.returncode in (0, 1), ended.stderr


def sql(block: Block, _: Place) -> None:
    assert duckdb.sql(block.text).fetchall(), "the query finds nothing"


def csv(block: Block, _: Place) -> None:
    assert "file" in block.notes, "without a name no command can read it"


def rust(block: Block, _: Place) -> None:
    """That cargo tests it: the page is in the documentation of a crate."""
    included = f'../{block.page.relative_to(ROOT).as_posix()}")'
    sources = (source.read_text(encoding="utf-8") for source in (ROOT / "crates").rglob("src/**/*.rs"))
    assert any(included in source for source in sources), "no crate has this page among its tests"


def as_yaml(block: Block, _: Place) -> None:
    assert yaml.safe_load(block.text)


RUNNERS: dict[str, Callable[[Block, Place], None]] = {
    "console": shell,
    "csv": csv,
    "python": python,
    "rust": rust,
    "sh": shell,
    "sql": sql,
    "text": lambda block, place: None,
    "toml": toml,
    "yaml": as_yaml,
}


def test_left_out_lines_are_any_and_others_are_not():
    printed = ["one", "two  ", "three", "four"]
    assert fits(["one", "two", "three", "four"], printed)
    assert fits(["one", "…", "four"], printed)
    assert fits(["…", "three", "…"], printed)
    assert not fits(["one", "two", "three"], printed)
    assert not fits(["one", "…", "two", "four"], printed)


def test_what_is_said_above_a_block_is_known(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("<!-- not run: needs root -->\n```sh\nreboot\n```\n\n```python\n1\n```\n")
    one, two = blocks(page)
    assert (one.language, one.line, one.notes) == ("sh", 3, {"not run": "needs root"})
    assert (two.language, two.line, two.notes) == ("python", 7, {})
    page.write_text("<!-- nt run: needs root -->\n```sh\nreboot\n```\n")
    with pytest.raises(ValueError, match="nobody knows"):
        blocks(page)
