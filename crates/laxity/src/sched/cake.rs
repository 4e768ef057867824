//! Common applications kept enhanced, CAKE (Høiland-Jørgensen, Täht, Morton 2018, *Piece of CAKE: A
//! comprehensive queue management solution for home gateways*), as Linux 6.1 dispatches.

mod acks;
mod diffserv;
mod directory;
mod explain;
mod isolation;
mod set;
mod settings;
mod shaper;
#[cfg(test)]
mod tests;
mod tin;

use alloc::vec::Vec;

use rand_pcg::Pcg32;

pub use acks::AckFilter;
pub use diffserv::Diffserv;
pub use isolation::{CakeClass, Isolation};
pub use settings::CakeSettings;

use crate::aqm::Fate;
use crate::error::{SetupError, check};
use crate::explain::Explain;
use crate::packet::{ClassId, FlowId, Hosts, Packet};
use crate::queue::{Fifos, WinnerTree};
use crate::sched::fq_codel::mix;
use crate::scheduler::{
    Backlog, Criterion, Dispatch, DropReason, DropSink, Place, Scheduler, Withdraw, by_place,
    turn_away,
};
use crate::units::Nanos;
use acks::QueuedAcks;
use directory::Directory;
use set::WAYS;
use shaper::Shaper;
#[cfg(feature = "admission")]
pub(crate) use shaper::{ByteTime, LEAST};
use tin::Tin;
#[cfg(feature = "admission")]
pub(crate) use tin::quantum;

/// Tins by code point, each of them shared by hosts and by flows within hosts, with COBALT on every
/// queue.
///
/// Every tin has a threshold, a part of the rate. Of the tins that are within theirs, the highest
/// sends; where none is, the one that will be first. In a tin, flows hash into queues that take
/// turns, new flows first, and a flow of a host that has n flows in turns may send the n-th part of
/// a quantum in each. Flows share a queue only where all eight of a set are taken. A queue that has
/// run empty is remembered until COBALT has forgotten it.
///
/// Beyond the limit, packets are dropped from the head of the queue with the most bytes, the first
/// of several.
///
/// With an acknowledgement filter, the first of two acknowledgements of a flow is dropped that a
/// third one makes superfluous, as [their tags](crate::packet::AckTag) say. An aggressive filter
/// drops it if one alone is superfluous.
///
/// Linux rounds a flow's part of the quantum at random; here it is exact to 2^-16 of a byte. BLUE's
/// drops are drawn from a seed. Otherwise the same packets at the same times have the same fate.
///
/// A packet takes constant time, amortised over dropped packets and over packets of hosts with
/// equally many flows in turns. It takes logarithmic time in the number of queues if its queue
/// grows beyond its length when the limit was last reached, or if packets are dropped beyond the
/// limit.
/// Where one host has many flows in turns and another few, a packet takes as many steps as the busy
/// host has flows.
#[derive(Clone, Debug)]
pub struct Cake {
    settings: CakeSettings,
    /// By number.
    classes: Vec<CakeClass>,
    tins: Vec<Tin>,
    /// Those of all tins, one after another, each packet with its queue.
    packets: Fifos<(), (Packet, u32)>,
    /// An upper bound of each queue's bytes, inverted, so that the most wins. It is corrected when
    /// a queue wins, not with every packet that leaves.
    largest: WinnerTree<u64>,
    shaper: Option<Shaper>,
    /// The hosts of flows that were introduced, if any was.
    introduced: Option<Directory>,
    /// If acknowledgements are dropped.
    acks: Option<QueuedAcks>,
    salt: u64,
    backlog: Backlog,
    random: Pcg32,
}

/// The most queues of a tin: places of hosts have 16 bits.
const MOST_QUEUES: u64 = 65_536;

impl Cake {
    /// Empty tins for the packets of these classes. Which flows may come to share a queue depends
    /// on `seed`.
    ///
    /// # Errors
    /// If the queues of a tin are none, too many or no multiple of 8, or the round-trip time or the
    /// rate is zero.
    pub fn new(
        classes: Vec<CakeClass>,
        settings: CakeSettings,
        seed: u64,
    ) -> Result<Self, SetupError> {
        let sets = (settings.queues / WAYS) as u64;
        check("the queues of a tin beyond sets of 8", (settings.queues % WAYS) as u64, 0..=0)?;
        check("the sets of 8 queues of a tin", sets, 1..=MOST_QUEUES / WAYS as u64)?;
        check("CAKE's round-trip time in ns", settings.rtt.0, 1..=u64::MAX)?;
        check("CAKE's rate in bit/s", settings.rate.0, 1..=u64::MAX)?;
        let tins = 0..settings.diffserv.tins();
        let all = settings.queues * tins.len();
        Ok(Cake {
            settings,
            classes,
            tins: tins.map(|tin| Tin::new(&settings, tin, mix(seed ^ tin as u64))).collect(),
            packets: Fifos::new(all),
            largest: WinnerTree::new(all, !0),
            shaper: settings.shapes.then(|| Shaper::new(settings.rate)),
            introduced: None,
            acks: QueuedAcks::new(settings.ack_filter, all, mix(seed)),
            salt: mix(seed),
            backlog: Backlog::default(),
            random: Pcg32::new(seed, 0),
        })
    }

    /// The tin of a packet, and what tells its flow from others there.
    fn tin_and_key(&self, packet: &Packet) -> (usize, u64, Hosts) {
        let class = &self.classes[packet.class.index()];
        let introduced = self.introduced.as_ref();
        let hosts = introduced.and_then(|introduced| introduced.find(packet.class, packet.flow));
        let hosts = hosts.unwrap_or_else(|| class.hosts(packet.flow));
        let tin = self.settings.diffserv.tin(class.dscp);
        (tin, self.settings.isolation.key(packet, hosts), hosts)
    }

    /// The tin that sends: the highest of those within their thresholds, or else the one that is
    /// within its own first.
    fn choose(&self, now: Nanos) -> Option<usize> {
        let active = self.tins.iter().enumerate().filter(|(_, tin)| tin.is_active());
        let wait = |tin: &Tin| tin.next.saturating_sub(now);
        active.min_by_key(|(number, tin)| (wait(tin), usize::MAX - number)).map(|(tin, _)| tin)
    }

    /// The next packet of a tin; `None` if a queue turned out to be empty.
    fn serve(
        &mut self,
        now: Nanos,
        number: usize,
        looks_back: &mut bool,
        drops: &mut dyn DropSink,
    ) -> Option<Packet> {
        let base = number * self.settings.queues;
        loop {
            let packets = &self.packets;
            let holds = |queue: usize| !packets.is_empty(base + queue);
            let queue = self.tins[number].turn(core::mem::take(looks_back), holds)?;
            loop {
                let Some(mut packet) = self.pop(number, queue) else {
                    self.tins[number].run_empty(queue, now);
                    return None;
                };
                let is_last = self.packets.is_empty(base + queue);
                let tin = &mut self.tins[number];
                let bulk = if self.settings.ingress { tin.bulk() } else { 0 };
                let Tin { flows, cobalt, .. } = tin;
                let fate =
                    flows[queue].cobalt.leave(cobalt, now, &mut packet, bulk, &mut self.random);
                if fate == Fate::Dropped && !is_last {
                    let length = packet.length;
                    drops.dropped(packet, DropReason::Cobalt);
                    if !self.settings.ingress {
                        continue;
                    }
                    self.charge(now, number, length, false);
                    self.tins[number].pay(queue, length);
                    break;
                }
                if fate == Fate::Marked {
                    drops.marked(packet.class, packet.arrival);
                }
                self.charge(now, number, packet.length, true);
                self.tins[number].pay(queue, packet.length);
                return Some(packet);
            }
        }
    }

    /// Charges a packet to the threshold of its tin and to the shaper.
    fn charge(&mut self, now: Nanos, tin: usize, length: u32, is_sent: bool) {
        self.tins[tin].charge(now, length);
        if let Some(shaper) = &mut self.shaper {
            shaper.charge(length, is_sent);
        }
    }

    /// Takes the first packet of a queue of a tin.
    fn pop(&mut self, tin: usize, queue: usize) -> Option<Packet> {
        let ((packet, _), _) = self.packets.pop(tin * self.settings.queues + queue)?;
        self.count_out(tin, queue, &packet);
        Some(packet)
    }

    /// Drops the first packet of the queue that has the most bytes.
    fn drop_from_largest(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Packet> {
        let queues = self.settings.queues;
        let (tin, queue) = loop {
            let (at, key) = self.largest.winner()?;
            let bytes = self.tins[at / queues].flows[at % queues].bytes;
            if bytes == !key {
                break (at / queues, at % queues);
            }
            self.largest.set(at, !bytes);
        };
        let packet = self.pop(tin, queue)?;
        let Tin { flows, cobalt, .. } = &mut self.tins[tin];
        flows[queue].cobalt.overflow(cobalt, now);
        if self.settings.ingress {
            self.charge(now, tin, packet.length, false);
        }
        drops.dropped(packet, DropReason::no_room(&packet));
        Some(packet)
    }

    fn count_in(&mut self, tin: usize, queue: usize, length: u32) {
        self.backlog.add(length);
        self.tins[tin].bytes += u64::from(length);
        let bytes = &mut self.tins[tin].flows[queue].bytes;
        *bytes += u64::from(length);
        let at = tin * self.settings.queues + queue;
        if *bytes > !self.largest.key(at) {
            self.largest.set_among_many(at, !*bytes);
        }
    }

    fn count_out(&mut self, tin: usize, queue: usize, packet: &Packet) {
        let length = packet.length;
        self.backlog.remove(length);
        self.tins[tin].bytes -= u64::from(length);
        self.tins[tin].flows[queue].bytes -= u64::from(length);
        if let Some(acks) = &mut self.acks {
            acks.leave(packet);
        }
    }
}

impl Scheduler for Cake {
    by_place!();

    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        let mut looks_back = true;
        loop {
            if self.backlog.packets == 0 || self.next_ready(now)? > now {
                return None;
            }
            let tin = self.choose(now)?;
            if let Some(packet) = self.serve(now, tin, &mut looks_back, drops) {
                return Some(Dispatch { packet, deadline: None, criterion: Criterion::RoundRobin });
            }
        }
    }

    fn introduce(&mut self, class: ClassId, flow: FlowId, hosts: Hosts) {
        let queues = self.packets.queues();
        let introduced = self.introduced.get_or_insert_with(|| Directory::new(queues, self.salt));
        introduced.insert(queues, class, flow, hosts);
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        let opens_at = self.shaper.map_or(now, |shaper| shaper.opens_at().max(now));
        (self.backlog.packets > 0).then_some(opens_at)
    }

    fn has_room(&self, packet: &Packet, ahead: Backlog) -> bool {
        self.settings.limit.check(self.backlog.and(ahead), packet).is_ok()
    }

    fn footprint(&self) -> usize {
        let hosts = self.classes.iter().map(|class| size_of_val(&*class.hosts));
        self.tins.iter().map(Tin::footprint).sum::<usize>()
            + self.classes.capacity() * size_of::<CakeClass>()
            + hosts.sum::<usize>()
            + self.introduced.as_ref().map_or(0, Directory::footprint)
            + self.acks.as_ref().map_or(0, QueuedAcks::footprint)
            + self.packets.footprint()
            + self.largest.footprint()
    }

    fn explain(&self) -> Option<&dyn Explain> {
        Some(self)
    }
}

impl Withdraw for Cake {
    fn place(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        let mut others = self.backlog;
        let place = self.insert(now, packet, drops)?;
        let (_, queue) = *self.packets.get(place);
        let before = self.backlog;
        self.filter(now, &packet, place, drops);
        others.packets -= before.packets - self.backlog.packets;
        others.bytes -= before.bytes - self.backlog.bytes;
        while self.settings.limit.check(others, &packet).is_err() {
            let dropped = self.drop_from_largest(now, drops)?;
            if self.packets.is_empty(queue as usize) {
                // It was the packet itself, the last of its queue.
                return None;
            }
            others.remove(dropped.length);
        }
        Some(place)
    }

    fn adopt(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        let place = self.insert(now, packet, drops)?;
        if let Some(acks) = &mut self.acks {
            acks.keep(&packet, place);
        }
        Some(place)
    }

    /// Its queue keeps its turn and its credits.
    fn withdraw(&mut self, _: Nanos, place: Place, _: u64, _: &mut dyn DropSink) -> Option<Packet> {
        self.take_out(place)
    }
}

impl Cake {
    /// Puts a packet behind the others of its flow.
    fn insert(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        if packet.class.index() >= self.classes.len() {
            return turn_away(packet, DropReason::NoClass, drops);
        }
        let (number, key, hosts) = self.tin_and_key(&packet);
        let tin = &mut self.tins[number];
        let queue = tin.place(key, hosts);
        if tin.bytes == 0 {
            tin.next = tin.next.max(now);
        }
        if let Some(shaper) = self.shaper.as_mut().filter(|_| self.backlog.packets == 0) {
            shaper.begin(now);
        }
        let at = number * self.settings.queues + queue;
        let place = self.packets.push(at, (), (packet, at as u32));
        self.count_in(number, queue, packet.length);
        self.tins[number].enter(queue);
        Some(place)
    }
}
