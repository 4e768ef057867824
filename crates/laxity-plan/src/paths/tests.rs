//! Paths whose bounds are worked out by hand.

mod incremental;
mod last_packet;
mod many;
mod queues;
mod regulators;
mod rings;
mod wires;

use std::path::Path;

use super::*;
use crate::discipline::Kind;
use crate::model::LinkId;

const MS: u64 = 1_000_000;

/// A plan whose classes may have keys of every discipline.
fn plan(text: &str) -> Plan {
    let text = format!("version = 1\n{text}");
    Plan::parse_for(&text, "plan.toml", Path::new(""), Kind::ALL).unwrap()
}

/// The disciplines that a link may have.
fn of_links() -> impl Iterator<Item = Kind> {
    Kind::ALL.iter().copied().filter(|kind| !kind.room().is_of_networks)
}

fn paths(text: &str) -> Paths {
    let plan = plan(text);
    plan.network_plan().unwrap().paths()
}

/// One packet of each of these classes takes 1 ms.
const LINK: &str = "link = { rate = \"8mbit\", delay = \"2ms\", max-packet = \"1000b\" }\n";

fn source(class: &str, path: &[&str]) -> String {
    format!(
        "[[source]]\nclass = \"{class}\"\nmodel = \"constant\"\nrate = \"1mbit\"\npacket = \"1000b\"\n\
         path = {path:?}\n"
    )
}

fn by(route: &Route, method: Method) -> Result<Nanos, BoundError> {
    Ok(route.by(method).unwrap())
}

/// But for nanoseconds that hops may add, and a byte of 1 us.
fn about(bound: Result<Nanos, BoundError>, expected: u64) -> bool {
    bound.is_ok_and(|bound| (expected..=expected + 1_010).contains(&bound.0))
}

#[test]
fn a_burst_waits_at_the_slowest_hop() {
    let text = format!(
        "{LINK}scheduler.kind = \"fifo\"
        class.a.arrival = {{ bucket = \"6000b\", rate = \"1mbit\" }}
        network.one = {{ between = [\"a\", \"b\"], rate = \"4mbit\" }}
        network.two.between = [\"b\", \"c\"]\n{}",
        source("a", &["a", "b", "c"])
    );
    let paths = paths(&text);
    let [route] = &paths.routes[..] else { panic!("one route") };
    // Six packets take 2 ms each, the last one 1 ms more at the second link, and two wires 2 ms
    // each.
    assert!(about(by(route, Method::Once), 17 * MS), "{route:?}");
    assert_eq!(route.unloaded, Nanos(7 * MS));
    // Over the first link packets come too slowly to wait for one another at the second.
    let [first, second] = [0, 1].map(|output| paths.outputs[output].classes[0].bound);
    assert!(about(first, 12 * MS) && about(second, MS), "{first:?} {second:?}");
    assert!(about(by(route, Method::Hops), 17 * MS) && about(route.bound(), 17 * MS));
}

/// A burst of 5 ms goes before at three outputs: hop by hop it is paid at each, together once.
#[test]
fn a_burst_that_goes_before_is_paid_once() {
    let text = format!(
        "{LINK}scheduler.kind = \"priority\"
        class.urgent = {{ level = 0, arrival = {{ bucket = \"5000b\", rate = \"80kbit\" }} }}
        class.calm = {{ level = 1, arrival = {{ bucket = \"1000b\", rate = \"80kbit\" }} }}
        network.one.between = [\"a\", \"b\"]
        network.two.between = [\"b\", \"c\"]
        network.three.between = [\"c\", \"d\"]\n{}{}",
        source("urgent", &["a", "b", "c", "d"]),
        source("calm", &["a", "b", "c", "d"])
    );
    let paths = paths(&text);
    let calm = paths.routes.iter().find(|route| paths.outputs[0].classes[1].class == route.class);
    let calm = calm.unwrap();
    // The burst of 5 ms, a packet of its own, one at each of the first two outputs, and 6 ms on the
    // way.
    let once = calm.by(Method::MultiplexingOnce).unwrap();
    assert!((14 * MS..15 * MS).contains(&once.0), "{calm:?}");
    assert_eq!(calm.least().unwrap().delay, once.min(calm.by(Method::Matching).unwrap()));
    assert!(calm.by(Method::Separate).unwrap().0 > once.0 + 4 * MS, "{calm:?}");
    assert!(calm.by(Method::Hops).unwrap() > once, "{calm:?}");
}

#[test]
fn classes_of_which_nothing_is_known_spoil_queues_and_not_curves() {
    let text = |scheduler: &str, other: &str| {
        format!(
            "{LINK}scheduler.kind = \"{scheduler}\"
            class.a = {{ arrival = {{ bucket = \"4000b\", rate = \"1mbit\" }}, deadline = \"30ms\" }}
            class.b = {other}
            network.one.between = [\"a\", \"b\"]
            network.two.between = [\"b\", \"c\"]\n{}{}",
            source("a", &["a", "b", "c"]),
            source("b", &["b", "c"])
        )
    };
    for (scheduler, other, proved) in [
        ("fifo", "{}", false),
        ("hfsc", "{}", true),
        ("wfq", "{}", true),
        ("edf", "{}", true),
        ("edf", "{ deadline = \"20ms\" }", false),
        ("dwcs", "{}", false),
    ] {
        let paths = paths(&text(scheduler, other));
        let [a, b] = &paths.routes[..] else { panic!("two routes") };
        assert_eq!(a.bound().is_ok(), proved, "{scheduler} {other}: {:?}", a.bound());
        assert_eq!(b.bound(), Err(Unbounded::NoArrival.into()));
        if scheduler == "fifo" {
            assert_eq!(a.bound(), Err(BoundError::UnknownCrossTraffic));
            assert!(paths.outputs[0].classes[0].bound.is_ok(), "it is alone there");
        }
    }
}

/// Three outputs in a ring, where each feeds the next, and one output behind the ring.
#[test]
fn circles_are_found_and_have_bounds_where_curves_fit() {
    let text = format!(
        "{LINK}scheduler.kind = \"hfsc\"
        class.a = {{ arrival = {{ bucket = \"4000b\", rate = \"1mbit\" }}, curve = \"2mbit\" }}
        class.b = {{ arrival = {{ bucket = \"4000b\", rate = \"1mbit\" }}, curve = \"2mbit\" }}
        network.one.between = [\"a\", \"b\"]
        network.two.between = [\"b\", \"c\"]
        network.three.between = [\"c\", \"a\"]
        network.out.between = [\"a\", \"d\"]
        network.way-in.between = [\"e\", \"a\"]\n{}{}{}{}{}{}",
        source("a", &["a", "b", "c"]),
        source("a", &["b", "c", "a", "d"]),
        source("a", &["c", "a", "b"]),
        source("b", &["a", "d"]),
        source("b", &["c", "b", "a"]),
        source("a", &["e", "a", "b"])
    );
    let paths = paths(&text);
    let on_cycle: Vec<_> =
        paths.cyclic.iter().map(|of| paths.outputs[of.index()].hop.link).collect();
    assert_eq!(on_cycle, [0, 1, 2].map(LinkId));
    assert!(paths.routes.iter().all(|route| route.bound().is_ok()), "{:?}", paths.routes);
}

/// Outputs are one server to packets that all go from one to the next, and to no others.
#[test]
fn a_detour_between_two_outputs_parts_them() {
    let text = |others: &[&[&str]]| {
        let others: String = others.iter().map(|path| source("a", path)).collect();
        format!(
            "{LINK}scheduler.kind = \"hfsc\"
            class.a = {{ arrival = {{ bucket = \"9000b\", rate = \"1mbit\" }}, curve = \"2mbit\" }}
            network.one.between = [\"a\", \"b\"]
            network.two.between = [\"b\", \"c\"]
            network.aside.between = [\"b\", \"d\"]\n{}{others}",
            source("a", &["a", "b", "c"])
        )
    };
    let route = |others: &[&[&str]]| paths(&text(others)).routes[0].clone();
    let alone = route(&[]);
    assert!(
        alone.by(Method::Once).unwrap().0 + 25 * MS < alone.by(Method::Hops).unwrap().0,
        "{alone:?}"
    );
    for others in [&["a", "b", "d", "b", "c"][..], &["a", "b", "d"], &["b", "c"]] {
        let parted = route(&[others]);
        assert_eq!(parted.by(Method::Once), parted.by(Method::Hops), "{others:?}");
    }
}

/// The minimum time of a packet on the link adds nothing to the burst of those behind it.
#[test]
fn packets_that_are_never_short_come_with_less_jitter() {
    let bucket = |packet: &str| {
        let text = format!(
            "{LINK}scheduler.kind = \"fifo\"
            class.a.arrival = {{ bucket = \"4000b\", rate = \"1mbit\", packet = {packet} }}
            class.b.arrival = {{ bucket = \"4000b\", rate = \"1mbit\" }}
            network.one.between = [\"a\", \"b\"]
            network.two.between = [\"b\", \"c\"]\n{}{}",
            source("a", &["a", "b", "c"]),
            source("b", &["a", "b"])
        );
        let lines = paths(&text).outputs[1].classes[0].arrival.clone().unwrap();
        lines.iter().min_by_key(|line| line.rate).unwrap().bucket.0
    };
    // Both bursts take 8 ms. The shortest packet takes 40 us of these in the first plan and 1 ms in
    // the second, but for a rounding of 2 ns.
    assert_eq!(bucket("\"1000b\""), 4_996);
    assert_eq!(bucket("{ at-least = \"1000b\" }"), 4_876);
}

/// A burst of 4 ms waits 1 ms more, and comes to the next link nearly at once where the wire is ten
/// times as fast.
#[test]
fn a_link_may_be_late_and_its_wire_fast() {
    let text = |scheduler: &str, peak: &str| {
        format!(
            "{LINK}scheduler.kind = \"{scheduler}\"
            class.a.arrival = {{ bucket = \"4000b\", rate = \"1mbit\" }}
            network.one = {{ between = [\"a\", \"b\"], latency = \"1ms\"{peak} }}
            network.two.between = [\"b\", \"c\"]\n{}",
            source("a", &["a", "b", "c"])
        )
    };
    let bounds = |peak: &str| {
        let paths = paths(&text("fifo", peak));
        [0, 1].map(|output| paths.outputs[output].classes[0].bound)
    };
    let [first, second] = bounds("");
    assert!(about(first, 5 * MS) && about(second, MS), "{first:?} {second:?}");
    let [first, second] = bounds(", peak = \"80mbit\"");
    assert!(about(first, 5 * MS), "{first:?}");
    // The class is alone: 4000 bytes and what comes in the latency and a packet's time, 250 bytes,
    // leave at once. The wire brings them in 328 us, in which 41 more come: 4.291 ms less that.
    let second = second.unwrap();
    assert!((3_962_000..3_964_000).contains(&second.0), "{second:?}");
    for kind in of_links().filter(|kind| !kind.room().proof.bears_late_links) {
        let paths = paths(&text(kind.word(), ""));
        let late = paths.outputs[0].classes[0].bound;
        assert_eq!(late, Err(Unbounded::VaryingRate.into()), "{}", kind.word());
    }
}

#[test]
fn an_output_is_told_what_comes_there() {
    let text = format!(
        "{LINK}scheduler.kind = \"hfsc\"
        class.a = {{ arrival = {{ bucket = \"4000b\", rate = \"1mbit\" }}, curve = \"2mbit\" }}
        class.b = {{ arrival = {{ bucket = \"4000b\", rate = \"1mbit\" }}, curve = \"2mbit\" }}
        network.access = {{ between = [\"a\", \"b\"], private = true }}
        network.two.between = [\"b\", \"c\"]\n{}{}",
        source("a", &["a", "b", "c"]).replace("\npath", "\ncount = 3\npath"),
        source("b", &["a", "b"])
    );
    let plan = plan(&text);
    let paths = plan.network_plan().unwrap().paths();
    assert_eq!(paths.outputs.len(), 3, "a private link each, and one that is shared");
    let shared = paths.routes[0].outputs[1];
    let here = paths.plan_at(plan.network_plan().unwrap(), shared);
    let lines = &here.classes[0].arrival.as_ref().unwrap().buckets;
    let slowest = lines.iter().min_by_key(|line| line.rate).unwrap();
    // At its private link a flow has all of the class's burst, which takes 4 ms. The shortest
    // packet takes 40 us of these. In the rest of the time 495 more bytes come.
    assert_eq!(slowest.rate, Rate(1_000_000));
    assert_eq!(slowest.bucket, Bytes(4_000 + 496));
    // Three links send at once, each a packet and, for rounding, a byte.
    let fastest = lines.iter().max_by_key(|line| line.rate).unwrap();
    assert_eq!((fastest.rate, fastest.bucket), (Rate(24_000_000), Bytes(3 * 1_001)));
    assert_eq!(here.classes[1].arrival.as_ref().unwrap().buckets, [ABSENT]);
    assert!(paths.routes.iter().all(|route| route.bound().is_ok()));
    let bounds = paths.bounds();
    assert_eq!(bounds[&(paths.routes[0].path[0], ClassId(0))], Some(Nanos(4 * MS)));
}

/// A packet that passes an output twice is there two times, which in a while long enough are the
/// same packet's.
#[test]
fn packets_that_pass_twice_count_twice() {
    let text = |regulate: bool| {
        format!(
            "{LINK}scheduler.kind = \"fifo\"
            class.a.arrival = {{ bucket = \"4000b\", rate = \"1mbit\" }}
            network.one.between = [\"a\", \"b\"]
            network.two = {{ between = [\"b\", \"c\"], regulate = {regulate} }}
            network.three.between = [\"c\", \"a\"]\n{}",
            source("a", &["a", "b", "c", "a", "b", "c", "a"]),
        )
    };
    for regulate in [false, true] {
        let paths = paths(&text(regulate));
        for output in &paths.outputs {
            let lines = output.classes[0].arrival.as_ref().unwrap();
            let slowest = lines.iter().min_by_key(|line| line.rate).unwrap();
            assert_eq!(slowest.rate, Rate(2_000_000), "{regulate} {:?}", output.hop);
            assert!(slowest.bucket >= Bytes(8_000), "{regulate} {:?}", output.hop);
        }
    }
}

/// Fair queueing shares a link among those that pass it, whatever others weigh and send elsewhere.
#[test]
fn a_class_elsewhere_takes_no_share() {
    // Other disciplines use the class's own rate, whichever classes pass, or its bucket and
    // deadline.
    for kind in ["wfq", "drr"] {
        let text = format!(
            "{LINK}scheduler.kind = \"{kind}\"
            class.a = {{ arrival = {{ bucket = \"4000b\", rate = \"6mbit\" }}, weight = 1 }}
            class.b = {{ arrival = {{ bucket = \"4000b\", rate = \"6mbit\" }}, weight = 9 }}
            class.c = {{ weight = 9 }}
            network.one.between = [\"a\", \"b\"]
            network.two.between = [\"b\", \"c\"]\n{}{}{}",
            source("a", &["a", "b"]),
            source("b", &["b", "c"]),
            source("c", &["c", "b"]),
        );
        let plan = plan(&text);
        let paths = plan.network_plan().unwrap().paths();
        for route in &paths.routes[..2] {
            // Its burst over the whole link, a packet of its own in which the order may be off, and
            // the way.
            let bound = route.bound().unwrap();
            assert!((Nanos(7 * MS)..Nanos(7 * MS + 10)).contains(&bound), "{kind}: {bound}");
        }
    }
}

/// What is known of no class is promised to none, whatever serves the links.
#[test]
fn nothing_follows_from_nothing() {
    for kind in Kind::ALL {
        let (tcp, rest) = match kind {
            Kind::Fifo
            | Kind::Wfq
            | Kind::Drr
            | Kind::Qfq
            | Kind::FqCodel
            | Kind::DualPi2
            | Kind::Cake => ("", ""),
            Kind::Wf2q => ("link-share = \"1mbit\"", "link-share = \"1mbit\""),
            Kind::Hfsc => ("curve = \"1mbit\"", "link-share = \"1mbit\""),
            Kind::Priority => ("level = 0", "level = 1"),
            Kind::Edf => ("deadline = \"50ms\"", ""),
            Kind::Dwcs => ("gap = \"50ms\", loss = \"1/2\"", ""),
            // What is reserved there is known by other means.
            Kind::Tdp => continue,
        };
        let kind = kind.word();
        let text = format!(
            "{LINK}scheduler.kind = \"{kind}\"
            class.tcp = {{ {tcp} }}
            class.rest = {{ {rest} }}
            network.one.between = [\"a\", \"b\"]
            network.two.between = [\"b\", \"c\"]
            [[source]]
            class = \"tcp\"
            model = \"tcp\"
            packet = \"1000b\"
            path = [\"a\", \"b\", \"c\"]\n{}",
            source("rest", &["a", "b", "c"])
        );
        let plan = plan(&text);
        let analysis = plan.network_plan().unwrap().analysis();
        assert!(analysis.known_paths().is_none(), "{kind}");
        let paths = analysis.paths();
        assert!(paths.routes.iter().all(|route| route.bound().is_err()), "{kind}: {paths:?}");
        assert!(paths.bounds().values().all(Option::is_none), "{kind}: {paths:?}");
    }
}

/// An output without bounds hides what a class sends into the network. The arrival curve there
/// changes no bound behind that output.
#[test]
fn what_enters_says_nothing_behind_an_output_without_bounds() {
    for kind in of_links().map(Kind::word) {
        let bounds = |bucket: u64| {
            let text = format!(
                "{LINK}scheduler.kind = \"{kind}\"
                class.a = {{ level = 1, curve = \"3mbit\", deadline = \"90ms\", arrival = {{ bucket = \"2000b\", rate = \"1mbit\" }} }}
                class.b = {{ level = 0, curve = \"3mbit\", deadline = \"90ms\", arrival = {{ bucket = \"{bucket}b\", rate = \"1mbit\" }} }}
                network.one = {{ between = [\"a\", \"b\"], scheduler.kind = \"fq-codel\" }}
                network.two.between = [\"b\", \"c\"]\n{}{}",
                source("a", &["b", "c"]),
                source("b", &["a", "b", "c"]),
            );
            let paths = paths(&text);
            let behind = paths.outputs.iter().find(|output| output.classes.len() == 2).unwrap();
            (behind.class(ClassId(0)).unwrap().bound, paths.routes[0].bound())
        };
        assert_eq!(bounds(1_000), bounds(20_000), "{kind}");
    }
}

/// A class that never passes an output is in nobody's way there, whatever serves the links.
#[test]
fn packets_of_classes_elsewhere_block_nobody() {
    for kind in of_links() {
        let proves_nothing = matches!(kind, Kind::FqCodel | Kind::DualPi2 | Kind::Dwcs);
        let kind = kind.word();
        let bound = |elsewhere: &str| {
            let text = format!(
                "{LINK}scheduler.kind = \"{kind}\"
                class.near = {{ level = 0, deadline = \"90ms\", arrival = {{ bucket = \"200b\", rate = \"10kbit\", packet = \"100b\" }} }}
                class.far = {{ level = 1, deadline = \"90ms\", arrival = {{ bucket = \"2000b\", rate = \"10kbit\", packet = \"{elsewhere}\" }} }}
                network.one.between = [\"a\", \"b\"]
                network.two.between = [\"b\", \"c\"]\n{}{}",
                source("near", &["a", "b"]).replace("1000b", "100b"),
                source("far", &["b", "c"]).replace("1000b", "100b")
            );
            let plan = plan(&text);
            plan.network_plan().unwrap().paths().routes[0].bound().ok()
        };
        assert_eq!(bound("1000b"), bound("200b"), "{kind}");
        assert_eq!(bound("1000b").is_none(), proves_nothing, "{kind}");
    }
}
