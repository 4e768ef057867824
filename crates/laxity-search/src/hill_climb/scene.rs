//! Traffic that is drawn for a subject.

use laxity_adversary::arrival::BYTE;
use laxity_adversary::contract::Conduct;
use laxity_adversary::traffic::{Scene, times_of};

use crate::subject::{Output, Subject};

/// Senders of a subject, and the classes with a proof.
pub(super) struct SearchedTraffic {
    /// Indices of the classes with a proof.
    pub classes: Vec<usize>,
    /// Whether schedulers are built anew for every run.
    pub begins_anew: bool,
    /// The senders.
    pub scene: Scene,
}

impl SearchedTraffic {
    /// The traffic for a subject.
    pub(super) fn new(subject: &Subject) -> SearchedTraffic {
        let class = |name: &u16| subject.feed(*name).expect("a name of a feed").class;
        let is_judged = |class: &usize| {
            let bound = |output: &Output| output.bounds[*class].is_some();
            let in_step = matches!(subject.contracts[*class].conduct, Conduct::InStep { .. });
            let is_bounded = subject.outputs.iter().any(bound) || subject.is_promised(*class);
            is_bounded || subject.keeps_windows && in_step
        };
        let mut classes: Vec<_> = subject.names().iter().map(class).filter(is_judged).collect();
        classes.sort_unstable();
        classes.dedup();
        SearchedTraffic {
            classes,
            begins_anew: subject.keeps_windows || subject.is_framed(),
            scene: Scene {
                feeds: subject
                    .feeds
                    .iter()
                    .map(|feed| feed.as_ref().map(|feed| feed.class))
                    .collect(),
                contracts: subject.contracts.clone(),
                times: times(subject),
                horizon: horizon(subject),
                longest_train: 200,
                most_trains: 16,
            },
        }
    }
}

/// Times that mean something: of packets on links, deadlines, bounds, buckets.
fn times(subject: &Subject) -> Vec<u64> {
    let mut times = vec![1];
    for output in &subject.outputs {
        let lengths = subject.contracts.iter().map(|contract| contract.longest);
        times.extend(lengths.map(|length| (u64::from(length) * BYTE).div_ceil(output.rate)));
        times.extend(output.bounds.iter().flatten());
        times.extend([output.delay, output.jitter]);
    }
    times.extend(times_of(&subject.plan, &subject.contracts));
    times.extend(subject.feeds.iter().flatten().filter_map(|feed| feed.bound));
    times.sort_unstable();
    times.dedup();
    times
}

/// By when everything that harms has begun.
fn horizon(subject: &Subject) -> u64 {
    let at_outputs = subject.outputs.iter().flat_map(|output| output.bounds.iter().flatten());
    let over_paths = subject.feeds.iter().flatten().filter_map(|feed| feed.bound.as_ref());
    let gaps = subject.plan.classes.iter().filter_map(|class| class.gap);
    let bounds = at_outputs.chain(over_paths).copied();
    let longest = bounds.chain(gaps.map(|gap| 4 * gap.0)).max().unwrap_or(1);
    2 * longest.min(100_000_000_000)
}
