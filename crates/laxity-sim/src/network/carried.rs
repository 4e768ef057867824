//! The books of a hop.

use laxity::packet::Packet;
use laxity::port::Books;
use laxity::scheduler::DropReason;
use laxity::units::Nanos;

/// The books of one direction of a link, brought up to date now and then: an account and its distribution of delays
/// are many lines of memory, a note of what was carried is half of one.
pub(super) struct HopBooks {
    books: Books,
    /// Packets that were sent and are not in the books yet, and when their last bits leave.
    noted: Vec<(Packet, Nanos)>,
    /// How long the link was sending within the measured time.
    pub busy: Nanos,
}

/// How many packets are noted before they are all entered.
const NOTED: usize = 16;

impl HopBooks {
    /// Books of a hop over which nothing was sent.
    pub fn new(books: Books) -> Self {
        HopBooks { books, noted: Vec::new(), busy: Nanos::ZERO }
    }

    /// A packet that came to the hop is sent, with its last bit at `departure`.
    pub fn sent(&mut self, packet: Packet, departure: Nanos) {
        self.noted.push((packet, departure));
        if self.noted.len() == NOTED {
            self.enter();
        }
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
        (self.books, self.busy)
    }

    fn enter(&mut self) {
        for (packet, departure) in self.noted.drain(..) {
            self.books.arrived(&packet);
            self.books.dispatched(&packet);
            self.books.sent(&packet, departure);
        }
    }
}
