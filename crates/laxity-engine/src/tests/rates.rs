//! Shares of a link's rate: whatever threads do, and however late they are, what is on its way at
//! one time is at most the link's rate.

use laxity::units::{Nanos, Rate};
use proptest::prelude::*;

use super::sums::{OnItsWay, most_at_once};
use crate::{Grant, RateShare};

/// A thread that sends packets of 1000 bits.
struct Sender {
    share: RateShare,
    queued: u32,
    ended: Nanos,
    /// What it sent.
    sent: Vec<OnItsWay>,
}

impl Sender {
    /// Sends a packet if it has one and may.
    fn turn(&mut self, now: Nanos) -> bool {
        if self.ended > now {
            return false;
        }
        if self.queued == 0 {
            self.share.rest(self.ended);
            return false;
        }
        let Some(Grant { rate, from }) = self.share.ask(self.ended, self.ended) else {
            return false;
        };
        if from > now {
            return false;
        }
        let until = from.max(self.ended) + Nanos(1_000_000_000_000 / rate.0);
        self.sent.push(OnItsWay { rate, from: from.max(self.ended), until });
        (self.ended, self.queued) = (until, self.queued - 1);
        true
    }
}

fn senders(rate: u64, threads: u16) -> Vec<Sender> {
    let shares = RateShare::of_link(Rate(rate), threads).into_iter();
    let sender = |share| Sender { share, queued: 0, ended: Nanos::ZERO, sent: Vec::new() };
    shares.map(sender).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// In any order of turns, each as late as may be, and packets that come at any time.
    #[test]
    fn rates_never_sum_to_more_than_the_link(
        rate in 64u64..1_000_000_000,
        threads in 2u16..6,
        turns in prop::collection::vec((0usize..6, 0u32..4, 0u64..3), 1..200),
    ) {
        let mut senders = senders(rate, threads);
        let packet = 1_000_000_000_000 / rate;
        let mut now = 0;
        for (place, packets, wait) in turns {
            let sender = &mut senders[place % threads as usize];
            sender.queued += packets;
            now += wait * packet;
            sender.turn(Nanos(now));
        }
        for _ in 0..10_000 {
            now += packet / 3 + 1;
            senders.iter_mut().for_each(|sender| while sender.turn(Nanos(now)) {});
        }
        prop_assert!(senders.iter().all(|sender| sender.queued == 0 && !sender.share.is_busy()));
        let sent: Vec<_> = senders.iter().flat_map(|sender| sender.sent.clone()).collect();
        prop_assert!(most_at_once(&sent) <= rate);
        let least = RateShare::least(Rate(rate), threads);
        prop_assert!(sent.iter().all(|packet| packet.rate >= least));
    }

    /// Of threads that are never late, none is short for longer than a packet takes at that
    /// share, if others come and go meanwhile.
    #[test]
    fn who_is_punctual_is_short_for_a_packet_at_most(
        threads in 2u16..6,
        arrivals in prop::collection::vec((0usize..6, 1u32..6, 0u64..3_000), 1..100),
    ) {
        const RATE: u64 = 1_000_000_000;
        let mut senders = senders(RATE, threads);
        let patience = 1_000_000_000_000 / RateShare::least(Rate(RATE), threads).0 + 1;
        let mut since = vec![None; threads.into()];
        let mut arrivals = arrivals.into_iter().peekable();
        let mut next = 0;
        for now in 0..400_000 {
            while let Some((place, packets, wait)) = arrivals.next_if(|_| next <= now) {
                senders[place % threads as usize].queued += packets;
                next = now + wait;
            }
            for (sender, since) in senders.iter_mut().zip(&mut since) {
                let sends = sender.turn(Nanos(now));
                let is_short = !sends && sender.queued > 0 && sender.ended <= Nanos(now);
                *since = is_short.then(|| since.unwrap_or(now));
                prop_assert!(since.is_none_or(|since| now - since <= patience + 2));
            }
            if arrivals.peek().is_none() && senders.iter().all(|sender| sender.queued == 0) {
                break;
            }
        }
    }
}

#[test]
fn one_busy_thread_has_all_and_two_share_alike() {
    let mut shares = RateShare::of_link(Rate(1_000), 3);
    let ask = |share: &mut RateShare, at| share.ask(Nanos(at), Nanos(at));
    let grant = |rate, from| Some(Grant { rate: Rate(rate), from: Nanos(from) });
    assert_eq!(ask(&mut shares[0], 0), grant(1_000, 0));
    assert_eq!(ask(&mut shares[1], 3), None);
    assert_eq!(ask(&mut shares[0], 5), grant(333, 5), "another one is short");
    assert_eq!(ask(&mut shares[1], 6), grant(500, 6));
    assert_eq!(ask(&mut shares[0], 7), grant(500, 7));
    shares[1].rest(Nanos(9));
    assert_eq!(ask(&mut shares[0], 8), grant(500, 8), "the rest is free from 9 on");
    assert_eq!(ask(&mut shares[0], 9), grant(1_000, 9));
}
