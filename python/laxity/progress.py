"""Progress: a callback, or a bar of tqdm."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from . import given
from .extras import needed

Progress = Callable[[int, int], object]
"""Receives the simulated time in nanoseconds, and the number of packets that links have sent (in a network one at every
hop), both from 0 on. An exception in it stops the run."""
Going = Callable[[int, int], object]
"""Receives the number of runs and how many of them are done. An exception in it stops the study."""

SECONDS = "{l_bar}{bar}| {n:.1f}/{total:.1f} s [{elapsed}<{remaining}{postfix}]"
SECONDS_OF_MANY = "{desc}: {n:.1f} s [{elapsed}{postfix}]"


@contextmanager
def simulated(progress: Progress | bool | None, lasts: int | None, runs: int = 1) -> Iterator[Progress | None]:
    """The callback for some runs, one after another, each of ``lasts`` nanoseconds if that is known; a bar if ``True``."""
    progress = _heard(progress)
    if not isinstance(progress, bool):
        yield progress
    elif not progress:
        yield None
    else:
        total = None if lasts is None else lasts * runs / 1e9
        with _bar(desc="simulated", total=total, bar_format=SECONDS_OF_MANY if total is None else SECONDS) as bar:
            begun, since = 0, monotonic()

            def heard(now: int, hops: int) -> None:
                nonlocal begun, since
                # A run begins at 0, and goes on for a while when no more packets arrive.
                if now == 0:
                    begun, since = begun + 1, monotonic()
                if hops:
                    bar.set_postfix_str(f"{bar.format_sizeof(hops / (monotonic() - since))} hops/s", refresh=False)
                before, here = (0, now) if lasts is None else ((begun - 1) * lasts, min(now, lasts))
                _show(bar, (before + here) / 1e9)

            yield heard
            _show(bar, total or bar.n)


@contextmanager
def of_runs(progress: Going | bool | None) -> Iterator[Going | None]:
    """The callback for a study; a bar if ``True``."""
    progress = _heard(progress)
    if not isinstance(progress, bool):
        yield progress
    elif not progress:
        yield None
    else:
        with _bar(desc="runs", total=0, unit="run") as bar:

            def heard(runs: int, done: int) -> None:
                bar.total = runs
                _show(bar, done)

            yield heard
            _show(bar, bar.total)


@contextmanager
def of_trials(progress: Going | bool | None, trials: int, runs: int) -> Iterator[Callable[[int], Going | None]]:
    """The callback for each trial, by its number from 0, of ``runs`` runs; one bar for all trials if ``True``."""
    progress = _heard(progress)
    with of_runs(progress) as heard:
        if progress is True and heard is not None:
            yield lambda trial: lambda _, done: heard(trials * runs, trial * runs + done)
        else:
            yield lambda _: heard


def _heard(progress: Any) -> Any:
    """A function, whether there is a bar, or ``None``.

    Raises ``TypeError`` for any other type.
    """
    progress = given.plain(progress)
    is_one = progress is None or isinstance(progress, bool)
    return progress if is_one else given.function("progress", progress, "two numbers, or `True` for a bar")


def _bar(**options: Any) -> Any:
    return needed("tqdm.auto", "progress", "a progress bar").tqdm(**options)


def _show(bar: Any, at: float) -> None:
    # As often as tqdm redraws.
    bar.update(at - bar.n)
