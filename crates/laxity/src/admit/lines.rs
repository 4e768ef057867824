//! The lines of arrival curves, in whole numbers.

use alloc::vec::Vec;
use core::cmp::Ordering;

use crate::police::TokenBucket;
use crate::units::{Bytes, Rate};

/// The time at which two lines meet: `bytes` divided by `rate`, which is not zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meeting {
    pub bytes: u64,
    pub rate: u64,
}

impl Meeting {
    const BEGIN: Meeting = Meeting { bytes: 0, rate: 1 };

    /// Of a line and one below it at first that is steeper.
    fn new(line: &TokenBucket, steeper: &TokenBucket) -> Meeting {
        Meeting { bytes: line.bucket.0 - steeper.bucket.0, rate: steeper.rate.0 - line.rate.0 }
    }

    pub(super) fn cmp(&self, other: &Meeting) -> Ordering {
        let mine = u128::from(self.bytes) * u128::from(other.rate);
        mine.cmp(&(u128::from(other.bytes) * u128::from(self.rate)))
    }
}

/// A line and from when on it is the lowest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lowest {
    pub since: Meeting,
    pub line: TokenBucket,
}

/// The lines that are below all others somewhere, the steepest first.
pub(crate) fn lowest(lines: &[TokenBucket]) -> Vec<Lowest> {
    let mut lines = lines.to_vec();
    lines.sort_unstable_by_key(|line| (line.bucket, line.rate));
    let mut lowest: Vec<Lowest> = Vec::with_capacity(lines.len());
    for line in lines {
        if lowest.last().is_some_and(|last| last.line.rate <= line.rate) {
            continue;
        }
        let mut since = Meeting::BEGIN;
        while let Some(last) = lowest.last() {
            let meets = Meeting::new(&line, &last.line);
            if meets.cmp(&last.since) == Ordering::Greater {
                since = meets;
                break;
            }
            lowest.pop();
        }
        lowest.push(Lowest { since, line });
    }
    lowest
}

/// The lines of the sum of arrival curves, each the minimum of some lines.
///
/// The sum bends only where one of the curves does, and its line in between is the sum of their
/// lines.
pub(super) fn sum<'a>(curves: impl Iterator<Item = &'a [TokenBucket]>) -> Vec<TokenBucket> {
    let (mut bucket, mut rate) = (0u128, 0u128);
    // From when on, and how much higher and flatter a curve's line is then.
    let mut bends: Vec<(Meeting, u64, u64)> = Vec::new();
    for curve in curves {
        let lines = lowest(curve);
        if let Some(first) = lines.first() {
            bucket += u128::from(first.line.bucket.0);
            rate += u128::from(first.line.rate.0);
        }
        bends.extend(lines.windows(2).map(|pair| {
            let [before, after] = [pair[0].line, pair[1].line];
            (pair[1].since, after.bucket.0 - before.bucket.0, before.rate.0 - after.rate.0)
        }));
    }
    bends.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    let line = |bucket: u128, rate: u128| {
        let [bucket, rate] = [bucket, rate].map(|sum| u64::try_from(sum).unwrap_or(u64::MAX));
        TokenBucket { bucket: Bytes(bucket), rate: Rate(rate) }
    };
    let mut lines = Vec::with_capacity(bends.len() + 1);
    lines.push(line(bucket, rate));
    for together in bends.chunk_by(|a, b| a.0.cmp(&b.0) == Ordering::Equal) {
        for (_, higher, flatter) in together {
            bucket += u128::from(*higher);
            rate -= u128::from(*flatter);
        }
        lines.push(line(bucket, rate));
    }
    lines
}
