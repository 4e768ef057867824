"""Studies spread over an executor's workers.

A task is a study in words and the names of some of its runs. A worker makes the runs that the store does not have; each
is a file that is complete once it exists. If a worker dies, only its current runs are lost, and they are given out
again.
"""

from __future__ import annotations

import math
import time
import uuid
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from functools import lru_cache, partial
from itertools import islice
from typing import Any, NamedTuple

from . import _laxity, own
from .executors import Pool, Task, opened

SECONDS = 1.0
"""The duration of a task, in seconds, if runs are shorter."""
AHEAD = 2
"""The number of tasks given out for each worker: its current one, and the next."""
PATIENCE = 3
"""The number of rounds without a finished run after which the study fails."""


class Question(NamedTuple):
    """A study in words, which every process reads in the same way."""

    text: str
    name: str
    folder: str
    under: str | None
    grid: tuple[tuple[str, tuple[str, ...]], ...]
    seeds: tuple[int, ...]
    duration: str | None
    own: tuple[own.Own, ...] = ()


def make(call: str, question: Question, store: str, names: list[str]) -> float | Exception:
    """Makes the runs that the store does not have. Returns the seconds that it took, or the error of a run.

    The error is a value, so that an exception of a task always means that its worker died.
    """
    try:
        study = _read(call, question)
        began = time.perf_counter()
        ones_own = {one.name: own.loaded(one) for one in question.own}
        study.make(store, own.make(study, store, names, ones_own.__getitem__))
        return time.perf_counter() - began
    except Exception as error:
        return error


@lru_cache(maxsize=4)
def _read(call: str, question: Question) -> _laxity.Study:
    # A process reads the plans of a study once for each call: recordings may have changed since the one before.
    return read(question)


def read(question: Question) -> _laxity.Study:
    """The study, with every plan read."""
    return _laxity.Study(*question[:7], [one[:4] for one in question.own])


def run(
    study: _laxity.Study,
    question: Question,
    store: str,
    shard: tuple[int, int],
    executor: Any,
    tasks: int | None,
    heard: Callable[[int, int], object],
) -> None:
    """Makes, on an executor, the runs of a part of a study that its store does not have.

    Raises the error of a run, or ``LaxityError`` if workers die and no run is made.
    """
    if tasks is not None and tasks < 1:
        raise _laxity.LaxityError("`tasks` is how many run at a time, at least one")
    task = partial(make, uuid.uuid4().hex, question, store)
    runs = study.runs(shard)
    # Names are hashes: in their order long runs and short ones are mixed, so that batches are alike.
    missing = sorted(study.missing(store, shard))
    heard(runs, runs - len(missing))
    barren = 0
    while missing:
        with opened(executor, task, tasks) as pool:
            given = _Round(pool, missing)
            given.run(lambda left: heard(runs, runs - left))
        before = len(missing)
        # Of what was lost some may be done: jobs that reach their limit of time are no faults.
        missing = sorted(set(given.lost).intersection(study.missing(store, shard)))
        barren = 0 if len(missing) < before else barren + 1
        if barren == PATIENCE:
            raise _laxity.LaxityError(
                f"{PATIENCE} times workers came to grief without a run being made: {given.reason!r}. {len(missing)} "
                "runs are missing; what is done is kept, and the same call goes on from there"
            ) from given.reason


class _Round:
    """One round, which gives every missing run out once."""

    def __init__(self, pool: Pool, names: list[str]) -> None:
        self.pool = pool
        self.waiting = deque(names)
        self.going: dict[Task, list[str]] = {}
        self.lost: list[str] = []
        """The runs of workers that died."""
        self.reason: Exception | None = None
        self.pace: float | None = None
        """The recent duration of a run, in seconds."""

    def run(self, heard: Callable[[int], object]) -> None:
        try:
            while self.waiting or self.going:
                self._give()
                while self.going and not self._take():
                    time.sleep(1.0 if self.pool.has_jobs else 0.01)
                heard(len(self.waiting) + len(self.lost) + sum(map(len, self.going.values())))
        finally:
            for task in self.going:
                task.cancel()

    def _give(self) -> None:
        if not self.waiting:
            return
        most = max(1, self.pool.workers()) * (1 if self.pool.has_jobs else AHEAD)
        try:
            with self.pool.at_once():
                while self.waiting and len(self.going) < most:
                    batch = list(islice(self.waiting, self._size(most)))
                    self.going[self.pool.submit(batch)] = batch
                    for _ in batch:
                        self.waiting.popleft()
        except BrokenExecutor as error:
            self.lost += self.waiting
            self.waiting.clear()
            self.reason = error

    def _size(self, most: int) -> int:
        if self.pool.has_jobs:
            return math.ceil(len(self.waiting) / (most - len(self.going)))
        if self.pace is None:
            return 1
        # Towards the end batches are shorter, so that no worker is at its last one for long.
        return min(math.ceil(len(self.waiting) / most), math.ceil(SECONDS / max(self.pace, 1e-6)))

    def _take(self) -> bool:
        """Takes finished tasks; whether there were any."""
        done = [task for task in self.going if task.done()]
        for task in done:
            batch = self.going.pop(task)
            try:
                answer = task.result()
            except Exception as error:
                self.lost += batch
                self.reason = error
                continue
            if isinstance(answer, Exception):
                raise answer
            pace = answer / len(batch)
            self.pace = pace if self.pace is None else (self.pace + pace) / 2
        return bool(done)
