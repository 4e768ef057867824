"""Every entry point takes numpy's numbers and arrays where it takes numbers and lists, and refuses what is neither in one
sentence that names it."""

import contextlib
import inspect
import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pandas
import polars
import pytest

import laxity as lx
from laxity.gym import LinkEnv
from test_copies import Shortest
from thousand import PLAN

EXAMPLES = Path(__file__).parents[2] / "examples"
HFSC = PLAN.under("hfsc")
GOAL = {"class": "web", "figure": "delay_ns.p99", "at_most": "1s"}
SMALL = {"duration": "1s"}


def native(store):
    return {"store": store / "store"}


def network():
    return lx.Plan.parse(
        """
        version = 1
        link = { rate = "10mbit" }
        scheduler = { kind = "fifo" }
        network.wire = { between = ["a", "b"], delay = "1ms" }
        class.web = { arrival = { bucket = "3kB", rate = "1MB/s", packet = "1500b" } }
        source = [{ class = "web", path = ["a", "b"], model = "poisson", packet = "1500b", rate = "900kB/s" }]
        """
    )


def swept(store, plan=PLAN, **changed):
    asked = {"over": {"link.rate": ["2mbit", "3mbit"]}, "seeds": [1, 2], **SMALL, **native(store), **changed}
    return lx.sweep(plan, **asked).data


def tuned(store, plan=PLAN, **changed):
    asked = {"minimise": {"link.rate": ["2mbit", "3mbit"]}, "trials": 3, **SMALL, **native(store), **changed}
    return lx.tune(plan, **asked).data


def optimised(store, plan=PLAN, **changed):
    asked = {"over": {"link.rate": ["2mbit", "3mbit"]}, "trials": 2, **SMALL, **native(store), **changed}
    return lx.optimise(plan, **asked).trials


def made(**changed):
    tables = {
        "link": {"rate": "2mbit"},
        "scheduler": {"kind": "wfq"},
        "classes": {"web": {"weight": 2}},
        "sources": [{"class": "web", "model": "constant", "packet": "500b", "rate": "1mbit"}],
    }
    return lx.Plan(**tables | changed).text


def ranked(**changed):
    rank = changed.pop("rank", lambda packet: packet.length)
    return PLAN.under(lx.by_rank(rank, name="mine", **changed)).run(**SMALL).data


def env(**changed):
    link = LinkEnv(**{"plan": PLAN, **SMALL, **changed})
    return [link.reset(seed=1)[1]["now"], link.step(0)[1]]


EDF = lx.Plan(link={"rate": "20mbit"}, scheduler={"kind": "edf"}, classes={"rest": {}})
CALL = {"deadline": "10ms", "arrival": {"bucket": "600b", "rate": "200kbit", "packet": "300b"}}


def changed_call(**changed):
    book = lx.Book(EDF)
    book.admit("call", CALL)
    return book.change(**{"name": "call", "contract": CALL, **changed})


# Of every entry point, how it is asked with one thing changed, and of each thing what is given instead: values that say
# the same as each other, behind them some that say nothing. `None` behind them if Python itself refuses.
ANY = object()
SEEDS = ([1, 2], np.array([1, 2]), np.arange(1, 3, dtype=np.uint8), range(1, 3), pandas.Series([1, 2]), polars.Series([1, 2]))
WHOLE = (2, np.int64(2), np.uint8(2), np.array(2))
RANGE = {"link.rate": ["2mbit", "3mbit"]}, {"link.rate": np.array(["2mbit", "3mbit"])}
TIME = (["1s", np.str_("1s")], [5, np.float64(5), b"1s"])
PROGRESS = ([None, False, np.False_], [3, "bar"])
NO_LIST = [3, "edf", {"a": 1}, np.float64(3), None]
NO_TABLE = [3, "edf", ["a"], np.array([1])]
NO_WHOLE = ["2", 2.0, np.float64(2), np.array([1, 2])]
NO_WORD = [3, np.array(["a"]), b"edf"]
UPLINK = ([EXAMPLES / "home-uplink.toml", f"{EXAMPLES}/home-uplink.toml"], [3, None])
FOLDER = ([EXAMPLES, f"{EXAMPLES}"], [3, None])
ARRIVALS = ([Path("two.csv"), "two.csv"], [3])
PLANS = ([PLAN], [None, "plan.toml", PLAN._plan])
ENTRIES = {
    lx.Plan: (
        made,
        {
            "classes": ([{"web": {"weight": one}} for one in WHOLE], [*NO_TABLE, None]),
            "sources": (
                [
                    [{"class": "web", "model": "poisson", "packet": "500b", "rate": "1mbit", "count": one}]
                    for one in WHOLE
                ]
                + [np.array([{"class": "web", "model": "poisson", "packet": "500b", "rate": "1mbit", "count": 2}])],
                [*NO_LIST, ["web"]],
            ),
            "folder": FOLDER,
            "tables": ([], []),
        },
    ),
    lx.Plan.parse: (
        lambda **changed: lx.Plan.parse(**{"text": PLAN.text, **changed}).text,
        {"text": ([PLAN.text, np.str_(PLAN.text)], NO_WORD), "name": (["a", np.str_("a")], NO_WORD), "folder": FOLDER},
    ),
    lx.Plan.read: (lambda path: lx.Plan.read(path).text, {"path": UPLINK}),
    lx.Plan.edit: (
        lambda values: PLAN.edit(values).text,
        {
            "values": (
                [{"class.web.weight": one} for one in WHOLE],
                [*NO_TABLE, None, {3: "1mbit"}, {"link.rate": object()}],
            )
        },
    ),
    lx.Plan.under: (
        lambda scheduler="fifo", **at: (
            network().under(lx.by_rank(lambda packet: packet.seq), **at) if at else PLAN.under(scheduler)
        ).run(**SMALL).json,
        {
            "scheduler": (["fifo", np.str_("fifo")], [None, 3, b"fifo", ["fifo"], Shortest, lambda packet: 1]),
            "at": (["a → b", np.str_("a → b")], [3, b"a", ["a → b"]]),
        },
    ),
    lx.Plan.check: (lambda: None, {}),
    lx.Plan.check_for_linux: (
        lambda **changed: HFSC.check_for_linux(**changed).data,
        {"timer": (["2ms", np.str_("2ms")], [2, b"2ms"]), "offload": ([False, np.False_], [])},
    ),
    lx.Plan.export_tc: (
        lambda **changed: HFSC.export_tc(**{"device": "eth0", **changed}),
        {
            "device": (["eth0", np.str_("eth0")], [*NO_WORD, None]),
            "format": (["script", np.str_("script")], [*NO_WORD, None]),
            "timer": (["2ms", np.str_("2ms")], [2, b"2ms"]),
            "offload": ([False, np.False_], []),
            "filters": (["u32", np.str_("u32")], [*NO_WORD, None]),
        },
    ),
    lx.Plan.limits: (lambda **changed: network().limits(**changed).data, {"progress": PROGRESS}),
    lx.Plan.worst_case: (
        lambda **changed: PLAN.worst_case(**{"packets": 1000, **changed}).data,
        {
            "packets": ((1000, np.int64(1000), np.array(1000)), [*NO_WHOLE, None]),
            "seed": (WHOLE, [*NO_WHOLE, None]),
            "progress": PROGRESS,
        },
    ),
    lx.Plan.fit: (
        lambda **changed: lx.Plan.read(EXAMPLES / "home-uplink.toml").fit(**changed).data,
        {"recording": ([EXAMPLES / "home-uplink.pcap", f"{EXAMPLES}/home-uplink.pcap"], [3]), "sort": ([False, np.False_], []), "headroom": (WHOLE, [*NO_WHOLE, None])},
    ),
    lx.import_tc: (
        lambda script=EXAMPLES / "gateway.tc", **changed: lx.import_tc(script, **changed).plan.text,
        {
            "script": ([EXAMPLES / "gateway.tc", f"{EXAMPLES}/gateway.tc"], [3, None]),
            "device": ([None], [3, b"eth0"]),
            "link_rate": (["20mbit", np.str_("20mbit")], [3, b"20mbit"]),
            "arguments": ([["a"], np.array(["a"])], [3, "eth0", [3]]),
            "variables": ([{"A": "b"}], [3, "A=b", {"A": 3}]),
            "sources": ([[], np.array([])], [3, "functions.sh"]),
        },
    ),
    lx.Plan.run: (
        lambda **changed: PLAN.run(**SMALL | changed).data,
        {
            "duration": TIME,
            "seed": (WHOLE, NO_WHOLE),
            "packets": ([True, np.True_], []),
            "arrivals": ARRIVALS,
            "trace": ([Path("run.perfetto-trace"), "run.perfetto-trace"], [3]),
            "progress": PROGRESS,
        },
    ),
    lx.Plan.explain: (
        lambda classes="voice", **changed: PLAN.explain(classes, **{"duration": "10ms"} | changed).data,
        {
            "classes": (["voice", np.str_("voice")], [3, b"voice"]),
            "duration": TIME,
            "progress": PROGRESS,
        },
    ),
    lx.Plan.why: (
        lambda **changed: PLAN.why(**SMALL | changed).data,
        {
            "class_": (["voice", np.str_("voice")], NO_WORD),
            "slowest": (WHOLE, [*NO_WHOLE, None]),
            "slower_than": (["1us", np.str_("1us")], [5, b"1s"]),
            "missed": ([False, np.False_], []),
            "packet": (WHOLE, NO_WHOLE),
            "without": ([[], np.array([]), ()], [*NO_LIST, [3]]),
            "with_": ([{"link.rate": "3mbit"}, {"link.rate": np.str_("3mbit")}], [*NO_TABLE, None, {3: "1mbit"}]),
            "under": ([["fifo"], np.array(["fifo"]), ("fifo",)], [*NO_LIST, [3]]),
            "duration": TIME,
            "seed": (WHOLE, NO_WHOLE),
            "arrivals": ARRIVALS,
            "progress": PROGRESS,
        },
    ),
    lx.compare: (
        lambda plan=PLAN, schedulers=("fifo",), **changed: lx.compare(plan, schedulers, **SMALL | changed).data,
        {
            "plan": PLANS,
            "schedulers": ([["fifo", "edf"], np.array(["fifo", "edf"]), ("fifo", "edf")], [*NO_LIST, [None], [3]]),
            "duration": TIME,
            "seed": (WHOLE, NO_WHOLE),
            "arrivals": ARRIVALS,
            "progress": PROGRESS,
        },
    ),
    lx.sweep: (
        swept,
        {
            "plan": PLANS,
            "over": (
                [
                    {"class.web.weight": [1, 2]},
                    {"class.web.weight": np.array([1, 2])},
                    {"class.web.weight": polars.Series([1, 2])},
                    {"class.web.weight": [np.int64(1), np.uint8(2)]},
                ],
                [*NO_TABLE, None, {"link.rate": "10mbit"}, {"link.rate": 3}, {"scheduler": "edf"}],
            ),
            "seeds": (SEEDS, [*NO_LIST, ["1"], np.array([1.5])]),
            "duration": TIME,
            "shard": ([(1, 2), np.array([1, 2])], [*NO_LIST, (1,), (1, 2, 3), (1.0, 2)]),
            "tasks": (WHOLE, NO_WHOLE),
            "progress": PROGRESS,
            "executor": ([None], [3]),
            "store": ([], [3, None]),
        },
    ),
    lx.tune: (
        tuned,
        {
            "plan": PLANS,
            "minimise": (RANGE, [*NO_TABLE, {"link.rate": "ab"}, {"link.rate": 3}, {"link.rate": ["1mbit"]}]),
            "choose": (
                [{"class.web.weight": (1, 3)}, {"class.web.weight": np.array([1, 3])}],
                [*NO_TABLE, {"class.web.weight": "ab"}],
            ),
            "goals": ([[GOAL], np.array([GOAL])], [*NO_LIST, ["web"]]),
            "seeds": (SEEDS, [*NO_LIST, ["1"], np.array([1.5])]),
            "duration": TIME,
            "trials": (WHOLE, NO_WHOLE),
            "store": ([], [3, None]),
            "precision": ([0.5, np.float32(0.5), np.array(0.5)], ["0.5", [1, 2], object()]),
            "seed": (WHOLE, NO_WHOLE),
            "progress": PROGRESS,
        },
    ),
    lx.optimise: (
        optimised,
        {
            "plan": PLANS,
            "over": (RANGE, [*NO_TABLE, None, {"link.rate": "ab"}]),
            "minimise": (["link.rate", ["link.rate"], np.array(["link.rate"])], [3, None, {"link.rate": 1}]),
            "goals": ([[GOAL], np.array([GOAL])], [*NO_LIST, ["web"]]),
            "seeds": (SEEDS, [*NO_LIST, ["1"], np.array([1.5])]),
            "duration": TIME,
            "trials": (WHOLE, [*NO_WHOLE, None]),
            "store": ([], [3, None]),
            "seed": (WHOLE, [*NO_WHOLE, None]),
            "progress": PROGRESS,
        },
    ),
    lx.by_rank: (
        ranked,
        {
            "rank": (
                [lambda packet: packet.length, lambda packet: np.int32(packet.length), lambda packet: np.float32(packet.length)],
                [None, "edf", 3, lambda packet: "first", lambda packet: np.array([1, 2])],
            ),
            "eligible": (
                [lambda packet: packet.arrival + 1000, lambda packet: np.uint64(packet.arrival + 1000)],
                ["edf", 3, lambda packet: "later"],
            ),
        },
    ),
    lx.Deadline: (
        lambda deadlines: lx.Deadline(deadlines).deadlines,
        {"deadlines": ([{"voice": "3ms"}, {"voice": np.str_("3ms")}], NO_TABLE)},
    ),
    lx.Book: (lambda plan=EDF: lx.Book(plan).admit("call", CALL), {"plan": ([EDF], [None, "plan.toml", EDF._plan])}),
    lx.Book.admit: (
        lambda **changed: lx.Book(EDF).admit(**{"name": "call", "contract": CALL, **changed}),
        {
            "contract": ([CALL, {**CALL, "deadline": np.str_("10ms")}], [*NO_TABLE, None]),
            "path": ([(), [], np.array([])], [3, "ab", [3]]),
            "now": (WHOLE, [*NO_WHOLE, None]),
            "start": (WHOLE, NO_WHOLE),
            "end": (WHOLE, NO_WHOLE),
            "commit_by": (WHOLE, NO_WHOLE),
        },
    ),
    lx.Book.change: (
        changed_call,
        {
            "contract": ([CALL, {**CALL, "deadline": np.str_("10ms")}], [*NO_TABLE, None]),
            "now": (WHOLE, [*NO_WHOLE, None]),
        },
    ),
    LinkEnv: (
        env,
        {"plan": PLANS, "duration": TIME, "reward": ([lambda outcomes: 1.0], [None, 3])},
    ),
}
# What is looked at below, and what is of other packages.
PATHS = {"name", "sampler", "cls", "self", "threads"}
# Of a plan there are always one, and these have nothing but it.
OWN = {lx.Plan.check}
# They make nothing that is asked.
NO_ENTRIES = {lx.BoundTerms, lx.Comparison, lx.Figure, lx.Fitted, lx.Granted, lx.Imported, lx.Limits, lx.Optimum, lx.Packet, lx.PacketDelays, lx.Proof, lx.Reservation, lx.Run, lx.Scheduler, lx.Study, lx.Tuned, lx.ByRank, lx.WorstCases}

GOOD = [
    pytest.param(entry, name, at, id=f"{entry.__qualname__} {name} {at}")
    for entry, (_, things) in ENTRIES.items()
    for name, (good, _) in things.items()
    for at in range(1, len(good))
]
BAD = [
    pytest.param(entry, name, at, id=f"{entry.__qualname__} {name} {at}")
    for entry, (_, things) in ENTRIES.items()
    for name, (_, bad) in things.items()
    for at in range(len(bad))
]


def ask(entry, tmp_path, **changed):
    how = ENTRIES[entry][0]
    return how(tmp_path, **changed) if how in (swept, tuned, optimised) else how(**changed)


def test_every_entry_point_is_among_them():
    public = {one for one in map(lx.__dict__.get, lx.__all__) if callable(one)}
    public = {one for one in public if not (isinstance(one, type) and issubclass(one, Exception))} - NO_ENTRIES
    methods = {one for name, one in vars(lx.Plan).items() if name[0] != "_" and inspect.isfunction(one)}
    makers = {getattr(lx.Plan, name) for name, one in vars(lx.Plan).items() if isinstance(one, classmethod) and name[0] != "_"}
    assert public | methods | makers <= set(ENTRIES)
    for entry, (_, things) in ENTRIES.items():
        own = set(inspect.signature(entry).parameters) - PATHS
        assert own <= set(things) or entry in OWN, f"{entry.__qualname__}: {own - set(things)}"


@pytest.fixture(autouse=True)
def two(tmp_path, monkeypatch):
    """A recording beside."""
    monkeypatch.chdir(tmp_path)
    Path("two.csv").write_text("time_ns,class,length\n0,web,500\n1000,voice,200\n")


@pytest.mark.parametrize(("entry", "name", "at"), GOOD)
def test_numpy_is_as_good_as_python(tmp_path, entry, name, at):
    good = ENTRIES[entry][1][name][0]
    assert ask(entry, tmp_path / "one", **{name: good[at]}) == ask(entry, tmp_path / "other", **{name: good[0]})


@pytest.mark.parametrize(("entry", "name", "at"), BAD)
def test_what_is_neither_is_refused_in_a_sentence(tmp_path, entry, name, at):
    with pytest.raises(TypeError) as error:
        ask(entry, tmp_path, **{name: ENTRIES[entry][1][name][1][at]})
    said = str(error.value)
    names = {name, name.removesuffix("s"), "scheduler", "key", "rank", "values", "a plan", "executor", "eligible"}
    names |= {"link.rate", "class.web.weight", "`A`"}
    assert "\n" not in said and len(said) < 250 and any(one in said for one in names), said
    assert "object is not" not in said and "unexpected" not in said and "PyString" not in said, said


@pytest.mark.parametrize("seed", [-1, 2**64, np.int64(-1)])
def test_numbers_out_of_range_are_said(seed):
    with pytest.raises(lx.LaxityError, match="`seed` is a whole number from 0 to 18446744073709551615, not"):
        PLAN.run(seed=seed)


def test_threads_are_counted():
    assert network().run(threads=np.int8(1), **SMALL).data == network().run(threads=1, **SMALL).data
    with pytest.raises(lx.LaxityError, match="`threads` is a whole number from 1"):
        network().run(threads=0)


def test_schedulers_may_count_in_numpy():
    class Waits(Shortest):
        def enqueue(self, now, packet):
            packet.eligible = np.uint64(packet.arrival + 1000)
            super().enqueue(now, packet)

        def dequeue(self, now):
            return super().dequeue(now) if self.held and self.held[0].eligible <= now else None

        def next_ready(self, now):
            return np.int64(max(now + 1, self.held[0].eligible))

    assert PLAN.under(Waits()).run(**SMALL).data["classes"]


def test_figures_that_no_run_has_are_refused(tmp_path):
    study = lx.sweep(PLAN, {"link.rate": ["2mbit", "3mbit"]}, store=tmp_path, **SMALL)
    with pytest.raises(lx.LaxityError, match="no figure `nix`; accepted: .*delay_ns.p99"):
        study.figure("nix")
    with pytest.raises(lx.LaxityError, match="nix"):
        study.chart("nix")


def test_the_builtins_are_not_hidden():
    import builtins

    assert not set(lx.__all__) & set(dir(builtins))


def readers():
    """Every entry point that reads a file of text."""
    return {
        "Plan.read": lx.Plan.read,
        "import_tc": lx.import_tc,
        "import_tc sources": lambda path: lx.import_tc(EXAMPLES / "gateway.tc", sources=[path]),
    }


@pytest.mark.parametrize("reader", readers())
class TestFiles:
    """As the list of commands in tests/cli/outside.rs."""

    def read(self, reader, path):
        with pytest.raises(lx.LaxityError) as error:
            readers()[reader](path)
        return str(error.value)

    def test_that_are_not_there(self, reader, tmp_path):
        assert self.read(reader, tmp_path / "odd") == f"{tmp_path}/odd: there is no such file"

    def test_folders(self, reader, tmp_path):
        assert self.read(reader, tmp_path) == f"{tmp_path}: this is a folder, not a file"

    def test_text_that_is_not_utf8(self, reader, tmp_path):
        (tmp_path / "odd").write_bytes(b"version = 1\n# caf\xe9\n")
        said = self.read(reader, tmp_path / "odd")
        assert said.startswith(f"{tmp_path}/odd:2:") and "the byte 0xe9 is not UTF-8 text" in said

    def test_files_without_end(self, reader):
        assert self.read(reader, "/dev/zero") == "/dev/zero: the file is larger than 16 MiB, the most that is read"

    def test_pipes(self, reader, tmp_path):
        os.mkfifo(tmp_path / "odd")
        writer = threading.Thread(target=(tmp_path / "odd").write_bytes, args=(b"caf\xe9 = 1\n",))
        writer.start()
        assert "odd:1:4: the byte 0xe9 is not UTF-8 text" in self.read(reader, tmp_path / "odd")
        writer.join()

    def test_pipes_without_end(self, reader, tmp_path):
        os.mkfifo(tmp_path / "odd")

        def write():
            with contextlib.suppress(BrokenPipeError), open(tmp_path / "odd", "wb") as pipe:
                while True:
                    pipe.write(bytes(1 << 16))

        threading.Thread(target=write).start()
        assert "odd: the file is larger than 16 MiB" in self.read(reader, tmp_path / "odd")

    def test_pipes_that_nobody_writes_to_can_be_left(self, reader, tmp_path):
        os.mkfifo(tmp_path / "odd")
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            readers()[reader](tmp_path / "odd")
        assert time.monotonic() - began < 5
