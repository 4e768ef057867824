from collections.abc import Callable, Sequence
from os import PathLike
from typing import TypedDict

__version__: str

class LaxityError(Exception):
    """An error of Laxity, with its reason."""

class PlanError(LaxityError):
    """An invalid plan."""

    file: str
    """The name of its file."""
    line: int | None
    """The line, counted from 1."""
    column: int | None
    """The column, counted from 1."""
    help: str | None
    """What is accepted."""

class ContractError(LaxityError):
    """A scheduler loses, repeats, invents or forgets packets, or sends them too early."""

class FileError(LaxityError):
    """A file or disk that cannot be read or written."""

class NoRoomError(LaxityError):
    """A reservation that does not fit, and what would at that time, with all else as it was asked for; ``None`` where nothing
    would."""

    at: int
    """The first time at which it does not, in ns."""
    deadline: int | None
    """The shortest deadline that would, in ns."""
    rate: int | None
    """The highest rate of the slowest token bucket that would, in bits a second."""
    bucket: int | None
    """The largest size of the slowest token bucket that would, in bytes."""
    path: list[str] | None
    """In a network, the nodes of another path that would."""
    frames: dict[str, int]
    """Other time frames on its path than those that it asks for, by link; empty where it asks for none."""

class Plan:
    text: str
    name: str
    folder: PathLike[str]
    put_under: str | None
    title: str | None
    scheduler: str
    classes: list[str]
    rate: int
    shares: list[tuple[str, int | None, float]]
    def __init__(self, text: str, name: str, folder: PathLike[str], under: str | None = None) -> None: ...
    @staticmethod
    def read(path: PathLike[str]) -> Plan: ...
    def edited(self, values: list[tuple[str, str]]) -> Plan: ...
    def under(self, scheduler: str) -> Plan: ...
    def custom_at(self, output: str) -> Plan: ...
    def check(self) -> tuple[str, str]: ...
    def check_for_linux(self, timer: str | None, *, offload: bool) -> tuple[str, str, Plan]: ...
    def export_tc(self, device: str, *, format: str, timer: str | None, offload: bool, filters: str) -> str: ...
    def curves(self) -> list[tuple[str, str, str, list[tuple[str, list[tuple[float, float]]]]]]: ...
    def lasts(self, duration: str | None, arrivals: PathLike[str] | None) -> int | None: ...
    def run(
        self,
        schedulers: list[tuple[str | None, Scheduler | Ranks]],
        duration: str | None,
        seed: int | None,
        arrivals: PathLike[str] | None,
        packets: bool,
        threads: int | None,
        trace: PathLike[str] | None,
        heard: Callable[[int, int], object] | None,
    ) -> RunResult: ...

class Book:
    def __init__(self, plan: Plan) -> None: ...
    def copy(self) -> Book: ...
    def admit(self, now: int, name: str, keys: str, path: Sequence[str], times: Sequence[int | None]) -> str: ...
    def change(self, now: int, name: str, keys: str) -> str: ...
    def commit(self, now: int, name: str) -> None: ...
    def renew(self, now: int, name: str, end: int | None) -> None: ...
    def release(self, now: int, name: str) -> None: ...
    def expire(self, now: int) -> list[str]: ...
    def next_change(self, now: int) -> int | None: ...
    def reservations(self, now: int) -> str: ...
    def plan(self, now: int) -> Plan: ...

class Packet:
    """A packet. Times are nanoseconds of the simulation."""

    @property
    def seq(self) -> int:
        """Its number in the order of arrival, from 0."""
    @property
    def class_name(self) -> str:
        """The name of its class."""
    @property
    def flow(self) -> int:
        """The flow within the class."""
    @property
    def length(self) -> int:
        """Bytes on the link."""
    @property
    def arrival(self) -> int:
        """When its last bit arrived."""
    @property
    def deadline(self) -> int | None:
        """When it is due, if its class has a deadline."""
    @property
    def demoted(self) -> bool:
        """Whether it broke its class's contract and became best effort."""
    eligible: int
    """The time before which it is not sent; by default its arrival."""

class Scheduler:
    def drop(self, packet: Packet) -> None: ...

class Ranks:
    def __init__(
        self, name: str, rank: Callable[[Packet], float] | None, eligible: Callable[[Packet], int] | None
    ) -> None: ...

class RunResult(TypedDict):
    json: str
    text: str
    html: str
    figures: list[tuple[str, str]]
    delays: list[tuple[str, list[tuple[int, float]]]]
    kept: bool
    packets: Table | None

class Table:
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def __len__(self) -> int: ...

class Comparison(TypedDict):
    json: str
    text: str
    figure: str
    delays: list[list[tuple[str, list[tuple[int, float]]]]]
    kept: bool

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
        own: Sequence[tuple[str, bytes, str, Sequence[tuple[str, str]]]],
    ) -> None: ...
    def own(self, name: str) -> str | None: ...
    def plan(self, name: str) -> Plan: ...
    def make_own(self, store: str | PathLike[str], name: str, scheduler: Scheduler | Ranks) -> None: ...
    def runs(self, shard: tuple[int, int]) -> int: ...
    def missing(self, store: str | PathLike[str], shard: tuple[int, int]) -> list[str]: ...
    def make(self, store: str | PathLike[str], names: list[str]) -> None: ...
    def sweep(
        self, store: str | PathLike[str], shard: tuple[int, int], heard: Callable[[int, int], object] | None
    ) -> None: ...
    def summary(self, store: str | PathLike[str]) -> Summary: ...

class Summary:
    json: str
    numbers: list[tuple[str, str, str, float, list[tuple[str, float]]]]
    def figure(self, name: str) -> str | None: ...

def fit(plan: Plan, recording: PathLike[str] | None, sort: bool, headroom: int) -> tuple[str, str, list[str], Plan]: ...
class Packets(TypedDict):
    class_: str | None
    packet: int | None
    slower_than: str | None
    missed: bool
    slowest: int

class Changes(TypedDict):
    without: list[str]
    with_: list[tuple[str, str]]
    under: list[str]

def why(
    plan: Plan,
    packets: Packets,
    changes: Changes,
    duration: str | None,
    seed: int | None,
    arrivals: PathLike[str] | None,
    heard: Callable[[int, int], object] | None,
) -> tuple[str, str]: ...
def explain(
    plan: Plan, classes: list[str], duration: str | None, heard: Callable[[int, int], object] | None
) -> tuple[str, str]: ...
def causes(
    plan: Plan,
    duration: str | None,
    seed: int | None,
    arrivals: PathLike[str] | None,
    heard: Callable[[int, int], object] | None,
) -> Table: ...
def limits(plan: Plan, heard: Callable[[int, int], object] | None) -> tuple[str, str]: ...
def worst_case(
    plan: Plan, packets: int, seed: int, heard: Callable[[int, int], object] | None
) -> tuple[str, str, str, list[str]]: ...
def import_tc(
    script: PathLike[str],
    device: str | None,
    link_rate: str | None,
    arguments: list[str] | None,
    variables: dict[str, str],
    sources: list[PathLike[str]],
) -> tuple[Plan, list[tuple[str, int | None, str]]]: ...
def compare(
    plan: Plan,
    contenders: list[tuple[Plan, list[tuple[str | None, Scheduler | Ranks]]]],
    duration: str | None,
    seed: int | None,
    arrivals: PathLike[str] | None,
    heard: Callable[[int, int], object] | None,
) -> Comparison: ...
def label(figure: str) -> str: ...
def plain(figure: str) -> str: ...
def unit(figure: str) -> tuple[str, float]: ...
def cell(figure: str, value: float | None) -> str: ...
def styles(subjects: int) -> list[tuple[str, list[float]]]: ...
def promises() -> tuple[list[float], list[float]]: ...
def command(arguments: list[str]) -> int: ...

class Choices:
    now: int
    def __init__(self, plan: Plan, duration: str | None, seed: int | None) -> None: ...
    def advance(self) -> bool: ...
    def send(self, class_: int) -> None: ...
    def waiting(self) -> list[tuple[int, int, float, float | None]]: ...
    def outcomes(self) -> list[tuple[int, int, float, int]]: ...

class Tuning:
    def __init__(self, plan: Plan, sought: str, store: PathLike[str]) -> None: ...
    def keys(self) -> list[tuple[str, float, float, bool, bool, float]]: ...
    def plan(self, numbers: list[float]) -> Plan: ...
    def judge(self, numbers: list[float], heard: Callable[[int, int], object] | None) -> str: ...
    def tune(self, heard: Callable[[int, int], object] | None) -> tuple[str, str, str, Plan | None]: ...
