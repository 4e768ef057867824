//! The books of a network, and its observer.

pub(super) mod hop_books;

use laxity::packet::{ClassId, Packet};
use laxity::scheduler::DropReason;
use laxity::units::Nanos;
use laxity_plan::Plan;

use self::hop_books::{ClosedBooks, HopBooks};
use super::flow::ClassBooks;
use super::ids::BookId;
use crate::record::{Fate, Observer, Record, tell};

/// The counts of a running network.
pub(super) struct NetworkBooks<O> {
    hops: Vec<HopBooks>,
    /// By class, from end to end.
    pub classes: Vec<ClassBooks>,
    /// Packets sent over links.
    departures: u64,
    /// The end of the warm-up.
    pub measured_from: Nanos,
    /// The end of the run.
    pub end: Nanos,
    /// Whether windows of streams are watched at every hop.
    has_windows: bool,
    /// Whether the observer listens: it hears everything in the order of time.
    is_observed: bool,
    pub observer: O,
    single: Option<Box<SingleBooks>>,
}

/// What a run over one link counts beside the books of its only hop.
pub(super) struct SingleBooks {
    /// Bytes that left within the measured time, by class.
    pub bytes_in_time: Vec<u64>,
    /// The largest memory footprint of the scheduler that was seen.
    pub footprint: usize,
}

impl<O: Observer> NetworkBooks<O> {
    /// Empty books of these hops, for a run that ends at `end`.
    pub(super) fn new(plan: &Plan, hops: Vec<HopBooks>, end: Nanos, observer: O) -> Self {
        NetworkBooks {
            hops,
            classes: vec![ClassBooks::default(); plan.classes.len()],
            departures: 0,
            measured_from: plan.run.warm_up,
            end,
            has_windows: plan.classes.iter().any(|class| class.loss.is_some()),
            is_observed: observer.listens(),
            observer,
            single: None,
        }
    }

    /// Empty books of a run over one link.
    pub(super) fn single(plan: &Plan, hop: HopBooks, end: Nanos, observer: O) -> Self {
        let bytes_in_time = vec![0; plan.classes.len()];
        NetworkBooks {
            single: Some(Box::new(SingleBooks { bytes_in_time, footprint: 0 })),
            ..NetworkBooks::new(plan, vec![hop], end, observer)
        }
    }

    /// Whether the run is over one link.
    #[inline]
    pub(super) fn is_single(&self) -> bool {
        self.single.is_some()
    }

    /// Whether the observer listens.
    #[inline]
    pub(super) fn is_observed(&self) -> bool {
        self.is_observed
    }

    /// Packets sent over links so far.
    pub(super) fn departures(&self) -> u64 {
        self.departures
    }

    /// The number of hops.
    pub(super) fn hops(&self) -> usize {
        self.hops.len()
    }

    /// What follows happens at this time.
    #[inline]
    pub(super) fn advance(&mut self, now: Nanos) {
        if self.is_observed {
            self.observer.advance(now);
        }
    }

    /// A packet comes to a hop.
    #[inline]
    pub(super) fn arrived(&mut self, book: BookId, packet: impl Fn() -> Packet) {
        if self.has_windows {
            self.hops[book.index()].arrived(&packet());
        }
        if self.is_observed {
            let hop = self.single.is_none().then(|| book.into());
            self.observer.arrived(&packet(), hop);
        }
    }

    /// A packet is sent over a link of a network; `given` is the deadline that it was given.
    #[inline]
    pub(super) fn sent(
        &mut self,
        book: BookId,
        packet: &Packet,
        set_out: Nanos,
        [start, departure]: [Nanos; 2],
        given: Option<Nanos>,
    ) {
        self.enter(book, packet, start, departure);
        if self.is_observed {
            let fate = Fate::Sent { start, departure };
            let hop = Some(book.into());
            self.observer.record(&Record { packet: *packet, set_out, hop, deadline: given, fate });
        }
    }

    /// A packet is sent over the only link.
    pub(super) fn sent_single(
        &mut self,
        plan: &Plan,
        packet: &Packet,
        start: Nanos,
        departure: Nanos,
        given: Option<Nanos>,
    ) {
        self.enter(BookId(0), packet, start, departure);
        if let Some(single) = &mut self.single
            && (self.measured_from..=self.end).contains(&departure)
        {
            single.bytes_in_time[packet.class.index()] += u64::from(packet.length);
        }
        if self.is_observed {
            let fate = Fate::Sent { start, departure };
            tell(&mut self.observer, plan, *packet, given, fate);
        }
    }

    #[inline]
    fn enter(&mut self, book: BookId, packet: &Packet, start: Nanos, departure: Nanos) {
        let books = &mut self.hops[book.index()];
        let until = departure.min(self.end);
        books.busy += until.saturating_sub(start.max(self.measured_from));
        books.sent(packet, start, departure, self.measured_from);
        self.departures += 1;
    }

    /// A packet that came to a hop is dropped there.
    pub(super) fn dropped(
        &mut self,
        book: BookId,
        packet: &Packet,
        set_out: Nanos,
        reason: DropReason,
        plan: &Plan,
    ) {
        self.hops[book.index()].dropped(packet, reason);
        let fate = Fate::Dropped(reason);
        if self.single.is_some() {
            tell(&mut self.observer, plan, *packet, None, fate);
        } else {
            let hop = Some(book.into());
            self.observer.record(&Record { packet: *packet, set_out, hop, deadline: None, fate });
        }
    }

    /// A packet of this class, which came to a hop at `arrival`, is marked there.
    pub(super) fn marked(&mut self, book: BookId, class: ClassId, arrival: Nanos) {
        self.hops[book.index()].marked(class, arrival);
    }

    /// A packet still waits at a hop when the run ends; returns its record.
    pub(super) fn waits(&mut self, book: BookId, packet: Packet, set_out: Nanos) -> Record {
        self.hops[book.index()].waits(&packet, self.end);
        Record { packet, set_out, hop: Some(book.into()), deadline: None, fate: Fate::Queued }
    }

    /// Notes the memory footprint that the scheduler of the only link has now.
    pub(super) fn note_footprint(&mut self, footprint: impl FnOnce() -> usize) {
        if let Some(single) = &mut self.single {
            single.footprint = single.footprint.max(footprint());
        }
    }

    /// Reads what the next packet at a hop needs into the cache.
    pub(super) fn touch(&self, book: BookId) -> u64 {
        self.hops[book.index()].touch()
    }

    /// The closed books of all hops, and those of the classes.
    pub(super) fn close(self) -> (impl Iterator<Item = ClosedBooks>, Vec<ClassBooks>) {
        (self.hops.into_iter().map(HopBooks::close), self.classes)
    }

    /// The closed books of the only link.
    ///
    /// # Panics
    ///
    /// Panics if the run is not over one link.
    pub(super) fn close_single(self) -> (ClosedBooks, SingleBooks) {
        let hop = self.hops.into_iter().next().expect("one link has one book");
        (hop.close(), *self.single.expect("made by `single`"))
    }
}
