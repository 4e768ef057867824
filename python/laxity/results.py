"""The types of answers: the dictionaries of ``data``, as the command prints them with ``--json``. Times are nanoseconds,
rates bits a second, sizes bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, TypedDict


class Delays(TypedDict):
    """The delays of packets."""

    min: int
    mean: float
    stddev: float
    p50: int
    p90: int
    p99: int
    p99_9: int
    max: int


class Windows(TypedDict):
    """Losses among consecutive packets, and the tolerance."""

    loss: str
    streams: int
    proved: bool
    packets: int
    lost: int
    windows: int
    violations: int
    consecutive_windows: int
    consecutive_violations: int
    longest_run: int
    deadline_misses: int


class Tcp(TypedDict):
    """The counts of TCP senders."""

    retransmitted: int
    recoveries: int
    timeouts: int
    echoes: int
    completed: int


class _Measured(TypedDict):
    name: str
    sent: int
    dropped: dict[str, int] | int
    nonconforming: int
    delay_ns: Delays | None
    deadline_ns: int | None
    deadline_misses: int
    bound_ns: int | None
    bound_misses: int


class MeasuredClass(_Measured, total=False):
    """The measurements of a class. ``dropped`` is by reason on a link, and a number in a network, where delays are from end to
    end."""

    arrived: int
    loss_ratio: float
    queued: int
    bytes_sent: int
    throughput_bps: float
    promised_max_ns: int | None
    windows: Windows
    parent: str
    flows: int
    goodput_bps: float
    fairness: float | None
    transit_ns: Delays | None
    tcp: Tcp


_Reason = TypedDict("_Reason", {"code": "str", "sentence": "str"})
_OfClass = TypedDict("_OfClass", {"class": "str"}, total=False)


class Reason(_Reason, _OfClass, total=False):
    """Why a plan is admitted, refused or left open: a ``code`` with its numbers, the class, and in networks the place."""

    at: str
    path: list[str]
    why: str
    deadline_ns: int
    bound_ns: int
    length_ns: int
    capacity_bytes: int
    demand_bytes: int
    needed_bytes: int
    asked_bps: int
    given_bps: int
    long_run_bps: int
    link_bps: int
    fullest: Interval
    utilization: float
    shed: list[dict[str, Any]]
    services: int
    needed_tenths: int
    lengths_differ: bool
    covers_sliding: bool
    is_bounded: bool
    scheduler: str
    classes: list[str]
    fewest: int
    error_ns: int
    borne_ns: int
    binding: dict[str, str]


class Verdict(TypedDict):
    """Whether the promises were kept."""

    kept: bool
    held_to: str
    admitted: bool | None
    statement: str
    reasons: list[Reason]
    promised: bool
    broken: list[dict[str, Any]]


class Interval(TypedDict):
    """The interval that binds, or that is broken: its capacity and its demand."""

    length_ns: int
    capacity_bytes: int
    demand_bytes: int


class Slopes(TypedDict):
    """A service curve of two pieces."""

    m1_bps: int
    d_ns: int
    m2_bps: int


class Streams(TypedDict):
    """The streams of a class that may lose some of their packets."""

    count: int
    gap_ns: int | None
    loss: str


class Stretch(TypedDict):
    """The delays of a flow's packets from one first frame on."""

    start: int
    delays: list[int]


_Flow = TypedDict("_Flow", {"class": "str"}, total=False)


class _Proved(TypedDict):
    deadline_ns: int | None
    bound_ns: int | None
    slack_ns: int | None


class ProvedClass(_Proved, _Flow, total=False):
    """The proof of a class, or of one of its flows under time-driven priority, and what it could change to pass."""

    name: str
    unbounded: str
    suggestions_sought: bool
    shortest_deadline_ns: int | None
    highest_rate_bps: int | None
    link_share: Slopes
    real_time: Slopes
    upper_limit: Slopes
    rate_bps: int
    quantum_bytes: int
    tin: str
    level: int
    parent: str
    largest_burst_bytes: int | None
    streams: Streams
    nodes: list[str]
    packets: int
    packet_bytes: int
    stretches: list[Stretch]
    shaping_ns: int
    transit_ns: int
    jitter_ns: int


class ProvedTin(TypedDict):
    """What a tin of CAKE is sure of: its rate after a latency, or why nothing (``unbounded``); of ``hosts`` that sources name,
    what each gets; how soon the first packet of a flow leaves, and what another flow that began before adds."""

    name: str
    rate_bps: int | None
    latency_ns: int | None
    unbounded: str | None
    unknown: str | None
    hosts: int
    host_bps: int | None
    new_flow_ns: int | None
    another_flow_ns: int | None


class Mend(TypedDict):
    """The shortest deadline and the highest rate of a class with which the plan passes."""

    shortest_deadline_ns: int | None
    highest_rate_bps: int | None


_Line = TypedDict(
    "_Line",
    {
        "point": "list[str | None]",
        "scheduler": "str",
        "class": "str",
        "figure": "str",
        "seeds": "int",
        "mean": "float",
        "half_width": "float | None",
        "p5": "float",
        "p50": "float",
        "p95": "float",
    },
)


class Line(_Line, total=False):
    """A figure of a class over the seeds of a combination of values; ``at`` is the output in a network."""

    at: str


class Below(TypedDict):
    """The next smaller value, and why it fails."""

    value: str
    why: list[str]


class _Minimised(TypedDict):
    key: str
    range: list[str]
    value: str
    bound: str


class Minimised(_Minimised, total=False):
    """A minimised key, and what ``bound`` it: ``admission``, ``measured`` or ``range``."""

    below: Below


class _Trial(TypedDict):
    values: list[str]
    numbers: list[float]
    holds: bool
    miss: float


class Trial(_Trial, total=False):
    """A trial, and the amount by which it misses its conditions."""

    refused: str
    admitted: bool | None
    statement: str | None
    reasons: list[Reason]
    broken: list[int] | None
    goals: list[dict[str, Any]]


class Bucket(TypedDict):
    """A token bucket."""

    bucket_bytes: int
    rate_bps: int


class FittedClass(TypedDict):
    """The recorded traffic of a class, and its arrival curve."""

    name: str
    packets: int
    bytes: int
    mean_bps: float
    packet_bytes: int | None
    buckets: list[Bucket]


class LoadLimit(TypedDict):
    """The largest load with which everything holds, in percent of today's traffic."""

    percent: int


class LinkLimit(TypedDict):
    """The smallest rate of a link with which everything holds; ``None`` if there is none."""

    link: str
    rate_bps: int
    smallest_rate_bps: int | None


ClassLimit = TypedDict(
    "ClassLimit",
    {
        "class": "str",
        "burst_bytes": "int",
        "largest_burst_bytes": "int | None",
        "deadline_ns": "int | None",
        "shortest_deadline_ns": "int | None",
        "end_to_end_ns": "int | None",
        "shortest_end_to_end_ns": "int | None",
    },
)
"""The limits of a class, with everything else as it is."""

_WorstCase = TypedDict(
    "_WorstCase",
    {"class": "str", "bound_ns": "int", "found_ns": "int", "arrival_ns": "int", "packets": "int"},
)


class WorstCase(_WorstCase, total=False):
    """The longest delay of a class, in a network along the path over these ``nodes``, and the proved bound; the packet
    arrived at ``arrival_ns``."""

    nodes: list[str]


class Cause(TypedDict, total=False):
    """A part of a delay: ``cause`` is a code, ``of`` the class in the way, ``rule`` the rule of the discipline."""

    cause: str
    of: str
    rule: str
    time_ns: int
    sentence: str


class DelayedHop(TypedDict, total=False):
    """What delayed a packet at one link and on the way from there; ``output`` in a network."""

    output: str
    arrival_ns: int
    start_ns: int
    departure_ns: int
    parts: list[Cause]


class DelayedPacket(_OfClass, total=False):
    """A packet and what delayed it; ``seq`` on one link, ``due_ns`` with a deadline."""

    flow: int
    seq: int
    bytes: int
    arrival_ns: int
    end_ns: int
    delay_ns: int
    due_ns: int
    hops: list[DelayedHop]


class ClassDelays(_OfClass):
    """What delayed the packets of a class in all."""

    packets: int
    parts: list[Cause]


class ChangedDelays(TypedDict):
    """What became of packets in another run; ``slowest`` has ``None`` where one was not sent."""

    change: str
    packets: int
    before_ns: int
    delay_ns: int
    dropped: int
    absent: int
    slowest: list[DelayedPacket | None]
    classes: list[ClassDelays]


class BoundTerm(TypedDict, total=False):
    """A term of a bound: ``term`` is a code, ``of`` the class whose packets take the time, ``output`` the link in a
    network. ``time_ns`` is negative where it shortens the bound; ``used_ns`` is how much the slowest packet used."""

    term: str
    output: str
    of: str
    bytes: int
    time_ns: int
    used_ns: int
    sentence: str


class BesideTerms(TypedDict, total=False):
    """What delayed the slowest packet beside all terms of the bound."""

    output: str
    time_ns: int
    sentence: str


class SlowestPacket(TypedDict):
    """The slowest packet that a run sent under a bound, and the number of ``packets`` that it is the slowest of."""

    packets: int
    bytes: int
    arrival_ns: int
    delay_ns: int
    beside: list[BesideTerms]


class ExplainedBound(_OfClass, total=False):
    """A bound as a sum; ``nodes`` and ``method`` in a network, ``unbounded`` where there is none."""

    nodes: list[str]
    bound_ns: int | None
    unbounded: str
    method: str
    terms: list[BoundTerm]
    slowest: SlowestPacket


class Traffic(TypedDict):
    """The traffic of a run."""

    duration: str | None
    seed: int | None
    arrivals: PathLike[str] | None


class Asked(TypedDict, total=False):
    """The arguments of ``Plan.why`` beside the traffic."""

    class_: str | None
    slowest: int
    slower_than: str | None
    missed: bool
    packet: int | None
    without: Iterable[str]
    with_: Mapping[str, str]
    under: Iterable[str]
