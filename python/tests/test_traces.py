"""Traces for Perfetto, read by its own trace processor: SQL over a trace is what the run says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import laxity as lx
import polars
import pytest
from trace_processor import TraceProcessor

EXAMPLES = Path(__file__).parents[2] / "examples"

# What is on the tracks of outputs, with the names of both.
ON_TRACKS = """
    create perfetto view on_tracks as
    select output.name as output, thing.name as track, slice.name as name, slice.id, ts, dur, depth, arg_set_id
    from slice join track as thing on slice.track_id = thing.id join track as output on thing.parent_id = output.id
"""
# The same without packets that arrived or set out in the warm-up: no count of the JSON has them.
MEASURED = """
    create perfetto view measured as
    select * from on_tracks where coalesce(
        extract_arg(arg_set_id, 'debug.set_out_ns'), extract_arg(arg_set_id, 'debug.arrival_ns'), ts
    ) >= {warm_up_ns}
"""
# What counters show.
COUNTERS = """
    create perfetto view queue_counters as
    select output.name as output, thing.name as track, ts, cast(value as int) as value
    from counter join track as thing on counter.track_id = thing.id join track as output on thing.parent_id = output.id
"""


def traced(example: str, folder: Path, **options: str) -> tuple[lx.Run, TraceProcessor]:
    plan = lx.Plan.read(EXAMPLES / example)
    file = folder / "out.perfetto-trace"
    run = plan.run(packets=True, trace=file, **options)
    processor = TraceProcessor(file.read_bytes())
    for view in (ON_TRACKS, MEASURED.format(**run.data), COUNTERS):
        processor.query(view)
    # Nothing of the file is unknown to the processor, or was dropped by it.
    assert processor.query("select name from stats where value > 0 and severity in ('error', 'data_loss')") == []
    assert processor.query("select max(depth) from on_tracks") == [(0,)], "some events stand above others"
    return run, processor


def rows_of(run: lx.Run) -> list[dict[str, Any]]:
    return polars.DataFrame(run.packets).rows(named=True)


LINKS = ["home-uplink", "why/long-packet", "why/eligible", "why/excess", "why/overload"]


@pytest.mark.parametrize("example", LINKS)
def test_sql_over_a_link_is_its_json(example: str, tmp_path: Path) -> None:
    run, processor = traced(f"{example}.toml", tmp_path)
    with processor:
        rows = processor.query("select track, name, count(*) as n from measured group by 1, 2")
        reasons = processor.query(
            "select name, extract_arg(arg_set_id, 'debug.reason') as reason, count(*) as n"
            " from measured where track = 'drops' group by 1, 2"
        )
        delays = processor.query(
            "select name, max(extract_arg(arg_set_id, 'debug.delay_ns')) as slowest"
            " from measured where track = 'transmissions' group by 1"
        )
    shown: dict[str, dict[str, int]] = {}
    for track, name, count in rows:
        shown.setdefault(track, {})[name] = count
    classes = {of["name"]: of for of in run.classes}
    for track, key in (("arrivals", "arrived"), ("transmissions", "sent"), ("missed deadlines", "deadline_misses")):
        assert shown.get(track, {}) == {name: of[key] for name, of in classes.items() if of[key]}, track
    dropped = [(name, *drops) for name, of in classes.items() for drops in of["dropped"].items()]
    assert sorted(reasons) == sorted(dropped)
    assert dict(delays) == {name: of["delay_ns"]["max"] for name, of in classes.items() if of["sent"]}


def test_slices_are_the_rows_of_packets(tmp_path: Path) -> None:
    run, processor = traced("home-uplink.toml", tmp_path)
    with processor:
        arguments = ["seq", "flow", "length", "arrival_ns", "deadline_ns"]
        columns = ", ".join(f"extract_arg(arg_set_id, 'debug.{name}') as {name}" for name in arguments)
        slices = processor.query(
            f"select {columns}, name, ts, ts + dur as departure from on_tracks where track = 'transmissions'"
        )
    names = [*arguments, "class", "start_ns", "departure_ns"]
    rows = [tuple(row[name] for name in names) for row in rows_of(run) if row["verdict"] == "sent"]
    assert sorted(slices) == sorted(rows)


def test_arrows_lead_from_arrivals_to_transmissions_and_on(tmp_path: Path) -> None:
    run, processor = traced("two-hops.toml", tmp_path)
    with processor:
        arrows = processor.query(
            "select a.track as origin, b.track as target, min(b.ts - a.ts) as shortest, count(*) as n"
            " from flow join on_tracks as a on slice_out = a.id join on_tracks as b on slice_in = b.id"
            " where a.name = b.name group by 1, 2"
        )
        [[total]] = processor.query("select count(*) from flow")
        [[received]] = processor.query("select count(*) from on_tracks where track = 'received'")
    assert sum(n for *_, n in arrows) == total, "an arrow joins packets of two classes"
    kinds = {(origin, target) for origin, target, *_ in arrows}
    assert {("arrivals", "transmissions"), ("transmissions", "arrivals"), ("transmissions", "received")} <= kinds
    assert all(shortest >= 0 for *_, shortest, _ in arrows)
    assert received == sum(n for _, target, _, n in arrows if target == "received") > 0


def test_counters_are_what_waits(tmp_path: Path) -> None:
    run, processor = traced("home-uplink.toml", tmp_path)
    with processor:
        shown = processor.query(
            "select track, ts, value from queue_counters where track like 'video: queued %' order by ts"
        )
        dropped = processor.query("select ts from on_tracks where track = 'drops' and name = 'video' order by id")
    changes: dict[int, int] = {}
    drop_times = iter(sorted(dropped))
    for row in rows_of(run):
        if row["class"] == "video":
            left = row["start_ns"] if row["verdict"] == "sent" else next(drop_times)[0]
            for time, by in ((row["arrival_ns"], row["length"]), (left, -row["length"])):
                changes[time] = changes.get(time, 0) + by
    value, expected = 0, []
    for time in sorted(changes):
        value += changes[time]
        if changes[time]:
            expected.append(("video: queued bytes", time, value))
    assert [row for row in shown if row[0] == "video: queued bytes"] == expected
    assert len(shown) > len(expected) > 100


# The warm-up of the first one is 5 s.
NETWORKS = [("dumbbell", "5200ms"), ("two-hops", "1s"), ("time-frames", "1s"), ("why/regulator", "1s")]


@pytest.mark.parametrize(("example", "duration"), NETWORKS)
def test_sql_over_a_network_is_its_json(example: str, duration: str, tmp_path: Path) -> None:
    run, processor = traced(f"{example}.toml", tmp_path, duration=duration)
    slowest = "max(extract_arg(arg_set_id, 'debug.delay_ns')) as slowest"
    with processor:
        sent = processor.query(
            f"select output, name, count(*) as n, {slowest}"
            " from measured where track glob 'transmissions*' group by 1, 2"
        )
        arrived = processor.query(
            "select output, name, count(*) as n from measured where track = 'arrivals' group by 1, 2"
        )
        received = processor.query(f"select name, {slowest} from measured where track = 'received' group by 1")
        missed = processor.query(
            "select name, count(*) as n from measured"
            " where track = 'missed deadlines' and output = 'receivers' group by 1"
        )
    outputs = [
        (f"{hop['from']} → {hop['to']} ({hop['link']})", of) for hop in run.data["hops"] for of in hop["classes"]
    ]
    assert sorted(sent) == sorted(
        (output, of["name"], of["sent"], of["delay_ns"]["max"]) for output, of in outputs if of["sent"]
    )
    assert sorted(arrived) == sorted((output, of["name"], of["arrived"]) for output, of in outputs if of["arrived"])
    classes = run.data["classes"]
    assert dict(received) == {of["name"]: of["delay_ns"]["max"] for of in classes if of["delay_ns"]}
    assert dict(missed) == {of["name"]: of["deadline_misses"] for of in classes if of["deadline_misses"]}


def test_a_trace_is_refused_where_it_cannot_be_had(tmp_path: Path) -> None:
    plan = lx.Plan.read(EXAMPLES / "two-hops.toml")
    with pytest.raises(lx.LaxityError, match="a trace is of one thread"):
        plan.run(trace=tmp_path / "out", threads=2)
    with pytest.raises(lx.LaxityError, match="missing"):
        plan.run(trace=tmp_path / "missing/out")
    with pytest.raises(TypeError, match="`trace` is a path"):
        plan.run(trace=3)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
