from collections.abc import Callable
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

class Tuning:
    def __init__(self, plan: Plan, sought: str, store: PathLike[str]) -> None: ...
    def keys(self) -> list[tuple[str, float, float, bool, bool, float]]: ...
    def plan(self, numbers: list[float]) -> Plan: ...
    def judge(self, numbers: list[float], heard: Callable[[int, int], object] | None) -> str: ...
    def tune(self, heard: Callable[[int, int], object] | None) -> tuple[str, str, str, Plan | None]: ...
