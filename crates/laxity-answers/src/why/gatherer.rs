//! Gathers the delays of packets over a run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use laxity::explain::{self, Wait, Witness};
use laxity::packet::{ClassId, FlowId, Packet};
use laxity::scheduler::{DropReason, Scheduler};
use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::Plan;
use laxity_plan::model::{Hop, NetworkLink};
use laxity_sim::record::{Fate, Observer, Record};

use super::history::{History, Transmission};
use super::{Cause, DelaySink, HopDelay, LastQueue, PacketDelay, Part, UnfinishedPacket, due};

/// Observes a run and passes the delay of each packet to a [`DelaySink`], once the packet is at its
/// end.
///
/// The schedulers of the run are those that [`witness`](Waits::witness) returns.
pub struct Gatherer<'a, S> {
    plan: &'a Plan,
    waits: Waits,
    /// By handle: the packets under way, with their hops. They arrived when they set out.
    under_way: HashMap<u64, (Packet, Vec<HopDelay>)>,
    histories: HashMap<OutputKey, History>,
    now: Nanos,
    sink: S,
}

/// An output: that of a hop, and of one flow where each flow has such a link to itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct OutputKey {
    hop: Option<Hop>,
    flow: Option<(ClassId, FlowId)>,
}

/// The waits that witnesses have told of and the observer has not heard of.
#[derive(Clone, Default)]
pub struct Waits(Arc<Mutex<HashMap<Option<Hop>, LastWait>>>);

/// The wait of the packet that an output chose last.
struct LastWait {
    handle: u64,
    end: Nanos,
    parts: Vec<explain::Part>,
}

impl Waits {
    /// A scheduler at the output of a hop, or on the only link, with a witness.
    pub fn witness(
        &self,
        plan: &Plan,
        hop: Option<Hop>,
        scheduler: Box<dyn Scheduler + Send>,
    ) -> Box<dyn Scheduler + Send> {
        let waits = self.clone();
        let witness = Witness::new(scheduler, move |wait: Wait<'_>| waits.tell(hop, &wait));
        match varying_rate(plan, hop) {
            Some(rate) => Box::new(witness.with_rate(rate, explain::Cause::SlowLink)),
            None => Box::new(witness),
        }
    }

    fn tell(&self, hop: Option<Hop>, wait: &Wait<'_>) {
        let mut waits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (handle, end) = (wait.packet.handle, wait.end);
        waits.insert(hop, LastWait { handle, end, parts: wait.parts.to_vec() });
    }

    fn take(&self, hop: Option<Hop>, packet: &Packet, start: Nanos) -> Option<Vec<explain::Part>> {
        let mut waits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_its = |wait: &LastWait| wait.handle == packet.handle && wait.end == start;
        waits.get(&hop).is_some_and(is_its).then(|| waits.remove(&hop))?.map(|wait| wait.parts)
    }
}

impl<'a, S: DelaySink> Gatherer<'a, S> {
    /// Passes the delay of each packet of a plan to `sink`.
    pub fn new(plan: &'a Plan, sink: S) -> Self {
        Gatherer {
            plan,
            waits: Waits::default(),
            under_way: HashMap::new(),
            histories: HashMap::new(),
            now: Nanos::ZERO,
            sink,
        }
    }

    /// What witnesses tell of.
    pub fn waits(&self) -> Waits {
        self.waits.clone()
    }

    /// Passes on the packets that are still under way when the run is over.
    pub fn finish(&mut self) {
        let mut left: Vec<_> = self.under_way.drain().map(|(_, packet)| packet).collect();
        left.sort_unstable_by_key(|(packet, _)| (packet.arrival, packet.handle));
        for (packet, hops) in left {
            self.sink.unfinished(UnfinishedPacket { packet, hops, last: None });
        }
    }

    fn sent(&mut self, record: &Record, start: Nanos, departure: Nanos) {
        let here = self.at_link(record, start, departure);
        let Record { packet, hop, .. } = *record;
        if hop.is_none() {
            let promised = self.plan.classes[packet.class.index()].deadline;
            let (due, hops) = (due(&packet, promised), vec![here]);
            return self.sink.sent(PacketDelay { packet, end: departure, due, hops });
        }
        let packet = set_out(record);
        let mut hops = self.hops_before(&packet);
        if let Some(before) = hops.last_mut() {
            self.on_the_way(before, hop, here.arrival);
        }
        hops.push(here);
        self.under_way.insert(packet.handle, (packet, hops));
    }

    /// A packet was dropped, or waits when the run is over.
    fn unsent(&mut self, record: &Record, reason: Option<DropReason>) {
        let (hop, arrival) = (record.hop, record.packet.arrival);
        let packet = set_out(record);
        let mut hops = self.hops_before(&packet);
        if let Some(before) = hops.last_mut() {
            self.on_the_way(before, hop, arrival);
        }
        // A link may take a packet ahead of the time of the run.
        let dropped = reason.map(|reason| (self.now.max(arrival), reason));
        let last = Some(LastQueue { hop, arrival, dropped });
        self.sink.unfinished(UnfinishedPacket { packet, hops, last });
    }

    /// The hops that a packet took before. Another packet that had its handle was lost on a wire.
    fn hops_before(&mut self, packet: &Packet) -> Vec<HopDelay> {
        match self.under_way.remove(&packet.handle) {
            Some((known, hops)) if known.arrival == packet.arrival => hops,
            Some((packet, hops)) => {
                self.sink.unfinished(UnfinishedPacket { packet, hops, last: None });
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    /// What delayed a packet at a link.
    fn at_link(&mut self, record: &Record, start: Nanos, departure: Nanos) -> HopDelay {
        let Record { packet, hop, deadline, .. } = *record;
        let arrival = packet.arrival;
        let parts = match self.waits.take(hop, &packet, start) {
            Some(parts) => parts,
            None => {
                let has_frames = self.plan.framed_network().is_some();
                let frame = deadline.filter(|_| has_frames);
                let class = packet.class;
                let own = Transmission { class, arrival, start, departure, frame };
                let is_private = link(self.plan, hop).is_some_and(|link| link.private);
                let flow = is_private.then_some((packet.class, packet.flow));
                self.histories.entry(OutputKey { hop, flow }).or_default().wait(own, !has_frames)
            }
        };
        let wait = |part: explain::Part| Part { cause: Cause::Wait(part.cause), time: part.time };
        let mut parts: Vec<_> = parts.into_iter().map(wait).collect();
        let sends = departure - start;
        let usual = match varying_rate(self.plan, hop) {
            Some(rate) => rate.time_for(Bytes(packet.length.into())).min(sends),
            None => sends,
        };
        add(&mut parts, Cause::Transmission, usual);
        add(&mut parts, Cause::SlowTransmission, sends - usual);
        HopDelay { hop, arrival, start, departure, parts }
    }

    /// The way from a link to the next one, or to the receiver, where the packet came at this time.
    fn on_the_way(&self, from: &mut HopDelay, next: Option<Hop>, arrival: Nanos) {
        let Some(link) = link(self.plan, from.hop) else { return };
        let took = arrival - from.departure;
        let usual = took.min(link.delay);
        let regulates = self::link(self.plan, next).is_some_and(|next| next.regulate);
        let further = match (regulates, link.disturbs()) {
            (false, _) => Cause::Wire,
            (true, false) => Cause::Regulator,
            (true, true) => Cause::WireAndRegulator,
        };
        add(&mut from.parts, Cause::Propagation, usual);
        add(&mut from.parts, further, took - usual);
    }
}

/// A packet as it set out on its path.
fn set_out(record: &Record) -> Packet {
    Packet { arrival: record.set_out, ..record.packet }
}

/// The link of a hop, if it is one of a network.
fn link(plan: &Plan, hop: Option<Hop>) -> Option<&NetworkLink> {
    Some(plan.network.as_ref()?.link(hop?))
}

/// The nominal rate of the link of a hop, or of the only link, if its rate varies.
fn varying_rate(plan: &Plan, hop: Option<Hop>) -> Option<Rate> {
    let (rate, varies) = match link(plan, hop) {
        Some(link) => (link.rate, link.trace.is_some() || link.autorate.is_some()),
        None => (plan.link.rate, plan.link.trace.is_some() || plan.link.autorate.is_some()),
    };
    varies.then_some(rate)
}

fn add(parts: &mut Vec<Part>, cause: Cause, time: Nanos) {
    if time > Nanos::ZERO {
        parts.push(Part { cause, time });
    }
}

impl<S: DelaySink> Observer for Gatherer<'_, S> {
    fn advance(&mut self, now: Nanos) {
        self.now = now;
    }

    fn record(&mut self, record: &Record) {
        match record.fate {
            Fate::Sent { start, departure } => self.sent(record, start, departure),
            Fate::Dropped(reason) => self.unsent(record, Some(reason)),
            Fate::Queued => self.unsent(record, None),
        }
    }

    fn delivered(&mut self, packet: &Packet, _: u64, now: Nanos) {
        let mut hops = self.hops_before(packet);
        let Some(last) = hops.last_mut() else { return };
        self.on_the_way(last, None, now);
        let promised = self.plan.classes[packet.class.index()].end_to_end;
        let due = due(packet, promised);
        self.sink.sent(PacketDelay { packet: *packet, end: now, due, hops });
    }
}
