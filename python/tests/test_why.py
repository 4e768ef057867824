"""Why packets were late."""

from __future__ import annotations

from pathlib import Path

import laxity as lx
import polars as pl
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def plan() -> lx.Plan:
    return lx.Plan.read(EXAMPLES / "why/long-packet.toml")


def test_delays_are_sums_of_causes(plan: lx.Plan) -> None:
    delays = plan.why(class_="call", slowest=5)
    assert delays.matched == 500 and len(delays.packets) == 5
    for packet in delays.packets:
        assert packet["class"] == "call"
        parts = [part for hop in packet["hops"] for part in hop["parts"]]
        assert sum(part["time_ns"] for part in parts) == packet["delay_ns"]
    assert "a packet of upload was on the link" in delays.text


def test_a_run_is_asked_for_its_own_packets(plan: lx.Plan) -> None:
    run = plan.run(seed=7, duration="2s", packets=True)
    slowest = run.why(class_="call", slowest=1).packets[0]
    assert run.classes[0]["delay_ns"]["max"] == slowest["delay_ns"]
    assert slowest != plan.why(class_="call", slowest=1).packets[0]


def test_causes_add_up_to_the_delays_of_packets(plan: lx.Plan) -> None:
    run = plan.run(duration="3s", packets=True)
    packets = pl.DataFrame(run.packets).filter(verdict="sent").sort("seq")
    causes = pl.DataFrame(run.causes)
    sums = causes.group_by("seq").agg(pl.sum("time_ns")).sort("seq")
    assert sums["seq"].to_list() == packets["seq"].to_list()
    assert sums["time_ns"].to_list() == (packets["departure_ns"] - packets["arrival_ns"]).to_list()
    assert run.causes is run.causes, "it is simulated once"


@pytest.mark.parametrize("name", ["why/long-packet.toml", "why/regulator.toml", "why/excess.toml"])
def test_causes_are_those_that_why_lists(name: str) -> None:
    run = lx.Plan.read(EXAMPLES / name).run(duration="1s")
    causes = pl.DataFrame(run.causes)
    packets = run.why(slowest=20).packets
    for packet in packets:
        rows = causes.filter(
            pl.col("class") == packet["class"],
            pl.col("arrival_ns") == packet["arrival_ns"],
            pl.col("flow") == packet["flow"],
        )
        if "seq" in packet:
            rows = rows.filter(seq=packet["seq"])
        parts = [
            (hop.get("output"), part["cause"], part.get("of"), part.get("rule"), part["time_ns"])
            for hop in packet["hops"]
            for part in hop["parts"]
        ]
        # In a network several packets may set out at once.
        alike = rows.partition_by("seq", maintain_order=True)
        assert parts in [one.select("output", "cause", "of", "rule", "time_ns").rows() for one in alike]
    for one in run.why().classes:
        assert causes.filter(pl.col("class") == one["class"])["seq"].n_unique() == one["packets"]


def test_changes_are_run_with_the_same_arrivals(plan: lx.Plan) -> None:
    asked = plan.why(class_="call", without=["upload"], with_={"link.rate": "2mbit"}, under=["fifo"])
    without, faster, fifo = asked.changes
    assert [change["change"] for change in asked.changes] == ["without upload", "link.rate=2mbit", "fifo"]
    assert without["delay_ns"] == 500 * 1_600_000
    assert faster["delay_ns"] < without["before_ns"] < fifo["delay_ns"]
    packet, changed = asked.packets[0], without["slowest"][0]
    assert changed is not None and changed["arrival_ns"] == packet["arrival_ns"]


def test_what_cannot_be_asked(plan: lx.Plan) -> None:
    with pytest.raises(lx.LaxityError, match="no class `calls`"):
        plan.why(class_="calls")
    with pytest.raises(TypeError, match="`without` is a list"):
        plan.why(without="upload")
    with pytest.raises(lx.LaxityError, match="no `links`"):
        plan.why(with_={"links.rate": "2mbit"})
