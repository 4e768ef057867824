//! The same packets in another run.

use std::collections::HashMap;

use laxity::packet::{ClassId, FlowId, Packet};
use laxity::scheduler::DropReason;
use laxity::units::Nanos;
use laxity_sim::record::{Fate, Observer, Record};

use super::{ClassTotals, Delays, PacketDelay};

/// What a packet is known by in every run of the same arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Identity {
    class: ClassId,
    flow: FlowId,
    length: u32,
    set_out: Nanos,
    /// The number of such packets before it.
    twin: u32,
}

/// Counts packets that are alike, in the order in which they leave or are dropped.
#[derive(Debug, Default)]
struct Twins(HashMap<(ClassId, FlowId, u32, Nanos), u32>);

impl Twins {
    fn identify(&mut self, packet: &Packet, set_out: Nanos) -> Identity {
        let Packet { class, flow, length, .. } = *packet;
        let twins = self.0.entry((class, flow, length, set_out)).or_default();
        let twin = *twins;
        *twins += 1;
        Identity { class, flow, length, set_out, twin }
    }
}

/// The packets of a run that were selected, to be found in other runs of the same arrivals.
#[derive(Debug, Default)]
pub struct SelectedPackets {
    twins: Twins,
    /// With their delays.
    delays: HashMap<Identity, Nanos>,
    /// By handle and set-out.
    identities: HashMap<(u64, Nanos), Identity>,
}

impl SelectedPackets {
    /// Notes a packet of the run, and whether it was selected.
    pub fn note(&mut self, packet: &PacketDelay, is_selected: bool) {
        let identity = self.twins.identify(&packet.packet, packet.packet.arrival);
        if is_selected {
            self.delays.insert(identity, packet.delay());
            self.identities.insert((packet.packet.handle, packet.packet.arrival), identity);
        }
    }

    /// Notes a packet that was dropped in the run.
    pub fn note_dropped(&mut self, packet: &Packet, set_out: Nanos) {
        self.twins.identify(packet, set_out);
    }

    fn identity(&self, packet: &Packet) -> Option<Identity> {
        self.identities.get(&(packet.handle, packet.arrival)).copied()
    }
}

/// What became of selected packets in another run.
#[derive(Debug)]
pub struct ChangedDelays {
    /// The slowest ones of the first run, in their order.
    pub slowest: Vec<ChangedPacket>,
    /// What delayed the packets that were selected and sent in both runs, by class number.
    pub classes: Vec<ClassTotals>,
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
    twins: Twins,
    /// The places of those that are listed.
    slowest: HashMap<Identity, usize>,
    found: ChangedDelays,
}

impl<'a> Search<'a> {
    /// A search for the packets of the first run.
    pub fn new(delays: &Delays, packets: &'a SelectedPackets) -> Self {
        let listed = delays.slowest.iter().zip(0..);
        let slowest =
            listed.filter_map(|(delay, place)| Some((packets.identity(&delay.packet)?, place)));
        let found = ChangedDelays {
            slowest: vec![ChangedPacket::Absent; delays.slowest.len()],
            classes: vec![ClassTotals::default(); delays.classes.len()],
            totals: [0; 2],
            packets: 0,
            dropped: 0,
            absent: 0,
        };
        let (twins, slowest) = (Twins::default(), slowest.collect());
        Search { packets, twins, slowest, found }
    }

    /// A packet was sent.
    pub fn sent(&mut self, packet: PacketDelay) {
        let identity = self.twins.identify(&packet.packet, packet.packet.arrival);
        let Some(before) = self.packets.delays.get(&identity) else { return };
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
        let identity = self.twins.identify(packet, set_out);
        if self.packets.delays.contains_key(&identity) {
            self.found.dropped += 1;
            if let Some(place) = self.slowest.get(&identity) {
                self.found.slowest[*place] = ChangedPacket::Dropped(reason);
            }
        }
    }

    /// What was found when the run is over.
    pub fn finish(mut self) -> ChangedDelays {
        let selected = self.packets.delays.len() as u64;
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
