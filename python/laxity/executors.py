"""Executors: Dask, Ray, submitit, and anything else with ``submit``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Protocol

from ._laxity import LaxityError


class Task(Protocol):
    """The result of an executor's ``submit``: a future, or a job."""

    def done(self) -> bool: ...
    def result(self) -> Any: ...
    def cancel(self) -> Any: ...


@dataclass
class Pool:
    """An executor that receives the names of runs."""

    submit: Callable[[list[str]], Task]
    workers: Callable[[], int]
    at_once: Callable[[], AbstractContextManager[Any]] = nullcontext
    """A context whose tasks are submitted together."""
    has_jobs: bool = False
    """Whether a task is a job that waits in a queue of its own; there is then one job for each worker."""


@contextmanager
def opened(executor: Any, task: Callable[[list[str]], Any], tasks: int | None) -> Iterator[Pool]:
    """An executor that calls ``task`` with the names that it gets, with ``tasks`` tasks at a time or one for each worker.

    Raises ``LaxityError`` if the number of workers is not known, or for an unknown name; ``TypeError`` if it is no
    executor.
    """
    if executor == "ray":
        ray = _Ray(_of("ray", "ray"), task)
        yield Pool(ray.submit, lambda: tasks or ray.workers())
    elif isinstance(executor, str):
        with opened(_named(executor), task, tasks) as pool:
            yield pool
    elif hasattr(executor, "get_executor"):
        # A client of Dask. Calls with the same arguments are not one: what was lost is given out again.
        submit = executor.get_executor(pure=False).submit
        yield Pool(partial(submit, task), lambda: tasks or sum(executor.nthreads().values()))
    elif hasattr(executor, "submit"):
        # The standard library and loky keep the number of their workers there.
        workers = tasks or getattr(executor, "_max_workers", None)
        if workers is None:
            name = type(executor).__name__
            raise LaxityError(f"{name} does not say how many tasks run at a time: give `tasks`")
        # submitit submits an array of jobs.
        has_jobs = hasattr(executor, "map_array")
        at_once = executor.batch if has_jobs else nullcontext
        yield Pool(partial(executor.submit, task), lambda: workers, at_once, has_jobs)
    elif callable(executor):
        # A pool of processes is of no use once one of them has died: for every round there is another.
        with executor() as made, opened(made, task, tasks) as pool:
            yield pool
    else:
        raise TypeError(f"an executor has `submit`, or is a function that returns one: {executor!r}")


def _named(name: str) -> Any:
    if name == "dask":
        return _of("distributed", name).get_client()
    if name == "joblib":
        return _of("joblib.externals.loky", name).get_reusable_executor
    raise LaxityError(f"no executor is called {name!r}; accepted: 'dask', 'joblib', 'ray'")


def _of(module: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise LaxityError(f"{error}: pip install 'laxity[{extra}]'") from error


class _Ray:
    """The cluster that Ray is connected to, or else a cluster on this machine."""

    def __init__(self, ray: Any, task: Callable[[list[str]], Any]) -> None:
        if not ray.is_initialized():
            ray.init()
        self._ray = ray
        # Ray takes functions, and no other callables.
        self._task = ray.remote(num_cpus=1, max_retries=3)(lambda names: task(names)).options(name="laxity")

    def workers(self) -> int:
        return int(self._ray.cluster_resources().get("CPU", 1))

    def submit(self, names: list[str]) -> Task:
        return _RayTask(self._ray, self._task.remote(names))


class _RayTask:
    def __init__(self, ray: Any, reference: Any) -> None:
        self._ray = ray
        self._reference = reference
        self._future = reference.future()

    def done(self) -> bool:
        return self._future.done()

    def result(self) -> Any:
        return self._future.result()

    def cancel(self) -> None:
        self._ray.cancel(self._reference)
