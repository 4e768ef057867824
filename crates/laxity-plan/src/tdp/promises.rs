//! Promises and margins of small networks, by arithmetic.

use std::path::Path;

use laxity::packet::ClassId;
use laxity::units::{Bytes, Nanos};

use super::{
    ClockMargin, FramedBound, FramedBoundError, FramedNetwork, Framing, MarginBinding, TdpSpec,
};
use crate::Plan;
use crate::model::{Hop, LinkId};

/// A chain of three nodes behind a host: frames of 100 us, ten to a cycle. A packet of 500 bytes
/// takes 40 us, one of 100 bytes 8 us.
const CHAIN: &str = r#"
version = 1
link = { rate = "100mbit", max-packet = "500b", min-packet = "100b" }
[scheduler]
kind = "tdp"
frame = "100us"
frames = 10
[network.access]
between = ["host", "a"]
private = true
[network.one]
between = ["a", "b"]
delay = "130us"
[network.two]
between = ["b", "c"]
delay = "20us"
[class.voice]
gap = "500us"
[[source]]
class = "voice"
model = "constant"
rate = "8mbit"
packet = "500b"
path = ["host", "a", "b", "c"]
"#;

fn plan(text: &str) -> Plan {
    Plan::parse(text, "plan.toml", Path::new("")).unwrap()
}

fn framed(plan: &Plan) -> FramedNetwork<'_> {
    plan.framed_network().unwrap()
}

fn bound(text: &str) -> Result<FramedBound, FramedBoundError> {
    Framing::new(framed(&plan(text))).bounds()[&ClassId(0)].clone()
}

fn margin(text: &str) -> ClockMargin {
    Framing::new(framed(&plan(text))).clock_margin()
}

fn us(us: u64) -> Nanos {
    Nanos(1_000 * us)
}

#[test]
fn a_chain_is_promised_its_frames() {
    // One of two slots of ten frames, after the current frame; three frames from a to b, and one
    // more to the end of b's; 40 us from the host, and 20 us to c.
    let expected =
        FramedBound { shaping: us(100 + 500), transit: us(300 + 100), beside: us(40 + 20) };
    assert_eq!(bound(CHAIN), Ok(expected));
    assert_eq!(expected.delay(), us(1_060));
    // Clocks that are 1 us off, either way, from the arrival at a to the end of b's frame.
    let clocks = CHAIN.replace("frames = 10", "frames = 10\nclock-error = \"1us\"");
    assert_eq!(bound(&clocks), Ok(FramedBound { beside: us(40 + 20 + 2), ..expected }));
    // Three streams may come at once, at the host's link and at a.
    let three = CHAIN.replace("gap =", "count = 3\ngap =");
    let gap = 1_000_000u64.div_ceil(6);
    let shaping = Nanos(100_000 + 3 * gap);
    assert_eq!(bound(&three), Ok(FramedBound { shaping, beside: us(120 + 20), ..expected }));
}

/// A burst is what the reserved rate does not carry off, whatever the peak rate is.
#[test]
fn bursts_are_those_of_the_reserved_rate() {
    let arrival = |bucket: &str, more: &str| {
        let arrival = format!(
            "end-to-end = \"1s\"\n\
             arrival = {{ bucket = \"{bucket}\", rate = \"8mbit\", packet = \"500b\"{more} }}"
        );
        bound(&CHAIN.replace("gap = \"500us\"", &arrival))
    };
    for more in ["", ", peak = \"20mbit\""] {
        let bound = arrival("2000b", more).unwrap();
        assert_eq!((bound.shaping, bound.beside), (us(100 + 4 * 500), us(4 * 40 + 20)));
    }
    assert_eq!(arrival("100MB", ""), Err(FramedBoundError::Burst(1)));
}

#[test]
fn what_is_not_kept_is_not_promised() {
    let delay = |frames: u32| {
        CHAIN.replace("frames = 10", &format!("frames = 10\nforwarding-delay = {frames}"))
    };
    assert_eq!(bound(&delay(2)), Err(FramedBoundError::Late(1)));
    assert!(bound(&delay(3)).is_ok());
    assert_eq!(margin(&delay(2)).error, Nanos::ZERO);
    assert_eq!(
        margin(&delay(2)).binding,
        MarginBinding::Late(Hop { link: LinkId(1), backward: false })
    );
    let shared = CHAIN.replace("private = true", "scheduler.kind = \"fifo\"");
    assert_eq!(bound(&shared), Err(FramedBoundError::Shared(0)));
    let full = CHAIN.replace("500us", "45us");
    assert_eq!(bound(&full), Err(FramedBoundError::Blocked(1)));
    let clocks = CHAIN.replace("frames = 10", "frames = 10\nclock-error = \"16us\"");
    assert_eq!(bound(&clocks), Err(FramedBoundError::Marks(1)));
    // A private link that is passed twice is shared with what comes round.
    let round = r#"["host", "a", "b", "a", "host", "a"]"#;
    assert_eq!(
        bound(&CHAIN.replace(r#"["host", "a", "b", "c"]"#, round)),
        Err(FramedBoundError::Shared(0))
    );
}

#[test]
fn margins_are_the_least_of_what_binds() {
    // From one frame's end to the beginning of the frame three later 200 us pass, and 130 us on the
    // way; full frames have 60 us left; marks come at least 8 us and at most 48 us after their
    // frames begin, or 40 us of best effort later.
    assert_eq!(
        margin(CHAIN),
        ClockMargin { error: Nanos(59_998 / 4), binding: MarginBinding::Marks }
    );
    let late = CHAIN.replace("130us", "180us");
    let binding = MarginBinding::Late(Hop { link: LinkId(1), backward: false });
    assert_eq!(margin(&late), ClockMargin { error: Nanos(19_999 / 2), binding });
    // Nothing follows the one link: marks do not matter, and full frames do.
    let single = CHAIN.replace(r#""a", "b", "c"]"#, r#""a", "b"]"#);
    let full =
        single.replace("500us", "90us").replace("frames = 10", "frames = 10\nguard = \"10us\"");
    let binding = MarginBinding::Full(Hop { link: LinkId(1), backward: false });
    assert_eq!(margin(&full), ClockMargin { error: us((100 - 10 - 80) / 2), binding });
    // A link whose longest packet takes a frame bears no error.
    let slow = CHAIN.replace("max-packet = \"500b\"", "max-packet = \"1300b\"");
    let slow = slow.replace(
        "gap = \"500us\"",
        "end-to-end = \"1s\"\narrival = { bucket = \"500b\", rate = \"8mbit\", packet = \"500b\" }",
    );
    assert_eq!(margin(&slow), ClockMargin { error: Nanos::ZERO, binding: MarginBinding::Marks });
    assert!(bound(&slow).is_ok(), "perfect clocks are promised their frames");
}

#[test]
fn forwarding_delays_are_the_shortest_that_suffice() {
    let plan = plan(CHAIN);
    let framed = framed(&plan);
    let delay = |error, link, backward| {
        let spec = TdpSpec { clock_error: Some(Nanos(error)), ..*framed.spec };
        FramedNetwork { spec: &spec, ..framed }.shortest_delay(Hop { link: LinkId(link), backward })
    };
    assert_eq!([delay(0, 1, false), delay(0, 1, true), delay(0, 2, false)], [3, 3, 2]);
    assert_eq!([delay(34_999, 1, false), delay(35_000, 1, false)], [3, 4]);
    let demand = framed.demand();
    let outputs: Vec<_> = demand.outputs.iter().map(|hop| (hop.link.0, hop.backward)).collect();
    assert_eq!(
        outputs,
        [(1, false), (1, true), (2, false), (2, true)],
        "none where links are private"
    );
    let stretch = &demand.stretches[0];
    assert_eq!((stretch.hops.clone(), stretch.flow.packets), (1..3, 2));
    // A frame is shorter by the guard, and by both errors of a clock that steps.
    let less = "frames = 10\nguard = \"10us\"\nclock-error = \"5us\"";
    let plan = self::plan(&CHAIN.replace("frames = 10", less));
    let demand = self::framed(&plan).demand();
    assert_eq!(demand.capacities, [Bytes((100 - 10 - 2 * 5) * 100 / 8); 4]);
}

/// Two classes that share the outputs, in frames that have room for two packets.
fn beside(voice: &str, more: &str, assignment: &str) -> String {
    let source = "[[source]]\nclass = \"more\"\nmodel = \"constant\"\nrate = \"8mbit\"\n\
                  packet = \"500b\"\npath = [\"host\", \"a\", \"b\", \"c\"]\n";
    let both = format!("gap = \"500us\"\n{voice}\n[class.more]\ngap = \"100us\"\n{more}\n");
    CHAIN
        .replace("frames = 10", &format!("frames = 10\nassignment = \"{assignment}\""))
        .replace("gap = \"500us\"\n", &both)
        + source
}

#[test]
fn frames_that_the_plan_says_are_kept_and_others_are_found_beside_them() {
    for assignment in ["quick", "exact"] {
        let frames = |voice: &str, more: &str| {
            let plan = plan(&beside(voice, more, assignment));
            let framing = Framing::new(framed(&plan));
            [0, 1].map(|class| framing.first_frames(ClassId(class)))
        };
        let own = |frames: [u32; 2]| Some(vec![(LinkId(1), frames[0]), (LinkId(2), frames[1])]);
        for start in 0..10 {
            let end = (start + 3) % 10;
            let chosen = format!("frame-at = {{ one = {start}, two = {end} }}");
            let [voice, more] = frames(&chosen, "");
            assert_eq!(voice, own([start, end]));
            assert!(more.is_some());
        }
        // Three packets fit into no frame; a class that finds its own full gets no others.
        let third = "count = 2\nframe-at = { one = 0, two = 3 }";
        let [voice, more] = frames("frame-at = { one = 5, two = 8 }", third);
        assert_eq!((voice, more), (own([5, 8]), None));
        // What it may not have is not given to anyone else.
        let [voice, more] = frames("", &third.replace("count = 2", "count = 3"));
        assert_eq!((voice, more), (None, None));
    }
}
