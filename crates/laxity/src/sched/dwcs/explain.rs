//! Why a packet waits under DWCS.

use super::Dwcs;
use super::precedence::{Key, NUMERATOR};
use super::settings::Precedence;
use crate::explain::{Explain, Rule};
use crate::packet::Packet;
use crate::scheduler::Dispatch;
use crate::units::Nanos;

impl Explain for Dwcs {
    /// Its stream.
    fn queue(&self, packet: &Packet) -> u64 {
        self.queued_in(packet).map_or(0, |stream| stream.0.into())
    }

    fn precedence(&self, _: Nanos, _: &Dispatch, waiting: &Packet) -> Rule {
        let Some(id) = self.queued_in(waiting) else { return Rule::Scheduler };
        let precedence = self.settings.precedence;
        self.served.decisive(&self.streams[id.index()].key(id, precedence), precedence)
    }
}

impl Key {
    /// The first part in which this key differs from a later one (Table 1).
    fn decisive(&self, later: &Key, precedence: Precedence) -> Rule {
        let tolerance =
            (self.tolerance(precedence) != later.tolerance(precedence), Rule::LossTolerance);
        let deadline =
            (self.deadline(precedence) != later.deadline(precedence), Rule::EarlierDeadline);
        let numerator = (self.low != later.low, Rule::LossTolerance);
        let parts = match precedence {
            Precedence::LossFirst => [tolerance, deadline, numerator],
            Precedence::DeadlineFirst => [deadline, tolerance, numerator],
        };
        let decisive = parts.into_iter().find(|(differs, _)| *differs);
        decisive.map_or(Rule::ArrivalOrder, |(_, rule)| rule)
    }

    fn tolerance(&self, precedence: Precedence) -> u64 {
        match precedence {
            Precedence::LossFirst => self.high >> NUMERATOR,
            Precedence::DeadlineFirst => self.low << 1 >> (1 + NUMERATOR),
        }
    }

    /// The deadline; with [`Precedence::LossFirst`] 0 where no loss is tolerated.
    fn deadline(&self, precedence: Precedence) -> u64 {
        match precedence {
            Precedence::LossFirst => self.high << (u64::BITS - NUMERATOR) | self.low >> NUMERATOR,
            Precedence::DeadlineFirst => self.high << 1 | self.low >> 63,
        }
    }
}
