"""The fenced blocks of a page, and what is said of them in a comment right above.

- ``<!-- not run: why -->`` leaves a block out, visibly.
- ``<!-- file: call.toml -->`` saves a block under this name for those behind it.
- ``<!-- with: --seeds 1 -->`` makes its commands shorter.
- ``<!-- after: [class.voice] -->`` puts lines of TOML before a part of a plan.
- ``<!-- typed: in the page's shell -->`` types them, line by line, into one shell of root's (:mod:`shell`). Measured
  figures may be others. With ``<!-- typed: less than 60 ms -->`` or ``more than``, the first time that is printed is
  held to that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

BLOCK = re.compile(
    r"^(?: *<!--(?P<notes>(?:(?!-->).)*)-->\n)?(?P<in> *)```(?P<language>[^\n]*)\n(?P<text>.*?)^(?P=in)```$",
    re.MULTILINE | re.DOTALL,
)
NOTE = re.compile(r"^ *(not run|file|with|after|typed): *(.*)", re.DOTALL)


@dataclass
class Block:
    """A block, on the line of ``page`` where its text begins."""

    page: Path
    line: int
    language: str
    text: str
    notes: dict[str, str] = field(default_factory=dict)


@dataclass
class Command:
    """A command, and what is shown of what it prints."""

    line: str
    output: list[str] = field(default_factory=list)


def blocks(page: Path) -> list[Block]:
    """All blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [_block(page, text, found) for found in BLOCK.finditer(text)]


def _block(page: Path, text: str, found: re.Match[str]) -> Block:
    line = text.count("\n", 0, found.start("text")) + 1
    return Block(page, line, found["language"], dedent(found["text"]), _notes(found))


def _notes(found: re.Match[str]) -> dict[str, str]:
    if found["notes"] is None:
        return {}
    note = NOTE.match(found["notes"])
    if note is None:
        raise ValueError(f"nobody knows what to do with <!--{found['notes']}--> above a block")
    return {note[1]: note[2].strip()}


def commands(block: Block) -> list[Command]:
    """The commands of a block: every line of ``sh``, and those behind ``$ `` in ``console``."""
    if block.language == "sh":
        return [Command(line) for line in block.text.splitlines() if line]
    typed: list[Command] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            typed.append(Command(line.removeprefix("$ ")))
        else:
            typed[-1].output.append(line)
    return typed


def fits(shown: list[str], printed: list[str]) -> bool:
    """Whether that is printed, but for spaces at the ends of lines. ``…`` stands for lines that are left out."""
    if not shown:
        return not printed
    if shown[0] == "…":
        return any(fits(shown[1:], printed[skipped:]) for skipped in range(len(printed) + 1))
    return bool(printed) and shown[0].rstrip() == printed[0].rstrip() and fits(shown[1:], printed[1:])


def whole(block: Block) -> str:
    """A plan that a part of one belongs to: with a link, a scheduler and a class if it has none."""
    text = lines(block)
    before = {"version": "1", "link": '{ rate = "100mbit" }', "scheduler": '{ kind = "fifo" }'}
    missing = [f"{key} = {value}\n" for key, value in before.items() if not _has(text, key)]
    behind = "" if _has(text, "class") else "[class.rest]\n"
    return "".join(missing) + text + behind


def names_a_plan(block: Block) -> bool:
    """Whether it is a study, or a search for a plan."""
    return _has(lines(block), "plan")


def is_search(block: Block) -> bool:
    """Whether a plan is sought."""
    return _has(lines(block), "minimise") or _has(lines(block), "goal")


def lines(block: Block) -> str:
    """A block behind the lines that its note puts before it."""
    return f"{block.notes['after']}\n{block.text}" if "after" in block.notes else block.text


def _has(text: str, key: str) -> bool:
    return re.search(rf"^\[*{key}[\s.=\]]", text, re.MULTILINE) is not None
