"""Your own schedulers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

from . import _laxity, given
from ._laxity import Packet

if TYPE_CHECKING:
    from .plans import Plan

Number = int | float


class Scheduler(_laxity.Scheduler):
    """The base class of schedulers. It describes the contract, which is checked at every call.

    Each packet goes out once, or is dropped with ``self.drop(packet)``, and none goes out before it is ``eligible``. A
    breach of the contract, or an exception, ends the run and reaches the caller.

    >>> import laxity as lx
    >>> class Shortest(lx.Scheduler):
    ...     def reset(self, plan):
    ...         self.waiting = []
    ...     def enqueue(self, now, packet):
    ...         self.waiting.append(packet)
    ...     def dequeue(self, now):
    ...         shortest = min(self.waiting, key=lambda packet: packet.length, default=None)
    ...         if shortest:
    ...             self.waiting.remove(shortest)
    ...         return shortest
    """

    @property
    def name(self) -> str:
        """Its name in tables: that of its class."""
        return type(self).__name__

    def __getstate__(self) -> dict[str, Any]:
        """Its state, for another process or a copy."""
        return dict(self.__dict__)

    def stands_for(self) -> tuple[str, dict[str, str]]:
        """The discipline that stands in for this one in proofs, and the values of keys to set for it. It must prove no
        more than holds for this scheduler; ``fifo`` proves nothing."""
        return "fifo", {}

    def reset(self, plan: Plan) -> None:
        """Begins a run of this plan."""

    def enqueue(self, now: int, packet: Packet) -> None:
        """Takes a packet that arrives at ``now``, in nanoseconds."""
        raise NotImplementedError("a scheduler has an `enqueue(self, now, packet)`")

    def dequeue(self, now: int) -> Packet | None:
        """The packet that the link sends now; called whenever the link is free and packets wait.

        If it returns ``None`` while packets wait, ``next_ready`` must say when there is one.
        """
        raise NotImplementedError("a scheduler has a `dequeue(self, now)`")

    def next_ready(self, now: int) -> int | None:
        """After ``dequeue`` returned ``None`` while packets wait: when to call it again, unless a packet arrives before."""
        return None


class Deadline:
    """The time when a packet is due, as a rank: its arrival plus the deadline of its class.

    With ``by_rank`` it makes earliest deadline first, which has an admission test. Classes that are not named have the
    plan's deadlines; those without any are best effort.

    >>> import laxity as lx
    >>> sooner = lx.by_rank(lx.Deadline({"voice": "3ms"}))
    """

    def __init__(self, deadlines: Mapping[str, str] | None = None) -> None:
        self.deadlines = given.table("deadlines", {} if deadlines is None else deadlines, '{"voice": "3ms"}')

    def __call__(self, packet: Packet) -> Number:
        """When a packet is due in a plan with these deadlines, in ns; best effort is never due."""
        return float("inf") if packet.deadline is None else packet.deadline


class ByRank:
    """A scheduler by rank, made by ``by_rank``."""

    def __init__(self, rank: Callable[[Packet], Number], eligible: Callable[[Packet], int] | None, name: str) -> None:
        self.rank = rank
        self.eligible = eligible
        self.name = name

    @property
    def deadlines(self) -> dict[str, str] | None:
        """The deadlines of its rank, if the rank is a ``Deadline`` and packets are eligible at once."""
        return self.rank.deadlines if isinstance(self.rank, Deadline) and self.eligible is None else None

    def stands_for(self) -> tuple[str, dict[str, str]]:
        """The discipline that stands in for this one in proofs, and the values of keys to set for it."""
        if self.deadlines is None:
            return "fifo", {}
        return "edf/background", {f"class.{name}.deadline": deadline for name, deadline in self.deadlines.items()}

    def reset(self, plan: Plan) -> None:
        """Does nothing: a rank is a function."""

    @property
    def native(self) -> _laxity.Ranks:
        """The scheduler for the simulator."""
        rank = None if isinstance(self.rank, Deadline) else self.rank
        return _laxity.Ranks(self.name, rank, self.eligible)


def by_rank(
    rank: Callable[[Packet], Number], *, eligible: Callable[[Packet], int] | None = None, name: str | None = None
) -> ByRank:
    """A scheduler that sends the packet with the least rank; among equal ones, the first to arrive.

    ``rank`` is called once for each packet, as it arrives. So is ``eligible``, which returns a time in ns before which the
    packet is not sent. ``Plan.check`` proves a rank that is a ``Deadline``.

    >>> import laxity as lx
    >>> shortest_first = lx.by_rank(lambda packet: packet.length)
    """
    given.function("rank", rank, "a packet, such as `lambda packet: packet.length`")
    if eligible is not None:
        given.function("eligible", eligible, "a packet, such as `lambda packet: packet.arrival + 1_000_000`")
    called = given.word("name", name, "shortest first") if name is not None else getattr(rank, "__name__", type(rank).__name__)
    return ByRank(rank, eligible, "by rank" if called == "<lambda>" else called)


def is_one(scheduler: Any) -> None:
    """Raises ``TypeError`` if this is no scheduler."""
    if isinstance(scheduler, type) and issubclass(scheduler, Scheduler):
        raise TypeError(f"`scheduler` is an object, and {scheduler.__name__} is its class: give `{scheduler.__name__}()`")
    if not isinstance(scheduler, Scheduler | ByRank):
        raise TypeError(
            f"`scheduler` is the name of a discipline such as 'edf', or a scheduler of one's own, not {short(scheduler)}"
        )


def native(scheduler: Scheduler | ByRank | None) -> Any:
    """A scheduler for the simulator."""
    return scheduler.native if isinstance(scheduler, ByRank) else scheduler
