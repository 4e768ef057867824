//! The books of a hop.

use std::collections::HashMap;

use laxity::packet::{ClassId, Packet};
use laxity::port::{Books, Delivery};
use laxity::scheduler::DropReason;
use laxity::units::Nanos;
use laxity_plan::Plan;

use crate::windows::Windows;

/// The books of one direction of a link, brought up to date now and then: an account with its
/// distribution of delays takes many lines of memory, a note of a packet a quarter of one.
#[repr(align(64))]
pub(crate) struct HopBooks {
    books: Box<Books>,
    /// Packets that were sent and are not in the books yet.
    noted: Vec<Delivery>,
    /// How long the link was sending within the measured time.
    pub busy: Nanos,
    /// The windows of streams that tolerate losses, if there are any.
    windows: Option<Box<HopWindows>>,
}

/// Windows of streams at a hop.
struct HopWindows {
    windows: Windows,
    /// By handle of the packets here: their numbers in the order of arrival. `None` if handles are
    /// these numbers.
    numbers: Option<HashMap<u64, u64>>,
    arrived: u64,
}

/// The closed books of one hop.
pub(crate) struct ClosedBooks {
    pub books: Books,
    /// How long the link was sending within the measured time.
    pub busy: Nanos,
    /// The windows of streams, where they are watched.
    pub windows: Option<Windows>,
}

/// How many packets are noted before they are all entered.
const NOTED: usize = 64;

impl HopBooks {
    /// Books of a hop over which nothing was sent.
    pub(crate) fn new(books: Books) -> Self {
        HopBooks { books: Box::new(books), noted: Vec::new(), busy: Nanos::ZERO, windows: None }
    }

    /// The books with the windows of a plan's streams. Packets are known by their numbers in the
    /// order of arrival, or by handles that others have after them.
    pub(crate) fn watching(mut self, plan: &Plan, are_numbered: bool) -> Self {
        let watched = || {
            let numbers = (!are_numbered).then(HashMap::new);
            Box::new(HopWindows { windows: Windows::new(plan), numbers, arrived: 0 })
        };
        self.windows = plan.classes.iter().any(|class| class.loss.is_some()).then(watched);
        self
    }

    /// A packet, known by its handle, comes to the hop.
    #[inline]
    pub(crate) fn arrived(&mut self, packet: &Packet) {
        if let Some(windows) = &mut self.windows {
            windows.arrived(packet);
        }
    }

    /// A packet that came to the hop is sent from `start` on, with its last bit at `departure`, in
    /// a run that is measured from this time on.
    #[inline]
    pub(crate) fn sent(
        &mut self,
        packet: &Packet,
        start: Nanos,
        departure: Nanos,
        measured_from: Nanos,
    ) {
        if let Some(windows) = &mut self.windows {
            windows.left(packet, |windows, packet| windows.sent(packet, start, departure));
        }
        let Packet { arrival, class, length, demoted, .. } = *packet;
        if arrival < measured_from {
            return;
        }
        if demoted {
            return self.enter_demoted(packet, departure);
        }
        self.noted.push(Delivery { class, length, delay: departure - arrival });
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

    /// Reads what the next packet needs into the cache.
    pub(crate) fn touch(&self) -> u64 {
        self.busy.0 ^ self.noted.last().map_or(0, |last| last.delay.0)
    }

    /// A packet that came to the hop is dropped.
    pub(crate) fn dropped(&mut self, packet: &Packet, reason: DropReason) {
        if let Some(windows) = &mut self.windows {
            windows.left(packet, |windows, packet| windows.dropped(packet, reason));
        }
        self.books.arrived(packet);
        self.books.dropped(packet, reason);
    }

    /// A packet of this class that came to the hop then is marked.
    pub(crate) fn marked(&mut self, class: ClassId, arrival: Nanos) {
        self.books.marked(class, arrival);
    }

    /// A packet that came to the hop still waits at the end.
    pub(crate) fn waits(&mut self, packet: &Packet, end: Nanos) {
        self.books.arrived(packet);
        self.books.waits(packet, end);
    }

    /// Enters what was only noted, and closes the books.
    pub(crate) fn close(mut self) -> ClosedBooks {
        self.enter();
        let HopBooks { books, busy, windows, .. } = self;
        ClosedBooks { books: *books, busy, windows: windows.map(|watched| watched.windows) }
    }

    fn enter(&mut self) {
        self.books.carried(&self.noted);
        self.noted.clear();
    }
}

impl HopWindows {
    fn arrived(&mut self, packet: &Packet) {
        let Some(numbers) = &mut self.numbers else { return self.windows.arrived(packet) };
        numbers.insert(packet.handle, self.arrived);
        self.windows.arrived(&Packet { handle: self.arrived, ..*packet });
        self.arrived += 1;
    }

    /// A packet leaves the hop, sent or dropped.
    fn left(&mut self, packet: &Packet, settle: impl FnOnce(&mut Windows, &Packet)) {
        let handle = match &mut self.numbers {
            Some(numbers) => numbers.remove(&packet.handle),
            None => Some(packet.handle),
        };
        if let Some(handle) = handle {
            settle(&mut self.windows, &Packet { handle, ..*packet });
        }
    }
}

#[cfg(test)]
mod tests {
    use laxity::port::Promise;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Notes that are entered later make the same books as packets entered at once, with
        /// strays, demoted packets and the warm-up.
        #[test]
        fn notes_are_books(
            packets in prop::collection::vec((0u32..4, 1u32..2_000, any::<bool>(), 0u64..300, 1u64..99), 0..300),
        ) {
            let promise = |limit| Promise { deadline: Some(Nanos(limit)), bound: Some(Nanos(limit / 2)) };
            let measured_from = Nanos(100);
            let mut at_once = Books::new([50, 70].map(promise), measured_from);
            let mut noted = HopBooks::new(at_once.clone());
            for (class, length, demoted, arrived, delay) in packets {
                let (arrived, departure) = (Nanos(arrived), Nanos(arrived + delay));
                let packet = Packet {
                    class: ClassId(class),
                    length,
                    demoted,
                    arrival: arrived,
                    ..Packet::default()
                };
                at_once.arrived(&packet);
                at_once.dispatched(&packet);
                at_once.sent(&packet, departure);
                noted.sent(&packet, arrived, departure, measured_from);
            }
            prop_assert_eq!(format!("{:?}", noted.close().books), format!("{at_once:?}"));
        }
    }
}
