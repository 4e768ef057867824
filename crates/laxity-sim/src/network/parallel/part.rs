//! One part of a network, round by round.

use std::sync::atomic::Ordering::Relaxed;

use laxity::units::Nanos;

use super::board::{Board, Standing};
use super::boundary::Boundary;
use super::log::PartObserver;
use super::threads::Shared;
use super::windows::Windows;
use crate::error::SimError;
use crate::network::ids::PartId;
use crate::network::layout::partition::Here;
use crate::network::output::Flight;
use crate::network::plane::DataPlane;
use crate::network::plane::mail::Mail;
use crate::network::results::{PartResults, Place};
use crate::network::simulation::Simulation;
use crate::record::Record;

/// A part of a network. Whichever thread comes first takes it a round further.
pub(super) enum Part<'a, T> {
    /// Before the first round.
    Unmade,
    Running(Box<Running<'a, T>>),
    /// After the last round.
    Ended(Ended),
    Failed(SimError),
}

/// The results of a part: its counts, and packets that still wait.
pub(super) type Ended = (PartResults, Vec<(Place, Record)>);

/// A part of a network while it runs.
pub(super) struct Running<'a, T> {
    simulation: Simulation<'a, T>,
    exits: Boundary,
    windows: Windows<'a>,
}

impl<'a, T: PartObserver> Part<'a, T> {
    /// Does a round: reads the board of the last one, and posts to that of this one.
    pub(super) fn go_on(&mut self, shared: &Shared<'a>, part: PartId, round: u64) {
        let next = match std::mem::replace(self, Part::Unmade) {
            Part::Unmade => Running::new(shared, part).map(|mut running| {
                running.post(shared.board(round), 0);
                Part::Running(running)
            }),
            Part::Running(running) => running.go_on(shared, round),
            ended => Ok(ended),
        };
        *self = next.unwrap_or_else(|error| {
            shared.has_failed.store(true, Relaxed);
            Part::Failed(error)
        });
    }

    /// The results, or why it failed; none if the run stopped before its end.
    pub(super) fn ended(self) -> Result<Option<Ended>, SimError> {
        match self {
            Part::Unmade | Part::Running(_) => Ok(None),
            Part::Ended(ended) => Ok(Some(ended)),
            Part::Failed(error) => Err(error),
        }
    }
}

impl<'a, T: PartObserver> Running<'a, T> {
    fn new(shared: &Shared<'a>, part: PartId) -> Result<Box<Self>, SimError> {
        let Shared { run, partition, is_observed, ref captured, .. } = *shared;
        let here = Here { partition, part, is_observed };
        let simulation = Simulation::new(run, here, captured.clone(), T::default())?;
        let exits = Boundary::new(&simulation.plane.topology);
        let windows = Windows::new(partition, simulation.plane.books.end, is_observed);
        Ok(Box::new(Running { simulation, exits, windows }))
    }

    /// Simulates a window, or ends if nothing is left.
    fn go_on(
        mut self: Box<Self>,
        shared: &Shared<'a>,
        round: u64,
    ) -> Result<Part<'a, T>, SimError> {
        let (part, before) = (self.part(), shared.board(round - 1));
        before.collect(part, |mail| self.simulation.take(mail));
        if let Some(end) = shared.ends_at(before) {
            self.simulation.plane.books.end = end;
            let waiting = self.simulation.close();
            return Ok(Part::Ended((self.simulation.into_results(), waiting)));
        }
        let until = self.windows.next(before, before.next(), part);
        let events = self.simulation.window(until)?;
        self.post(shared.board(round), events);
        Ok(Part::Running(self))
    }

    /// Posts what the others are to know after a window with this many events.
    fn post(&mut self, board: &Board, events: u64) {
        let standing = Standing { events, ..self.simulation.standing() };
        let part = self.part();
        let DataPlane { topology, outbox, books, .. } = &mut self.simulation.plane;
        board.post(part, &standing, self.exits.free(topology), outbox, &mut books.observer);
    }

    fn part(&self) -> PartId {
        self.simulation.plane.topology.here.part
    }
}

impl<T: PartObserver> Simulation<'_, T> {
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
