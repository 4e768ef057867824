"""Schedulers of one's own in studies."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import pytest

import laxity as lx
from test_copies import Shortest
from thousand import PLAN

OVER = {"link.rate": ["2mbit", "3mbit"]}


def by_arrival(packet):
    return packet.arrival


def mean(study, rate, scheduler):
    lines = [line for line in study.lines if line["figure"] == "delay_ns.mean" and line["class"] == "web"]
    return next(line["mean"] for line in lines if rate in line["point"] and line["scheduler"] == scheduler)


def test_they_are_values_of_a_key_beside_disciplines(tmp_path):
    done = []
    by_rank = lx.by_rank(by_arrival)
    schedulers = ["fifo", by_rank, Shortest()]
    study = lx.sweep(
        PLAN,
        OVER | {"scheduler": schedulers},
        seeds=range(3),
        duration="1s",
        store=tmp_path,
        progress=lambda runs, now: done.append((runs, now)),
    )
    assert done[-1] == (18, 18) and len(list(tmp_path.rglob("*.parquet"))) == 18
    for rate in OVER["link.rate"]:
        # First come, first served by rank is what it says, and another scheduler is another one.
        assert mean(study, rate, "by_arrival") == mean(study, rate, "fifo") != mean(study, rate, "Shortest")
    runs = [PLAN.edit({"link.rate": "2mbit"}).under(Shortest()).run(seed=seed, duration="1s") for seed in range(3)]
    each = [next(one for one in run.classes if one["name"] == "web")["delay_ns"]["mean"] for run in runs]
    assert mean(study, "2mbit", "Shortest") == pytest.approx(sum(each) / 3)


def test_a_plan_may_be_under_one_and_is_not_run_again(tmp_path):
    plan = PLAN.under(lx.by_rank(lambda packet: packet.length, name="short first"))
    first = lx.sweep(plan, OVER, duration="1s", store=tmp_path)
    times = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.parquet")}
    again = lx.sweep(plan, OVER, duration="1s", store=tmp_path)
    assert times == {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.parquet")} and len(times) == 2
    assert again.lines == first.lines and {line["scheduler"] for line in first.lines} == {"short first"}
    # Written otherwise, it is another one, whatever it is called.
    other = PLAN.under(lx.by_rank(lambda packet: -packet.length, name="short first"))
    lx.sweep(other, OVER, duration="1s", store=tmp_path)
    assert len(list(tmp_path.rglob("*.parquet"))) == 4


def test_deadlines_are_set_and_proved(tmp_path):
    sooner = lx.by_rank(lx.Deadline({"voice": "40ms"}), name="sooner")
    study = lx.sweep(PLAN, {"scheduler": ["edf", sooner]}, duration="1s", store=tmp_path)
    run = PLAN.under(sooner).run(seed=1, duration="1s")
    voice = next(one for one in run.classes if one["name"] == "voice")
    wanted = {"scheduler": "sooner", "class": "voice", "figure": "delay_ns.mean"}
    found = [line["mean"] for line in study.lines if wanted.items() <= line.items()]
    assert found == [pytest.approx(voice["delay_ns"]["mean"])] and voice["deadline_ns"] == 40_000_000


def test_other_processes_have_them_by_pickle(tmp_path):
    over = OVER | {"scheduler": ["fifo", Shortest()]}
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        spread = lx.sweep(PLAN, over, duration="1s", store=tmp_path / "spread", executor=pool)
        with pytest.raises(lx.LaxityError, match="by rank cannot be sent to another process: .* such as a lambda"):
            shortest = lx.by_rank(lambda packet: packet.length)
            lx.sweep(PLAN.under(shortest), OVER, duration="1s", store=tmp_path / "none", executor=pool)
    assert spread.lines == lx.sweep(PLAN, over, duration="1s", store=tmp_path / "here").lines


def test_what_is_raised_reaches_who_asked_and_what_is_done_is_kept(tmp_path):
    def raises(packet):
        raise ZeroDivisionError("a rank")

    with pytest.raises(ZeroDivisionError, match="a rank"):
        lx.sweep(PLAN, {"scheduler": ["fifo", lx.by_rank(raises)]}, duration="1s", store=tmp_path)
    assert len(list(tmp_path.rglob("*.parquet"))) == 1


@pytest.mark.parametrize(
    ("schedulers", "error", "said"),
    [
        ([lx.by_rank(by_arrival), lx.by_rank(by_arrival)], lx.LaxityError, "two schedulers are called by_arrival"),
        ([lx.by_rank(by_arrival, name="edf")], lx.LaxityError, "edf is the name of a discipline"),
        ([Shortest], TypeError, "`scheduler` is an object, and Shortest is its class"),
        ([7], TypeError, "not 7"),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(tmp_path, schedulers, error, said):
    with pytest.raises(error, match=said):
        lx.sweep(PLAN, {"scheduler": schedulers}, duration="1s", store=tmp_path / "store")
    assert not (tmp_path / "store").exists()
