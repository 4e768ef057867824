"""Reservations on a link, or along paths of a network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from . import _laxity, given, toml
from ._laxity import LaxityError
from .plans import Plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._tables import Class


@dataclass(frozen=True)
class Granted:
    """What is granted. Times are in nanoseconds."""

    name: str
    """The name of the reservation."""
    bound: int | None
    """No packet that conforms takes longer; ``None`` if it is promised no delay."""
    start: int
    """When its first packet may come."""
    end: int | None
    """When no packet may come any more; ``None`` if it lasts until it is released."""
    path: tuple[str, ...] = ()
    """In a network, the nodes of its path."""
    over: Mapping[str, int] = field(default_factory=dict)
    """The deadlines over the links of its path, by link; empty where it has one for all."""
    frames: Mapping[str, int] = field(default_factory=dict)
    """Under ``tdp``, the time frame in which each link of its path sends the first packet of a period."""


@dataclass(frozen=True)
class Reservation:
    """A reservation that is there. Times are in nanoseconds."""

    name: str
    """Its name."""
    state: Literal["ahead", "held", "active", "leaving"]
    """Where it stands. One that is leaving sends nothing any more, and is still felt by others."""
    start: int
    """When its first packet may come."""
    end: int | None
    """When no packet may come any more; ``None`` if it lasts until it is released."""
    commit_by: int | None
    """Until when it has to be committed, if it is only held."""
    path: tuple[str, ...] = ()
    """In a network, the nodes of its path."""


class Book:
    """What is promised on the link of a plan, as ``laxity live --reservations`` keeps it, or in its network.

    A reservation is one more class of the plan. It is granted exactly if ``Plan.check`` admits the plan with it and with
    all else that is promised, then and later. Times are nanoseconds of any clock of yours, and never go back. What has
    ended is forgotten when ``expire`` is called. A book can be copied, not pickled.

    >>> import laxity as lx
    >>> plan = lx.Plan(link={"rate": "20mbit"}, scheduler={"kind": "edf"}, classes={"rest": {}})
    >>> book = lx.Book(plan)
    >>> call = {"deadline": "10ms", "arrival": {"bucket": "600b", "rate": "200kbit", "packet": "300b"}}
    >>> book.admit("call", call).bound
    10000000
    >>> try:
    ...     book.admit("film", {"deadline": "5ms", "arrival": {"bucket": "30kB", "rate": "4mbit", "packet": "1500b"}})
    ... except lx.NoRoomError as refused:
    ...     print(refused.bucket)
    10964
    """

    def __init__(self, plan: Plan) -> None:
        if not isinstance(plan, Plan):
            raise TypeError(f"`plan` is a laxity.Plan, not {type(plan).__name__}")
        if plan._scheduler or plan._at or plan._plan.put_under:
            raise LaxityError(f"a book proves what the text of its plan says: write {plan.scheduler!r} into its table `scheduler`")
        self._book = _laxity.Book(plan._plan)

    def __copy__(self) -> Book:
        """Another book with the same reservations."""
        made = Book.__new__(Book)
        made._book = self._book.copy()
        return made

    def __deepcopy__(self, _: Any) -> Book:
        """Another book with the same reservations."""
        return self.__copy__()

    def admit(
        self,
        name: str,
        contract: Class | Mapping[str, Any],
        *,
        path: Sequence[str] = (),
        now: int = 0,
        start: int | None = None,
        end: int | None = None,
        commit_by: int | None = None,
    ) -> Granted:
        """Asks for a reservation with these keys of a class, from ``start`` (now) to ``end`` (until it is released). One
        with ``commit_by`` is only held, and ends then unless it is committed.

        In a network it has a path: the nodes from the sender to the receiver, or these two alone; then the path is the one
        on which its packets can be there soonest. Its ``end-to-end`` is split over links that serve by deadline and hold
        packets to the contract of their class (``regulate``); elsewhere its keys say what it gets at each output.

        Raises ``NoRoomError``, with what would fit, if it does not fit. The book is then as before.
        """
        asked = {"start": start, "end": end, "commit_by": commit_by}
        times = [None if time is None else given.whole(key, time) for key, time in asked.items()]
        way = [given.word("path", node, "a") for node in given.several("path", path, '["a", "b"]')]
        name = given.word("name", name, "call")
        return _granted(self._book.admit(given.whole("now", now), name, _keys(contract), way, times))

    def change(self, name: str, contract: Class | Mapping[str, Any], *, now: int = 0) -> Granted:
        """Gives a reservation other keys from now on. There has to be room for the old ones, too, until what was sent is
        no longer felt.

        Raises ``NoRoomError``, with what would fit, if there is not. The book is then as before.
        """
        return _granted(self._book.change(given.whole("now", now), given.word("name", name, "call"), _keys(contract)))

    def commit(self, name: str, *, now: int = 0) -> None:
        """Grants a reservation that was only held."""
        self._book.commit(given.whole("now", now), given.word("name", name, "call"))

    def renew(self, name: str, end: int | None, *, now: int = 0) -> None:
        """Gives a reservation another end; with ``None`` it lasts until it is released.

        Raises ``NoRoomError`` if the time behind its end is promised to others.
        """
        until = None if end is None else given.whole("end", end)
        self._book.renew(given.whole("now", now), given.word("name", name, "call"), until)

    def release(self, name: str, *, now: int = 0) -> None:
        """Ends a reservation. Its capacity may be promised again when it is no longer felt."""
        self._book.release(given.whole("now", now), given.word("name", name, "call"))

    def expire(self, now: int) -> list[str]:
        """Takes out what has ended and is no longer felt. Returns the names."""
        return self._book.expire(given.whole("now", now))

    def next_change(self, now: int) -> int | None:
        """When something begins, ends or is no longer felt next."""
        return self._book.next_change(given.whole("now", now))

    def reservations(self, now: int = 0) -> list[Reservation]:
        """All reservations, by name. One that was changed is there twice until the old contract is no longer felt."""
        rows = json.loads(self._book.reservations(given.whole("now", now)))
        return [Reservation(**{**row, "path": tuple(row["path"])}) for row in rows]

    def plan(self, now: int = 0) -> Plan:
        """The plan with all that is promised at a time: to be proved, drawn, simulated."""
        return Plan._of(self._book.plan(given.whole("now", now)))


def _granted(answer: str) -> Granted:
    granted = json.loads(answer)
    path = tuple(granted.get("path", ()))
    over = {one["link"]: one["deadline_ns"] for one in granted.get("deadlines", ())}
    frames = {one["link"]: one["frame"] for one in granted.get("frames", ())}
    return Granted(granted["name"], granted["bound_ns"], granted["from_ns"], granted["until_ns"], path, over, frames)


def _keys(contract: Mapping[str, Any]) -> str:
    return toml.document(given.table("contract", contract, '{"deadline": "10ms"}'))
