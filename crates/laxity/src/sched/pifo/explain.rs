//! Why a packet waits in an order by rank.

use super::{Pifo, Ranking};
use crate::explain::{Explain, Rule};
use crate::packet::Packet;
use crate::scheduler::Dispatch;
use crate::units::Nanos;

impl<K: Ord + Copy, F: FnMut(&Packet) -> Ranking<K>> Explain for Pifo<K, F> {
    fn precedence(&self, _: Nanos, _: &Dispatch, _: &Packet) -> Rule {
        Rule::Rank
    }

    fn hold(&self, _: Nanos, _: &Packet) -> Rule {
        Rule::EligibleTime
    }
}
