"""Searches for plans: the smallest link, the shortest deadlines, weights that keep measured goals."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

from . import _laxity, given, toml
from .answers import Answer, Proof
from .extras import needed
from .plans import Plan, a_plan
from .progress import Going, of_runs, of_trials

if TYPE_CHECKING:
    import optuna

    from .results import Minimised, Trial

Range = Sequence[Any] | Mapping[str, Any]
"""The two ends of a range, as plans write them, ``("5mbit", "50mbit")``; or ``{"from": 1, "to": 100, "log": True}``."""


class Tuned(Answer):
    """The result of a search."""

    def __init__(self, answer: str, text: str, page: str, plan: _laxity.Plan | None) -> None:
        super().__init__(answer, text)
        self.page = page
        """The report, a page of HTML with all trials."""
        self.plan = None if plan is None else Plan._of(plan)
        """The plan; ``None`` if none was found."""

    @property
    def found(self) -> bool:
        """Whether a plan was found that meets all conditions."""
        return self.data["found"]

    @property
    def proof(self) -> Proof | None:
        """What is proved of the plan."""
        return None if self.plan is None else self.plan.check()

    @property
    def minimised(self) -> list[Minimised]:
        """For each minimised key its ``value``, and what ``bound`` it: ``admission``, ``measured`` or
        ``range``."""
        return self.data["minimised"]

    @property
    def trials(self) -> list[Trial]:
        """All trials, in order."""
        return self.data["trials"]

    def _repr_html_(self) -> str:
        page = html.escape(self.page, quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 0"></iframe>'


class Optimum:
    """The result of Optuna."""

    def __init__(self, tuning: _laxity.Tuning, study: optuna.Study) -> None:
        self.study = study
        """The study of Optuna."""
        self.trials: list[Trial] = [
            trial.user_attrs["laxity"] for trial in study.trials if "laxity" in trial.user_attrs
        ]
        """All trials, in order, as ``laxity tune`` judges them."""
        judged = [trial for trial in study.trials if "laxity" in trial.user_attrs]
        holds = [trial for trial in judged if trial.user_attrs["laxity"]["holds"]]
        best = min(holds, key=lambda trial: trial.values, default=None)
        self.best: Trial | None = None if best is None else best.user_attrs["laxity"]
        """The best trial; among several keys the first counts first. ``None`` if no trial holds."""
        self.plan = None if self.best is None else Plan._of(tuning.plan(self.best["numbers"]))
        """The plan of the best trial."""
        self.proof: Proof | None = None if self.plan is None else self.plan.check()
        """What is proved of the plan."""

    @property
    def nearest(self) -> Trial:
        """The trial that misses its goals by the least."""
        return min(self.trials, key=lambda trial: trial["miss"])

    def __repr__(self) -> str:
        found = "nothing found" if self.best is None else ", ".join(self.best["values"])
        return f"<laxity.Optimum of {len(self.trials)} trials: {found}>"


def tune(
    plan: Plan,
    *,
    minimise: Mapping[str, Range] | None = None,
    choose: Mapping[str, Range] | None = None,
    goals: Iterable[Mapping[str, Any]] = (),
    seeds: Iterable[int] = (1,),
    duration: str | None = None,
    trials: int | None = None,
    precision: float | None = None,
    seed: int | None = None,
    store: str | PathLike[str] = "study",
    progress: Going | bool | None = None,
) -> Tuned:
    """Minimises keys, one after the other, as ``laxity tune`` does; the keys of ``choose`` may have any value.

    A goal is ``{"class": "web", "figure": "delay_ns.p99", "at_most": "20ms"}``, or has ``at_least``, and must hold under
    every seed. The plan must also be admitted and keep its promises.
    """
    search = {
        "trials": None if trials is None else given.whole("trials", trials),
        "precision": None if precision is None else given.real("precision", precision),
        "seed": None if seed is None else given.whole("seed", seed),
    }
    tables = {"minimise": _ranges("minimise", minimise), "choose": _ranges("choose", choose), "search": search}
    tuning = _tuning(plan, tables, goals, seeds, duration, store)
    with of_runs(progress) as heard:
        return Tuned(*tuning.tune(heard))


def optimise(
    plan: Plan,
    *,
    over: Mapping[str, Range],
    minimise: str | Sequence[str] = (),
    goals: Iterable[Mapping[str, Any]] = (),
    seeds: Iterable[int] = (1,),
    duration: str | None = None,
    trials: int = 100,
    seed: int = 0,
    store: str | PathLike[str] = "study",
    sampler: optuna.samplers.BaseSampler | None = None,
    progress: Going | bool | None = None,
) -> Optimum:
    """Lets Optuna search for values of the keys in ``over`` with which the ``goals`` hold and the keys in ``minimise`` are
    small; several of them are several objectives.

    Goals are judged as in ``tune``, and are constraints of Optuna. Each run is made once, into ``store``. The default
    ``sampler`` is Optuna's tree-structured Parzen estimator with ``seed``.
    """
    needed("optuna", "optuna", "optimise")
    import optuna

    trials, seed = given.whole("trials", trials), given.whole("seed", seed, most=2**32 - 1)
    small = [minimise] if isinstance(minimise, str) else given.several("minimise", minimise, '["link.rate"]')
    missing = [key for key in small if key not in over]
    if missing:
        raise _laxity.LaxityError(f"`{missing[0]}` is to be small, and has no range in `over`")
    goals, seeds = _goals(goals), given.seeds(seeds)
    tuning = _tuning(plan, {"choose": _ranges("over", given.table("over", over, '{"link.rate": ("5mbit", "50mbit")}'))}, goals, seeds, duration, store)
    # In the order of `over`, whose names may be written in another way than the keys are.
    keys = dict(zip(over, tuning.keys(), strict=True))

    def objective(trial: optuna.Trial, heard: Going | None) -> float | Sequence[float]:
        numbers = {name: _suggested(trial, name, *key[1:5]) for name, key in keys.items()}
        judged = json.loads(tuning.judge(list(numbers.values()), heard))
        for name, miss in _constraints(judged, len(goals)):
            trial.set_constraint(name, miss)
        trial.set_user_attr("laxity", judged)
        return [numbers[name] for name in small] or judged["miss"]

    study = optuna.create_study(
        directions=["minimize"] * max(1, len(small)),
        sampler=sampler or optuna.samplers.TPESampler(seed=seed),
    )
    study.enqueue_trial({name: int(key[5]) if key[4] else key[5] for name, key in keys.items()})
    with of_trials(progress, trials, len(seeds)) as hearing:
        study.optimize(lambda trial: objective(trial, hearing(trial.number)), n_trials=trials)
    return Optimum(tuning, study)


def _tuning(
    plan: Plan,
    tables: Mapping[str, Any],
    goals: Iterable[Mapping[str, Any]],
    seeds: Iterable[int],
    duration: str | None,
    store: str | PathLike[str],
) -> _laxity.Tuning:
    time = given.time("duration", duration)
    sought = {"version": 1, "seeds": given.seeds(seeds), "duration": time, **tables, "goal": _goals(goals)}
    return _laxity.Tuning(a_plan(plan)._searched(), toml.document(sought), given.path("store", store))


def _goals(goals: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return given.tables("goals", goals, '{"class": "web", "figure": "delay_ns.p99", "at_most": "20ms"}')


def _ranges(name: str, ranges: Mapping[str, Range] | None) -> dict[str, Mapping[str, Any]]:
    def one(key: str, ends: Range) -> Mapping[str, Any]:
        if isinstance(ends, Mapping):
            return ends
        both = given.several(key, ends, '("5mbit", "50mbit")')
        if len(both) != 2:
            raise TypeError(f"`{key}` has a range of two ends, such as ('5mbit', '50mbit'), not {short(ends)}")
        return dict(zip(("from", "to"), both, strict=True))

    found = given.table(name, {} if ranges is None else ranges, '{"link.rate": ("5mbit", "50mbit")}')
    return {key: one(key, ends) for key, ends in found.items()}


def _suggested(trial: optuna.Trial, name: str, low: float, high: float, is_log: bool, is_whole: bool) -> float:
    if is_whole:
        return trial.suggest_int(name, int(low), int(high), log=is_log)
    return trial.suggest_float(name, low, high, log=is_log)


def _constraints(judged: Mapping[str, Any], goals: int) -> Iterable[tuple[str, float]]:
    """The conditions, each with the amount by which it is missed: at most 0 if it holds."""
    is_refused = "refused" in judged or judged["admitted"] is False
    yield "admitted", float(is_refused)
    yield "kept", float(is_refused or bool(judged["broken"]))
    for number in range(goals):
        yield f"goal {number + 1}", 1.0 if is_refused else judged["goals"][number]["miss"]
