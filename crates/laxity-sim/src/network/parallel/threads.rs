//! The threads that simulate a network together.

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};

use laxity::units::Nanos;

use super::barrier::Barrier;
use super::board::{Board, Standing};
use super::boundary::Boundary;
use super::cores::Cores;
use super::log::{Log, PartObserver, SilentObserver};
use super::windows::Windows;
use crate::error::SimError;
use crate::network::hosts::captured::CapturedHosts;
use crate::network::ids::PartId;
use crate::network::layout::partition::Here;
use crate::network::layout::partition::Partition;
use crate::network::output::Flight;
use crate::network::plane::DataPlane;
use crate::network::plane::mail::Mail;
use crate::network::results::{PartResults, Place};
use crate::network::run::NetworkRun;
use crate::network::simulation::Simulation;
use crate::record::Record;

/// What all threads share.
pub(super) struct Threads<'a> {
    run: NetworkRun<'a>,
    partition: &'a Partition,
    is_observed: bool,
    barrier: Barrier,
    boards: [Board; 2],
    captured: CapturedHosts,
    failed: Mutex<Option<SimError>>,
}

/// The results of a part: its counts, and packets that still wait.
type Part = (PartResults, Vec<(Place, Record)>);

/// Called by the first thread after every window, while the others go on; may stop the run.
type Lead<'a> = &'a mut dyn FnMut(&Board, Nanos) -> ControlFlow<()>;

impl<'a> Threads<'a> {
    pub(super) fn new(run: NetworkRun<'a>, partition: &'a Partition, is_observed: bool) -> Self {
        let parts = partition.parts as usize;
        let boards = [(); 2].map(|()| Board::new(parts, is_observed));
        let (barrier, failed) = (Barrier::new(parts), Mutex::default());
        let captured = CapturedHosts::default();
        Threads { run, partition, is_observed, barrier, boards, captured, failed }
    }

    /// Simulates all parts. `lead` is called after every window and may stop the run.
    pub(super) fn simulate(&self, lead: Lead<'_>) -> Result<Vec<Part>, SimError> {
        if self.is_observed {
            self.simulate_and_tell::<Log>(lead)
        } else {
            self.simulate_and_tell::<SilentObserver>(lead)
        }
    }

    fn simulate_and_tell<T: PartObserver>(&self, lead: Lead<'_>) -> Result<Vec<Part>, SimError> {
        let cores = &Cores::others();
        let parts = std::thread::scope(|scope| {
            let others = (1..self.partition.parts).map(PartId).map(|part| {
                scope.spawn(move || {
                    cores.begin_on(part.index() - 1);
                    self.part::<T>(part, &mut |_, _| ControlFlow::Continue(()))
                })
            });
            let others: Vec<_> = others.collect();
            let first = self.part::<T>(PartId(0), lead);
            let others = others
                .into_iter()
                .map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            std::iter::once(first).chain(others).collect::<Vec<_>>()
        });
        match self.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => Ok(parts.into_iter().flatten().collect()),
        }
    }

    /// Simulates a part; `None` if the run has failed.
    fn part<T: PartObserver>(&self, part: PartId, lead: Lead<'_>) -> Option<Part> {
        let here = Here { partition: self.partition, part, is_observed: self.is_observed };
        let mut told = T::default();
        let present = self.barrier.unless_kept();
        let new = Simulation::new(self.run, here, self.captured.clone(), &mut told);
        let ended = new.and_then(|simulation| self.windows(simulation, lead));
        match ended {
            Ok(ended) => {
                present.keep();
                ended
            }
            Err(error) => {
                let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
                failed.get_or_insert(error);
                None
            }
        }
    }

    /// Simulates window by window; `None` if another thread has failed.
    fn windows<T: PartObserver>(
        &self,
        mut simulation: Simulation<'_, &mut T>,
        lead: Lead<'_>,
    ) -> Result<Option<Part>, SimError> {
        let (part, end) = (simulation.plane.topology.here.part, simulation.plane.books.end);
        let exits = Boundary::new(&simulation.plane.topology);
        let mut windows = Windows::new(self.partition, end, self.is_observed);
        let mut events = 0;
        for board in self.boards.iter().cycle() {
            let standing = Standing { events, ..simulation.standing() };
            let DataPlane { topology, outbox, books, .. } = &mut simulation.plane;
            let free = exits.free(topology);
            board.post(part, &standing, free, outbox, books.observer);
            if !self.barrier.wait(part.index()) {
                return Ok(None);
            }
            board.collect(part, |mail| simulation.take(mail));
            let next = board.next();
            let is_over = self.run.ends_early() && board.is_over();
            if lead(board, next.min(end)).is_break() {
                return Err(SimError::Stopped);
            }
            if next >= end || is_over {
                let ends_before = self.run.ends_early() && (is_over || next == Nanos::MAX);
                simulation.plane.books.end = if ends_before { board.last() } else { end };
                break;
            }
            events = simulation.window(windows.next(board, next, part))?;
        }
        let waiting = simulation.close();
        Ok(Some((simulation.into_results(), waiting)))
    }
}

impl<T: PartObserver> Simulation<'_, &mut T> {
    /// Simulates events before `until`; returns their number.
    fn window(&mut self, until: Nanos) -> Result<u64, SimError> {
        let ends_early = self.run.ends_early();
        let mut events = 0;
        let mut was_over = ends_early && self.is_over();
        self.advance(until, |simulation, now, slot| {
            events += 1;
            simulation.observer().close(now, slot);
            if !was_over {
                simulation.last = now;
            }
            was_over = ends_early && simulation.is_over();
            Ok(false)
        })?;
        Ok(events)
    }

    fn standing(&mut self) -> Standing {
        Standing {
            next: self.plane.agenda.earliest().unwrap_or(Nanos::MAX),
            last: self.last,
            is_over: self.is_over() && self.plane.outbox.iter().all(Mail::is_empty),
            events: 0,
            hops: self.plane.books.departures(),
        }
    }

    /// Takes the mail of another part.
    fn take(&mut self, mail: &mut Mail) {
        for (flow, expected) in mail.expected.drain(..) {
            self.expect_here(flow, expected);
        }
        let mut packets = mail.packets.drain();
        for (port, flight) in mail.flights.drain(..) {
            let packet = flight.packet().and_then(|_| packets.next());
            let key = packet.map(|(transit, ack)| self.plane.transits.restore(transit, ack));
            self.plane.proceed(port, Flight::new(flight.arrival, key, flight.ds));
        }
        self.answer_ahead();
    }
}
