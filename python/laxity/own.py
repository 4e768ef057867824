"""The user's own schedulers in studies.

The name of a run contains everything that decides its result. For a scheduler in Python this is its name, its state and
its source code, so that a changed scheduler has new runs.
"""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from . import _laxity, toml
from .plans import Plan
from .schedulers import ByRank, Scheduler, native


class Own(NamedTuple):
    """A scheduler of a study."""

    name: str
    identity: bytes
    under: str
    edits: tuple[tuple[str, str], ...]
    pickled: bytes | None
    """The scheduler for another process."""


def known(scheduler: Scheduler | ByRank) -> Own:
    """The description of a scheduler for a study."""
    under, edits = scheduler.stands_for()
    held = _pickled(scheduler)
    words = tuple((key, toml.value(value)) for key, value in edits.items())
    return Own(scheduler.name, repr((held, _written(scheduler))).encode(), under, words, held)


def loaded(own: Own) -> Scheduler | ByRank:
    """The scheduler, in another process.

    Raises ``LaxityError`` if it cannot be sent to one.
    """
    if own.pickled is None:
        raise _laxity.LaxityError(
            f"{own.name} cannot be sent to another process: it holds what pickle does not take, such as a lambda. "
            "Write a function or a class that stands in a module, or leave `executor` out"
        )
    scheduler: Scheduler | ByRank = pickle.loads(own.pickled)
    return scheduler


def make(
    study: _laxity.Study,
    store: str,
    names: Iterable[str],
    schedulers: Callable[[str], Scheduler | ByRank],
) -> list[str]:
    """Makes the runs that are under the user's own schedulers, and returns the names of the others."""
    others = []
    for name in names:
        own = study.own(name)
        if own is None:
            others.append(name)
            continue
        scheduler = schedulers(own)
        scheduler.reset(Plan._of(study.plan(name), scheduler))
        study.make_own(store, name, native(scheduler))
    return others


def _pickled(scheduler: Scheduler | ByRank) -> bytes | None:
    try:
        return pickle.dumps(scheduler)
    except (pickle.PicklingError, AttributeError, TypeError):
        return None


def _written(scheduler: Scheduler | ByRank) -> list[str]:
    parts: list[Any] = [type(scheduler)]
    if isinstance(scheduler, ByRank):
        parts = [part for part in (scheduler.rank, scheduler.eligible) if part is not None]
    return [_source(part) for part in parts]


def _source(part: Any) -> str:
    subject = part if inspect.isclass(part) or inspect.isroutine(part) else type(part)
    try:
        return inspect.getsource(subject)
    except (OSError, TypeError):
        # Written where no file is, as in an interpreter.
        code = getattr(subject, "__code__", None)
        return repr((code.co_code, code.co_names, code.co_consts)) if code else repr(subject)
