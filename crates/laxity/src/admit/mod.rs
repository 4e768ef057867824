//! Admission: does a set of classes fit on a link, what delay is each guaranteed, and if it does
//! not fit, why not. One file a discipline.

pub mod edf;

use alloc::vec::Vec;

use crate::curve::Curve;
use crate::police::TokenBucket;

/// The arrival curve of traffic that keeps to all of some token buckets: the minimum of their
/// lines; zero if there are none.
pub fn arrival_curve(buckets: &[TokenBucket]) -> Curve {
    let lines: Vec<_> =
        buckets.iter().map(|line| Curve::token_bucket(line.bucket, line.rate)).collect();
    lines.into_iter().reduce(|lowest, line| lowest.minimum(&line)).unwrap_or_else(Curve::zero)
}
