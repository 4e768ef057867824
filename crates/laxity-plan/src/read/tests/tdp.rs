//! Time-driven priority, nodes, clocks and losses: what is read, and what is refused.

use laxity::sched::Late;
use laxity::sched::tdp::CommonTime;
use laxity::units::Nanos;

use super::*;
use crate::model::{
    Assignment, BestEffortOrder, Clock, Dist, LinkId, Model, SchedulerSpec, Source, TdpSpec,
    WireLoss,
};
use crate::tdp::FramedNetwork;

/// A ring of three with a reserved flow.
const RING: &str = r#"
version = 1
link = { rate = "100mbit", max-packet = "1000b" }
[scheduler]
kind = "tdp"
frame = "250us"
frames = 60
[network.ab]
between = ["a", "b"]
[network.bc]
between = ["b", "c"]
[network.ca]
between = ["c", "a"]
[class.voice]
gap = "20ms"
[class.data]
[[source]]
class = "voice"
model = "constant"
rate = "64kbit"
packet = "200b"
path = ["a", "b", "c", "a"]
laps = 5
"#;

fn ring(old: &str, new: &str) -> Result<Plan, PlanError> {
    assert!(RING.contains(old), "{old}");
    parse(&RING.replacen(old, new, 1))
}

#[track_caller]
fn refused(old: &str, new: &str, at: &str, message: &str, help: &str) {
    let error = ring(old, new).expect_err("this plan is wrong");
    assert_eq!(error.message(), message);
    assert_eq!(&error.text()[error.span().unwrap_or(0..0)], at, "{error}");
    let given = error.help().unwrap_or_default();
    assert!(given.contains(help) && (help.is_empty() == given.is_empty()), "{given}");
}

fn spec(plan: &Plan) -> TdpSpec {
    let SchedulerSpec::Tdp(spec) = plan.scheduler else { panic!("{:?}", plan.scheduler) };
    spec
}

#[test]
fn frames_and_their_defaults() {
    let plan = parse(RING).unwrap();
    let defaults = TdpSpec {
        time: CommonTime { frame: Nanos(250_000), frames: 60, cycles: 1 },
        forwarding_delay: None,
        spare: 0,
        guard: Nanos::ZERO,
        clock_error: None,
        order: BestEffortOrder::Wfq,
        late: Late::Send,
        assignment: Assignment::Quick,
    };
    assert_eq!(spec(&plan), defaults);
    let keys = r#"frames = 60
        cycles = 67
        forwarding-delay = 3
        spare = 2
        guard = "12us"
        clock-error = "1us"
        best-effort-order = "fifo"
        late = "drop"
        assignment = "exact""#;
    let plan = ring("frames = 60", keys).unwrap();
    let expected = TdpSpec {
        time: CommonTime { cycles: 67, ..defaults.time },
        forwarding_delay: Some(3),
        spare: 2,
        guard: Nanos(12_000),
        clock_error: Some(Nanos(1_000)),
        order: BestEffortOrder::Fifo,
        late: Late::Drop,
        assignment: Assignment::Exact,
    };
    assert_eq!(spec(&plan), expected);
    assert_eq!(expected.period(), 60 * 67);
}

#[test]
fn nodes_with_clocks_and_links_with_losses() {
    let text = format!(
        "{}\n[node.b]\nforwarding-delay = 7\nclock = {{ behind = \"3us\", drift = -0.5, sync = \"2s\" }}\n\
         [node.c]\nscheduler.kind = \"drr\"\nclock.ahead = \"1us\"\n",
        RING.replace(
            "between = [\"b\", \"c\"]",
            "between = [\"b\", \"c\"]\nloss = { share = 0.2 }"
        )
        .replace(
            "between = [\"c\", \"a\"]",
            "between = [\"c\", \"a\"]\nloss = { share = 0.2, run = 4 }"
        )
    );
    let plan = parse(&text).unwrap();
    let network = plan.network.as_ref().unwrap();
    let [a, b, c] = &network.nodes[..] else { panic!("{:?}", network.nodes) };
    assert_eq!((a.forwarding_delay, a.scheduling, a.clock), (None, None, Clock::default()));
    let sync = Nanos(2_000_000_000);
    assert_eq!(
        (b.forwarding_delay, b.clock),
        (Some(7), Clock { offset: -3_000, drift: -500, sync })
    );
    assert_eq!(c.clock, Clock { offset: 1_000, ..Clock::default() });
    assert_eq!(c.scheduling.unwrap().scheduler, SchedulerSpec::Drr);
    let losses: Vec<_> = network.links.iter().map(|link| link.loss).collect();
    let loss = |run| Some(WireLoss { share: 0.2, run });
    assert_eq!(losses, [None, loss(1.25), loss(4.0)]);
    // The largest error is b's after two seconds, 3 us and one more.
    let framed = plan.framed_network().unwrap();
    assert_eq!(framed.clock_error(), Nanos(4_000));
    let spec = TdpSpec { clock_error: Some(Nanos(7)), ..spec(&plan) };
    assert_eq!(FramedNetwork { spec: &spec, ..framed }.clock_error(), Nanos(7));
}

#[test]
fn laps_and_jitter_of_sources() {
    let text = "laps = 5\nstagger = \"1ms\"\njitter = { uniform = [\"0us\", \"150us\"] }";
    let plan = ring("laps = 5", text).unwrap();
    let Source::Model(source) = &plan.sources[0] else { panic!("a model") };
    let links: Vec<_> = source.path.iter().map(|hop| hop.link).collect();
    assert_eq!(links, [0, 1, 2].map(LinkId).repeat(5));
    assert_eq!(source.stagger, Nanos(1_000_000));
    let Model::Constant { jitter, .. } = source.model else { panic!("a constant rate") };
    assert_eq!(jitter, Some(Dist::Uniform(Nanos::ZERO, Nanos(150_000))));
    refused("laps = 5", "laps = 0", "0", "`laps` is 0", "1 to 333 times");
    refused("laps = 5", "laps = 334", "334", "`laps` is 334", "1 to 333 times");
    let message = "`laps` of a path that does not end where it begins";
    refused("\"c\", \"a\"]\nlaps", "\"c\"]\nlaps", "5", message, "close the path");
    let without = "`jitter` does not belong to `model = \"poisson\"`";
    refused(
        "\"constant\"",
        "\"poisson\"\njitter = \"1us\"",
        "\"1us\"",
        without,
        "packet, count, hosts, start, stagger, stop, path, from, to, laps, rate",
    );
}

#[test]
fn frames_that_make_no_sense() {
    let frame = "\"250us\"";
    refused("frames = 60", "", "[scheduler]", "`frames` is missing", "`frames = 60`");
    refused("frame = \"250us\"", "", "[scheduler]", "`frame` is missing", "`frame = \"250us\"`");
    refused(frame, "\"0us\"", "\"0us\"", "`frame` is zero: it must be more", "");
    refused(frame, "\"99ns\"", "\"99ns\"", "a frame of 99ns", "lasts 100ns to 1s");
    refused(frame, "\"1001ms\"", "\"1001ms\"", "a frame of 1.001s", "lasts 100ns to 1s");
    refused("= 60", "= 0", "0", "`frames` is zero: it must be more", "");
    refused("= 60", "= 2", "2", "`frames` is 2", "3 to 65536 are accepted");
    refused("= 60", "= 65537", "65537", "`frames` is 65537", "3 to 65536 are accepted");
    let more = |new: &str, at: &str, message: &str, help: &str| {
        refused("frames = 60", &format!("frames = 60\n{new}"), at, message, help);
    };
    more("cycles = 1093", "1093", "`cycles` is 1093", "1 to 1092 are accepted");
    more("cycles = 0", "0", "`cycles` is zero: it must be more", "");
    let help = "2 to 1000 are accepted";
    more("forwarding-delay = 1", "1", "`forwarding-delay` is 1", help);
    more("forwarding-delay = 1001", "1001", "`forwarding-delay` is 1001", help);
    more("spare = 65", "65", "`spare` is 65", "0 to 64 are accepted");
    let frame = "250us of a frame of 250us";
    more("guard = \"250us\"", "\"250us\"", frame, "less than a frame");
    more("clock-error = \"250us\"", "\"250us\"", frame, "less than a frame");
    let message = "`precedence` does not belong to `kind = \"tdp\"`";
    more("precedence = \"loss-first\"", "\"loss-first\"", message, "`kind = \"dwcs\"`");
    let edf = RING.replacen("\"tdp\"", "\"edf\"", 1);
    let message = "`frame` does not belong to `kind = \"edf\"`";
    assert_eq!(parse(&edf).unwrap_err().message(), message);
}

#[test]
fn nodes_that_make_no_sense() {
    let node = |new: &str, at: &str, message: &str, help: &str| {
        refused("[class.voice]", &format!("{new}\n[class.voice]"), at, message, help);
    };
    node("[node.d]", "d", "no link joins a node `d`", "accepted: `a`, `b`, `c`");
    let help = "2 to 1000 are accepted";
    node("[node.a]\nforwarding-delay = 1", "1", "`forwarding-delay` is 1", help);
    let part = "`kind = \"tdp\"` for a part of the network";
    let own = "{ kind = \"tdp\", frame = \"1ms\", frames = 10 }";
    node(&format!("[node.a]\nscheduler = {own}"), own, part, "write it in `[scheduler]`");
    let link = format!("between = [\"a\", \"b\"]\nscheduler = {own}");
    refused("between = [\"a\", \"b\"]", &link, own, part, "write it in `[scheduler]`");
    let single = "version = 1\nlink.rate = '1mbit'\nscheduler.kind = 'wf2q'\n";
    let error = parse(&format!("{single}[class.a]\nscheduler = {own}")).unwrap_err();
    assert_eq!(error.message(), "`kind = \"tdp\"` inside a class");
    assert!(error.help().unwrap().contains("`[scheduler]` of a network"));
    let clock = |new: &str, at: &str, message: &str, help: &str| {
        node(&format!("[node.a]\nclock = {{ {new} }}"), at, message, help);
    };
    let both = "`behind` and `ahead` of one clock";
    clock("ahead = \"1us\", behind = \"2us\"", "\"2us\"", both, "leave one of them out");
    let wrong = "a clock that is wrong by 61s";
    clock("ahead = \"61s\"", "\"61s\"", wrong, "at most 60s");
    clock("behind = \"61s\"", "\"61s\"", wrong, "at most 60s");
    clock("drift = 10001", "10001", "`drift` is 10001 millionths", "10000 at most, either way");
    clock("drift = -10001", "-10001", "`drift` is -10001 millionths", "10000 at most, either way");
    clock("sync = \"0s\"", "\"0s\"", "`sync` is zero: it must be more", "");
    clock("sync = \"999ns\"", "\"999ns\"", "`sync` is 999ns", "every 1us to 3600s");
    clock("sync = \"3601s\"", "\"3601s\"", "`sync` is 3601s", "every 1us to 3600s");
    let error = parse(&format!("{single}[class.a]\n[node.x]")).unwrap_err();
    assert_eq!(error.message(), "a node without a network");
}

#[test]
fn losses_that_make_no_sense() {
    let loss = |new: &str, at: &str, message: &str, help: &str| {
        let link = format!("between = [\"a\", \"b\"]\nloss = {{ {new} }}");
        refused("between = [\"a\", \"b\"]", &link, at, message, help);
    };
    let help = "more than 0 and less than 1";
    loss("share = 0", "0", "`share` is 0", help);
    loss("share = 1", "1", "`share` is 1", help);
    loss("share = -0.5", "-0.5", "`share` is -0.5", help);
    loss("share = 0.01, run = 0.5", "0.5", "`run` is 0.5", "at least 1 and at most 1000000");
    // Nine of ten packets cannot be lost in shorter runs, with one packet in between.
    loss("share = 0.9, run = 8", "8", "`run` is 8", "at least 9");
    loss("share = 0.01, run = 1000001", "1000001", "`run` is 1000001", "at most 1000000");
    loss("run = 2", "{ run = 2 }", "`share` is missing", "this key must be written");
}

#[test]
fn flows_that_cannot_have_frames() {
    let scheduler = "[scheduler]";
    let single = "version = 1\nlink.rate = '1mbit'\n[scheduler]\nkind = 'tdp'\nframe = '1ms'\nframes = 5\n[class.a]\n";
    assert_eq!(parse(single).unwrap_err().message(), "`kind = \"tdp\"` without a network");
    refused(
        "gap = \"20ms\"",
        "deadline = \"20ms\"",
        scheduler,
        "class `voice` has a deadline, and does not say what it sends",
        "`gap = \"20ms\"`, the time between its packets, or `arrival`",
    );
    let other = "laps = 5\n[[source]]\nclass = \"voice\"\nmodel = \"constant\"\nrate = \"64kbit\"\n\
                 packet = \"200b\"\npath = [\"a\", \"c\"]";
    refused(
        "laps = 5",
        other,
        scheduler,
        "class `voice` takes several paths",
        "give every path a class of its own",
    );
    let constant = "model = \"constant\"\nrate = \"64kbit\"\n";
    let message = "class `voice` has a deadline and TCP connections";
    let help = "leave `deadline` and `gap` out";
    refused(constant, "model = \"tcp\"\n", scheduler, message, help);
    // Two ways of the same path are no several paths, and best effort may take any.
    assert!(
        ring("laps = 5", &other.replace("\"a\", \"c\"]", "\"a\", \"b\", \"c\", \"a\"]\nlaps = 5"))
            .is_ok()
    );
    assert!(ring("laps = 5", &other.replace("class = \"voice\"", "class = \"data\"")).is_ok());
}

#[test]
fn networks_that_are_too_large_for_frames() {
    let many: String =
        (0..400).map(|n| format!("[network.x{n}]\nbetween = [\"a\", \"x{n}\"]\n")).collect();
    refused(
        "frames = 60\n",
        &format!("frames = 65536\ncycles = 1\n{many}"),
        "[scheduler]",
        "403 links with 65536 frames each, both ways",
        "50 million frames of links",
    )
}

#[test]
fn reservations_that_are_too_many() {
    let text = RING.replace("frames = 60", "frames = 65536").replace("laps = 5", "laps = 333");
    let error = parse(&text.replace("gap = \"20ms\"", "gap = \"1us\"")).unwrap_err();
    assert!(error.message().ends_with("frames of links to be reserved"), "{error}");
    assert!(error.help().unwrap().contains("10 million packets"));
}

#[test]
fn frames_that_the_plan_says_go_with_the_path() {
    let single = RING.replace("laps = 5\n", "").replace("frames = 60", "frames = 60\nspare = 1");
    let with = |frames: &str| {
        parse(&single.replace("gap = \"20ms\"", &format!("gap = \"20ms\"\nframe-at = {frames}")))
    };
    let plan = with("{ ab = 7, bc = 9, ca = 12 }").unwrap();
    let voice = &plan.classes[0];
    assert_eq!([0, 1, 2].map(|link| voice.frame_at(LinkId(link))), [7, 9, 12].map(Some));
    for (frames, message, help) in [
        ("{ ab = 7, bc = 9 }", "`frame-at` says no frame for link `ca`", "name every link"),
        ("{ ab = 60, bc = 9, ca = 12 }", "frame 60 of link `ab`", "0 to 59"),
        (
            "{ ab = 7, bc = 8, ca = 12 }",
            "link `bc` cannot send in frame 8 what `ab` sends in frame 7",
            "its forwarding delay says frame 9, or up to 1 later",
        ),
        (
            "{ ab = 58, bc = 2, ca = 4 }",
            "link `bc` cannot send in frame 2 what `ab` sends in frame 58",
            "its forwarding delay says frame 0, or up to 1 later",
        ),
    ] {
        let error = with(frames).unwrap_err();
        assert_eq!(error.message(), message);
        assert_eq!(&error.text()[error.span().unwrap()], frames);
        assert!(error.help().unwrap().contains(help), "{error}");
    }
    let unknown = with("{ ax = 7 }").unwrap_err();
    assert_eq!(unknown.message(), "the plan has no link `ax`");
    // Laps pass every link several times.
    let frames = "{ ab = 7, bc = 9, ca = 11 }";
    let new = format!("gap = \"20ms\"\nframe-at = {frames}");
    let help = "leave `frame-at` out";
    let message = "the path of the class passes link `ab` more than once";
    refused("gap = \"20ms\"", &new, frames, message, help);
    let message = "`frame-at` of a class that is promised no frames";
    refused("[class.data]", &format!("[class.data]\nframe-at = {frames}"), frames, message, help);
    let short = single.replace("path = [\"a\", \"b\", \"c\", \"a\"]", "path = [\"a\", \"b\"]");
    let error = parse(&short.replace("gap =", &format!("frame-at = {frames}\ngap ="))).unwrap_err();
    assert_eq!(error.message(), "no packet of the class is sent in a frame over link `bc`");
    let link = "version = 1\nlink.rate = '1mbit'\nscheduler.kind = 'fifo'\n[class.a]\nframe-at = { x = 1 }\n";
    assert_eq!(parse(link).unwrap_err().message(), "`frame-at` means nothing under `fifo`");
}
