//! Frames in, sends and the next wake-up out.

use laxity::packet::{AckTag, Ecn, Packet};
use laxity::port::{Account, Books};
use laxity::scheduler::{Backlog, DropReason, Reach, Scheduler as _};
use laxity::units::{Nanos, Rate};
use laxity_engine::RateShare;
use laxity_plan::Plan;
use laxity_plan::matching::Headers;

use crate::cache::{Classification, Lookup};
use crate::error::Refusal;
use crate::event::{ArrivedPacket, DroppedPacket, Event, LossCause, LostPacket, SentPacket, Sink};
use crate::gate::{self, Memory};
use crate::outlet::Outlet;
use crate::prepared::PreparedPlan;
use crate::queued::{PacketList, QueuedPacket};
use crate::under_way::UnderWay;

/// What is not in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The seed of what queue managements draw.
    pub seed: u64,
    /// A number that nobody else knows, from which follows what flows share places in the cache.
    pub secret: u64,
    /// How many flows are remembered.
    pub flows: usize,
    /// How much may be queued in all, whatever the plan limits: what memory is taken for. Classes
    /// that do not say what they send leave an eighth of it to the others ([`Plan::has_memory`]).
    pub backlog: Backlog,
    /// The most that is made up for when a wake-up is late: what is sent at once then comes
    /// together in the queue behind, such as a modem's.
    pub catch_up: Nanos,
    /// Whether frames are those of the host itself, so that a `match` may test what it knows of
    /// them.
    pub is_host: bool,
}

impl Default for Settings {
    /// 32 768 flows, 16 384 frames and 32 MB queued, 1 ms. The seed and the secret are 1: choose
    /// others.
    fn default() -> Self {
        Settings {
            seed: 1,
            secret: 1,
            flows: 32_768,
            backlog: Backlog { packets: 16_384, bytes: 32_000_000 },
            catch_up: Nanos(1_000_000),
            is_host: false,
        }
    }
}

/// A frame that arrives.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame {
    /// Its headers.
    pub headers: Headers,
    /// What congestion may do with it. One that leaves as [`Ecn::Experienced`] is to
    /// [say so](crate::ds::experience).
    pub ecn: Ecn,
    /// What it makes of earlier acknowledgements of its flow, if the plan
    /// [asks for that](Forwarder::filters_acks); those of a flow in the order of their arrival.
    pub ack: AckTag,
    /// Its length in bytes as the interface counts it: an Ethernet frame without checksum.
    pub length: u32,
    /// When it arrived at the interface; `None` if that is when it is taken in.
    pub arrived: Option<Nanos>,
    /// The caller's name for its buffer.
    pub handle: u64,
}

/// As many frames are sorted before the first of them is queued: what they need has room in the
/// fastest cache.
const TOGETHER: usize = 32;

/// The scheduler of one link in a live forwarder. Nothing in it allocates for a packet, reads a
/// clock or waits.
///
/// Times are of the caller's clock in nanoseconds since whenever it likes, and never decrease: one
/// that does counts as the last one that did not, and one beyond [`Nanos::LIMIT`] as that.
pub struct Forwarder {
    pub(crate) followed: PreparedPlan,
    pub(crate) settings: Settings,
    pub(crate) outlet: Outlet,
    pub(crate) held: PacketList,
    pub(crate) under_way: UnderWay,
    pub(crate) now: Nanos,
    /// How many packets have arrived.
    pub(crate) arrived: u64,
}

impl Forwarder {
    /// A forwarder by a plan, with nothing queued.
    ///
    /// # Errors
    /// If the plan is not of a link, or does not say where all frames go.
    pub fn new(plan: Plan, settings: Settings) -> Result<Self, Refusal> {
        let (link, is_emulated) = (plan.link.transmitter(), plan.link.wire.is_some());
        let followed = PreparedPlan::new(plan, &settings)?;
        Ok(Forwarder {
            under_way: UnderWay::new(followed.wire.as_ref()),
            followed,
            outlet: Outlet::new(link, settings.catch_up, is_emulated),
            held: PacketList::new(settings.backlog.packets),
            now: Nanos::ZERO,
            arrived: 0,
            settings,
        })
    }

    /// The same beside others on threads of their own: its plan is of a link that several
    /// [threads](laxity_plan::model::LinkSpec::threads) serve, of whose whole rate this is a share.
    /// All of them have the same clock.
    pub fn sharing(mut self, share: RateShare) -> Self {
        self.outlet.share(share, patience(&self.followed.plan));
        self
    }

    /// A frame that has arrived is taken in: it is queued, or dropped at once. It counts from its
    /// [arrival](Frame::arrived) on, which is over by `now`.
    pub fn arrive(&mut self, now: Nanos, frame: Frame, sink: Sink<'_>) {
        let found = self.followed.sort(&frame.headers, sink);
        self.take_in(now, frame, found, sink);
    }

    /// Frames have arrived, as one call of [`arrive`](Self::arrive) each takes them. Together they
    /// are faster where there are many classes: the memory that one needs is loaded while others
    /// are taken in.
    pub fn arrive_together(&mut self, now: Nanos, frames: &[Frame], sink: Sink<'_>) {
        for frames in frames.chunks(TOGETHER) {
            let mut lookups = [Lookup::default(); TOGETHER];
            for (lookup, frame) in lookups.iter_mut().zip(frames) {
                *lookup = self.followed.sorter.lookup(&frame.headers);
            }
            for lookup in &lookups[..frames.len()] {
                self.followed.sorter.prefetch(lookup);
            }
            let mut found = [Classification::default(); TOGETHER];
            for ((found, lookup), frame) in found.iter_mut().zip(lookups).zip(frames) {
                *found = self.followed.find(lookup, &frame.headers, sink);
            }
            for reach in Reach::ALL {
                for found in &found[..frames.len()] {
                    self.followed.prefetch(*found, reach);
                }
            }
            for (frame, found) in frames.iter().zip(found) {
                self.take_in(now, *frame, found, sink);
            }
        }
    }

    fn take_in(&mut self, now: Nanos, frame: Frame, found: Classification, sink: Sink<'_>) {
        let Frame { headers, ecn, ack, length, arrived, handle } = frame;
        let arrived = arrived.unwrap_or(now).min(now).min(Nanos::LIMIT);
        let now = gate::advance(&mut self.now, arrived);
        let length = self.followed.plan.link.accounted(length);
        let number = self.arrived;
        self.arrived += 1;
        let (class, flow) = (found.class, found.flow);
        let time = now;
        sink(&Event::Arrived(ArrivedPacket {
            number,
            arrived,
            time,
            class,
            flow,
            length,
            ecn,
            ack,
            headers,
        }));
        let demoted = false;
        let arrival = now;
        let mut packet = Packet { class, flow, length, demoted, ecn, ack, arrival, handle };
        let PreparedPlan { plan, policer, classes, port, .. } = &mut self.followed;
        let bytes = port.scheduler().backlog().bytes;
        let memory = Memory {
            queued: Backlog { packets: self.held.len(), bytes },
            most: self.settings.backlog,
            has_contract: classes[class.index()].has_contract,
        };
        let nonconforming = || sink(&Event::Nonconforming { number, class });
        let longest = plan.link.max_packet;
        let accepted = gate::accept(longest, Some(policer), &mut packet, memory, nonconforming);
        if let Err(reason) = accepted {
            let mut tell = |packet, reason| {
                sink(&Event::Dropped(DroppedPacket { number, packet, time: now, reason }));
            };
            return self.followed.port.refuse(packet, reason, &mut tell);
        }
        if self.held.len() == 0 {
            self.outlet.arrives_alone(arrived);
        }
        self.outlet.learns(arrived, now);
        let handle = self.held.insert(QueuedPacket { number, arrived, packet, headers });
        let mut drops = drops(&mut self.held, now, sink);
        self.followed.port.enqueue(now, Packet { handle, ..packet }, &mut drops);
        self.outlet.arrived(now, || self.followed.port.next_ready(now));
    }

    /// Sends what may be sent by now, and says when to ask again if nothing arrives before: `None`
    /// if nothing is queued or under way, and others have its share of the rate. What is sent at
    /// once is at most what the link takes in the catch-up, and a packet.
    pub fn poll(&mut self, now: Nanos, sink: Sink<'_>) -> Option<Nanos> {
        let now = gate::advance(&mut self.now, now);
        loop {
            while let Some(delivered) = self.under_way.land(now) {
                sink(&Event::Delivered(delivered));
            }
            match self.outlet.due() {
                Some(due) if due <= now => match self.outlet.begin(due, now) {
                    Ok(begin) => self.choose(begin, now, sink),
                    Err(again) => return Some(again),
                },
                due => {
                    let rests = self.outlet.rest(due, now);
                    return due.into_iter().chain(rests).chain(self.under_way.next_due()).min();
                }
            }
        }
    }

    /// Lets the scheduler choose what is sent, which could have been sent at `due`.
    fn choose(&mut self, due: Nanos, now: Nanos, sink: Sink<'_>) {
        let lateness = now - due;
        let dispatch = self.followed.port.dequeue(now, &mut drops(&mut self.held, now, sink));
        let Some(dispatch) = dispatch else {
            sink(&Event::Idle { time: now, lateness });
            return self.outlet.idles(now, self.followed.port.next_ready(now));
        };
        let Packet { arrival, length, .. } = dispatch.packet;
        let start = self.outlet.start(arrival, due, now, length);
        self.followed.port.sent(&dispatch.packet, start.departure);
        let QueuedPacket { number, arrived, packet: Packet { handle, .. }, .. } =
            self.held.remove(dispatch.packet.handle);
        let packet = Packet { handle, ..dispatch.packet };
        let terms = &self.followed.classes[packet.class.index()];
        let promised = terms.deadline.map(|delay| packet.arrival.saturating_add(delay));
        sink(&Event::Sent(SentPacket {
            number,
            arrived,
            packet,
            deadline: promised.or(dispatch.deadline),
            start: now,
            lateness,
            departure: start.departure,
            allowance: terms.growth.delay_for(start.late),
            held: Nanos::ZERO,
            is_under_way: self.followed.wire.is_some(),
            is_washed: terms.is_washed,
        }));
        if let Some(cause) = self.launch(number, &packet, start.departure) {
            sink(&Event::Lost(LostPacket { number, packet, time: now, cause }));
        }
        let oldest = self.held.oldest().map(|queued| queued.packet.arrival);
        self.outlet.goes_on(now, self.followed.port.next_ready(now), oldest);
    }

    /// Puts a packet on the wire, if there is one. Returns why it is lost there.
    fn launch(&mut self, number: u64, packet: &Packet, departure: Nanos) -> Option<LossCause> {
        match self.followed.wire.as_mut()?.next(departure) {
            None => Some(LossCause::Chance),
            Some(arrivals) if self.under_way.launch(number, packet, arrivals) => None,
            Some(_) => Some(LossCause::NoRoom),
        }
    }

    /// Sends at another rate from the next packet on, within what the plan says of it. A plan whose
    /// rate is known is sent at that.
    pub fn set_rate(&mut self, now: Nanos, rate: Rate, sink: Sink<'_>) {
        let now = gate::advance(&mut self.now, now);
        let Some(autorate) = &self.followed.plan.link.autorate else { return };
        let rate = rate.clamp(autorate.settings.from, autorate.settings.to);
        if rate != self.outlet.rate() {
            self.outlet.set_rate(rate);
            sink(&Event::Rate { time: now, rate });
        }
    }

    /// What is not in the plan.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The plan that is followed.
    pub fn plan(&self) -> &Plan {
        &self.followed.plan
    }

    /// Whether frames are to say which acknowledgements they make superfluous.
    pub fn filters_acks(&self) -> bool {
        self.followed.filters_acks
    }

    /// The books of all classes since the plan is followed, by number.
    pub fn accounts(&self) -> &[Account] {
        self.followed.port.accounts()
    }

    /// How many packets broke their class's contract since the plan is followed, by class number.
    pub fn nonconforming(&self) -> &[u64] {
        self.followed.policer.nonconforming()
    }

    /// The books of all classes since the plan is followed. What was not sent is `queued`.
    pub fn into_books(self) -> Books {
        self.followed.into_books()
    }

    /// Bytes that the scheduler holds.
    pub fn footprint(&self) -> usize {
        self.followed.port.scheduler().footprint()
    }

    /// What is queued.
    pub fn backlog(&self) -> Backlog {
        self.followed.port.scheduler().backlog()
    }
}

/// How long bounds of a plan count on a thread without its share of the rate.
pub(crate) fn patience(plan: &Plan) -> Nanos {
    plan.link.threads.map_or(Nanos::ZERO, |threads| threads.patience(plan.link.max_packet))
}

/// Lets go of what a scheduler drops, and tells.
pub(crate) fn drops<'a>(
    held: &'a mut PacketList,
    time: Nanos,
    sink: Sink<'a>,
) -> impl FnMut(Packet, DropReason) + 'a {
    move |dropped: Packet, reason| {
        let QueuedPacket { number, packet: Packet { handle, .. }, .. } =
            held.remove(dropped.handle);
        let packet = Packet { handle, ..dropped };
        sink(&Event::Dropped(DroppedPacket { number, packet, time, reason }));
    }
}
