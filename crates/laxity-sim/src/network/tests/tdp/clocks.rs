//! Clocks that are not perfect.

use super::drawn::{Drawn, drawn_with_clocks};
use super::*;

/// Whether the reservations of a network bear the error that its clocks have; if they do,
/// everything that is promised must hold.
fn bears_its_clocks(drawn: &Drawn, cycles: u64) -> bool {
    let plan = plan(&drawn.text());
    let reference = Reference::new(&plan);
    let error = spec(&plan).clock_error.unwrap();
    let nodes = &reference.network.nodes;
    assert!(nodes.iter().all(|node| node.clock.largest_error() <= error));
    if reference.framing.clock_margin().error < error {
        return false;
    }
    let (summary, trips) = travel(&plan, drawn.duration(cycles), 1);
    reference.check_frames(&trips);
    reference.check_ledger();
    reference.check_promises(&summary, error);
    true
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    /// Clocks that are wrong by no more than the margin, however they are set and drift in between,
    /// make no packet leave in another frame.
    #[test]
    fn clocks_within_the_margin_shift_nothing(drawn in drawn_with_clocks()) {
        bears_its_clocks(&drawn, 80);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    /// What is proved holds whatever else is wrong: flows without room, clocks that are worse than
    /// is to be borne, forwarding delays that are too short for links.
    #[test]
    fn what_is_proved_of_a_refused_plan_holds(
        drawn in drawn_with_clocks(), part in 1..6u64, is_hasty: bool,
    ) {
        holds_what_is_proved(&drawn, part, is_hasty);
    }
}

/// How many classes with frames there are that are proved nothing, and how many with a bound, which
/// must hold.
fn holds_what_is_proved(drawn: &Drawn, part: u64, is_hasty: bool) -> [usize; 2] {
    let error = drawn.clock_error.unwrap();
    let hasty = if is_hasty { "\nforwarding-delay = 2" } else { "" };
    let borne = |error: u64| format!("clock-error = \"{error}ns\"");
    let text = drawn.text().replace(&borne(error), &(borne(error / part) + hasty));
    let (summary, _) = travel(&plan(&text), drawn.duration(40), 1);
    let (proved, others): (Vec<_>, Vec<_>) =
        summary.ends().classes.iter().partition(|class| class.bound_ns.is_some());
    for class in &proved {
        assert_eq!((class.dropped, class.bound_misses), (0, 0), "{class:?}\n{text}");
    }
    [others.iter().filter(|class| class.name.starts_with('c')).count(), proved.len()]
}

/// There is something to prove, and something that is not.
#[test]
fn some_classes_of_refused_plans_are_proved_something() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut sums = [0; 2];
    for number in 0..40 {
        let drawn = drawn_with_clocks().new_tree(&mut runner).unwrap().current();
        let counts = holds_what_is_proved(&drawn, 1 + number % 3, number % 4 == 0);
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    assert!(sums.iter().all(|&sum| sum > 30), "{sums:?}");
}

/// The networks that are drawn do bear errors as a rule.
#[test]
fn many_networks_bear_their_clocks() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let bear = (0..60).filter(|_| {
        let drawn = drawn_with_clocks().new_tree(&mut runner).unwrap().current();
        bears_its_clocks(&drawn, 5)
    });
    let bear = bear.count();
    assert!((30..60).contains(&bear), "{bear}");
}

/// A chain whose first two nodes have these clocks, and a flow with one packet in every frame of
/// 100 us from `start` on: 1000 bytes take 80 us.
fn chain(clocks: [&str; 2], packet: u64, frames: u64, delay: &str, start: &str) -> Plan {
    let [a, b] = clocks;
    plan(&format!(
        r#"
        link = {{ rate = "100mbit", max-packet = "{packet}b", min-packet = "100b" }}
        scheduler = {{ kind = "tdp", frame = "100us", frames = {frames}, clock-error = "0s" }}
        [network.one]
        between = ["a", "b"]
        delay = "{delay}"
        [network.two]
        between = ["b", "c"]
        [node.a]
        clock = {{ {a} }}
        [node.b]
        clock = {{ {b} }}
        [class.voice]
        gap = "100us"
        [[source]]
        class = "voice"
        model = "constant"
        rate = "{}kbit"
        packet = "{packet}b"
        start = "{start}"
        path = ["a", "b", "c"]
        "#,
        packet * 80
    ))
}

/// The margin in ns with what binds it, and what was counted at both outputs.
fn margin_and_counts(plan: &Plan) -> (u64, MarginBinding, [crate::summary::FramesSummary; 2]) {
    let summary = travel(plan, Nanos(40 * MS), 1).0;
    let margin = Reference::new(plan).framing.clock_margin();
    let hops = [0, 1].map(|hop: usize| summary.hops[hop].frames.unwrap());
    (margin.error.0, margin.binding, hops)
}

/// Packets miss their frames if clocks are further apart than a link leaves time for. Within the
/// margin they do not.
#[test]
fn a_clock_that_is_ahead_makes_packets_late() {
    let late = |ns: u64| {
        let clocks = [format!("behind = \"{ns}ns\""), format!("ahead = \"{ns}ns\"")];
        let plan = chain([&clocks[0], &clocks[1]], 500, 10, "95us", "3ms");
        let (margin, binding, [one, two]) = margin_and_counts(&plan);
        assert_eq!(margin, 2_499, "(100 us - 95 us) / 2, and 1 ns so that it comes before");
        assert!(matches!(
            binding,
            MarginBinding::Late(Hop { link: laxity_plan::model::LinkId(0), backward: false })
        ));
        assert_eq!(one.late, 0);
        two.late
    };
    assert_eq!(late(2_499), 0);
    // They come 40 + 95 us after their frame began at a, and have to come within 200 us at b.
    assert_eq!(late(32_400), 0);
    // In each frame the first one comes too late for it, and ends 40 us after it.
    assert!(late(80_000) > 300);
}

/// A clock that is set forward makes a frame shorter than its reservations.
#[test]
fn a_clock_that_steps_makes_a_full_frame_end_late() {
    let late = |drift: i64| {
        let clock = format!("drift = {drift}, sync = \"4ms\"");
        let plan = chain([&clock, ""], 1_000, 10, "0us", "3ms");
        let (margin, _, [one, _]) = margin_and_counts(&plan);
        assert!(margin <= 10_000, "{margin}");
        one.late
    };
    // The clock goes forward by 10 us or by 40 us every 4 ms, where there are 20 us to spare.
    assert_eq!(late(-2_500), 0);
    assert!((8..=10).contains(&late(-10_000)), "{}", late(-10_000));
}

/// A link on which there was only padding until both clocks are set to the other side: the first
/// longer packet comes so much later than anything before that its mark is taken for that of the
/// frame after the next, unless the error is within the margin, or not so far beyond it that it
/// comes within a frame of the middle of the padding's lags.
#[test]
fn clocks_that_step_apart_shift_marks() {
    let losses = |ns: i64| {
        // Every 4 ms a is set back from `ns` ahead, and b forward from `ns` behind.
        let clocks = [
            format!("behind = \"{ns}ns\", drift = {}, sync = \"4ms\"", ns / 2),
            format!("ahead = \"{ns}ns\", drift = -{}, sync = \"4ms\"", ns / 2),
        ];
        let plan = chain([&clocks[0], &clocks[1]], 1_000, 19, "0us", "4050us");
        let (margin, binding, [one, two]) = margin_and_counts(&plan);
        assert_eq!((margin, binding), ((100_000 - 80_000 - 2) / 4, MarginBinding::Marks));
        assert_eq!((one.late, two.losses), (0, 0));
        one.losses
    };
    assert_eq!(losses(4_999), 0);
    // 80 us and both errors from the beginning of a frame, where padding took 8 us and more or less
    // than that by both errors: 72 us and 1.9 errors, 100 us after they were set.
    assert_eq!(losses(13_500), 0);
    assert_eq!(losses(17_000), 1);
}
