//! What two taps saw, in the order in which it happened.
//!
//! Each tap is read in batches, and frames that pass on different processors come out of order by
//! as long as the kernel takes to hand them over.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use laxity::units::Nanos;

/// Puts in order what comes out of it.
#[derive(Clone, Debug)]
pub struct Order<T> {
    /// By time; what is of one time in its own order.
    held: BinaryHeap<Reverse<(Nanos, T)>>,
    most: usize,
}

impl<T: Ord> Order<T> {
    /// Creates an empty order that holds at most `most` items.
    pub fn new(most: usize) -> Self {
        Order { held: BinaryHeap::new(), most }
    }

    /// Something happened.
    pub fn add(&mut self, at: Nanos, what: T) {
        self.held.push(Reverse((at, what)));
    }

    /// The next, if it happened before `settled`, from before which nothing comes any more, or
    /// there is no room to wait.
    pub fn next(&mut self, settled: Nanos) -> Option<(Nanos, T)> {
        let is_full = self.held.len() > self.most;
        let next = self.held.peek_mut().filter(|next| is_full || next.0.0 < settled)?;
        Some(PeekMut::pop(next).0)
    }
}
