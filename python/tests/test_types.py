"""Plans and answers are typed: what the schema has, and what answers hold, is what checkers of types are told."""

import subprocess
import sys
import typing
from pathlib import Path
from types import NoneType, UnionType

import polars
import pytest

import laxity as lx
import plan_tables
from laxity import results
from thousand import PLAN

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_tables_are_those_of_the_schema():
    assert plan_tables.STUB.read_text(encoding="utf-8") == plan_tables.text(), "python tests/plan_tables.py writes them"


# What is not Laxity's takes minutes to look through.
SETTINGS = """
[mypy]
strict = True
[mypy-altair.*,distributed.*,gymnasium.*,numpy.*,optuna.*,polars.*,ray.*,tqdm.*]
follow_imports = skip
"""


def checked(folder, *lines):
    """What mypy says of a program."""
    program = folder / "program.py"
    program.write_text("\n".join(["import laxity as lx", *lines, ""]))
    (folder / "mypy.ini").write_text(SETTINGS)
    words = [sys.executable, "-m", "mypy", "--no-error-summary", "--cache-dir", str(folder.parent / "mypy")]
    said = subprocess.run([*words, str(program)], cwd=folder, capture_output=True, text=True, check=False)
    return said.stdout + said.stderr


GOOD = """
plan = lx.Plan(
    title="typed",
    link={"rate": "10mbit", "max-packet": "1500b"},
    scheduler={"kind": "edf", "best-effort": "shifted-line"},
    classes={
        f"voice-{number}": {"deadline": "5ms", "arrival": {"bucket": "300b", "rate": "80kB/s", "packet": "300b"}}
        for number in range(3)
    },
    sources=[{"class": "voice-1", "model": "greedy", "packet": "200b", "burst": {"uniform": ["1ms", "2ms"]}}],
    network={"wire": {"between": ["a", "b"], "delay": "1ms"}},
    run={"duration": "1s", "seed": 3},
)
plan = plan.edit({"link.rate": "20mbit"}).under("hfsc")
delay = plan.run(seed=1).classes[0]["delay_ns"]
p99: int = 0 if delay is None else delay["p99"]
shortest: int | None = plan.check().mends["voice-1"]["shortest_deadline_ns"]
links: list[int | None] = [link["smallest_rate_bps"] for link in plan.limits().links]
found: int = plan.worst_case(packets=1000).cases[0]["found_ns"]
study = lx.sweep(plan, {"link.rate": ["1mbit"]}, seeds=range(3))
mean: float = study.lines[0]["mean"]
table = study.to_polars()
tuned = lx.tune(plan, minimise={"link.rate": ("1mbit", "2mbit")})
value: str = tuned.minimised[0]["value"]
"""
BAD = {
    "plan.run().classes[0]['delay']": 'has no key "delay"',
    "plan.check().binding['width_ns']": 'has no key "width_ns"|not indexable',
    "lx.Plan(link={'rte': '1mbit'}, scheduler={'kind': 'fifo'}, classes={})": 'Extra key "rte"|Missing key "rate"',
    "lx.Plan(link={'rate': 1}, scheduler={'kind': 'fifo'}, classes={})": "incompatible type|Incompatible types",
    "lx.Plan(link={'rate': '1mbit'}, scheduler={'kind': 'nix'}, classes={})": "incompatible type|Incompatible types",
    "lx.Plan(scheduler={'kind': 'fifo'}, classes={})": 'Missing named argument "link"',
    "lx.Plan(links={}, link={'rate': '1mbit'}, scheduler={'kind': 'fifo'}, classes={})": "Unexpected keyword",
    "lx.Plan(link={'rate': '1mbit'}, scheduler={'kind': 'fifo'}, classes={'web': {'wieght': 3}})": 'Extra key "wieght"',
    "lx.sweep(plan, {}).lines[0]['p42']": 'has no key "p42"',
}


def test_what_is_right_is_accepted_with_its_types(tmp_path):
    assert checked(tmp_path, *GOOD.splitlines()) == ""


def test_the_package_itself_is_right(tmp_path):
    (tmp_path / "mypy.ini").write_text(SETTINGS.replace("strict = True", "ignore_missing_imports = True"))
    words = [sys.executable, "-m", "mypy", "--no-error-summary", "--config-file", str(tmp_path / "mypy.ini")]
    words += ["--cache-dir", str(tmp_path.parent / "package"), "-p", "laxity"]
    said = subprocess.run(words, cwd=plan_tables.STUB.parents[1], capture_output=True, text=True, check=False)
    assert said.stdout + said.stderr == ""


def test_what_is_wrong_is_found_before_it_runs(tmp_path):
    said = checked(tmp_path, "plan = lx.Plan.read('plan.toml')", *BAD).splitlines()
    for number, (line, expected) in enumerate(BAD.items(), 3):
        found = [one for one in said if one.startswith(f"program.py:{number}:")]
        assert any(word in one for one in found for word in expected.split("|")), f"{line}: {found}"


def misses(value, kind, place="data"):
    """Where a value is not of a type."""
    if kind in (typing.Any, float) and isinstance(value, int | float) or kind is typing.Any:
        return []
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, UnionType):
        found = [misses(value, part, place) for part in parts]
        return min(found, key=len)
    if typing.is_typeddict(kind):
        fields = typing.get_type_hints(kind)
        if not isinstance(value, dict):
            return [f"{place}: {value!r} is no {kind.__name__}"]
        odd = [f"{place}: {key} is not in {kind.__name__}" for key in value if key not in fields]
        gone = [f"{place}: {key} of {kind.__name__} is missing" for key in kind.__required_keys__ - set(value)]
        inner = [miss for key in fields if key in value for miss in misses(value[key], fields[key], f"{place}.{key}")]
        return odd + gone + inner
    if origin in (list, dict) and not isinstance(value, origin):
        return [f"{place}: {value!r} is no {origin.__name__}"]
    if origin is list:
        return [miss for one in value for miss in misses(one, parts[0], f"{place}[]")]
    if origin is dict:
        return [miss for one in value.values() for miss in misses(one, parts[1], f"{place}{{}}")]
    return [] if isinstance(value, NoneType if kind is None else kind) else [f"{place}: {value!r} is no {kind}"]


PLANS = sorted(path for path in EXAMPLES.glob("*.toml") if "study" not in path.name)
UNDER = [None, "fifo", "edf", "edf/background", "hfsc", "wfq", "wf2q", "drr", "qfq", "priority", "dwcs", "tdp", "fq-codel", "cake"]


def briefly(plan):
    """A run that is only just longer than the plan's warm-up."""
    try:
        return plan.run(duration="50ms")
    except lx.LaxityError:
        return plan.run(duration="5050ms")


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_proofs_and_runs_hold_what_their_types_say(path):
    found, asked = [], 0
    plan = lx.Plan.read(path)
    for scheduler in [None] if "network" in plan.text else UNDER:
        try:
            proof = (plan.under(scheduler) if scheduler else plan).check()
        except lx.LaxityError:
            continue
        asked += 1
        found += misses(proof.classes, list[results.ProvedClass], f"{scheduler}: classes")
        found += misses(proof.tins, list[results.ProvedTin], f"{scheduler}: tins")
        found += misses(proof.binding, results.Interval | None, "binding")
        found += misses(proof.reasons, list[results.Reason], "reasons")
        found += misses(proof.mends, dict[str, results.Mend], "mends")
    run = briefly(plan)
    found += misses(run.classes, list[results.MeasuredClass], "run")
    found += misses(run.data["verdict"], results.Verdict, "verdict")
    assert asked and found == []


def test_other_answers_do(tmp_path):
    network, uplink = lx.Plan.read(EXAMPLES / "two-hops.toml"), lx.Plan.read(EXAMPLES / "home-uplink.toml")
    limits = network.limits()
    goals = [{"class": "web", "figure": "delay_ns.p99", "at_most": "100ms"}]
    small = {"link.rate": ("1mbit", "3mbit")}
    tuned = lx.tune(PLAN, minimise=small, goals=goals, duration="1s", store=tmp_path)
    refused = lx.tune(PLAN, minimise={"class.voice.deadline": ("100us", "30ms")}, duration="1s", store=tmp_path)
    lines = lx.sweep(network, {"link.rate": ["20mbit"]}, duration="2s", seeds=[1, 2], store=tmp_path).lines
    assert any("refused" in trial for trial in refused.trials) and any("at" in line for line in lines)
    for value, kind in [
        (limits.load, results.LoadLimit),
        (limits.links, list[results.LinkLimit]),
        (limits.classes, list[results.ClassLimit]),
        (network.worst_case(packets=1000).cases, list[results.WorstCase]),
        (PLAN.worst_case(packets=1000).cases, list[results.WorstCase]),
        (uplink.fit().classes, list[results.FittedClass]),
        (tuned.minimised, list[results.Minimised]),
        (tuned.trials + refused.trials, list[results.Trial]),
        (lines, list[results.Line]),
    ]:
        assert value and misses(value, kind) == []


def test_misses_are_found():
    assert misses({"percent": 1}, results.LoadLimit) == []
    assert len(misses({"percent": "1", "more": 2}, results.LoadLimit)) == 2


def test_a_study_is_a_table_of_polars(tmp_path):
    over = {"link.rate": ["2mbit", "3mbit"], "class.web.weight": [1, 2], "scheduler": ["edf", "fifo"]}
    study = lx.sweep(PLAN, over, seeds=[1, 2], duration="1s", store=tmp_path)
    table = study.to_polars()
    assert table.height == len(study.lines) and table["link.rate"].dtype == polars.String
    rows = polars.read_parquet(study.pattern, hive_partitioning=True)
    keys = ["link.rate_bps", "class.web.weight", "scheduler", "class", "figure"]
    means = rows.group_by(keys).agg(polars.col("value").mean().alias("mean")).sort(keys)
    fast = means.with_columns(polars.col("scheduler").str.replace("edf/exact", "edf"))
    own = table.with_columns(polars.col("class.web.weight").cast(polars.Float64)).select(*keys, "mean").sort(keys)
    assert own.select(keys).equals(fast.sort(keys).select(keys))
    assert (own["mean"] - fast.sort(keys)["mean"]).abs().max() < 1e-3
