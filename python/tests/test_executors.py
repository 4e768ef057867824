"""Studies on executors: rows are those of this machine's own cores, whatever dies."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import partial
from multiprocessing import get_context

import polars
import psutil
import pytest
import thousand
from polars.testing import assert_frame_equal

import laxity as lx

SPAWNED = partial(ProcessPoolExecutor, 2, mp_context=get_context("spawn"))
FEW = {"seeds": range(1, 6), "duration": "1s"}


def rows(study):
    return polars.read_parquet(study.pattern, hive_partitioning=True).sort("run", "class", "at", "figure")


@pytest.fixture(scope="module")
def native(tmp_path_factory):
    return rows(thousand.sweep(tmp_path_factory.mktemp("native")))


class Files:
    """The files of a store as they were first seen."""

    def __init__(self, store):
        self.store = store
        self.seen = {}

    def stat(self, path):
        stat = path.stat()
        return stat.st_ino, stat.st_mtime_ns

    def look(self):
        new = (path for path in self.store.rglob("*.parquet") if path not in self.seen)
        self.seen |= {path: self.stat(path) for path in new}
        return len(self.seen)

    def are_as_they_were(self):
        return bool(self.seen) and all(self.stat(path) == first for path, first in self.seen.items())


class Cluster:
    """Two processes: the executor, the address for other drivers, and what numbers the processes have."""

    def __init__(self, kind, executor, address, workers):
        self.kind = kind
        self.executor = executor
        self.address = address
        self.workers = workers


def words(process):
    """The command line of a process, none if it is gone."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


@contextmanager
def dask():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield Cluster("dask", client, cluster.scheduler_address, lambda: [one.pid for one in cluster.workers.values()])


@contextmanager
def ray():
    ray = pytest.importorskip("ray")

    def workers():
        return [one.pid for one in psutil.Process().children(recursive=True) if words(one).startswith("ray::laxity")]

    context = ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        yield Cluster("ray", "ray", context.address_info["gcs_address"], workers)
    finally:
        ray.shutdown()


@pytest.fixture(scope="module", params=[dask, ray], ids=["dask", "ray"])
def cluster(request):
    with request.param() as cluster:
        yield cluster


def test_killed_workers_cost_no_run(cluster, native, tmp_path):
    files = Files(tmp_path)
    killed = []
    over = threading.Event()

    def kill_two():
        # In the middle of their batches, of which the runs that are done have been seen.
        for death in (thousand.RUNS // 5, thousand.RUNS // 2):
            while files.look() < death or not (pids := set(cluster.workers()) - set(killed)):
                if over.wait(0.02):
                    return
            killed.append(pids.pop())
            os.kill(killed[-1], signal.SIGKILL)

    with ThreadPoolExecutor(1) as other:
        killer = other.submit(kill_two)
        try:
            study = thousand.sweep(tmp_path, executor=cluster.executor)
        finally:
            over.set()
        killer.result()
    assert len(killed) == 2
    assert study.data["runs"] == [thousand.RUNS, thousand.RUNS]
    assert files.are_as_they_were()
    assert_frame_equal(rows(study), native)


def test_after_a_killed_driver_the_same_call_goes_on(cluster, native, tmp_path):
    words = [sys.executable, thousand.__file__, cluster.kind, cluster.address, str(tmp_path)]
    files = Files(tmp_path)
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as driver:
        while files.look() < thousand.RUNS // 5 and driver.poll() is None:
            time.sleep(0.02)
        driver.kill()
    files.look()
    assert thousand.RUNS // 5 <= len(files.seen) < thousand.RUNS
    told = []
    study = thousand.sweep(tmp_path, executor=cluster.executor, progress=lambda *going: told.append(going))
    assert told[0][1] >= len(files.seen) and told[-1] == (thousand.RUNS, thousand.RUNS)
    assert told == sorted(told)
    assert files.are_as_they_were()
    assert_frame_equal(rows(study), native)


def pools():
    def loky(_):
        pytest.importorskip("joblib")
        return {"executor": "joblib"}

    def submitit(folder):
        submitit = pytest.importorskip("submitit")
        return {"executor": submitit.LocalExecutor(folder / "jobs"), "tasks": 2}

    def threads(_):
        return {"executor": ThreadPoolExecutor(2)}

    def processes(_):
        return {"executor": SPAWNED}

    return [loky, submitit, threads, processes]


@pytest.mark.parametrize("pool", pools(), ids=lambda pool: pool.__name__)
def test_a_pool_makes_the_rows_of_this_machine(pool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = lx.sweep(thousand.PLAN.under("fifo"), {"link.rate": ["2mbit", "3mbit"]}, store="own", **FEW)
    files = Files(tmp_path / "pool")
    for shard in [(2, 3), (1, 1)]:
        study = lx.sweep(
            thousand.PLAN.under("fifo"),
            {"link.rate": ["2mbit", "3mbit"]},
            store="pool",
            shard=shard,
            **FEW,
            **pool(tmp_path),
        )
        files.look()
    assert files.are_as_they_were()
    assert study.data == own.data
    assert_frame_equal(rows(study), rows(own))


@pytest.mark.parametrize("kind", ["loky", "processes"])
def test_a_pool_that_broke_is_made_anew(kind, native, tmp_path):
    if kind == "loky":
        pytest.importorskip("joblib")
    before = {one.pid for one in psutil.Process().children()}
    killed = []

    def heard(runs, done):
        if done >= runs // 5 and not killed:
            started = [one for one in psutil.Process().children() if one.pid not in before]
            worker = next(one for one in started if "resource_tracker" not in words(one))
            killed.append(worker.pid)
            worker.kill()

    study = thousand.sweep(tmp_path, executor="joblib" if kind == "loky" else SPAWNED, progress=heard)
    assert killed
    assert_frame_equal(rows(study), native)


class Inline:
    """Does one task after another, when it is asked whether it is done. Of those that it loses, by their numbers, it
    does the ``first`` runs."""

    def __init__(self, loses=lambda number: False, first=0):
        self.loses = loses
        self.first = first
        self.tasks = []
        self.most = 0
        self.rests = False

    def submit(self, function, names):
        self.tasks.append(InlineTask(self, function, names))
        self.most = max(self.most, len(self.going()))
        return self.tasks[-1]

    def going(self):
        return [task for task in self.tasks if not (task.future.done() or task.is_cancelled)]


class InlineTask:
    def __init__(self, pool, function, names):
        self.pool, self.function, self.names = pool, function, names
        self.future, self.is_cancelled = Future(), False
        self.is_lost = pool.loses(1 + len(pool.tasks))

    def done(self):
        if self.pool.rests or self.pool.going()[0] is not self:
            self.pool.rests = False
            return False
        self.pool.rests = True
        if self.is_lost:
            self.function(self.names[: self.pool.first])
            self.future.set_exception(RuntimeError("the machine burnt down"))
        else:
            self.future.set_result(self.function(self.names))
        return True

    def result(self):
        return self.future.result()

    def cancel(self):
        self.is_cancelled = True


def small(store, **how):
    return lx.sweep(thousand.PLAN, {"link.rate": ["2mbit", "3mbit"]}, store=store, **FEW, **how)


def test_runs_are_given_out_once_and_few_at_a_time(tmp_path):
    pool = Inline()
    small(tmp_path, executor=pool, tasks=2)
    given = [name for task in pool.tasks for name in task.names]
    assert len(given) == len(set(given)) == 10
    assert pool.most == 4 and len(pool.tasks[0].names) == 1


def test_what_is_lost_is_given_out_again(tmp_path):
    pool = Inline(loses=lambda number: number % 2 == 0)
    assert small(tmp_path, executor=pool, tasks=2).data["runs"] == [10, 10]


def test_workers_that_die_after_a_run_get_it_done(tmp_path):
    pool = Inline(loses=lambda number: True, first=1)
    pool.batch, pool.map_array = nullcontext, None
    assert small(tmp_path, executor=pool, tasks=1).data["runs"] == [10, 10]
    assert [len(task.names) for task in pool.tasks] == list(range(10, 0, -1))


def test_workers_that_die_for_ever_are_an_error_and_no_end(tmp_path):
    pool = Inline(loses=lambda number: number > 1)
    with pytest.raises(lx.LaxityError, match="burnt down.* runs are missing"):
        small(tmp_path, executor=pool, tasks=2)
    assert len(list(tmp_path.rglob("*.parquet"))) in (1, 2)
    assert small(tmp_path, executor=Inline(), tasks=2).data["runs"] == [10, 10]


def test_what_progress_raises_cancels_what_waits(tmp_path):
    def heard(runs, done):
        if done:
            raise KeyboardInterrupt

    pool = Inline()
    with pytest.raises(KeyboardInterrupt):
        small(tmp_path, executor=pool, tasks=2, progress=heard)
    assert not pool.going() and sum(task.is_cancelled for task in pool.tasks) == 3


@pytest.mark.parametrize("executor", [ThreadPoolExecutor(2), SPAWNED], ids=["threads", "processes"])
def test_what_a_run_raises_reaches_the_caller(executor, tmp_path):
    recording = tmp_path / "recording.csv"
    recording.write_text("time_ns,class,length\n")
    plan = lx.Plan(
        link={"rate": "2mbit"},
        scheduler={"kind": "fifo"},
        classes={"web": {}},
        sources=[{"model": "csv", "file": "recording.csv"}],
        folder=tmp_path,
    )
    with pytest.raises(lx.LaxityError) as own:
        lx.sweep(plan, {"link.rate": ["2mbit"]}, store=tmp_path / "own")
    with pytest.raises(lx.LaxityError) as pooled:
        lx.sweep(plan, {"link.rate": ["2mbit"]}, store=tmp_path / "pooled", executor=executor)
    assert str(pooled.value) == str(own.value)


@pytest.mark.parametrize(
    ("how", "error", "said"),
    [
        ({"executor": "slurm"}, lx.LaxityError, "accepted: 'dask', 'joblib', 'ray'"),
        ({"executor": 3}, TypeError, "an executor has `submit`"),
        ({"executor": Inline()}, lx.LaxityError, "give `tasks`"),
        ({"executor": Inline(), "tasks": 0}, lx.LaxityError, "at least one"),
    ],
)
def test_what_is_no_executor_is_said(how, error, said, tmp_path):
    with pytest.raises(error, match=said):
        small(tmp_path, **how)


def test_a_worker_with_another_study_says_so(tmp_path):
    question = lx.spread.Question(thousand.PLAN.text, "plan", ".", None, (), (1,), "1s")
    error = lx.spread.make("call", question, str(tmp_path), ["0" * 32])
    assert isinstance(error, lx.LaxityError) and "the same version of Laxity" in str(error)
