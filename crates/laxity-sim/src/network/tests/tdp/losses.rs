//! Packets that are lost under way: what the next node makes of the marks that remain.

use super::*;

const FRAMES: u64 = 10;

/// One packet in every frame of 100 us, over a link that loses some and another that loses none.
fn chain(loss: &str) -> Plan {
    plan(&format!(
        r#"
        link = {{ rate = "100mbit", max-packet = "500b", min-packet = "100b" }}
        scheduler = {{ kind = "tdp", frame = "100us", frames = {FRAMES} }}
        [network.one]
        between = ["a", "b"]
        delay = "130us"
        {loss}
        [network.two]
        between = ["b", "c"]
        [class.voice]
        gap = "100us"
        [[source]]
        class = "voice"
        model = "constant"
        rate = "40mbit"
        packet = "500b"
        path = ["a", "b", "c"]
        "#
    ))
}

/// What the node behind the link must make of the frames that it hears of, one packet each.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct LossCounts {
    silent: u64,
    losses: u64,
    unknown: u64,
}

/// The frames that are recovered, in step from frame 0 on: with all of the n frames in between
/// silent, or more, it is out of step, and in step again once it hears the last frame of a cycle
/// and the first one of the next.
fn recovered(frames: &[u64]) -> (Vec<bool>, LossCounts) {
    let mut counted = LossCounts::default();
    let (mut in_step, mut before) = (true, 0);
    let mut known = Vec::new();
    for &frame in frames {
        let ahead = frame - before;
        if in_step && ahead > FRAMES {
            in_step = false;
            counted.losses += 1;
        } else if in_step {
            counted.silent += ahead - 1;
        } else {
            in_step = ahead == 1 && frame % FRAMES == 0;
        }
        counted.unknown += u64::from(!in_step);
        known.push(in_step);
        before = frame;
    }
    (known, counted)
}

/// Runs the chain with losses, and checks that each packet that survives is sent on in the frame in
/// which it is without losses; or as best effort, while the node is out of step as the reference
/// has it. Tells what was counted.
fn check_losses(share: f64, run: f64, seed: u64) -> LossCounts {
    let duration = Nanos(100 * MS);
    let whole = travel(&chain(""), duration, seed).1;
    let lossy = chain(&format!("loss = {{ share = {share}, run = {run} }}"));
    let (summary, trips) = travel(&lossy, duration, seed);
    let due = |trip: &Trip, hop: usize| trip.hops.get(hop).map(|sent| sent.due);
    let whole: HashMap<Nanos, &Trip> = whole.iter().map(|trip| (trip.set_out, trip)).collect();
    // The last ones may be under way.
    let end = trips.len() - 5;
    let survive: Vec<&Trip> = trips[..end].iter().filter(|trip| trip.hops.len() == 2).collect();
    let frame = |trip: &&Trip| due(trip, 0).unwrap().unwrap().0 / 100_000 - 1;
    let frames: Vec<u64> = survive.iter().map(frame).collect();
    let (known, counted) = recovered(&frames);
    for (trip, is_known) in survive.iter().zip(known) {
        let as_ever = due(whole[&trip.set_out], 1).unwrap();
        assert_eq!(due(trip, 0), due(whole[&trip.set_out], 0));
        let is_without = as_ever.is_none();
        let expected = if is_known { as_ever } else { None };
        assert!(!(is_known && is_without), "{trip:?}");
        assert_eq!(due(trip, 1), Some(expected), "{trip:?}");
    }
    let lost = (trips[..end].len() - survive.len()) as u64;
    let hop = &summary.hops[0];
    assert!((lost..=lost + 6).contains(&hop.lost), "{} {lost}, padding and the last", hop.lost);
    let frames = hop.frames.unwrap();
    // The last five may have been heard, one of them after as long a silence as is borne.
    let of_last = |count: u64, counted: u64| (counted..=counted + 5).contains(&count);
    let end_of_silence = counted.silent..=counted.silent + FRAMES - 1 + 5;
    assert!(end_of_silence.contains(&frames.silent), "{frames:?} {counted:?}");
    assert!(of_last(frames.unknown, counted.unknown), "{frames:?} {counted:?}");
    assert!(
        (counted.losses..=counted.losses + 1).contains(&frames.losses),
        "{frames:?} {counted:?}"
    );
    counted
}

/// Frames that are lost completely shift nothing as long as they are fewer than a cycle has.
#[test]
fn scattered_losses_shift_nothing() {
    for seed in 0..30 {
        let LossCounts { silent, losses, unknown } = check_losses(0.1, 1.2, seed);
        assert!(silent > 40 && losses == 0, "{silent} {losses}");
        assert_eq!(unknown, 0, "in step from the beginning");
    }
}

/// Runs of losses about as long as a cycle: some are borne, some are not, and those are found out.
#[test]
fn long_runs_of_losses_are_noticed() {
    let mut all = LossCounts::default();
    for seed in 0..60 {
        let LossCounts { silent, losses, unknown } = check_losses(0.1, 8.0, seed);
        all = LossCounts {
            silent: all.silent + silent,
            losses: all.losses + losses,
            unknown: all.unknown + unknown,
        };
    }
    let LossCounts { silent, losses, unknown } = all;
    assert!(silent > 1_000 && losses > 100, "{all:?}");
    // A cycle to find the next one, as a rule, and again if its end or beginning is lost.
    assert!(unknown < losses * 2 * FRAMES, "{all:?}");
}

/// After a long silence it takes a cycle at most to be in step again.
#[test]
fn a_cycle_without_losses_is_enough() {
    for seed in 0..30 {
        let counted = check_losses(0.2, 60.0, seed);
        assert!(counted.unknown <= (counted.losses + 3) * (FRAMES + 1), "{counted:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_losses_are_borne_or_noticed(share in 0.01..0.6f64, run in 2.0..40f64, seed: u64) {
        check_losses(share, run, seed);
    }
}
