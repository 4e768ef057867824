//! The same packets in another run.

use std::collections::HashMap;

use laxity::packet::{ClassId, FlowId, Packet};
use laxity::scheduler::DropReason;
use laxity::units::Nanos;
use laxity_sim::record::{Fate, Observer, Record};

use super::{ClassDelay, Delays, PacketDelay};

/// A packet that is found again in another run of the same arrivals: by its class, flow, length
/// and time, and among several of these by their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Identity {
    class: ClassId,
    flow: FlowId,
    length: u32,
    set_out: Nanos,
    twin: u32,
}

/// Tells packets of one run apart.
#[derive(Debug, Default)]
pub(super) struct Identities(HashMap<(ClassId, FlowId, u32, Nanos), u32>);

impl Identities {
    fn identify(&mut self, packet: &Packet, set_out: Nanos) -> Identity {
        let Packet { class, flow, length, .. } = *packet;
        let twins = self.0.entry((class, flow, length, set_out)).or_default();
        let twin = *twins;
        *twins += 1;
        Identity { class, flow, length, set_out, twin }
    }
}

/// The packets that a [`Delays`] has selected, to be found in other runs.
#[derive(Debug, Default)]
pub struct SelectedPackets {
    all: Identities,
    /// With their delays.
    selected: HashMap<Identity, Nanos>,
}

impl SelectedPackets {
    /// Notes a packet of the first run, and whether it was selected.
    pub fn note(&mut self, packet: &PacketDelay, is_selected: bool) {
        let identity = self.all.identify(&packet.packet, packet.packet.arrival);
        if is_selected {
            self.selected.insert(identity, packet.delay());
        }
    }

    /// Notes a packet that was dropped in the first run.
    pub fn note_dropped(&mut self, packet: &Packet, set_out: Nanos) {
        self.all.identify(packet, set_out);
    }
}

/// What became of selected packets in another run.
#[derive(Debug)]
pub struct ChangedDelays {
    /// The slowest ones of the first run, in their order.
    pub slowest: Vec<ChangedPacket>,
    /// What delayed the packets that were selected and sent in both runs, by class number.
    pub classes: Vec<ClassDelay>,
    /// The sums of their delays in the first run and in this one, in nanoseconds.
    pub totals: [u128; 2],
    /// The number of those packets.
    pub packets: u64,
    /// Selected packets that were dropped in this run.
    pub dropped: u64,
    /// Selected packets that did not arrive in this run, as their source reacts to what is sent.
    pub absent: u64,
}

/// What became of a packet in another run.
#[derive(Clone, Debug, PartialEq)]
pub enum ChangedPacket {
    /// It was sent.
    Sent(PacketDelay),
    /// It was dropped.
    Dropped(DropReason),
    /// It did not arrive, or was still waiting when the run ended.
    Absent,
}

/// Looks for selected packets in another run.
pub struct Search<'a> {
    packets: &'a SelectedPackets,
    all: Identities,
    slowest: HashMap<Identity, usize>,
    found: ChangedDelays,
}

impl<'a> Search<'a> {
    /// A search for the packets of the first run.
    pub fn new(delays: &Delays, packets: &'a SelectedPackets) -> Self {
        let mut twins = HashMap::new();
        let mut listed: Vec<_> = delays.slowest.iter().enumerate().collect();
        // Twins are listed by their delays, and found in the order in which they are sent.
        listed.sort_by_key(|(_, delay)| delay.end);
        let mut slowest = HashMap::new();
        for (place, delay) in listed {
            let Packet { class, flow, length, arrival, .. } = delay.packet;
            let key = (class, flow, length, arrival);
            let mut twin = *twins.get(&key).unwrap_or(&0);
            let identity = |twin| Identity { class, flow, length, set_out: arrival, twin };
            while packets.selected.get(&identity(twin)).is_some_and(|known| *known != delay.delay())
            {
                twin += 1;
            }
            slowest.insert(identity(twin), place);
            twins.insert(key, twin + 1);
        }
        let found = ChangedDelays {
            slowest: vec![ChangedPacket::Absent; delays.slowest.len()],
            classes: vec![ClassDelay::default(); delays.classes.len()],
            totals: [0; 2],
            packets: 0,
            dropped: 0,
            absent: 0,
        };
        Search { packets, all: Identities::default(), slowest, found }
    }

    /// A packet was sent.
    pub fn sent(&mut self, packet: PacketDelay) {
        let identity = self.all.identify(&packet.packet, packet.packet.arrival);
        let Some(before) = self.packets.selected.get(&identity) else { return };
        self.found.packets += 1;
        self.found.totals[0] += u128::from(before.0);
        self.found.totals[1] += u128::from(packet.delay().0);
        self.found.classes[packet.packet.class.index()].add(&packet);
        if let Some(place) = self.slowest.get(&identity) {
            self.found.slowest[*place] = ChangedPacket::Sent(packet);
        }
    }

    /// A packet was dropped.
    pub fn dropped(&mut self, packet: &Packet, set_out: Nanos, reason: DropReason) {
        let identity = self.all.identify(packet, set_out);
        if self.packets.selected.contains_key(&identity) {
            self.found.dropped += 1;
            if let Some(place) = self.slowest.get(&identity) {
                self.found.slowest[*place] = ChangedPacket::Dropped(reason);
            }
        }
    }

    /// What was found when the run is over.
    pub fn finish(mut self) -> ChangedDelays {
        let selected = self.packets.selected.len() as u64;
        self.found.absent = selected - self.found.packets - self.found.dropped;
        self.found
    }
}

/// Hears of drops.
pub struct DropObserver<F>(pub F);

impl<F: FnMut(&Packet, Nanos, DropReason)> Observer for DropObserver<F> {
    fn record(&mut self, record: &Record) {
        if let Fate::Dropped(reason) = record.fate {
            (self.0)(&record.packet, record.set_out, reason);
        }
    }
}
