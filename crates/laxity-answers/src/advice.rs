//! What to change in the plan of a live link, from what was measured and what is proved.

use laxity::packet::ClassId;
use laxity::police::TokenBucket;
use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::Plan;

use crate::link::Admission;
use crate::network::limits::bisected;

/// What was measured of a direction since its plan is followed, as far as advice follows from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "made by whoever measures")]
pub struct Measured {
    /// The largest lateness of the link: after it could have chosen what to send.
    pub late: Nanos,
    /// Whether the thread that forwards has a real-time priority.
    pub is_real_time: bool,
    /// The longest that a frame was seen to wait in the queue of the interface behind the link.
    pub held: Nanos,
    /// The longest packet that arrived.
    pub longest: Bytes,
    /// By class, what those with an `arrival` sent.
    pub demands: Vec<Option<Demand>>,
}

/// What a class sent, beside its arrival curve.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "made by whoever measures")]
pub struct Demand {
    /// Whether packets broke its arrival curve.
    pub broke: bool,
    /// Token buckets that all that it sent would have kept: the rate that its own has in the long
    /// run and higher ones, each with the smallest bucket.
    pub kept: Vec<TokenBucket>,
}

/// What to change, or how much could be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each has a sentence")]
pub enum Advice {
    /// Frames wait in the interface's own queue for longer than the shortest bound: measured.
    SlowerLink {
        /// For how long.
        held: Nanos,
        /// The shortest bound.
        bound: Nanos,
    },
    /// The link was late by more than a tenth of the shortest bound, without a real-time priority:
    /// measured.
    Priority {
        /// By how much.
        late: Nanos,
        /// The shortest bound.
        bound: Nanos,
    },
    /// Packets arrived that are longer than the link's longest: measured.
    LongerPackets {
        /// The longest.
        longest: Bytes,
        /// The longest that the plan allows.
        most: Bytes,
    },
    /// A class sent more than its `arrival`, which another rate or bucket would have allowed:
    /// measured, and whether the plan holds with that is proved.
    Contract {
        /// The class.
        class: String,
        /// What its `arrival` has in the long run.
        has: TokenBucket,
        /// What it would have kept.
        needs: TokenBucket,
        /// The highest rate, or the largest bucket if that is what has to be more, with which
        /// everything is proved, to a percent.
        most: u64,
    },
    /// A class broke its `arrival` although it kept rate and bucket: measured.
    Shape {
        /// The class.
        class: String,
    },
    /// Nothing has to be changed: measured. How much a class could have more is proved.
    Room {
        /// The class that came nearest to its `arrival`.
        class: String,
        /// What it used of its bucket at most, in percent.
        used: u64,
        /// How much higher its rate could be, in bits per second, to a percent.
        more_bps: u64,
    },
}

/// A class whose bucket would have to be this many times as large needs a higher rate instead.
const MOST_BUCKETS: u64 = 4;

impl Advice {
    /// The advice that is most urgent for a link; `None` if there is nothing to say.
    pub fn new(plan: &Plan, measured: &Measured) -> Option<Advice> {
        let shortest = plan.bounds().into_iter().flatten().min();
        let most = plan.link.max_packet;
        match shortest {
            Some(bound) if measured.held > bound => {
                return Some(Advice::SlowerLink { held: measured.held, bound });
            }
            Some(bound) if !measured.is_real_time && measured.late.0 > bound.0 / 10 => {
                return Some(Advice::Priority { late: measured.late, bound });
            }
            _ if measured.longest > most => {
                return Some(Advice::LongerPackets { longest: measured.longest, most });
            }
            _ => {}
        }
        let used = |(id, has, demand): (ClassId, TokenBucket, &Demand)| {
            let least = demand.kept.first().map_or(Bytes(0), |line| line.bucket);
            let percent = u128::from(least.0) * 100 / u128::from(has.bucket.0.max(1));
            (percent as u64, id, has, demand.clone())
        };
        let classes = demands(plan, measured).map(used);
        let (used, id, has, demand) =
            classes.max_by_key(|(used, id, _, demand)| (demand.broke, *used, *id))?;
        let class = plan.classes[id.index()].name.clone();
        if !demand.broke {
            let most = most_rate(plan, id, has)?;
            return Some(Advice::Room { class, used, more_bps: most - has.rate.0 });
        }
        if used <= 100 {
            return Some(Advice::Shape { class });
        }
        let (needs, most) = mend(plan, id, has, &demand)?;
        Some(Advice::Contract { class, has, needs, most })
    }
}

/// The classes that say what they send, with their token bucket in the long run and what they sent.
fn demands<'a>(
    plan: &'a Plan,
    measured: &'a Measured,
) -> impl Iterator<Item = (ClassId, TokenBucket, &'a Demand)> {
    plan.leaves().filter_map(|(id, class)| {
        let has = TokenBucket::slowest(&class.arrival.as_ref()?.buckets)?;
        Some((id, has, measured.demands.get(id.index())?.as_ref()?))
    })
}

/// The smallest change of a class's token bucket that all that it sent would have kept: a larger
/// bucket if that is not much larger and holds, or else a higher rate, or else both. With the most
/// that holds; today's value if nothing does.
fn mend(plan: &Plan, id: ClassId, has: TokenBucket, demand: &Demand) -> Option<(TokenBucket, u64)> {
    let modest = MOST_BUCKETS.saturating_mul(has.bucket.0);
    let larger = demand.kept.first().filter(|line| line.bucket.0 <= modest);
    if let Some(needs) = larger {
        let holds = |bytes| holds(plan, id, TokenBucket { bucket: Bytes(bytes), ..has });
        let most = most(has.bucket.0, modest, holds);
        if let Some(most) = most.filter(|most| needs.bucket.0 <= *most) {
            return Some((*needs, most));
        }
    }
    let faster = demand.kept.iter().find(|line| line.bucket <= has.bucket);
    let both = || demand.kept.iter().find(|line| line.bucket.0 <= modest);
    let line = faster.or_else(both).or(demand.kept.last())?;
    let needs = TokenBucket { rate: line.rate, bucket: line.bucket.max(has.bucket) };
    let most = most_rate(plan, id, TokenBucket { bucket: needs.bucket, ..has });
    Some((needs, most.unwrap_or(has.rate.0)))
}

/// The highest rate of a class with which everything is proved, if it is with the one that it has.
fn most_rate(plan: &Plan, id: ClassId, has: TokenBucket) -> Option<u64> {
    let holds = |rate| holds(plan, id, TokenBucket { rate: Rate(rate), ..has });
    most(has.rate.0, plan.link.rate.0, holds)
}

/// The largest value that holds, to a percent, if the least does.
fn most(least: u64, most: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    holds(least).then(|| bisected(least, most, holds).0)
}

/// Whether everything is proved, and all bounds are there that there are today, if a class has
/// another token bucket in the long run.
fn holds(plan: &Plan, id: ClassId, line: TokenBucket) -> bool {
    let mut changed = plan.clone();
    let arrival = changed.classes[id.index()].arrival.as_mut();
    let lines = arrival.into_iter().flat_map(|arrival| &mut arrival.buckets);
    if let Some(slowest) = lines.min_by_key(|line| line.in_the_long_run()) {
        *slowest = line;
    }
    let Some(admission) = Admission::test(&changed) else { return false };
    let bounds = plan.bounds().into_iter().zip(&admission.bounds);
    admission.admitted() == Some(true) && { bounds }.all(|(now, then)| now.is_err() || then.is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let text = r#"
            version = 1
            link = { rate = "10mbit", max-packet = "1514b" }
            scheduler.kind = "edf"
            class.call = { deadline = "10ms", arrival = { bucket = "600b", rate = "256kbit", packet = "200b" } }
            class.film = { deadline = "40ms", arrival = { bucket = "15kB", rate = "4mbit" } }
            class.rest = {}
        "#;
        Plan::parse(text, "plan.toml", std::path::Path::new(".")).expect("a plan")
    }

    /// Nothing special: each class kept its curve, the call by half and the film by a tenth.
    fn calm() -> Measured {
        let kept = |bytes, rate| {
            let kept = vec![TokenBucket { bucket: Bytes(bytes), rate: Rate(rate) }];
            Some(Demand { broke: false, kept })
        };
        Measured {
            is_real_time: true,
            longest: Bytes(1_514),
            demands: vec![kept(300, 256_000), kept(1_500, 4_000_000), None],
            ..Measured::default()
        }
    }

    fn sent(kept: &[(u64, u64)]) -> Option<Demand> {
        let line =
            |(bytes, rate): &(u64, u64)| TokenBucket { bucket: Bytes(*bytes), rate: Rate(*rate) };
        Some(Demand { broke: true, kept: kept.iter().map(line).collect() })
    }

    #[test]
    fn where_nothing_is_wrong_it_is_said_what_is_free() {
        let Some(Advice::Room { class, used, more_bps }) = Advice::new(&plan(), &calm()) else {
            panic!("room");
        };
        assert_eq!((class.as_str(), used), ("call", 50));
        // 10 Mbit/s less 4 Mbit/s and 256 kbit/s, to a percent, unless a deadline comes first.
        assert!((4_000_000..=5_744_000).contains(&more_bps), "{more_bps}");
        let has = TokenBucket { bucket: Bytes(600), rate: Rate(256_000) };
        let with =
            |more| holds(&plan(), ClassId(0), TokenBucket { rate: Rate(256_000 + more), ..has });
        assert!(with(more_bps) && !with(more_bps + more_bps / 50 + 5_000));
    }

    #[test]
    fn a_class_that_sends_more_needs_a_rate_that_is_proved() {
        let demands = vec![sent(&[(90_000, 256_000), (900, 320_000), (500, 384_000)]), None, None];
        let advice = Advice::new(&plan(), &Measured { demands, ..calm() });
        let Some(Advice::Contract { class, has, needs, most }) = advice else {
            panic!("a contract")
        };
        assert_eq!((class.as_str(), has.rate.0, needs.rate.0), ("call", 256_000, 384_000));
        assert_eq!(needs.bucket, has.bucket);
        assert!(
            most >= needs.rate.0
                && holds(&plan(), ClassId(0), TokenBucket { rate: Rate(most), ..has })
        );
    }

    #[test]
    fn a_burst_needs_a_bucket_and_one_that_does_not_fit_is_not_called_proved() {
        let demands = vec![sent(&[(1_200, 256_000), (600, 512_000)]), None, None];
        let advice = Advice::new(&plan(), &Measured { demands, ..calm() });
        let Some(Advice::Contract { has, needs, most, .. }) = advice else { panic!("a contract") };
        assert_eq!((needs.rate, needs.bucket), (has.rate, Bytes(1_200)));
        assert!(most >= 1_200);
        let film = sent(&[(900_000_000, 4_000_000), (9_000, 16_000_000)]);
        let advice = Advice::new(&plan(), &Measured { demands: vec![None, film, None], ..calm() });
        let Some(Advice::Contract { needs, most, .. }) = advice else { panic!("a contract") };
        assert_eq!(needs.rate, Rate(16_000_000));
        assert!((4_000_000..10_000_000).contains(&most), "{most}");
    }

    #[test]
    fn a_burst_that_no_rate_allows_needs_both() {
        let sender = sent(&[(90_000, 256_000), (9_000, 1_024_000), (2_100, 4_096_000)]);
        let demands = vec![sender, None, None];
        let advice = Advice::new(&plan(), &Measured { demands, ..calm() });
        let Some(Advice::Contract { has, needs, most, .. }) = advice else { panic!("a contract") };
        assert_eq!((needs.rate, needs.bucket), (Rate(4_096_000), Bytes(2_100)));
        assert!(holds(&plan(), ClassId(0), TokenBucket { rate: Rate(most), ..needs }), "{most}");
        let endless = vec![sent(&[(9_000_000, 256_000), (8_000_000, 4_096_000)]), None, None];
        let advice = Advice::new(&plan(), &Measured { demands: endless, ..calm() });
        let Some(Advice::Contract { most, .. }) = advice else { panic!("a contract") };
        assert_eq!(most, has.rate.0, "nothing is free");
    }

    #[test]
    fn what_breaks_a_curve_and_no_bucket_is_its_shape() {
        let demands = vec![sent(&[(600, 256_000)]), None, None];
        let advice = Advice::new(&plan(), &Measured { demands, ..calm() });
        assert_eq!(advice, Some(Advice::Shape { class: "call".into() }));
    }

    #[test]
    fn what_is_wrong_with_the_link_comes_first() {
        let bound = plan().bounds()[0].expect("a bound");
        let broken = vec![sent(&[(90_000, 256_000)]), None, None];
        let measured = Measured { demands: broken, ..calm() };
        let late =
            Measured { late: Nanos(bound.0 / 10 + 1), is_real_time: false, ..measured.clone() };
        assert_eq!(Advice::new(&plan(), &late), Some(Advice::Priority { late: late.late, bound }));
        let in_time = Measured { is_real_time: true, ..late.clone() };
        assert!(!matches!(Advice::new(&plan(), &in_time), Some(Advice::Priority { .. })));
        let held = Measured { held: Nanos(bound.0 + 1), ..late };
        assert_eq!(
            Advice::new(&plan(), &held),
            Some(Advice::SlowerLink { held: held.held, bound })
        );
        let (longest, most) = (Bytes(1_515), Bytes(1_514));
        let long = Measured { longest, ..measured };
        assert_eq!(Advice::new(&plan(), &long), Some(Advice::LongerPackets { longest, most }));
        let no_contract = Measured { demands: vec![None, None, None], ..calm() };
        assert_eq!(Advice::new(&plan(), &no_contract), None);
    }
}
