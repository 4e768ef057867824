from collections.abc import Callable
from os import PathLike
from typing import Any

__version__: str

class LaxityError(Exception):
    """What Laxity cannot do, and why."""

class PlanError(LaxityError):
    """A plan that is none."""

    file: str
    """Its name."""
    line: int | None
    """Where, counted from 1."""
    column: int | None
    """Where in the line, counted from 1."""
    help: str | None
    """What is accepted."""

class SystemError(LaxityError):
    """A file or disk that cannot be read or written."""

class Plan:
    text: str
    name: str
    title: str | None
    scheduler: str
    classes: list[str]
    @staticmethod
    def parse(text: str, name: str, folder: PathLike[str]) -> Plan: ...
    def edited(self, values: list[tuple[str, str]]) -> Plan: ...
    def under(self, scheduler: str) -> Plan: ...
    def check(self) -> tuple[str, str]: ...
    def run(
        self, duration: str | None, seed: int | None, packets: bool, heard: Callable[[int], object] | None
    ) -> Ran: ...

class Ran:
    json: str
    text: str
    html: str
    kept: bool
    packets: Any

def compare(
    plan: Plan,
    schedulers: list[str],
    duration: str | None,
    seed: int | None,
    heard: Callable[[int], object] | None,
) -> tuple[str, str, str | None, bool]: ...
def sweep(
    plan: Plan,
    grid: list[tuple[str, list[str]]],
    seeds: list[int],
    duration: str | None,
    store: PathLike[str],
    shard: tuple[int, int],
    heard: Callable[[int, int], object] | None,
) -> str: ...
def command(arguments: list[str]) -> int: ...
