//! The outputs of a network: one for each link, direction and, where links are private, flow.

use std::collections::VecDeque;

use laxity::link::Link;
use laxity::scheduler::Scheduler;
use laxity::units::Nanos;

/// Where a node sends packets over one link.
pub(super) struct Output {
    pub link: Link,
    /// Propagation.
    pub delay: Nanos,
    /// The position of its books, which it shares with the private links of other flows.
    pub books: u32,
    /// What orders the packets that wait; none where they leave in the order in which they come,
    /// for then their departures are known when they arrive.
    pub scheduler: Option<Box<dyn Scheduler + Send>>,
    /// Packets under way, with their times of arrival at the other end.
    wire: VecDeque<(Nanos, u32)>,
}

impl Output {
    pub fn new(
        link: Link,
        delay: Nanos,
        books: u32,
        scheduler: Option<Box<dyn Scheduler + Send>>,
    ) -> Self {
        Output { link, delay, books, scheduler, wire: VecDeque::new() }
    }

    /// A packet leaves with its last bit at `departure`; tells when it arrives if it is the only
    /// one under way.
    pub fn launch(&mut self, departure: Nanos, packet: u32) -> Option<Nanos> {
        let arrival = departure.saturating_add(self.delay);
        self.wire.push_back((arrival, packet));
        (self.wire.len() == 1).then_some(arrival)
    }

    /// The packet that arrives at the other end now, and when the next one does.
    pub fn land(&mut self) -> Option<(u32, Option<Nanos>)> {
        let (_, packet) = self.wire.pop_front()?;
        Some((packet, self.wire.front().map(|(arrival, _)| *arrival)))
    }

    /// How many packets are under way.
    pub fn under_way(&self) -> usize {
        self.wire.len()
    }
}
