from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

__version__: str

class LaxityError(Exception): ...

class PlanError(LaxityError):
    file: str
    line: int | None
    column: int | None
    help: str | None

class SystemError(LaxityError): ...

class Plan:
    text: str
    name: str
    folder: PathLike[str]
    put_under: str | None
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

class Study:
    def __init__(
        self,
        text: str,
        name: str,
        folder: str,
        under: str | None,
        grid: Sequence[tuple[str, Sequence[str]]],
        seeds: Sequence[int],
        duration: str | None,
    ) -> None: ...
    def runs(self, shard: tuple[int, int]) -> int: ...
    def missing(self, store: str | PathLike[str], shard: tuple[int, int]) -> list[str]: ...
    def make(self, store: str | PathLike[str], names: list[str]) -> None: ...
    def sweep(
        self, store: str | PathLike[str], shard: tuple[int, int], heard: Callable[[int, int], object] | None
    ) -> None: ...
    def summary(self, store: str | PathLike[str]) -> str: ...

def compare(
    plan: Plan,
    schedulers: list[str],
    duration: str | None,
    seed: int | None,
    heard: Callable[[int], object] | None,
) -> tuple[str, str, str | None, bool]: ...
def command(arguments: list[str]) -> int: ...
