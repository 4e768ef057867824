//! A conservative parallel simulation (Chandy, Misra 1979), in windows as long as the lookahead
//! that is known.
//!
//! Every part of the network has a thread and an agenda of its own. Each simulates up to when
//! something may come that another sends, all exchange what passes between them, which arrives
//! later than that, and agree on the next windows. What happens at one instant happens in the order
//! of slots, which are numbered alike in every part, so that the parts together do what one thread
//! does, to the bit.

mod board;
mod boundary;
mod cores;
mod crew;
mod log;
pub(super) mod pace;
mod part;
#[cfg(test)]
mod tests;
mod threads;
mod windows;

use std::num::{NonZeroU32, NonZeroUsize};
use std::ops::ControlFlow;
use std::thread::available_parallelism;

use laxity::units::Nanos;

use self::board::Board;
use self::pace::Pace;
use self::threads::Shared;
use super::layout::partition::Partition;
use super::results::{PartResults, Place};
use super::run::NetworkRun;
use crate::error::SimError;
use crate::record::{Observer, Record};
use crate::summary::Outcome;
use crate::{Progress, ProgressPoint};

/// How a network was simulated by several threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parallelism {
    /// Threads asked for, or as many as the machine has cores for this process.
    pub threads: u32,
    /// The parts of the network, each with a thread; one where nothing is gained by more.
    pub parts: u32,
    /// How long the fastest link between two parts takes; none where there is no such link.
    pub lookahead: Option<Nanos>,
    /// How often all waited for one another.
    pub windows: u64,
    /// Events in all.
    pub events: u64,
    /// Sum of the most events of a part in each window: the serial share of the work if every part
    /// has a core.
    pub longest: u64,
}

impl Parallelism {
    /// One thread did all.
    pub const fn one_thread() -> Self {
        Parallelism { threads: 1, parts: 1, lookahead: None, windows: 0, events: 0, longest: 0 }
    }

    /// The largest possible speed-up, if every part has a core and waiting costs nothing.
    pub fn limit(&self) -> f64 {
        if self.longest == 0 { 1.0 } else { self.events as f64 / self.longest as f64 }
    }

    /// Counts a window.
    fn count(&mut self, board: &Board) {
        self.windows += 1;
        self.events += board.events().sum::<u64>();
        self.longest += board.events().max().unwrap_or(0);
    }
}

impl NetworkRun<'_> {
    /// Simulates on several threads, with the same outcome and telling the observer the same as
    /// [`simulate`](Self::simulate) does. There are no more threads than cores that this process
    /// may use, and while the machine is busy with other work one thread does all. Where the
    /// network cannot be divided so that something is gained, one thread does all; so it is where
    /// idle links are padded and the run ends with its traffic.
    ///
    /// # Errors
    /// As for one thread.
    pub fn simulate_in_parallel(
        self,
        threads: NonZeroU32,
        observer: &mut dyn Observer,
        progress: Progress<'_>,
    ) -> Result<(Outcome, Parallelism), SimError> {
        let cores = available_parallelism().map_or(1, NonZeroUsize::get);
        let threads = threads.min(NonZeroU32::try_from(cores as u32).unwrap_or(threads));
        let is_padded = self.on.plan.framed_network().is_some() && self.ends_early();
        let partition =
            if is_padded { Partition::whole(self.on) } else { Partition::new(self.on, threads) };
        let (outcome, how) =
            self.simulate_in_parts(&partition, Pace::default(), observer, progress)?;
        Ok((outcome, Parallelism { threads: threads.get(), ..how }))
    }

    /// The same in these parts.
    pub(super) fn simulate_in_parts(
        self,
        partition: &Partition,
        pace: Pace,
        observer: &mut dyn Observer,
        progress: Progress<'_>,
    ) -> Result<(Outcome, Parallelism), SimError> {
        let Partition { parts, lookahead, .. } = *partition;
        let lookahead = Some(lookahead).filter(|&lookahead| lookahead < Nanos::MAX);
        let mut counts =
            Parallelism { threads: parts, parts, lookahead, ..Parallelism::one_thread() };
        if parts == 1 {
            return Ok((self.on_one_thread(partition, observer, progress)?, counts));
        }
        let is_told = observer.listens();
        let mut told = 0;
        let mut lead = |board: &Board, now: Nanos| {
            board.tell(observer);
            counts.count(board);
            if counts.events - told < 1 << 16 {
                return ControlFlow::Continue(());
            }
            told = counts.events;
            progress(ProgressPoint { now, hops: board.hops() })
        };
        let parts = Shared::new(self, partition, is_told).simulate(pace, &mut lead)?;
        let (ended, waiting): (Vec<PartResults>, Vec<_>) = parts.into_iter().unzip();
        let mut waiting: Vec<(Place, Record)> = waiting.into_iter().flatten().collect();
        waiting.sort_by_key(|(place, _)| *place);
        waiting.iter().for_each(|(_, record)| observer.record(record));
        let ended = ended.into_iter().reduce(PartResults::join).expect("there are several parts");
        Ok((ended.outcome(&self), counts))
    }
}
