"""Bars of progress."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import laxity as lx
from laxity.progress import of_runs, of_trials, simulated

tqdm_auto = pytest.importorskip("tqdm.auto")

PLAN = lx.Plan(
    link={"rate": "2mbit"},
    scheduler={"kind": "wfq"},
    classes={"a": {"weight": 1}, "b": {"weight": 2}},
    sources=[{"class": name, "model": "poisson", "packet": "500b", "rate": "500kbit"} for name in "ab"],
)


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every bar that is made."""
    made: list[Any] = []

    def make(**options: Any) -> Any:
        made.append(real(**options))
        return made[-1]

    real = tqdm_auto.tqdm
    monkeypatch.setattr(tqdm_auto, "tqdm", make)
    return made


def ended(bars: list[Any]) -> tuple[float, float]:
    """Where the only bar is, and ends, which is closed."""
    (bar,) = bars
    assert bar.disable, "it is closed"
    return bar.n, bar.total


def test_a_run_and_a_comparison_go_through_simulated_seconds(bars: list[Any]) -> None:
    PLAN.run(duration="3s", progress=True)
    assert ended(bars) == (3, 3)
    bars.clear()
    lx.compare(PLAN, ["fifo", "wfq"], duration="3s", progress=True)
    assert ended(bars) == (6, 6)


def test_several_runs_are_one_after_another(bars: list[Any]) -> None:
    with simulated(True, 2_000_000_000, 2) as heard:
        assert heard is not None
        seen = []
        for now in (0, 1_000_000_000, 3_000_000_000, 0, 500_000_000):
            heard(now, now // 1_000_000)
            seen.append(bars[0].n)
    assert seen == [0, 1, 2, 2, 2.5]
    assert bars[0].postfix.endswith(" hops/s")


def test_studies_and_searches_go_through_runs(bars: list[Any], tmp_path: Path) -> None:
    lx.sweep(PLAN, {"link.rate": ["2mbit", "3mbit"]}, seeds=range(3), duration="1s", store=tmp_path, progress=True)
    assert ended(bars) == (6, 6)
    bars.clear()
    goals = [{"class": "a", "figure": "delay_ns.p99", "at_most": "20ms"}]
    ask: dict[str, Any] = {"goals": goals, "seeds": [1, 2], "duration": "500ms", "trials": 4, "store": tmp_path}
    lx.tune(PLAN, choose={"class.a.weight": (1, 9)}, progress=True, **ask)
    at, of = ended(bars)
    assert at == of > 0
    bars.clear()
    pytest.importorskip("optuna")
    lx.optimise(PLAN, over={"class.a.weight": (1, 9)}, progress=True, **ask)
    assert ended(bars) == (8, 8)


@pytest.mark.parametrize("raised", [KeyboardInterrupt, RuntimeError])
def test_a_bar_is_closed_whatever_happens(bars: list[Any], raised: type[BaseException]) -> None:
    for made in (simulated(True, 10**9), of_runs(True), of_trials(True, 3, 2)):
        with pytest.raises(raised), made:
            raise raised
    assert len(bars) == 3 and all(bar.disable and bar.n == 0 for bar in bars)


def test_a_run_that_fails_closes_its_bar(bars: list[Any]) -> None:
    def wrong(packet: lx.Packet) -> float:
        raise ValueError("no rank")

    with pytest.raises(ValueError, match="no rank"):
        PLAN.under(lx.by_rank(wrong)).run(duration="1s", progress=True)
    at, of = ended(bars)
    assert at < of == 1


def test_callables_hear_and_nobody_sees_a_bar(bars: list[Any], tmp_path: Path) -> None:
    heard: list[tuple[int, int]] = []
    lx.compare(PLAN, ["fifo", "wfq"], duration="1s", progress=lambda *reached: heard.append(reached))
    assert heard.count((0, 0)) == 2, "each run begins"
    for nothing in (None, False):
        PLAN.run(duration="1s", progress=nothing)
        lx.sweep(PLAN, {"link.rate": ["2mbit"]}, duration="1s", store=tmp_path, progress=nothing)
    assert not bars


@pytest.mark.parametrize("verb", ["tune", "optimise"])
def test_searches_refuse_schedulers_that_are_written_in_python(tmp_path: Path, verb: str) -> None:
    plan = PLAN.under(lx.by_rank(lambda packet: packet.length, name="shortest"))
    over = {"link.rate": ("2mbit", "3mbit")}
    asked = {
        "tune": lambda: lx.tune(plan, minimise=over, store=tmp_path / "store"),
        "optimise": lambda: lx.optimise(plan, over=over, trials=1, store=tmp_path / "store"),
    }[verb]
    with pytest.raises(lx.LaxityError, match="written in Python cannot: .* under shortest"):
        asked()
    assert not (tmp_path / "store").exists()
