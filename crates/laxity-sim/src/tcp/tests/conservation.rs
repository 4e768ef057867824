//! Everything sent is delivered in order exactly once, over any network.

use std::collections::BTreeSet;

use laxity::units::Nanos;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::pipe::{Fate, Pipe};
use crate::tcp::{
    Ack, Acknowledging, Blocks, Config, Congestion, Ecn, Receiver, Recovery, Segment, Sender,
    SlowStart, Timing, Variant,
};

fn ms(ms: u64) -> Nanos {
    Nanos(ms * 1_000_000)
}

fn variant() -> impl Strategy<Value = Variant> {
    prop::sample::select(vec![
        Variant::NEWRENO,
        Variant::SACK,
        Variant::CUBIC,
        Variant::new(Recovery::RackTlp, Congestion::Reno),
        Variant::new(Recovery::RackTlp, Congestion::Cubic),
        Variant::new(Recovery::Newreno, Congestion::Dctcp),
        Variant::new(Recovery::Sack, Congestion::Dctcp),
        Variant::new(Recovery::RackTlp, Congestion::Dctcp),
        Variant::new(Recovery::RackTlp, Congestion::Bbr),
    ])
}

pub(super) fn config() -> impl Strategy<Value = Config> {
    let timing = prop::sample::select(vec![
        Timing::Rfc6298 { granularity: ms(1), min: ms(200) },
        Timing::Ticks { tick: ms(100), phase: ms(30) },
    ]);
    let slow_start = prop::sample::select(vec![SlowStart::Standard, SlowStart::Hystart]);
    let windows = (1_u32..12, 1_u32..80);
    let ecn = prop::sample::select(vec![Ecn::NotCapable, Ecn::Capable, Ecn::L4s]);
    let flags = (any::<bool>(), ecn, any::<bool>());
    (variant(), 0_u64..300, windows, slow_start, flags, timing).prop_map(
        |(variant, transfer, windows, slow_start, (limited_transmit, ecn, pacing), timing)| {
            Config {
                variant,
                length: 1_000,
                transfer: Some(transfer),
                initial_window: windows.0,
                receiver_window: windows.1,
                slow_start,
                pacing,
                limited_transmit,
                ecn,
                timing,
                seed: 7,
            }
        },
    )
}

fn receiver(delayed: bool, variant: Variant) -> Receiver {
    let acknowledging = if delayed { Acknowledging::Delayed } else { Acknowledging::Every };
    Receiver::new(acknowledging, variant)
}

/// Losses, marks, delays and duplicates, each with its probability in 1/256.
fn fates(seed: u64, [loss, mark, late, twice]: [u8; 4]) -> impl FnMut() -> Fate {
    let mut random = Pcg64::seed_from_u64(seed);
    move || {
        let by = ms(random.random_range(0..60));
        let mut happens = |chance: u8| random.random_range(0..256) < u32::from(chance);
        match (happens(loss), happens(late), happens(twice), happens(mark)) {
            (true, ..) => Fate::Lost,
            (_, true, ..) => Fate::Late(by),
            (_, _, true, _) => Fate::Twice(by),
            (.., true) => Fate::Marked,
            _ => Fate::Arrives,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_segment_arrives_once(
        config in config(),
        delayed: bool,
        silent: bool,
        seed: u64,
        there in (0_u8..90, 0_u8..60, 0_u8..60, 0_u8..60).prop_map(<[u8; 4]>::from),
        back in (0_u8..90, Just(0_u8), 0_u8..60, 0_u8..60).prop_map(<[u8; 4]>::from),
    ) {
        let transfer = config.transfer.unwrap();
        // A receiver that tells less than the sender could use does no harm.
        let heard_by = if silent { Variant::NEWRENO } else { config.variant };
        let sender = Sender::new(config);
        let mut pipe = Pipe::new(sender, receiver(delayed, heard_by), Nanos(100_000), ms(10));
        let (mut there, mut back) = (fates(seed, there), fates(!seed, back));
        let mut sent = BTreeSet::new();
        let mut segments = |_: u64, segment: &Segment| {
            sent.insert(segment.number);
            there()
        };
        let mut acks = |_: u64, _: &Ack| back();
        pipe.send(&mut segments);
        let mut delivered = 0;
        while !pipe.sender.is_finished() {
            prop_assert!(pipe.step(&mut segments, &mut acks), "nothing left to happen");
            let (first, next) = (pipe.sender.acknowledged(), pipe.receiver.delivered());
            prop_assert!(delivered <= next && first <= next && next <= transfer);
            prop_assert!(pipe.sender.congestion_window() >= 1.0);
            delivered = next;
            // 300 segments in a row that wait for a minute each.
            prop_assert!(pipe.now < ms(300 * 60_000), "not finished in time");
        }
        prop_assert_eq!(pipe.receiver.delivered(), transfer);
        prop_assert_eq!(pipe.sender.next_timer(), None);
        prop_assert_eq!(sent.len() as u64, transfer);
        let counts = pipe.sender.counts();
        prop_assert_eq!(counts.sent - counts.retransmitted, transfer);
    }

    /// Acknowledgements that no receiver sends do no harm: no panic, no endless sending, no more
    /// outstanding than the receiver's window, and an honest receiver is served afterwards.
    #[test]
    fn nonsense_is_survived(
        config in config(),
        steps in prop::collection::vec(
            (0_u64..70, prop::collection::vec((0_u64..320, 0_u64..20), 0..4), any::<bool>(), any::<u16>(), any::<u32>()),
            0..80,
        ),
    ) {
        let mut sender = Sender::new(config);
        let mut now = Nanos::ZERO;
        for (next, ranges, echo, later, marked) in steps {
            let mut burst = 0;
            while sender.poll_send(now).is_some() {
                burst += 1;
                prop_assert!(burst <= 2 * 80 + 2);
            }
            let mut blocks = Blocks::default();
            ranges.iter().for_each(|&(start, length)| blocks.push(start..start + length));
            let next = sender.acknowledged().saturating_sub(2) + next / 12;
            sender.on_ack(now, &Ack { next, blocks, echo, marked });
            now += Nanos(u64::from(later) * 10_000);
            sender.on_timer(now);
        }
        let mut honest = receiver(false, config.variant);
        let all = 0..sender.acknowledged();
        all.for_each(|number| {
            let segment = Segment { number, length: 1, ecn: Default::default(), reduced: false };
            honest.on_segment(now, &segment);
        });
        let mut turns = 0;
        while !sender.is_finished() {
            while let Some(segment) = sender.poll_send(now) {
                if let Some(ack) = honest.on_segment(now, &segment) {
                    sender.on_ack(now, &ack);
                }
            }
            now = sender.next_timer().unwrap_or(now);
            sender.on_timer(now);
            turns += 1;
            prop_assert!(turns < 1_000);
        }
    }
}
