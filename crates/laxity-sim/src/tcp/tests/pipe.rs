//! A sender and a receiver at the two ends of a pipe.

use laxity::units::Nanos;

use crate::calendar::Calendar;
use crate::tcp::{Ack, Ecn, Receiver, Segment, Sender};

/// What becomes of a packet in the pipe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Fate {
    #[default]
    Arrives,
    Lost,
    /// Delayed by this.
    Late(Nanos),
    /// Duplicated, the copy delayed by this.
    Twice(Nanos),
    Marked,
}

/// The fates of packets by their place in the order of sending, from 0.
pub(super) trait Script<T> {
    fn fate(&mut self, place: u64, packet: &T) -> Fate;
}

impl<T, F: FnMut(u64, &T) -> Fate> Script<T> for F {
    fn fate(&mut self, place: u64, packet: &T) -> Fate {
        self(place, packet)
    }
}

/// Segments one after another, then a fixed delay; the same delay back, at no rate.
pub(super) struct Pipe {
    pub(super) now: Nanos,
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    /// Of one segment on the wire.
    transmission: Nanos,
    pub(super) delay: Nanos,
    /// How many segments may wait for the wire, the one on it included; more are dropped.
    pub(super) room: u64,
    pub(super) dropped: u64,
    /// Until when the wire is taken.
    busy: Nanos,
    /// The numbers of flights, by arrival.
    events: Calendar<usize>,
    flights: Vec<Event>,
    segments: u64,
    acks: u64,
}

#[derive(Clone, Copy)]
enum Event {
    Segment(Segment),
    Ack(Ack),
}

impl Pipe {
    pub(super) fn new(
        sender: Sender,
        receiver: Receiver,
        transmission: Nanos,
        delay: Nanos,
    ) -> Self {
        Pipe {
            now: Nanos::ZERO,
            sender,
            receiver,
            transmission,
            delay,
            room: u64::MAX,
            dropped: 0,
            busy: Nanos::ZERO,
            events: Calendar::default(),
            flights: Vec::new(),
            segments: 0,
            acks: 0,
        }
    }

    /// Sends what may leave now.
    pub(super) fn send(&mut self, script: &mut impl Script<Segment>) {
        while let Some(segment) = self.sender.poll_send(self.now) {
            let fate = script.fate(self.segments, &segment);
            self.segments += 1;
            if self.waiting() >= self.room {
                self.dropped += 1;
                continue;
            }
            self.busy = self.busy.max(self.now) + self.transmission;
            let arrival = self.busy + self.delay;
            let marked = Segment { ecn: Ecn::Experienced, ..segment };
            let segment = if fate == Fate::Marked { marked } else { segment };
            self.carry(arrival, fate, Event::Segment(segment));
        }
    }

    /// How many segments wait for the wire, the one on it included.
    fn waiting(&self) -> u64 {
        self.busy.saturating_sub(self.now).0.div_ceil(self.transmission.0)
    }

    /// When something happens next.
    pub(super) fn next_time(&mut self) -> Option<Nanos> {
        let timers = [self.sender.next_timer(), self.receiver.next_timer()];
        timers.into_iter().chain([self.events.next_time()]).flatten().min()
    }

    /// Goes on to the next instant at which something happens; false if nothing ever will.
    pub(super) fn step(
        &mut self,
        segments: &mut impl Script<Segment>,
        acks: &mut impl Script<Ack>,
    ) -> bool {
        let Some(next) = self.next_time() else { return false };
        self.now = next.max(self.now);
        while let Some(flight) = self.events.pop(self.now) {
            match self.flights[flight] {
                Event::Segment(segment) => {
                    let ack = self.receiver.on_segment(self.now, &segment);
                    self.answer(ack, acks);
                }
                Event::Ack(ack) => {
                    self.sender.on_ack(self.now, &ack);
                    self.send(segments);
                }
            }
        }
        let ack = self.receiver.on_timer(self.now);
        self.answer(ack, acks);
        self.sender.on_timer(self.now);
        self.send(segments);
        true
    }

    fn answer(&mut self, ack: Option<Ack>, script: &mut impl Script<Ack>) {
        if let Some(ack) = ack {
            let fate = script.fate(self.acks, &ack);
            self.acks += 1;
            self.carry(self.now + self.delay, fate, Event::Ack(ack));
        }
    }

    fn carry(&mut self, arrival: Nanos, fate: Fate, event: Event) {
        let flight = self.flights.len();
        self.flights.push(event);
        match fate {
            Fate::Lost => {}
            Fate::Arrives | Fate::Marked => self.events.schedule(arrival, flight),
            Fate::Late(by) => self.events.schedule(arrival + by, flight),
            Fate::Twice(by) => {
                self.events.schedule(arrival, flight);
                self.events.schedule(arrival + by, flight);
            }
        }
    }
}
