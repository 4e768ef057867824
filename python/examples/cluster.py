"""A study on a cluster of two processes of this machine: ``python cluster.py dask|ray [--repeats 3]``.

First a thousand short runs while a worker is killed twice: the rows are those of one process, and no run that was done
is made again. Then how long short runs and long ones take, beside half of the time that one process takes for them,
and how much more processor time all processes of the cluster take than this one does.
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars
import psutil

# Without an executor a study is to run in one thread, to be compared with.
os.environ["RAYON_NUM_THREADS"] = "1"

import laxity as lx

PLAN = lx.Plan(
    title="Voice and web",
    link={"rate": "2mbit"},
    scheduler={"kind": "edf"},
    classes={
        "voice": {"deadline": "10ms", "arrival": {"bucket": "400b", "rate": "64kbit", "packet": "200b"}},
        "web": {},
    },
    sources=[
        {"class": "voice", "model": "constant", "packet": "200b", "rate": "53kbit"},
        {"class": "web", "model": "poisson", "packet": "1000b", "rate": "1.8mbit"},
    ],
)
OVER = {"link.rate": ["2mbit", "2.5mbit", "3mbit", "3.5mbit", "4mbit"], "scheduler": ["edf", "fifo"]}

Workers = Callable[[], list[int]]
"""What numbers the worker processes have."""


@contextmanager
def dask() -> Iterator[tuple[Any, Workers]]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster) as client,
    ):
        yield client, lambda: [worker.pid for worker in cluster.workers.values()]


@contextmanager
def ray() -> Iterator[tuple[Any, Workers]]:
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        yield (
            "ray",
            lambda: [one.pid for one in psutil.Process().children(recursive=True) if one.name() == "ray::laxity"],
        )
    finally:
        ray.shutdown()


def started() -> list[psutil.Process]:
    """This process and those that it started, with their names and what they did."""
    own = psutil.Process()
    numbers = {own.pid, *(one.pid for one in own.children(recursive=True))}
    return [one for one in psutil.process_iter(["name", "cpu_times"]) if one.pid in numbers]


def study(store: Path, seeds: int, duration: str, **how: Any) -> lx.Study:
    return lx.sweep(PLAN, OVER, seeds=range(1, seeds + 1), duration=duration, store=store, **how)


def files(store: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in store.rglob("*.parquet")}


def survive(folder: Path, executor: Any, workers: Workers) -> None:
    """Kills two workers in the middle of what they do, and says what is left of the study."""
    seen: dict[Path, int] = {}
    is_over = threading.Event()

    def kill() -> list[int]:
        killed: list[int] = []
        while len(killed) < 2 and not is_over.wait(0.02):
            seen.update({path: time for path, time in files(folder / "killed").items() if path not in seen})
            if len(seen) > 300 * (1 + len(killed)) and (alive := set(workers()) - set(killed)):
                killed.append(alive.pop())
                os.kill(killed[-1], signal.SIGKILL)
        return killed

    with ThreadPoolExecutor(1) as other:
        killer = other.submit(kill)
        swept = study(folder / "killed", 100, "20s", executor=executor)
        is_over.set()
    killed = killer.result()
    alone = study(folder / "alone", 100, "20s")
    rows = [polars.read_parquet(of.pattern).sort("run", "class", "figure") for of in (swept, alone)]
    runs, found = swept.data["runs"]
    now = files(folder / "killed")
    print(f"{len(killed)} workers killed: {found} of {runs} runs are there")
    print(f"rows are those of one process: {rows[0].equals(rows[1])}")
    print(f"runs that were made again: {sum(now[path] != time for path, time in seen.items())}")


def timed(folder: Path, seeds: int, duration: str, **how: Any) -> tuple[float, float]:
    """How many seconds a study took, on the wall and of processors."""
    with tempfile.TemporaryDirectory(dir=folder) as store:
        wall, processors = time.perf_counter(), worked()
        study(Path(store), seeds, duration, **how)
        return time.perf_counter() - wall, worked() - processors


def worked() -> float:
    """How many seconds processors worked for this process and those that it started."""
    return sum(sum(one.info["cpu_times"][:2]) for one in started())


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("cluster", choices=["dask", "ray"])
    words.add_argument("--repeats", type=int, default=3)
    given = words.parse_args()
    cluster = {"dask": dask, "ray": ray}[given.cluster]
    with tempfile.TemporaryDirectory() as folder, cluster() as (executor, workers):
        survive(Path(folder), executor, workers)
        for seeds, duration in [(100, "100s"), (4, "20000s")]:
            for _ in range(given.repeats):
                alone, own = timed(Path(folder), seeds, duration)
                spread, theirs = timed(Path(folder), seeds, duration, executor=executor)
                print(
                    f"{10 * seeds} runs of {own / seeds / 10:.3f} s: one process {alone:.2f} s, {given.cluster} "
                    f"{spread:.2f} s, {spread / (alone / 2):.2f} of half; {theirs / own:.2f} of the processor time"
                )


if __name__ == "__main__":
    main()
