//! Networks, paths and TCP: what is read, and what is refused.

use laxity::packet::{ClassId, Ecn};
use laxity::units::{Bytes, Nanos, Rate};

use super::*;
use crate::model::{
    Dist, Hop, LinkId, NetworkLink, NodeId, SchedulerSpec, Scheduling, Source, TcpCongestion,
    TcpRecovery, TcpSlowStart, TcpSource, TcpTimer,
};

/// A dumbbell with one source of either kind.
const NETWORK: &str = r#"
version = 1
link = { rate = "10mbit", delay = "1ms", max-packet = "1000b" }
scheduler.kind = "edf"
class.bulk = {}
class.calls.deadline = "60ms"
[network.access]
between = ["host", "r1"]
private = true
[network.bottleneck]
between = ["r1", "r2"]
rate = "1mbit"
delay = "20ms"
scheduler.kind = "drr"
[[source]]
class = "bulk"
model = "tcp"
count = 3
packet = "1000b"
path = ["r2", "r1", "host"]
[[source]]
class = "calls"
model = "constant"
rate = "64kbit"
packet = "200b"
path = ["host", "r1"]
"#;

#[track_caller]
fn refused(old: &str, new: &str, at: &str, message: &str, help: &str) {
    assert!(NETWORK.contains(old), "{old}");
    let error = parse(&NETWORK.replacen(old, new, 1)).expect_err("this plan is wrong");
    assert_eq!(error.message(), message);
    assert_eq!(&error.text()[error.span().unwrap_or(0..0)], at, "{error}");
    assert!(error.help().unwrap_or_default().contains(help), "{:?}", error.help());
}

#[test]
fn links_and_paths() {
    let plan = parse(NETWORK).unwrap();
    let network = plan.network.as_ref().unwrap();
    let names: Vec<_> = network.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["host", "r1", "r2"]);
    let link = |name: &str, between, rate, delay, private, scheduler: Option<_>| NetworkLink {
        name: name.into(),
        between,
        rate: Rate(rate),
        trace: None,
        autorate: None,
        latency: Nanos::ZERO,
        fastest: None,
        delay: Nanos(delay),
        private,
        scheduling: scheduler.map(|scheduler| Scheduling { scheduler, queue: None }),
        loss: None,
        jitter: None,
        reorder: None,
        duplicate: None,
        regulate: false,
        custom: [false; 2],
    };
    let bottleneck = link(
        "bottleneck",
        [1, 2].map(NodeId),
        1_000_000,
        20_000_000,
        false,
        Some(SchedulerSpec::Drr),
    );
    assert_eq!(
        network.links,
        [link("access", [0, 1].map(NodeId), 10_000_000, 1_000_000, true, None), bottleneck.clone()]
    );
    let Source::Model(calls) = &plan.sources[1] else { panic!("a model") };
    assert_eq!(*calls.path, [Hop { link: LinkId(0), backward: false }]);
    assert_eq!(network.ends(Hop { link: LinkId(1), backward: true }), ["r2", "r1"]);
    let [access, slow] = [0, 1].map(|link| Hop { link: LinkId(link), backward: false });
    assert_eq!(plan.scheduling_at(slow).scheduler, SchedulerSpec::Drr);
    assert_eq!(plan.scheduling_at(access), Scheduling::default());
    let here = plan.at_hop(slow);
    assert_eq!((here.link.rate, here.scheduler), (Rate(1_000_000), SchedulerSpec::Drr));
}

#[test]
fn tcp_and_its_defaults() {
    let plan = parse(NETWORK).unwrap();
    let defaults = TcpSource {
        class: ClassId(0),
        count: 3,
        path: [1, 0].map(|link| Hop { link: LinkId(link), backward: true }).into(),
        recovery: TcpRecovery::Sack,
        congestion: TcpCongestion::Cubic,
        packet: Bytes(1000),
        ack: Bytes(40),
        transfer: None,
        pause: Dist::Constant(Nanos::ZERO),
        every: None,
        window: 4000,
        initial_window: 10,
        slow_start: TcpSlowStart::Standard,
        pacing: false,
        delayed_acks: true,
        limited_transmit: true,
        ecn: Ecn::NotCapable,
        timer: TcpTimer::Fine { min: Nanos(200_000_000) },
        // 1000 bytes over the bottleneck.
        jitter: Dist::Uniform(Nanos::ZERO, Nanos(8_000_000)),
        start: Nanos::ZERO,
        stagger: Nanos::ZERO,
    };
    assert_eq!(plan.sources[0], Source::Tcp(defaults.clone()));
    let keys = r#"count = 3
        variant = "newreno"
        ack = "52b"
        transfer = { pareto = ["10kB", 1.5] }
        pause = "2s"
        window = 300
        initial-window = 1
        slow-start = "hystart++"
        pacing = true
        delayed-acks = false
        limited-transmit = false
        ecn = true
        tick = "100ms"
        jitter = "0s"
        start = "1s"
        stagger = "500ms""#;
    let plan = parse(&NETWORK.replace("count = 3", keys)).unwrap();
    let expected = TcpSource {
        recovery: TcpRecovery::Newreno,
        congestion: TcpCongestion::Reno,
        ack: Bytes(52),
        transfer: Some(Dist::Pareto(Bytes(10_000), 1.5)),
        pause: Dist::Constant(Nanos(2_000_000_000)),
        window: 300,
        initial_window: 1,
        slow_start: TcpSlowStart::Hystart,
        pacing: true,
        delayed_acks: false,
        limited_transmit: false,
        ecn: Ecn::Capable,
        timer: TcpTimer::Coarse { tick: Nanos(100_000_000) },
        jitter: Dist::Constant(Nanos::ZERO),
        start: Nanos(1_000_000_000),
        stagger: Nanos(500_000_000),
        ..defaults
    };
    assert_eq!(plan.sources[0], Source::Tcp(expected));
}

#[test]
fn links_that_make_no_sense() {
    let two = "write the two nodes";
    refused("[\"r1\", \"r2\"]", "[\"r1\"]", "[\"r1\"]", "`between` names 1 nodes, not two", two);
    refused("[\"r1\", \"r2\"]", "[\"r1\", \"r1\"]", "\"r1\"", "a link from a node to itself", two);
    refused(
        "[\"r1\", \"r2\"]",
        "[\"r1\", \"host\"]",
        "[\"r1\", \"host\"]",
        "link `access` joins the same nodes",
        "put a node in between",
    );
    refused(
        "[\"r1\", \"r2\"]",
        "[\"r1\", \" \"]",
        "\" \"",
        "` ` cannot be the name of a node",
        "1 to 64",
    );
    refused(
        "rate = \"1mbit\"",
        "rate = \"1bit\"",
        "\"1bit\"",
        "a largest packet of 1kB would take 8000s at 1bit",
        "raise `rate`",
    );
    refused(
        "rate = \"1mbit\"",
        "rate = \"1mbit\"\npeak = \"0.5mbit\"",
        "\"0.5mbit\"",
        "`peak` is 500kbit, below the link's `rate`, 1mbit",
        "what it is sure of",
    );
    refused(
        "private = true",
        "privat = true",
        "privat",
        "unknown key `privat`",
        "did you mean `private`?",
    );
    refused(
        "scheduler.kind = \"drr\"",
        "scheduler = { kind = \"drr\", best-effort = \"exact\" }",
        "\"exact\"",
        "`best-effort` does not belong to `kind = \"drr\"`",
        "kind = \"edf\"",
    );
}

#[test]
fn paths_that_lead_nowhere() {
    let path = "path = [\"r2\", \"r1\", \"host\"]";
    refused(
        path,
        "path = [\"r2\", \"r3\"]",
        "\"r3\"",
        "no link joins a node `r3`",
        "did you mean `r1`?",
    );
    refused(
        path,
        "path = [\"r2\", \"host\"]",
        "\"host\"",
        "there is no link from `r2` to `host`",
        "from `r2` links lead to `r1`",
    );
    refused(path, "path = [\"r2\"]", "[\"r2\"]", "a path of 1 nodes", "2 to 1001");
    let error = parse(&NETWORK.replacen(path, "", 1)).unwrap_err();
    assert_eq!(error.message(), "`path` is missing");
    assert!(error.help().unwrap().contains(r#"`path = ["host", "r1"]`"#));
    refused(
        "count = 3",
        "count = 900000",
        "[\"r2\", \"r1\", \"host\"]",
        "too many hops: the paths of all classes, those with private links times their `count`s, are at \
         most 1000000 links",
        "",
    );
}

#[test]
fn models_that_need_a_network_or_none() {
    let single = NETWORK.split("[network").next().unwrap().replace("delay = \"1ms\", ", "");
    let single = single.replace("calls.deadline = \"60ms\"", "calls = {}");
    let tcp = "[[source]]\nclass = \"bulk\"\nmodel = \"tcp\"\npacket = \"1000b\"";
    let message = |text: &str| parse(text).unwrap_err().message().to_string();
    assert_eq!(
        message(&format!("{single}{tcp}")),
        "`model = \"tcp\"` without a network: acknowledgements need a way back"
    );
    let constant = "[[source]]\nclass = \"bulk\"\nmodel = \"constant\"\nrate = \"1mbit\"\npacket = \"1000b\"\npath = [\"a\"]";
    assert_eq!(message(&format!("{single}{constant}")), "`path` without a network");
    let constant = "class = \"calls\"\nmodel = \"constant\"\nrate = \"64kbit\"\npacket = \"200b\"";
    for source in [
        "class = \"calls\"\nmodel = \"backlogged\"\npacket = \"200b\"",
        "model = \"csv\"\nfile = \"calls.csv\"",
    ] {
        let fed = NETWORK.replacen(constant, source, 1);
        let plan = parse(&fed).unwrap();
        assert_eq!(**plan.sources[1].path(), [Hop { link: LinkId(0), backward: false }]);
        let pathless = fed.replacen("path = [\"host\", \"r1\"]", "", 1);
        assert_eq!(message(&pathless), "`path` is missing");
    }
}

#[test]
fn parts_of_a_variant_may_be_chosen_one_by_one() {
    use TcpCongestion::{Bbr, Cubic, Dctcp, Reno};
    use TcpRecovery::{Newreno, RackTlp, Sack};
    for (keys, recovery, congestion) in [
        ("variant = \"sack\"", Sack, Reno),
        ("loss-detection = \"rack-tlp\"", RackTlp, Cubic),
        ("variant = \"newreno\"\nloss-detection = \"rack-tlp\"", RackTlp, Reno),
        ("congestion = \"reno\"", Sack, Reno),
        ("congestion = \"dctcp\"", Sack, Dctcp),
        ("congestion = \"dctcp\"\nl4s = true", Sack, Dctcp),
        ("congestion = \"reno\"\nl4s = false", Sack, Reno),
        ("congestion = \"bbr\"", RackTlp, Bbr),
        ("variant = \"newreno\"\ncongestion = \"cubic\"", Newreno, Cubic),
    ] {
        let text = NETWORK.replacen("count = 3", &format!("count = 3\n{keys}"), 1);
        let Source::Tcp(tcp) = &parse(&text).unwrap().sources[0] else { panic!("{keys}") };
        assert_eq!((tcp.recovery, tcp.congestion), (recovery, congestion), "{keys}");
        let ecn = match congestion {
            Dctcp if keys.contains("l4s") => Ecn::L4s,
            Dctcp => Ecn::Capable,
            Reno | Cubic | Bbr => Ecn::NotCapable,
        };
        assert_eq!((tcp.ecn, tcp.pacing), (ecn, congestion == Bbr), "{keys}");
    }
}

#[test]
fn tcp_that_makes_no_sense() {
    let keys = |more: &str| format!("count = 3\n{more}");
    refused(
        "count = 3",
        &keys("pause = \"1s\""),
        "\"1s\"",
        "`pause` without `transfer`: a transfer without end is followed by none",
        "transfer",
    );
    refused(
        "count = 3",
        &keys("tick = \"1s\"\nmin-timeout = \"1s\""),
        "\"1s\"",
        "`tick` beside `min-timeout`: a timer is of one kind",
        "leave one",
    );
    refused(
        "count = 3",
        &keys("congestion = \"dctcp\"\necn = false"),
        "false",
        "`ecn = false` under `congestion = \"dctcp\"`, which lives on marks",
        "another `congestion`",
    );
    for keys in [keys("l4s = true"), keys("congestion = \"bbr\"\nl4s = true")] {
        refused(
            "count = 3",
            &keys,
            "true",
            "`l4s = true` without `congestion = \"dctcp\"`: L4S is for senders that answer to how many \
             segments are marked",
            "leave `l4s` out",
        );
    }
    for (key, at, message) in [
        (
            "loss-detection = \"sack\"",
            "\"sack\"",
            "`congestion = \"bbr\"` with another `loss-detection` than `rack-tlp`",
        ),
        (
            "pacing = false",
            "false",
            "`pacing = false` under `congestion = \"bbr\"`, which says at what rate to send",
        ),
        (
            "ecn = true",
            "true",
            "`ecn = true` under `congestion = \"bbr\"`, which has no answer to marks",
        ),
        (
            "slow-start = \"standard\"",
            "\"standard\"",
            "`slow-start` under `congestion = \"bbr\"`, which has a startup of its own",
        ),
    ] {
        refused("count = 3", &keys(&format!("congestion = \"bbr\"\n{key}")), at, message, "leave");
    }
    refused(
        "count = 3",
        &keys("every = \"1s\""),
        "\"1s\"",
        "`every` without `transfer`: a transfer without end is followed by none",
        "transfer",
    );
    refused(
        "count = 3",
        &keys("transfer = \"9kB\"\nevery = \"1s\"\npause = \"2s\""),
        "\"2s\"",
        "`pause` beside `every`: a transfer is asked for after the last one or by time",
        "leave one",
    );
    refused(
        "count = 3",
        &keys("transfer = \"9kB\"\nevery = \"0s\""),
        "\"0s\"",
        "`every` is zero: it must be more",
        "",
    );
    refused("count = 3", &keys("tick = \"0s\""), "\"0s\"", "`tick` is zero: it must be more", "");
    refused("count = 3", &keys("window = 0"), "0", "`window` is zero: it must be more", "");
    refused(
        "count = 3",
        &keys("initial-window = 1000001"),
        "1000001",
        "`initial-window` is 1000001, above the largest, 1000000",
        "",
    );
    refused(
        "3\npacket = \"1000b\"",
        "3\npacket = { uniform = [\"40b\", \"1000b\"] }",
        "{ uniform = [\"40b\", \"1000b\"] }",
        "TCP's segments are of one length, not drawn",
        "\"1500b\"",
    );
    refused(
        "3\npacket = \"1000b\"",
        "3\npacket = \"1500b\"",
        "\"1500b\"",
        "`packet` is 1.5kB, above the link's `max-packet`, 1kB",
        "",
    );
    for (always, time) in [
        ("\"2ms\"", "2ms"),
        ("{ uniform = [\"2ms\", \"2ms\"] }", "2ms"),
        ("{ normal = [\"30us\", \"0s\"] }", "30us"),
    ] {
        refused(
            "count = 3",
            &keys(&format!("jitter = {always}")),
            always,
            &format!("`jitter` is always {time}, which takes no sender out of step"),
            &format!("{{ uniform = [\"0s\", \"{time}\"] }}"),
        );
    }
    refused(
        "count = 3",
        &keys("jitter = { uniform = [\"2ms\", \"1ms\"] }"),
        "{ uniform = [\"2ms\", \"1ms\"] }",
        "`jitter` is uniform from 2ms to 1ms, and the first is larger",
        "",
    );
    refused(
        "count = 3",
        &keys("rate = \"1mbit\""),
        "\"1mbit\"",
        "`rate` does not belong to `model = \"tcp\"`",
        "limited-transmit",
    );
    refused(
        "count = 3",
        &keys("variant = \"reno\""),
        "\"reno\"",
        "unknown word `reno`",
        "`newreno`",
    );
}

#[test]
fn a_class_has_deadlines_over_single_links() {
    let over = "class.calls.deadline-over = { access = '3ms', bottleneck = '7ms' }\n";
    let text = NETWORK.replacen("class.calls.deadline = \"60ms\"\n", over, 1);
    let plan = parse(&text).unwrap();
    let calls = &plan.classes[1];
    let [access, bottleneck] = [0, 1].map(|link| calls.deadline_over(LinkId(link)));
    assert_eq!([access, bottleneck], [3, 7].map(|ms| Some(Nanos(ms * 1_000_000))));
    let here = plan.at_hop(Hop { link: LinkId(1), backward: true });
    assert_eq!(here.classes[1].deadline, Some(Nanos(7_000_000)));
    // Elsewhere `deadline` holds, if there is one.
    let text =
        NETWORK.replacen("\"60ms\"", "\"60ms\"\nclass.calls.deadline-over.access = '3ms'", 1);
    let plan = parse(&text).unwrap();
    assert_eq!(plan.classes[1].deadline_over(LinkId(1)), Some(Nanos(60_000_000)));

    let with = |over: &str| format!("class.calls.deadline-over = {over}\n[network.access]");
    let one = |over: &str, at: &str, message: &str, help: &str| {
        refused("[network.access]", &with(over), at, message, help);
    };
    one("{ exit = '1ms' }", "exit", "the plan has no link `exit`", "LINK");
    one("{ access = '0ms' }", "'0ms'", "`deadline-over` is zero: it must be more", "");
    let expected = "expected times by the names of links, such as { backbone = \"2ms\" }, found string \"1ms\"";
    one("'1ms'", "'1ms'", expected, "");
    let text = "version = 1\nlink.rate = '1mbit'\nscheduler.kind = 'edf'\n\
                class.a.deadline-over = { x = '1ms' }\n";
    let error = parse(text).unwrap_err();
    assert_eq!(error.message(), "`deadline-over` without a network");
}
