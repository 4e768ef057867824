//! The books of a hop.

use laxity::packet::Packet;
use laxity::port::{Books, Carried};
use laxity::scheduler::DropReason;
use laxity::units::Nanos;

use super::transit::Transit;

/// The books of one direction of a link, brought up to date now and then: an account and its distribution of delays
/// are many lines of memory, a note of what was carried is a quarter of one.
#[repr(align(64))]
pub(super) struct HopBooks {
    books: Box<Books>,
    /// Packets that were sent and are not in the books yet.
    noted: Vec<Carried>,
    /// How long the link was sending within the measured time.
    pub busy: Nanos,
}

/// How many packets are noted before they are all entered.
const NOTED: usize = 64;

impl HopBooks {
    /// Books of a hop over which nothing was sent.
    pub fn new(books: Books) -> Self {
        HopBooks { books: Box::new(books), noted: Vec::new(), busy: Nanos::ZERO }
    }

    /// A packet that came to the hop is sent, with its last bit at `departure`, in a run that is measured from this time
    /// on.
    #[inline]
    pub fn sent(&mut self, transit: &Transit, departure: Nanos, measured_from: Nanos) {
        let Transit { arrived, class, length, demoted, .. } = *transit;
        if arrived < measured_from {
            return;
        }
        if demoted {
            return self.enter_demoted(&transit.packet(arrived, 0), departure);
        }
        self.noted.push(Carried { class, length, delay: departure - arrived });
        if self.noted.len() == NOTED {
            self.enter();
        }
    }

    #[cold]
    fn enter_demoted(&mut self, packet: &Packet, departure: Nanos) {
        self.books.arrived(packet);
        self.books.dispatched(packet);
        self.books.sent(packet, departure);
    }

    /// Looks at what the next packet needs.
    pub fn touch(&self) -> u64 {
        self.busy.0 ^ self.noted.last().map_or(0, |last| last.delay.0)
    }

    /// A packet that came to the hop is dropped.
    pub fn dropped(&mut self, packet: &Packet, reason: DropReason) {
        self.books.arrived(packet);
        self.books.dropped(packet, reason);
    }

    /// A packet that came to the hop still waits at the end.
    pub fn waits(&mut self, packet: &Packet, end: Nanos) {
        self.books.arrived(packet);
        self.books.waits(packet, end);
    }

    /// The books, and how long the link was busy.
    pub fn close(mut self) -> (Books, Nanos) {
        self.enter();
        (*self.books, self.busy)
    }

    fn enter(&mut self) {
        self.books.carried(&self.noted);
        self.noted.clear();
    }
}
