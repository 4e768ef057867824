//! What classes send, beside their arrival curves.

use laxity::packet::ClassId;
use laxity::police::TokenBucket;
use laxity::units::{Bytes, Nanos, Rate};
use laxity_answers::advice::Demand;
use laxity_forward::{ArrivedPacket, Event};
use laxity_plan::Plan;

/// What classes with an `arrival` sent since a plan is followed.
#[derive(Clone)]
pub(super) struct Demands {
    /// By class number.
    classes: Vec<Option<ClassDemand>>,
    /// The longest packet of any class.
    longest: u32,
}

/// The smallest buckets that all packets of a class would have kept, for several rates.
///
/// A bucket of a rate fills by every packet and drains at the rate; the highest that it was is the
/// smallest one that would have sufficed.
#[derive(Clone)]
struct ClassDemand {
    broke: bool,
    /// When a packet arrived last.
    last: Nanos,
    buckets: [Bucket; RATES],
}

/// Contents are in units of 10⁻⁹ bit, exact.
#[derive(Clone, Copy, Default)]
struct Bucket {
    rate: u64,
    level: u64,
    highest: u64,
}

/// Rates that are looked at: a class's own, and higher ones up to 16 times that.
const RATES: usize = 17;
/// One rate is 2^(1/4) of the one before, in parts of 2¹⁶.
const STEP: u64 = 77_936;
/// A byte in units of 10⁻⁹ bit.
const BYTE: u64 = 8_000_000_000;

impl Demands {
    /// Nothing yet, of a plan's classes.
    pub(super) fn new(plan: &Plan) -> Self {
        let demand = |line: TokenBucket| {
            let rates = std::iter::successors(Some(line.rate.0), |rate| {
                Some((u128::from(*rate) * u128::from(STEP)).div_ceil(1 << 16) as u64)
            });
            let mut buckets = [Bucket::default(); RATES];
            buckets.iter_mut().zip(rates).for_each(|(bucket, rate)| bucket.rate = rate);
            ClassDemand { broke: false, last: Nanos::ZERO, buckets }
        };
        let classes = plan.classes.iter().map(|class| {
            let lines = class.arrival.as_ref().filter(|_| class.is_leaf())?;
            TokenBucket::slowest(&lines.buckets).map(demand)
        });
        Demands { classes: classes.collect(), longest: 0 }
    }

    /// Counts an event.
    pub(super) fn add(&mut self, event: &Event) {
        match event {
            Event::Arrived(arrived) => {
                self.longest = self.longest.max(arrived.length);
                if let Some(class) = self.class(arrived.class) {
                    class.arrived(arrived);
                }
            }
            Event::Nonconforming { class, .. } => {
                if let Some(class) = self.class(*class) {
                    class.broke = true;
                }
            }
            Event::Sent(_)
            | Event::Dropped(_)
            | Event::Idle { .. }
            | Event::Reloaded { .. }
            | Event::Delivered(_)
            | Event::Lost(_)
            | Event::Rate { .. }
            | Event::Introduced { .. }
            | Event::Resumed { .. }
            | Event::Queued { .. }
            | Event::Kept { .. } => {}
        }
    }

    /// Takes over what was counted of the same plan on another thread, whose packets keep to curves
    /// of their own.
    pub(super) fn join(&mut self, other: &Demands) {
        self.longest = self.longest.max(other.longest);
        for (class, other) in self.classes.iter_mut().flatten().zip(other.classes.iter().flatten())
        {
            class.broke |= other.broke;
            for (bucket, other) in class.buckets.iter_mut().zip(&other.buckets) {
                bucket.highest = bucket.highest.max(other.highest);
            }
        }
    }

    fn class(&mut self, class: ClassId) -> Option<&mut ClassDemand> {
        self.classes.get_mut(class.index())?.as_mut()
    }

    /// The longest packet that arrived.
    pub(super) fn longest(&self) -> Bytes {
        Bytes(self.longest.into())
    }

    /// What each class with an `arrival` sent, by class number.
    pub(super) fn demands(&self) -> Vec<Option<Demand>> {
        let demand = |class: &ClassDemand| Demand {
            broke: class.broke,
            kept: class.buckets.iter().map(Bucket::line).collect(),
        };
        self.classes.iter().map(|class| class.as_ref().map(demand)).collect()
    }
}

impl ClassDemand {
    fn arrived(&mut self, packet: &ArrivedPacket) {
        let passed = packet.time.saturating_sub(self.last).0;
        self.last = self.last.max(packet.time);
        let bits = u64::from(packet.length).saturating_mul(BYTE);
        for Bucket { rate, level, highest } in &mut self.buckets {
            *level = level.saturating_sub(rate.saturating_mul(passed)).saturating_add(bits);
            *highest = (*highest).max(*level);
        }
    }
}

impl Bucket {
    fn line(&self) -> TokenBucket {
        TokenBucket { bucket: Bytes(self.highest.div_ceil(BYTE)), rate: Rate(self.rate) }
    }
}

#[cfg(test)]
mod tests {
    use laxity::packet::Packet;
    use laxity_plan::matching::Headers;
    use proptest::prelude::*;

    use super::*;
    use crate::bridge::samples;

    fn demands() -> Demands {
        let text = "version = 1
            link = { rate = '10mbit' }
            scheduler.kind = 'edf'
            class.call = { deadline = '10ms', arrival = { bucket = '600b', rate = '256kbit', packet = '300b' } }
            class.rest = {}";
        Demands::new(&Plan::parse(text, "plan.toml", std::path::Path::new(".")).expect("a plan"))
    }

    fn arrived(class: u32, time: u64, length: u32) -> Event {
        let (class, arrival) = (ClassId(class), Nanos(time));
        let packet = Packet { class, arrival, length, ..Packet::default() };
        samples::arrived(packet, Headers::default())
    }

    #[test]
    fn rates_go_up_to_sixteen_times() {
        let mut demands = demands();
        demands.add(&arrived(1, 5, 1_514));
        demands.add(&Event::Nonconforming { number: 0, class: ClassId(0) });
        assert_eq!(demands.longest(), Bytes(1_514));
        let [Some(call), None] = &demands.demands()[..] else { panic!("the call has a curve") };
        assert!(call.broke && call.kept.iter().all(|line| line.bucket == Bytes(0)));
        assert_eq!(call.kept[0].rate, Rate(256_000));
        let most = call.kept[RATES - 1].rate.0 as f64;
        assert!((most / 256_000.0 - 16.0).abs() < 0.01, "{most}");
    }

    proptest! {
        /// A bucket is as large as it must be: over every interval it and the rate are at least
        /// what arrived, and over one of them no byte more.
        #[test]
        fn every_bucket_is_the_smallest(
            packets in prop::collection::vec((0u64..50_000_000, 1u32..1_500), 1..40),
        ) {
            let mut demands = demands();
            let mut arrivals = Vec::new();
            let mut time = 0;
            for (gap, length) in packets {
                time += gap;
                demands.add(&arrived(0, time, length));
                arrivals.push((time, u64::from(length)));
            }
            let kept = demands.demands().remove(0).expect("a demand").kept;
            for line in kept {
                let mut least = 0;
                for (from, (begin, _)) in arrivals.iter().enumerate() {
                    let mut sent = 0;
                    for (end, length) in &arrivals[from..] {
                        sent += length * BYTE;
                        least = least.max(sent.saturating_sub(line.rate.0 * (end - begin)));
                    }
                }
                prop_assert_eq!(line.bucket.0, least.div_ceil(BYTE));
            }
        }
    }
}
