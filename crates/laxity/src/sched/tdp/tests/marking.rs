//! The marks, and what is recovered from them.

use std::vec;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::Upstream;
use super::{CommonTime, Mark};
use crate::units::Nanos;

#[test]
fn marks_are_the_papers_four_codes() {
    let time = CommonTime { frame: Nanos(250_000), frames: 60, cycles: 67 };
    let codes = [0, 1, 59, 60, 61, 119, 120].map(|frame| time.mark(frame).encode());
    assert_eq!(codes, [0x0c, 0x1c, 0x1c, 0x2c, 0x3c, 0x3c, 0x0c]);
    for ds in 0..=255u8 {
        let is_marked = [0x0c, 0x1c, 0x2c, 0x3c].contains(&(ds & 0xfc));
        assert_eq!(Mark::decode(ds).map(Mark::encode), is_marked.then_some(ds & 0xfc));
    }
    assert_eq!(time.cycle(66 * 60 + 59), 66);
    assert_eq!(time.cycle(67 * 60), 0);
    assert_eq!(time.frame_of_cycle(67 * 60 + 1), 1);
}

/// Packets of successive frames: which frame, and how long after its beginning they arrive.
#[derive(Clone, Debug)]
struct Stream {
    time: CommonTime,
    packets: Vec<(u64, Nanos)>,
}

/// A link that takes `latency` and may vary as long as all lags stay less than a frame apart, and
/// losses of whole frames, up to `silence` of them in a row.
fn stream(silence: impl Fn(u32) -> u64) -> impl Strategy<Value = Stream> {
    (2..1_000u64, 3..12u32).prop_flat_map(move |(frame, frames)| {
        let longest = silence(frames);
        let silences = prop_oneof![4 => Just(0), 2 => 0..=longest, 1 => Just(longest)];
        let one = (silences, vec(0..frame, 1..4));
        let latency = 0..u64::from(frames - 1) * frame;
        (latency, 0..3 * u64::from(frames), vec(one, 1..60)).prop_map(
            move |(latency, first, many)| {
                let time = CommonTime { frame: Nanos(frame), frames, cycles: 2 };
                let mut number = first;
                let mut packets = Vec::new();
                // Two whole cycles first, so that it gets in step.
                let whole = (0..2 * frames).map(|_| (0, vec![frame / 2]));
                for (silence, mut lags) in whole.chain(many) {
                    number += 1 + silence;
                    lags.sort();
                    for lag in lags {
                        packets.push((number, Nanos(number * frame + latency + lag)));
                    }
                }
                Stream { time, packets }
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn fewer_silent_frames_than_a_cycle_shift_nothing(
        stream in stream(|frames| u64::from(frames) - 1),
    ) {
        let Stream { time, packets } = stream;
        let mut input = Upstream::new(time).unwrap();
        let mut found: Option<u64> = None;
        let mut silent = 0;
        for (frame, arrival) in packets {
            let recovered = input.receive(arrival, time.mark(frame));
            match found {
                None => prop_assert!(recovered.is_none_or(|recovered| recovered == frame)),
                Some(before) => {
                    prop_assert_eq!(recovered, Some(frame));
                    silent += (frame - before).max(1) - 1;
                }
            }
            found = recovered;
        }
        // In step by the second cycle at the latest.
        prop_assert!(found.is_some());
        prop_assert_eq!((input.silent(), input.losses()), (silent, 0));
    }

    /// A cycle or more without a packet is noticed, and what is recovered later is right again.
    #[test]
    fn longer_silences_are_noticed(stream in stream(|frames| 3 * u64::from(frames))) {
        let Stream { time, packets } = stream;
        let mut input = Upstream::new(time).unwrap();
        let mut losses = 0;
        let mut before: Option<u64> = None;
        for (frame, arrival) in packets {
            let was_in_step = input.is_in_step();
            let recovered = input.receive(arrival, time.mark(frame));
            prop_assert!(recovered.is_none_or(|recovered| recovered == frame));
            let is_long = before.is_some_and(|before| frame - before > u64::from(time.frames));
            prop_assert_eq!(was_in_step && recovered.is_none(), was_in_step && is_long);
            losses += u64::from(was_in_step && is_long);
            before = Some(frame);
        }
        prop_assert_eq!(input.losses(), losses);
    }

    /// Whatever the marks and times are, there is an answer, and frames never go back while in
    /// step.
    #[test]
    fn any_marks_are_borne(
        frames in 3..10u32, packets in vec((0..3_000u64, any::<bool>(), any::<bool>()), 1..200),
    ) {
        let time = CommonTime { frame: Nanos(1_000), frames, cycles: 1 };
        let mut input = Upstream::new(time).unwrap();
        let mut now = Nanos::ZERO;
        let mut before = None;
        for (gap, odd_frame, odd_cycle) in packets {
            now += Nanos(gap);
            let mark = Mark { odd_frame, odd_cycle };
            let losses = input.losses();
            let frame = input.receive(now, mark);
            prop_assert_eq!(frame.is_some(), input.is_in_step());
            prop_assert!(frame.is_none_or(|frame| time.mark(frame) == mark));
            if let (Some(frame), Some(before)) = (frame, before)
                && input.losses() == losses
            {
                prop_assert!((before..=before + u64::from(frames)).contains(&frame));
            }
            before = frame;
        }
    }

    /// What is concluded from a usual packet without further ado is what would be concluded anyway,
    /// even if time goes back.
    #[test]
    fn usual_packets_tell_nothing_new(
        frame in prop_oneof![1..6u64, Just(1_000)], frames in 3..10u32,
        packets in vec((-1_000..3_000i64, 0..8u8), 1..300),
    ) {
        let time = CommonTime { frame: Nanos(frame), frames, cycles: 1 };
        let (mut input, mut all) = (Upstream::new(time).unwrap(), Upstream::new(time).unwrap());
        let mut now = Nanos::ZERO;
        let mut mark = time.mark(0);
        for (gap, choice) in packets {
            now = Nanos(now.0.saturating_add_signed(gap * frame as i64 / 2_000));
            mark = match choice {
                0 => Mark { odd_cycle: !mark.odd_cycle, odd_frame: false },
                1 => Mark { odd_frame: !mark.odd_frame, ..mark },
                2..6 => time.mark(time.frame_at(now)),
                _ => mark,
            };
            prop_assert_eq!(input.receive(now, mark), all.recover(now, mark));
            prop_assert_eq!(&input, &all);
        }
    }
}

/// A link's delay that jumps by two frames looks the same to the bits until the cycle turns, two
/// frames too late: then the input is back in step at once.
#[test]
fn a_jump_is_noticed_when_the_cycle_turns() {
    let time = CommonTime { frame: Nanos(1_000), frames: 10, cycles: 1 };
    let mut input = Upstream::new(time).unwrap();
    let arrival = |frame: u64, late: u64| Nanos(frame * 1_000 + 500 + late);
    for frame in 0..25 {
        let recovered = input.receive(arrival(frame, 0), time.mark(frame));
        assert_eq!(recovered, (frame >= 10).then_some(frame));
    }
    let recovered: Vec<_> =
        (25..32).map(|frame| input.receive(arrival(frame, 2_000), time.mark(frame))).collect();
    assert_eq!(
        recovered[..5],
        [27, 28, 29].map(Some).into_iter().chain([None, None]).collect::<Vec<_>>()[..]
    );
    assert_eq!(recovered[5..], [Some(30), Some(31)]);
    assert_eq!(input.losses(), 1);
}

/// Half a frame beyond lags that were a frame apart, either way.
#[test]
fn a_packet_that_strays_is_borne() {
    let time = CommonTime { frame: Nanos(1_000), frames: 10, cycles: 1 };
    for stray in [-499i64, 1_498] {
        let mut input = Upstream::new(time).unwrap();
        for frame in 500..520u64 {
            let lags = if frame < 519 { [0, 999] } else { [stray, stray] };
            for lag in lags {
                let now = Nanos((frame * 1_000 + 5_000).saturating_add_signed(lag));
                let recovered = input.receive(now, time.mark(frame));
                assert_eq!(recovered, (frame >= 510).then_some(frame));
            }
        }
    }
}

/// A clock that runs fast or slow shifts lags by any amount in time.
#[test]
fn a_drifting_clock_is_followed() {
    let time = CommonTime { frame: Nanos(1_000), frames: 10, cycles: 1 };
    for per_frame in [-20i64, 20] {
        let mut input = Upstream::new(time).unwrap();
        for frame in 500..900u64 {
            let drift = per_frame * (frame as i64 - 700);
            let now = Nanos((frame * 1_000 + 500).saturating_add_signed(drift));
            let recovered = input.receive(now, time.mark(frame));
            assert!(recovered.is_none_or(|recovered| recovered == frame));
            assert_eq!(recovered.is_some(), frame >= 510);
        }
    }
}
