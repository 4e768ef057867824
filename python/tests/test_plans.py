"""Plans, proofs and runs, beside what the command says."""

import json
import subprocess
import sys
from pathlib import Path

import hypothesis
import polars
import pytest
from hypothesis import strategies as st

import laxity as lx
import thousand

EXAMPLES = Path(__file__).parents[2] / "examples"
UPLINK = EXAMPLES / "home-uplink.toml"
HFSC = """
version = 1
link = { rate = "10mbit" }
scheduler = { kind = "hfsc" }

[class.voice]
deadline = "12ms"
arrival = { bucket = "300b", rate = "80kB/s", packet = "300b" }
match = "udp dport 4000"

[class.rest]
link-share = "9mbit"
match = "any"
"""


def command(*arguments, cwd=None):
    """What the command prints, whatever its exit code."""
    words = [sys.executable, "-m", "laxity", *map(str, arguments)]
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)


def test_a_proof_is_that_of_the_command():
    proof = lx.Plan.read(UPLINK).check()
    assert proof.data == json.loads(command("check", UPLINK, "--json").stdout)
    assert proof.text.strip() == command("check", UPLINK).stdout.strip()
    assert proof.admitted and proof.binding["length_ns"] == 5_000_000
    assert [one["name"] for one in proof.classes] == lx.Plan.read(UPLINK).classes
    assert proof.mends["audio"]["shortest_deadline_ns"] == 2_316_000
    assert "Admitted" in proof._repr_html_()


def test_what_linux_makes_of_it_is_that_of_the_command(tmp_path):
    file = tmp_path / "plan.toml"
    file.write_text(HFSC)
    proof = lx.Plan.read(file).check_for_linux(timer="2ms", offload=False)
    words = ("--timer", "2ms", "--offload", "off")
    assert proof.data == json.loads(command("check", file, "--for", "linux", "--json", *words).stdout)
    assert proof.text.strip() == command("check", file, "--for", "linux", *words).stdout.strip()
    script = lx.Plan.read(file).export_tc("eth0", timer="2ms", offload=False)
    assert script.strip() == command("export", "tc", file, "--dev", "eth0", *words).stdout.strip()
    with pytest.raises(lx.LaxityError, match="no EDF"):
        lx.Plan.read(UPLINK).export_tc("eth0")
    with pytest.raises(lx.LaxityError, match="flower or u32"):
        lx.Plan.read(file).export_tc("eth0", filters="bpf")


def test_curves_of_a_recording_are_those_of_the_command(tmp_path):
    plan = tmp_path / "plan.toml"
    text = UPLINK.read_text().replace('"home-uplink.pcap"', f'"{EXAMPLES / "home-uplink.pcap"}"')
    plan.write_text(text)
    capture = EXAMPLES / "home-uplink.pcap"
    for recording, words in ((capture, ("--arrivals", capture)), (None, ())):
        fitted = lx.Plan.read(plan).fit(recording, headroom=20)
        printed = command("fit", plan, *words, "--headroom", "20", "--json")
        assert fitted.data == json.loads(printed.stdout) and fitted.classes[0]["buckets"]
    command("fit", plan, "--headroom", "20", "--write")
    assert fitted.plan.text == plan.read_text() != text
    assert fitted.plan.check().data != lx.Plan.parse(text).check().data
    with pytest.raises(lx.LaxityError, match="is not one recording"):
        lx.Plan.parse(HFSC).fit()


def test_limits_are_those_of_the_command():
    network = EXAMPLES / "two-hops.toml"
    heard = []
    limits = lx.Plan.read(network).limits(progress=lambda parts, done: heard.append((parts, done)))
    data = json.loads(command("check", network, "--limits", "--json").stdout)["limits"]
    assert limits.data == data and limits.links == data["links"] and limits.classes and limits.load["percent"] >= 100
    assert limits.text.strip() in command("check", network, "--limits").stdout
    assert heard[-1][0] == heard[-1][1] == len(limits.links) + len(limits.classes) + 1
    with pytest.raises(lx.LaxityError, match="limits are of networks"):
        lx.Plan.read(UPLINK).limits()


def test_worst_cases_are_those_of_the_command(tmp_path):
    words = ("--worst-case", "--packets", "2000", "--seed", "3")
    worst = lx.Plan.read(UPLINK).worst_case(packets=2000, seed=3)
    assert worst.data == json.loads(command("check", UPLINK, *words, "--json").stdout)["worst_case"]
    assert all(0 < case["found_ns"] <= case["bound_ns"] for case in worst.cases)
    command("check", UPLINK, *words, "--out", tmp_path)
    assert worst.page == (tmp_path / "report.html").read_text()
    assert worst.arrivals[0] == (tmp_path / f"{worst.cases[0]['class']}.csv").read_text()

    def stop(cases, done):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        lx.Plan.read(UPLINK).worst_case(packets=2000, progress=stop)


def test_a_worst_case_happens_again(tmp_path):
    plan = lx.Plan.parse(HFSC)
    worst = plan.worst_case(packets=2000)
    (tmp_path / "worst.csv").write_text(worst.arrivals[0])
    run = plan.run(arrivals=tmp_path / "worst.csv")
    assert run.classes[0]["delay_ns"]["max"] == worst.cases[0]["found_ns"]
    compared = lx.compare(plan, ["hfsc"], arrivals=tmp_path / "worst.csv")
    assert compared.data[0]["classes"] == run.classes


def test_the_plan_of_a_script_is_that_of_the_command(tmp_path):
    script = EXAMPLES / "gateway.tc"
    imported = lx.import_tc(script)
    printed = command("import", "tc", script)
    assert imported.plan.text == printed.stdout and imported.plan.scheduler == "hfsc"
    assert imported.notes and all(note.text in " ".join(printed.stderr.split()) for note in imported.notes)
    (tmp_path / "set-up.sh").write_text("tc qdisc add dev $DEV root handle 1: hfsc default 1\n. $1\n")
    (tmp_path / "rest.sh").write_text("tc class add dev $DEV parent 1: classid 1:1 hfsc ls m2 $RATE\n")
    imported = lx.import_tc(
        tmp_path / "set-up.sh",
        device="wan",
        link_rate="7mbit",
        arguments=["rest.sh"],
        variables={"DEV": "wan", "RATE": "5mbit"},
        sources=[tmp_path / "rest.sh"],
    )
    assert imported.plan.rate == 7_000_000
    with pytest.raises(lx.PlanError, match="set-up.sh:1"):
        lx.import_tc(tmp_path / "set-up.sh")


def test_a_run_is_that_of_the_command():
    run = lx.Plan.read(UPLINK).run(seed=7)
    assert run.data == json.loads(command("run", UPLINK, "--seed", "7", "--json").stdout)
    assert run.kept
    with pytest.raises(lx.LaxityError, match="packets=True"):
        _ = run.packets
    assert "<svg" in run.page


def test_every_packet_is_in_a_table(tmp_path):
    run = lx.Plan.read(UPLINK).run(packets=True)
    table = polars.DataFrame(run.packets)
    command("run", UPLINK, "--out", tmp_path, "--packets", "parquet")
    file = polars.read_parquet(tmp_path / "packets.parquet")
    same = table.select(polars.col(column).cast(file[column].dtype) for column in file.columns)
    assert same.equals(file)
    measured = table.filter(polars.col("arrival_ns") >= run.data["warm_up_ns"], verdict="sent")
    sent = {one["name"]: one["sent"] for one in run.classes}
    assert dict(measured.group_by("class").len().rows()) == sent


def test_edits_make_other_plans():
    plan = lx.Plan.read(UPLINK)
    tight = plan.edit({"class.video.deadline": "10ms"})
    assert not tight.check().admitted and plan.check().admitted
    assert "deadline = \"10ms\"" in tight.text
    assert plan.under("fifo").edit({"link.rate": "20mbit"}).scheduler == "fifo"


def test_several_disciplines_side_by_side():
    plan = lx.Plan.read(UPLINK)
    compared = lx.compare(plan, ["fifo", "edf"])
    assert compared.data == json.loads(command("compare", UPLINK, "--schedulers", "fifo,edf", "--json").stdout)
    assert compared.figure.startswith("<svg")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"link.rate": "10 sheep"}, "link.rate"),
        ({"clas.video.deadline": "1ms"}, "the plan has no `clas`"),
        ({"class..deadline": "1ms"}, "is no key"),
    ],
)
def test_what_is_wrong_is_said(change, said):
    with pytest.raises(lx.LaxityError) as error:
        lx.Plan.read(UPLINK).edit(change)
    assert said in str(error.value) or isinstance(error.value, lx.PlanError)


def test_an_error_has_its_place():
    with pytest.raises(lx.PlanError) as error:
        lx.Plan.parse("version = 1\nlink = { rte = '1mbit' }\n", name="mine.toml")
    error = error.value
    assert (error.file, error.line) == ("mine.toml", 2)
    assert str(error).startswith("mine.toml:2:") and "rate" in error.help


def test_what_progress_raises_ends_the_run():
    plan = lx.Plan.read(EXAMPLES / "media-server.toml")

    reached = []

    def stop(now, hops):
        reached.append((now, hops))
        if hops:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        plan.run(duration="100s", progress=stop)
    assert reached[0] == (0, 0) and len(reached) == 2 and min(reached[1]) > 0


rates = st.integers(1, 400).map("{}kbit".format)
# Names that are refused, such as with control characters, are for the tests of reading.
names = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=8)
classes = st.dictionaries(
    names,
    st.fixed_dictionaries({"weight": st.integers(1, 9)}),
    min_size=1,
    max_size=4,
)


# A command is started for each: that is slow, and says nothing of the strategy.
@hypothesis.settings(max_examples=25, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
@hypothesis.given(classes=classes, rate=rates, seed=st.integers(0, 2**63))
def test_a_plan_gives_the_same_by_command_and_module(tmp_path_factory, classes, rate, seed):
    sources = [
        {"class": name, "model": "poisson", "packet": "500b", "rate": rate} for name in classes
    ]
    try:
        plan = lx.Plan(
            link={"rate": "1mbit"},
            scheduler={"kind": "wfq"},
            run={"duration": "100ms"},
            classes=classes,
            sources=sources,
        )
    except lx.PlanError:
        hypothesis.assume(False)
    file = tmp_path_factory.mktemp("plan") / "plan.toml"
    file.write_text(plan.text, encoding="utf-8")
    ended = command("run", file, "--seed", seed, "--json")
    try:
        run = plan.run(seed=seed)
    except lx.LaxityError as error:
        assert ended.returncode == 2
        assert str(error).split() == ended.stderr.replace("×", "").replace("│", "").split()
    else:
        assert run.json.strip() == ended.stdout.strip()


def test_packets_are_a_table_of_arrow():
    run = thousand.PLAN.run(duration="1s", packets=True)
    packets, table = run.packets, polars.DataFrame(run.packets)
    assert repr(packets).startswith(f"<laxity table of {len(packets)} rows: seq, class")
    # It is read again as often as anyone likes, and outlives the run.
    del run
    assert polars.DataFrame(packets).equals(table) and len(packets) == table.height > 100
    assert table["class"].value_counts().sort("class")["class"].to_list() == ["voice", "web"]
