"""Plans that are found, by Laxity and by Optuna: what they say holds when it is run again."""

from __future__ import annotations

from pathlib import Path

import pytest

import laxity as lx

optuna = pytest.importorskip("optuna")
optuna.logging.set_verbosity(optuna.logging.WARNING)

GOALS = [
    {"class": "a", "figure": "delay_ns.p99", "at_most": "20ms"},
    {"class": "b", "figure": "delay_ns.p99", "at_most": "24.5ms"},
]
OVER = {"class.a.weight": {"from": 1, "to": 100, "log": True}, "link.rate": ("6mbit", "12mbit")}
SEEDS = (1, 2)


def shared() -> lx.Plan:
    def source(name: str, rate: str) -> dict[str, str]:
        return {"class": name, "model": "poisson", "packet": "1000b", "rate": rate}

    return lx.Plan(
        link={"rate": "8mbit"},
        scheduler={"kind": "wfq"},
        classes={"a": {"weight": 1}, "b": {"weight": 10}},
        sources=[source("a", "3.5mbit"), source("b", "3.8mbit")],
    )


def worst(plan: lx.Plan, name: str) -> float:
    """The largest p99 over the seeds, run by itself."""

    def one(seed: int) -> float:
        classes = {one["name"]: one for one in plan.run(duration="1s", seed=seed).classes}
        return classes[name]["delay_ns"]["p99"]

    return max(map(one, SEEDS))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_optuna_finds_a_plan_that_holds(tmp_path: Path, seed: int) -> None:
    found = lx.optimise(
        shared(),
        over=OVER,
        minimise="link.rate",
        goals=GOALS,
        seeds=SEEDS,
        duration="1s",
        trials=40,
        seed=seed,
        store=tmp_path,
    )
    assert found.plan is not None and found.best is not None and found.proof is not None
    assert len(found.trials) == 40
    limits = {"a": 20e6, "b": 24.5e6}
    for goal in found.best["goals"]:
        measured = worst(found.plan, goal["class"])
        assert measured == goal["worst"] <= limits[goal["class"]]
    # Optuna agrees about what holds, and the least of that is it.
    best = found.study.best_trial
    assert all(miss <= 0 for miss in best.constraints.values())
    assert best.user_attrs["laxity"] == found.best
    assert found.plan.text.count(found.best["values"][1]) == 1


def test_runs_are_those_of_the_store(tmp_path: Path) -> None:
    over = {"class.a.weight": (1, 4)}
    made = []
    for _ in range(2):
        heard: list[tuple[int, int]] = []
        found = lx.optimise(
            shared(),
            over=over,
            goals=GOALS[:1],
            seeds=SEEDS,
            duration="500ms",
            trials=6,
            store=tmp_path,
            progress=lambda runs, done, heard=heard: heard.append((runs, done)),
        )
        made.append(len(list(tmp_path.glob("runs/**/*.parquet"))))
        assert found.study.trials[0].params == {"class.a.weight": 1}, "the plan's own"
    assert made[0] == made[1] <= 2 * 4
    assert all(runs == done for runs, done in heard), "nothing was made again"


def test_what_is_not_admitted_is_a_constraint(tmp_path: Path) -> None:
    plan = lx.Plan(
        link={"rate": "10mbit"},
        scheduler={"kind": "edf"},
        classes={
            "voice": {"deadline": "5ms", "arrival": {"bucket": "3000b", "rate": "80kB/s", "packet": "300b"}},
            "web": {},
        },
    )
    over = {"link.rate": ("1mbit", "50mbit")}
    small = {"over": over, "minimise": "link.rate", "trials": 40, "store": tmp_path}
    found = lx.optimise(plan, **small)
    exact = lx.tune(plan, minimise=over, store=tmp_path)
    assert exact.found and exact.minimised[0]["bound"] == "admission"
    assert exact.proof is not None and exact.proof.admitted
    least = exact.data["best"]["numbers"][0]
    assert found.best is not None and least <= found.best["numbers"][0] <= 1.2 * least
    admitted = [trial["admitted"] for trial in found.trials if trial["numbers"][0] < least and "refused" not in trial]
    assert admitted and not any(admitted)


def test_nothing_found_says_what_is_nearest(tmp_path: Path) -> None:
    goals = [{"class": "a", "figure": "delay_ns.p99", "at_most": "1us"}]
    ask = {"goals": goals, "duration": "200ms", "trials": 4, "store": tmp_path}
    found = lx.optimise(shared(), over={"class.a.weight": (1, 9)}, **ask)
    assert found.plan is None and found.proof is None and found.best is None
    assert found.nearest["miss"] == min(trial["miss"] for trial in found.trials) > 0
    tuned = lx.tune(shared(), choose={"class.a.weight": (1, 9)}, **ask)
    assert not tuned.found and tuned.plan is None and "NOT FOUND" in tuned.text


def test_the_native_search_keeps_the_scheduler(tmp_path: Path) -> None:
    plan = shared().under("drr")
    tuned = lx.tune(
        plan,
        minimise={"link.rate": ("4mbit", "20mbit")},
        choose={"class.a.weight": OVER["class.a.weight"]},
        goals=GOALS,
        seeds=SEEDS,
        duration="1s",
        store=tmp_path,
    )
    assert tuned.plan is not None and tuned.plan.scheduler == "drr"
    assert {goal["class"]: worst(tuned.plan, goal["class"]) for goal in tuned.data["best"]["goals"]} == {
        goal["class"]: goal["worst"] for goal in tuned.data["best"]["goals"]
    }
    assert "<svg" in tuned.page and "Found, of " in tuned.text


def test_several_keys_are_several_objectives(tmp_path: Path) -> None:
    over = {"link.rate": ("6mbit", "12mbit"), "class.a.weight": (1, 100)}
    ask = {"goals": GOALS, "seeds": SEEDS, "duration": "500ms", "trials": 12, "store": tmp_path}
    found = lx.optimise(shared(), over=over, minimise=["link.rate", "class.a.weight"], **ask)
    assert len(found.study.directions) == 2
    holds = [trial["numbers"] for trial in found.trials if trial["holds"]]
    assert holds and found.best is not None and found.best["numbers"] == min(holds)


def test_what_is_wrong_is_told(tmp_path: Path) -> None:
    ask = {"store": tmp_path, "trials": 1}
    with pytest.raises(lx.LaxityError, match="has no range in `over`"):
        lx.optimise(shared(), over={"link.rate": ("1mbit", "9mbit")}, minimise="link.rte", **ask)
    with pytest.raises(lx.PlanError, match="takes a range here"):
        lx.optimise(shared(), over={"link.rate": ("9mbit", "1mbit")}, **ask)
    with pytest.raises(lx.PlanError, match="no class `c`"):
        lx.tune(shared(), choose={"class.a.weight": (1, 9)}, goals=[GOALS[0] | {"class": "c"}], **ask)
    with pytest.raises(lx.PlanError, match="nothing is sought"):
        lx.tune(shared(), **ask)
