//! Time-driven priority beside other disciplines and beside best effort.

use super::*;

const PLAN: &str = r#"
    link = { rate = "100mbit", max-packet = "1000b", min-packet = "64b" }
    [scheduler]
    kind = "tdp"
    frame = "1ms"
    frames = 8
    [network.one]
    between = ["a", "b"]
    [network.two]
    between = ["b", "c"]
    delay = "200us"
    [run]
    warm-up = "100ms"
    [class.voice]
    gap = "125us"
    [class.data]
    [[source]]
    class = "voice"
    model = "constant"
    rate = "64mbit"
    packet = "1000b"
    start = "50ms"
    jitter = { uniform = ["0us", "100us"] }
    path = ["a", "b", "c"]
    [[source]]
    class = "data"
    model = "poisson"
    rate = "60mbit"
    packet = "64b"
    path = ["a", "b", "c"]
"#;

/// Small packets fill what is reserved but unused, and what is not reserved, without touching what
/// is.
#[test]
fn best_effort_fills_links_but_for_what_does_not_fit() {
    for (guard, least) in [("0s", 0.99), ("6us", 0.9999)] {
        let text = PLAN.replace("frames = 8", &format!("frames = 8\nguard = \"{guard}\""));
        let plan = plan(&text.replace("jitter", "count = 1\njitter"));
        let (summary, trips) = travel(&plan, Nanos(400 * MS), 1);
        let reference = Reference::new(&plan);
        assert!(reference.check_frames(&trips) > 4_000);
        reference.check_order(&trips);
        reference.check_promises(&summary, Nanos::ZERO);
        let [one, two] = [0, 1].map(|hop: usize| &summary.hops[hop]);
        // What comes to the second link it can send as well.
        assert!(
            one.utilization > least && two.utilization > least - 0.01,
            "{} {}",
            one.utilization,
            two.utilization
        );
        assert!(one.utilization <= 1.0 && two.utilization <= 1.0);
    }
}

/// The same packets set out under every discipline.
#[test]
fn arrivals_are_the_same_under_another_discipline() {
    let tdp = plan(PLAN);
    let fifo = Plan { scheduler: SchedulerSpec::Fifo, ..tdp.clone() };
    let [tdp, fifo] = [tdp, fifo].map(|plan| {
        let (summary, trips) = travel(&plan, Nanos(300 * MS), 7);
        let mut arrivals: Vec<_> =
            trips.iter().map(|trip| (trip.class, trip.set_out, trip.length)).collect();
        arrivals.sort();
        let sent: Vec<u64> = summary.ends().classes.iter().map(|class| class.sent).collect();
        (sent, arrivals)
    });
    assert_eq!(tdp.0, fifo.0);
    let voice = |arrivals: &[(ClassId, Nanos, u32)]| {
        let voice = arrivals.iter().filter(|arrival| arrival.0 == ClassId(0));
        // Those that come last may not have been sent yet.
        voice.filter(|arrival| arrival.1 < Nanos(290 * MS)).copied().collect::<Vec<_>>()
    };
    assert_eq!(voice(&tdp.1), voice(&fifo.1));
    assert!(voice(&tdp.1).len() > 1_900);
}

/// A node of another discipline in between: behind it frames are given anew, and nothing is
/// promised unless nobody else is there.
#[test]
fn a_node_without_frames_parts_a_path() {
    let text = |more: &str, private: bool| {
        format!(
            r#"
            link = {{ rate = "100mbit", max-packet = "1000b", min-packet = "64b" }}
            scheduler = {{ kind = "tdp", frame = "100us", frames = 10 }}
            [network.one]
            between = ["a", "b"]
            [network.two]
            between = ["b", "c"]
            private = {private}
            delay = "35us"
            [network.three]
            between = ["c", "d"]
            [network.four]
            between = ["d", "e"]
            {more}
            [class.voice]
            gap = "500us"
            [[source]]
            class = "voice"
            model = "constant"
            rate = "16mbit"
            packet = "1000b"
            start = "3ms"
            path = ["a", "b", "c", "d", "e"]
            "#
        )
    };
    let [fifo, private] = [("[node.b]\nscheduler.kind = \"fifo\"", false), ("", true)];
    for (more, is_private) in [fifo, private] {
        let plan = plan(&text(more, is_private));
        let (summary, trips) = travel(&plan, Nanos(50 * MS), 1);
        let reference = Reference::new(&plan);
        let stretches = reference.framing.stretches(ClassId(0));
        let hops: Vec<_> = stretches.map(|(stretch, _)| stretch.hops.clone()).collect();
        assert_eq!(hops, [0..1, 2..4]);
        assert!(reference.check_frames(&trips) > 250);
        reference.check_promises(&summary, Nanos::ZERO);
        for trip in trips.iter().filter(|trip| trip.hops.len() == 4) {
            let frame = |hop: usize| trip.hops[hop].due.map(|due| due.0 / 100_000 - 1);
            // At once at b, where it is alone; the edge at c gives it one of two slots of ten
            // frames.
            assert_eq!((trip.hops[1].start, frame(1)), (trip.hops[0].departure, None));
            let [one, three, four] = [0, 2, 3].map(|hop| frame(hop).unwrap());
            let came = trip.hops[1].departure.0 + 35_000;
            assert!((came / 100_000 + 1..came / 100_000 + 6).contains(&three), "{trip:?}");
            assert_eq!((four - three, three % 5), (2, frames_modulo(&trips, 2)));
            assert_eq!(one % 5, frames_modulo(&trips, 0));
        }
        // Shaping up to 100 us and the gap, the frame, b, up to 6 frames at the second edge, two
        // frames to the last output and the frame.
        let bound = is_private.then_some(600_000 + 100_000 + 195_000 + 600_000 + 300_000);
        assert_eq!(summary.ends().classes[0].bound_ns, bound);
    }
}

/// In which of five frames the first packet is sent at a hop.
fn frames_modulo(trips: &[Trip], hop: usize) -> u64 {
    (trips[0].hops[hop].due.unwrap().0 / 100_000 - 1) % 5
}

/// Packets come to a second edge late and early in their frames, as others are sent before them;
/// the worst of them takes what is promised.
#[test]
fn the_wait_at_a_second_edge_is_bounded() {
    let class = |name: &str, gap: u64, length: u64, path: &str| {
        format!(
            "[class.{name}]\narrival = {{ bucket = \"{length}b\", rate = \"{}bit\", packet = \"{length}b\" }}\n\
             end-to-end = \"1s\"\n[[source]]\nclass = \"{name}\"\nmodel = \"constant\"\nrate = \"{}bit\"\n\
             packet = \"{length}b\"\nstart = \"3ms\"\npath = {path}\n",
            length * 8_000_000_000 / gap,
            length * 8_000_000_000 / gap
        )
    };
    for (delay, packets) in [(1u64, 15u64), (50, 15), (99, 12), (30, 25), (0, 7)] {
        let text = format!(
            "link = {{ rate = \"100mbit\", max-packet = \"1000b\", min-packet = \"64b\" }}\n\
             scheduler = {{ kind = \"tdp\", frame = \"100us\", frames = 10 }}\n\
             network.one.between = [\"a\", \"b\"]\n\
             network.two = {{ between = [\"b\", \"c\"], private = true, delay = \"{delay}us\" }}\n\
             network.three.between = [\"c\", \"d\"]\n{}{}",
            class("voice", 1_000_000 / packets + 1, 100, "[\"a\", \"b\", \"c\", \"d\"]"),
            class("other", 170_000, 700, "[\"a\", \"b\"]"),
        );
        let plan = plan(&text);
        let (summary, trips) = travel(&plan, Nanos(60 * MS), 1);
        let reference = Reference::new(&plan);
        assert!(reference.is_admitted(ClassId(0)), "{packets}");
        reference.check_frames(&trips);
        reference.check_promises(&summary, Nanos::ZERO);
        let class = &summary.ends().classes[0];
        assert!(class.delay_ns.unwrap().max < class.bound_ns.unwrap());
    }
}

/// A flow that comes late over a long link goes on in a later frame, which other flows have filled:
/// what is dropped then had frames of its own, so that nothing is proved of anyone.
#[test]
fn packets_that_miss_their_frames_take_those_of_others() {
    let flow = |name: &str, path: &str| {
        format!(
            "[class.{name}]\ngap = \"400us\"\n[[source]]\nclass = \"{name}\"\nmodel = \"constant\"\n\
             rate = \"20mbit\"\npacket = \"1000b\"\npath = {path}\n"
        )
    };
    // With two frames from one node to the next, the link may take one frame, of 200 us.
    let outcome = |delay: u64| {
        let text = format!(
            "link = {{ rate = \"100mbit\", max-packet = \"1000b\", min-packet = \"64b\" }}\n\
             scheduler = {{ kind = \"tdp\", frame = \"200us\", frames = 10, forwarding-delay = 2 }}\n\
             network.one = {{ between = [\"w\", \"x\"], delay = \"{delay}us\" }}\n\
             network.two.between = [\"x\", \"y\"]\nnetwork.three.between = [\"y\", \"z\"]\n{}{}{}{}",
            flow("late", "[\"w\", \"x\", \"y\", \"z\"]"),
            flow("c", "[\"y\", \"z\"]"),
            flow("d", "[\"y\", \"z\"]"),
            flow("e", "[\"y\", \"z\"]"),
        );
        let (summary, _) = travel(&plan(&text), Nanos(100 * MS), 1);
        let proved = summary.ends().classes.iter().filter(|class| class.bound_ns.is_some()).count();
        (proved, summary.ends().classes[1..].iter().map(|class| class.dropped).sum::<u64>())
    };
    assert_eq!(outcome(199), (4, 0));
    assert_eq!(outcome(200), (0, 0), "the last of a full frame would be late");
    let (proved, dropped) = outcome(550);
    assert!(proved == 0 && dropped > 200, "{proved} {dropped}");
}
