"""Studies, beside those of the command."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import polars
import pytest

import laxity as lx
from thousand import PLAN

OVER = {"link.rate": ["2mbit", "3mbit"], "scheduler": ["edf", "fifo"]}


def test_a_study_is_that_of_the_command(tmp_path):
    study = lx.sweep(PLAN, OVER, seeds=range(1, 5), duration="2s", store=tmp_path / "module")
    (tmp_path / "plan.toml").write_text(PLAN.text)
    (tmp_path / "study.toml").write_text(
        "version = 1\nplan = 'plan.toml'\nseeds = 4\nduration = '2s'\n"
        "[grid]\n'link.rate' = ['2mbit', '3mbit']\nscheduler = ['edf', 'fifo']\n"
    )
    words = [sys.executable, "-m", "laxity", "sweep", "study.toml", "--out", "command", "--json"]
    printed = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert study.data == json.loads(printed.stdout)

    def names(store):
        return sorted(path.name for path in (tmp_path / store).rglob("*.parquet"))

    assert len(names("module")) == 16 and names("module") == names("command")


def test_polars_reads_the_store(tmp_path):
    study = lx.sweep(PLAN, OVER, seeds=range(3), duration="1s", store=tmp_path)
    rows = polars.read_parquet(study.pattern, hive_partitioning=True)
    p99 = rows.filter(polars.col("figure") == "delay_ns.p99", polars.col("class") == "web")
    means = p99.group_by("link.rate_bps", "scheduler").agg(polars.col("value").mean())
    assert means.height == 4 and rows["run"].n_unique() == 12
    line = next(
        line
        for line in study.lines
        if line["point"] == ["3mbit", "fifo"] and line["class"] == "web" and line["figure"] == "delay_ns.p99"
    )
    mean = means.filter(scheduler="fifo").filter(polars.col("link.rate_bps") == 3e6)["value"].item()
    assert line["mean"] == pytest.approx(mean)


def test_parts_add_up_and_are_not_made_again(tmp_path):
    done = []

    def heard(runs, now):
        done.append((runs, now))

    for part in (1, 2, 3):
        lx.sweep(PLAN, OVER, seeds=range(6), duration="1s", store=tmp_path, shard=(part, 3))
    study = lx.sweep(PLAN, OVER, seeds=range(6), duration="1s", store=tmp_path, progress=heard)
    assert set(done) == {(24, 24)}
    assert study.data["runs"] == [24, 24]


def test_a_plan_keeps_the_discipline_that_it_was_put_under(tmp_path):
    study = lx.sweep(PLAN.under("fifo"), {"link.rate": ["2mbit"]}, duration="1s", store=tmp_path)
    assert {line["scheduler"] for line in study.lines} == {"fifo"}


def test_control_c_stops_it_and_it_goes_on(tmp_path):
    over = {"link.rate": [f"{rate}kbit" for rate in range(2000, 2400)]}
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        lx.sweep(PLAN, over, duration="60s", seeds=range(40), store=tmp_path)
    assert time.monotonic() - began < 20
    first = len(list(tmp_path.rglob("*.parquet")))
    assert first < 16000
    study = lx.sweep(PLAN, {"link.rate": ["2000kbit"]}, duration="60s", seeds=[0], store=tmp_path)
    assert study.data["runs"] == [1, 1]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seeds": []}, "at least one"),
        ({"seeds": [1, 1]}, "different"),
        ({"duration": "0s"}, "zero"),
        ({"shard": (4, 3)}, "from \\(1, n\\)"),
        ({"over": {"lnk.rate": ["1mbit"]}}, "the plan has no `lnk`"),
        ({"over": {"link.rate": []}}, "has no value"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(tmp_path, changes, said):
    over = changes.pop("over", OVER)
    with pytest.raises(lx.LaxityError, match=said):
        lx.sweep(PLAN, over, store=tmp_path / "store", **changes)
    assert not (tmp_path / "store").exists()
