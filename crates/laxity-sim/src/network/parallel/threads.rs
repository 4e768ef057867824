//! The threads that simulate a network together.

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread::Thread;
use std::time::Instant;

use laxity::units::Nanos;

use super::board::{Board, lock};
use super::cores::Cores;
use super::crew::Crew;
use super::log::{Log, PartObserver, SilentObserver};
use super::pace::Pace;
use super::part::{Ended, Part};
use crate::error::SimError;
use crate::network::hosts::captured::CapturedHosts;
use crate::network::ids::PartId;
use crate::network::layout::partition::Partition;
use crate::network::run::NetworkRun;

/// What all parts share.
pub(super) struct Shared<'a> {
    pub run: NetworkRun<'a>,
    pub partition: &'a Partition,
    pub is_observed: bool,
    pub captured: CapturedHosts,
    /// Whether a part has failed.
    pub has_failed: AtomicBool,
    boards: [Board; 2],
}

/// Called by the first thread after every window, while the others go on; may stop the run.
type Lead<'a> = &'a mut dyn FnMut(&Board, Nanos) -> ControlFlow<()>;

impl<'a> Shared<'a> {
    pub(super) fn new(run: NetworkRun<'a>, partition: &'a Partition, is_observed: bool) -> Self {
        let parts = partition.parts as usize;
        let boards = [(); 2].map(|()| Board::new(parts, is_observed));
        let (captured, has_failed) = (CapturedHosts::default(), AtomicBool::new(false));
        Shared { run, partition, is_observed, captured, has_failed, boards }
    }

    /// The board of a round.
    pub(super) fn board(&self, round: u64) -> &Board {
        &self.boards[(round % 2) as usize]
    }

    /// When the run ends, if all has happened by the time of this board.
    pub(super) fn ends_at(&self, board: &Board) -> Option<Nanos> {
        let (next, end) = (board.next(), self.limit());
        let is_over = self.run.ends_early() && board.is_over();
        let ends_before = self.run.ends_early() && (is_over || next == Nanos::MAX);
        (next >= end || is_over).then(|| if ends_before { board.last() } else { end })
    }

    /// When the run ends at the latest.
    fn limit(&self) -> Nanos {
        self.run.duration.unwrap_or(Nanos::MAX)
    }

    /// Simulates all parts, each by whichever thread comes first. `lead` is called after every
    /// window and may stop the run.
    pub(super) fn simulate(&self, pace: Pace, lead: Lead<'_>) -> Result<Vec<Ended>, SimError> {
        if self.is_observed {
            self.simulate_and_tell::<Log>(pace, lead)
        } else {
            self.simulate_and_tell::<SilentObserver>(pace, lead)
        }
    }

    fn simulate_and_tell<T: PartObserver>(
        &self,
        pace: Pace,
        lead: Lead<'_>,
    ) -> Result<Vec<Ended>, SimError> {
        let parts: Vec<_> =
            (0..self.partition.parts).map(|_| Mutex::new(Part::<T>::Unmade)).collect();
        let (crew, cores) = (&Crew::new(parts.len()), &Cores::others());
        let go_on = &|part: PartId, round| lock(&parts[part.index()]).go_on(self, part, round);
        std::thread::scope(|scope| {
            let dismissal = crew.dismiss_at_end();
            let mut helpers = Vec::new();
            let mut start = || {
                helpers.extend((1..self.partition.parts).map(PartId).map(|part| {
                    scope.spawn(move || {
                        cores.begin_on(part.index() - 1);
                        crew.help(part, go_on);
                    })
                }));
                helpers.iter().map(|helper| helper.thread().clone()).collect()
            };
            let led = self.lead(crew, &mut start, pace, lead, go_on);
            drop(dismissal);
            for helper in helpers {
                helper.join().unwrap_or_else(|panic| resume_unwind(panic));
            }
            led
        })?;
        let parts = parts.into_iter().map(Mutex::into_inner);
        let ended = |part: Result<Part<T>, _>| part.unwrap_or_else(PoisonError::into_inner).ended();
        parts.map(ended).filter_map(Result::transpose).collect()
    }

    /// Leads all rounds. The first makes all parts, and the last, when all has happened, ends them.
    fn lead(
        &self,
        crew: &Crew,
        start: &mut dyn FnMut() -> Vec<Thread>,
        mut pace: Pace,
        lead: Lead<'_>,
        go_on: &impl Fn(PartId, u64),
    ) -> Result<(), SimError> {
        let (mut round, mut is_last) = (1, false);
        let mut goes_on = crew.lead(round, go_on);
        while goes_on && !is_last && !self.has_failed.load(Relaxed) {
            let (begin, board) = (Instant::now(), self.board(round));
            is_last = self.ends_at(board).is_some();
            round += 1;
            if pace.has_help() {
                crew.call(round, &mut *start);
            }
            if lead(board, board.next().min(self.limit())).is_break() {
                return Err(SimError::Stopped);
            }
            goes_on = crew.lead(round, go_on);
            let took = u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
            pace.note(Nanos(took), self.board(round).events().sum());
        }
        Ok(())
    }
}
