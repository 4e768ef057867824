//! What arithmetic says of small networks.

use super::*;

const US: u64 = 1_000;

/// Three nodes and a reserved flow through them: frames of 100 us, ten to a cycle. At 100 Mbit/s
/// 1000 bytes take 80 us, and padding of 100 bytes 8 us.
const CHAIN: &str = r#"
    link = { rate = "100mbit", max-packet = "1000b", min-packet = "100b" }
    [scheduler]
    kind = "tdp"
    frame = "100us"
    frames = 10
    [network.one]
    between = ["a", "b"]
    delay = "30us"
    [network.two]
    between = ["b", "c"]
    delay = "250us"
    [class.voice]
    gap = "1ms"
    [class.data]
    [[source]]
    class = "voice"
    model = "constant"
    rate = "8mbit"
    packet = "1000b"
    start = "3ms"
    path = ["a", "b", "c"]
"#;

fn of(trips: &[Trip], class: u32) -> Vec<&Trip> {
    trips.iter().filter(|trip| trip.class == ClassId(class)).collect()
}

/// When the hops of each trip began, in us.
fn starts(trips: &[&Trip]) -> Vec<Vec<u64>> {
    let starts = |trip: &&Trip| trip.hops.iter().map(|sent| sent.start.0 / US).collect();
    trips.iter().map(starts).collect()
}

#[test]
fn a_packet_is_sent_in_the_frames_that_arithmetic_says() {
    let plan = plan(CHAIN);
    let (summary, trips) = travel(&plan, Nanos(20 * MS), 1);
    // The first frame of the cycle is reserved, as good as any. Packets come to b within 350 us
    // from either side, so that it sends them on four frames later.
    let voice = of(&trips, 0);
    let expected = (4..20).map(|ms| vec![1_000 * ms, 1_000 * ms + 400]);
    let waiting = vec![Vec::new()];
    assert_eq!(
        starts(&voice),
        expected.chain(waiting).collect::<Vec<_>>(),
        "its frame is after the end"
    );
    let class = &summary.ends().classes[0];
    let transit = class.transit_ns.unwrap();
    assert_eq!((transit.min, transit.max), (730 * US, 730 * US), "400 + 80 + 250 us");
    assert_eq!(class.delay_ns.unwrap().max, 1_730 * US, "it comes when its frame begins: too late");
    // Up to 1.1 ms at the edge, four frames until it is sent on, that frame and 250 us.
    assert_eq!(class.bound_ns, Some((1_100 + 400 + 100 + 250) * US));
}

/// Every node that is followed by another with frames sends one padding packet in each frame in
/// which it has nothing else, at once.
#[test]
fn idle_links_are_padded() {
    let summary = travel(&plan(CHAIN), Nanos(20 * MS), 1).0;
    let frames = summary.hops.iter().map(|hop| hop.frames.unwrap());
    let padding: Vec<_> = frames.map(|frames| frames.padding).collect();
    assert_eq!(padding, [200 - 16, 200 - 16], "c has an output with frames, if nobody uses it");
    assert!(summary.hops.iter().all(|hop| hop.frames.unwrap().silent == 0));
}

/// Best effort waits for reserved packets and padding, and for a reserved frame if it would run
/// into it by more than the guard.
#[test]
fn best_effort_fills_what_is_left() {
    let data = r#"
        [[source]]
        class = "data"
        model = "constant"
        rate = "200mbit"
        packet = "500b"
        start = "4900us"
        stop = "5200us"
        path = ["a", "b"]
    "#;
    let begins = |guard: &str| {
        let text = CHAIN.replace("frames = 10", &format!("frames = 10\nguard = \"{guard}\""));
        let trips = travel(&plan(&format!("{text}{data}")), Nanos(7 * MS), 1).1;
        let voice = starts(&of(&trips, 0))[1][0];
        let data: Vec<_> = starts(&of(&trips, 1)).iter().take(6).map(|hops| hops[0]).collect();
        (voice, data)
    };
    // In the frame before the reserved one padding comes first, and then there is room for two
    // packets of 40 us. A third would end 28 us after that frame has begun. The other frames begin
    // with padding, too, if late.
    assert_eq!(begins("0us"), (5_000, vec![4_908, 4_948, 5_080, 5_128, 5_168, 5_216]));
    assert_eq!(begins("20us").1[..3], [4_908, 4_948, 5_080]);
}

/// A packet may run into a reserved frame by as much as the guard, no more.
#[test]
fn the_guard_is_what_best_effort_takes() {
    let text = CHAIN.replace("frame = \"100us\"", "frame = \"120us\"").replace("1ms", "1200us");
    for (guard, voice, data) in [(28, 6_028, 5_988), (27, 6_000, 6_080)] {
        let guard = format!("frames = 10\nguard = \"{guard}us\"");
        let data_source = r#"
            [[source]]
            class = "data"
            model = "constant"
            rate = "4mbit"
            packet = "500b"
            start = "5988us"
            stop = "5989us"
            path = ["a", "b"]
        "#;
        let text = format!("{}{data_source}", text.replace("frames = 10", &guard));
        let trips = travel(&plan(&text), Nanos(10 * MS), 1).1;
        let voices = starts(&of(&trips, 0));
        assert!(voices.iter().any(|hops| hops[0] == voice), "{voices:?}");
        assert_eq!(starts(&of(&trips, 1)), [[data]]);
    }
}
