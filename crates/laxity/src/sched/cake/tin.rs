//! A tin: flows that take turns, by hosts first (DRR++ with triple isolation: Høiland-Jørgensen,
//! Täht, Morton 2018, section III.B), and the threshold up to which it goes before others.

use alloc::vec::Vec;

use super::CakeSettings;
use super::set::{Tags, Way};
use super::shaper::ByteTime;
use crate::aqm::{Cobalt, CobaltState};
use crate::packet::{HostId, Hosts};
use crate::units::Nanos;

#[derive(Clone, Debug)]
pub(super) struct Tin {
    /// COBALT of all its queues.
    pub cobalt: Cobalt,
    /// By the number of the queue.
    pub flows: Vec<Flow>,
    /// When it is within its threshold again.
    pub next: Nanos,
    /// Bytes queued.
    pub bytes: u64,
    byte_time: ByteTime,
    /// What a flow may send in its turn, if no other shares its hosts, in parts of bytes.
    quantum: i64,
    tags: Tags,
    /// Of hosts that send, and of those that receive.
    hosts: [HostCounts; 2],
    /// Whether these are counted.
    counts: [bool; 2],
    new: List,
    old: List,
    /// Queues that are empty and remembered for what COBALT knows of them.
    decaying: List,
    /// Queues among the new and old ones that have had no more than their first turn.
    sparse: u64,
    /// Those among the old ones that take turns.
    bulk: u64,
}

/// A queue of flows, most of the time of one.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub cobalt: CobaltState,
    /// Bytes queued.
    pub bytes: u64,
    /// What it may send before it is passed over, in parts of bytes.
    deficit: i64,
    state: State,
    /// The places of its hosts among the counts, or `NONE`.
    hosts: [u32; 2],
    next: u32,
    previous: u32,
}

/// Where a queue stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nowhere.
    Idle,
    /// Among the new ones.
    Sparse,
    /// Among the old ones since it ran empty in its first turn.
    SparseWait,
    /// Among the old ones.
    Bulk,
    /// Empty.
    Decaying,
}

/// How many bulk flows each host has.
#[derive(Clone, Debug)]
struct HostCounts {
    tags: Tags,
    bulk: Vec<u16>,
}

/// Queues that take turns.
#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

const NONE: u32 = u32::MAX;

/// Parts of a byte, so that a quantum can be divided among the flows of a host.
const BYTE: i64 = 1 << 16;

/// The most bytes that a flow sends in its turn, and the least.
const MOST: u64 = 1_514;
const LEAST: u64 = 300;

/// What a flow that shares no host sends in its turn, in bytes, in a tin of this many bytes a
/// second.
pub(crate) fn quantum(rate: u64) -> u64 {
    (rate >> 12).clamp(LEAST, MOST)
}

impl Tin {
    /// The tin of this number.
    pub(super) fn new(settings: &CakeSettings, tin: usize, salt: u64) -> Self {
        let rate = settings.diffserv.threshold(tin, settings.rate.0 / 8);
        let byte_time = ByteTime::new(rate);
        let packet_time = byte_time.of(settings.max_packet);
        let usual = settings.target();
        let target = usual.max(Nanos(packet_time.0.saturating_mul(3) / 2));
        let longer = settings.rtt.saturating_add(target.saturating_sub(usual));
        let interval = longer.max(Nanos(target.0.saturating_mul(2)));
        let queues = settings.queues;
        let hosts = [1, 2].map(|side| HostCounts {
            tags: Tags::new(queues, salt ^ side),
            bulk: alloc::vec![0; queues],
        });
        Tin {
            cobalt: Cobalt { target, interval, packet_time },
            flows: alloc::vec![Flow::IDLE; queues],
            next: Nanos::ZERO,
            bytes: 0,
            byte_time,
            quantum: quantum(rate) as i64 * BYTE,
            tags: Tags::new(queues, salt),
            hosts,
            counts: settings.isolation.counts(),
            new: List::EMPTY,
            old: List::EMPTY,
            decaying: List::EMPTY,
            sparse: 0,
            bulk: 0,
        }
    }

    /// How many of its flows take turns.
    pub(super) fn bulk(&self) -> u64 {
        self.bulk
    }

    /// Whether any queue is to have a turn.
    pub(super) fn is_active(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    /// The queue that a flow has.
    pub(super) fn find(&self, key: u64) -> Option<usize> {
        self.tags.find(key)
    }

    /// The queue for a packet of a flow between these hosts.
    pub(super) fn place(&mut self, key: u64, hosts: Hosts) -> usize {
        let flows = &self.flows;
        let way = self.tags.place(key, |queue| flows[queue].state == State::Idle);
        let (Way::Kept(queue) | Way::Free(queue) | Way::Shared(queue)) = way;
        let is_known = matches!(way, Way::Kept(_)) && self.flows[queue].state != State::Idle;
        if !is_known {
            self.move_to_hosts(queue, hosts);
        }
        queue
    }

    /// From now on, a queue counts for these hosts.
    fn move_to_hosts(&mut self, queue: usize, hosts: Hosts) {
        let is_bulk = self.flows[queue].state == State::Bulk;
        if is_bulk {
            self.count_bulk(queue, u16::wrapping_sub);
        }
        for (side, host) in [hosts.source, hosts.destination].into_iter().enumerate() {
            let is_counted = self.counts[side] && host != HostId::UNKNOWN;
            self.flows[queue].hosts[side] =
                if is_counted { self.hosts[side].place(host) } else { NONE };
        }
        if is_bulk {
            self.count_bulk(queue, u16::wrapping_add);
        }
    }

    /// Counts a flow of both of its hosts in or out.
    fn count_bulk(&mut self, queue: usize, change: fn(u16, u16) -> u16) {
        for (side, place) in self.flows[queue].hosts.into_iter().enumerate() {
            if let Some(bulk) = self.hosts[side].bulk.get_mut(place as usize) {
                *bulk = change(*bulk, 1);
            }
        }
    }

    /// What a queue may send more for a turn: the quantum over the flows of the busier one of its
    /// hosts.
    fn credit(&self, queue: usize) -> i64 {
        let [source, destination] = self.flows[queue].hosts;
        let load = |side: usize, place: u32| {
            self.hosts[side].bulk.get(place as usize).map_or(1, |bulk| i64::from(*bulk))
        };
        self.quantum / load(0, source).max(load(1, destination)).max(1)
    }

    /// A queue has got a packet.
    pub(super) fn enter(&mut self, queue: usize) {
        match self.flows[queue].state {
            State::Idle => self.begin(queue),
            State::Decaying => {
                self.decaying.remove(queue, &mut self.flows);
                self.begin(queue);
            }
            State::SparseWait => {
                self.sparse -= 1;
                self.make_bulk(queue);
            }
            State::Sparse | State::Bulk => {}
        }
    }

    fn begin(&mut self, queue: usize) {
        self.new.push(queue, &mut self.flows);
        self.sparse += 1;
        self.flows[queue].state = State::Sparse;
        self.flows[queue].deficit = self.credit(queue);
    }

    fn make_bulk(&mut self, queue: usize) {
        self.bulk += 1;
        self.flows[queue].state = State::Bulk;
        self.count_bulk(queue, u16::wrapping_add);
    }

    /// The queue whose turn it is; first the oldest of those that are remembered, if `looks_back`.
    /// `holds` says which have packets.
    pub(super) fn turn(
        &mut self,
        looks_back: bool,
        holds: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        if looks_back && let Some(queue) = self.decaying.front() {
            return Some(queue);
        }
        // The old queue since which all were passed over.
        let mut first_passed = None;
        loop {
            let is_new = self.new.front().is_some();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let Some(queue) = list.front() else { return self.decaying.front() };
            if self.flows[queue].deficit > 0 {
                return Some(queue);
            }
            if first_passed == Some(queue) {
                self.skip_turns();
                first_passed = None;
                continue;
            }
            list.remove(queue, &mut self.flows);
            self.old.push(queue, &mut self.flows);
            if self.flows[queue].state == State::Sparse {
                if holds(queue) {
                    self.sparse -= 1;
                    self.make_bulk(queue);
                } else {
                    self.flows[queue].state = State::SparseWait;
                }
            }
            if !is_new && first_passed.is_none() {
                first_passed = Some(queue);
            }
            self.flows[queue].deficit += self.credit(queue);
        }
    }

    /// Gives all old queues the credits of the turns in which none of them may send, if there are
    /// any.
    fn skip_turns(&mut self) {
        let turns = |queue: usize| (-self.flows[queue].deficit).max(0) / self.credit(queue);
        let turns = self.old.queues(&self.flows).map(turns).min().unwrap_or_default();
        let mut next = self.old.front();
        while let Some(queue) = next {
            self.flows[queue].deficit += turns * self.credit(queue);
            next = self.flows[queue].next();
        }
    }

    /// A queue had its turn and is empty. It is remembered unless COBALT is at rest.
    pub(super) fn run_empty(&mut self, queue: usize, now: Nanos) {
        let flow = &mut self.flows[queue];
        flow.cobalt.run_empty(&self.cobalt, now);
        let is_at_rest = flow.cobalt.is_at_rest(now);
        match flow.state {
            State::Sparse => self.new.remove(queue, &mut self.flows),
            State::SparseWait | State::Bulk => self.old.remove(queue, &mut self.flows),
            State::Decaying | State::Idle => self.decaying.remove(queue, &mut self.flows),
        }
        match self.flows[queue].state {
            State::Sparse | State::SparseWait => self.sparse -= 1,
            State::Bulk => {
                self.bulk -= 1;
                self.count_bulk(queue, u16::wrapping_sub);
            }
            State::Decaying | State::Idle => {}
        }
        if is_at_rest {
            self.flows[queue].state = State::Idle;
        } else {
            self.flows[queue].state = State::Decaying;
            self.decaying.push(queue, &mut self.flows);
        }
    }

    /// Charges a packet to the deficit of its queue.
    pub(super) fn pay(&mut self, queue: usize, length: u32) {
        self.flows[queue].deficit -= i64::from(length) * BYTE;
    }

    /// Charges a packet to the threshold.
    pub(super) fn charge(&mut self, now: Nanos, length: u32) {
        let time = self.byte_time.of(length);
        self.next = if self.next < now {
            self.next.saturating_add(time)
        } else {
            self.next.max(now.saturating_add(time))
        };
    }

    /// The places of a key's set: of flows, of senders or of receivers.
    #[cfg(test)]
    pub(super) fn ways(&self, side: usize, key: u64) -> Vec<usize> {
        let tags = [&self.tags, &self.hosts[0].tags, &self.hosts[1].tags][side];
        tags.ways(key).collect()
    }

    /// Whether a queue has had no more than its first turn.
    pub(super) fn is_new(&self, queue: usize) -> bool {
        self.flows[queue].state == State::Sparse
    }

    pub(super) fn footprint(&self) -> usize {
        let hosts = self
            .hosts
            .iter()
            .map(|hosts| hosts.tags.footprint() + hosts.bulk.capacity() * size_of::<u16>());
        self.flows.capacity() * size_of::<Flow>() + self.tags.footprint() + hosts.sum::<usize>()
    }
}

impl HostCounts {
    /// The place of a host.
    fn place(&mut self, host: HostId) -> u32 {
        let bulk = &self.bulk;
        let way = self.tags.place(host.0.into(), |place| bulk[place] == 0);
        let (Way::Kept(place) | Way::Free(place) | Way::Shared(place)) = way;
        place as u32
    }
}

impl Flow {
    const IDLE: Flow = Flow {
        cobalt: CobaltState::NEW,
        bytes: 0,
        deficit: 0,
        state: State::Idle,
        hosts: [NONE; 2],
        next: NONE,
        previous: NONE,
    };

    /// The queue behind in its list.
    fn next(&self) -> Option<usize> {
        (self.next != NONE).then_some(self.next as usize)
    }
}

impl List {
    const EMPTY: List = List { first: NONE, last: NONE };

    fn front(&self) -> Option<usize> {
        (self.first != NONE).then_some(self.first as usize)
    }

    fn queues<'a>(&self, flows: &'a [Flow]) -> impl Iterator<Item = usize> + use<'a> {
        core::iter::successors(self.front(), |queue| flows[*queue].next())
    }

    /// Puts a queue that is in no list behind the others.
    fn push(&mut self, queue: usize, flows: &mut [Flow]) {
        let number = queue as u32;
        (flows[queue].previous, flows[queue].next) = (self.last, NONE);
        match self.last {
            NONE => self.first = number,
            last => flows[last as usize].next = number,
        }
        self.last = number;
    }

    /// Takes out a queue that is in this list.
    fn remove(&mut self, queue: usize, flows: &mut [Flow]) {
        let (previous, next) = (flows[queue].previous, flows[queue].next);
        match previous {
            NONE => self.first = next,
            previous => flows[previous as usize].next = next,
        }
        match next {
            NONE => self.last = previous,
            next => flows[next as usize].previous = previous,
        }
    }
}
