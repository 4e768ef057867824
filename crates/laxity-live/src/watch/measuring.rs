//! Packets of two taps, paired and measured by class.

use laxity::packet::{ClassId, Packet};
use laxity::police::{Entry, Policer};
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::classify::Classifier;
use laxity_plan::matching::Headers;
use laxity_plan::model::Class;

use super::busiest::Busiest;
use super::class::ClassBooks;
use super::content::{Content, Contents};
use super::order::Order;
use super::pairing::Pairing;
use crate::status::history::{History, OverTime};
use crate::status::{WayStatus, WayWatch};

/// Where a frame was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are two taps")]
pub enum TapPlace {
    /// Before what is measured.
    Before,
    /// Behind it.
    Behind,
}

/// A frame as a tap shows it.
#[derive(Clone, Copy, Debug)]
pub struct TapFrame<'a> {
    /// Where.
    pub tapped: TapPlace,
    /// When, on the clock of both taps.
    pub at: Nanos,
    /// The frame, with its VLAN tags.
    pub frame: &'a [u8],
    /// The bytes of payload of each segment that it is to be cut into, or was put together of.
    pub segments: Option<u16>,
}

/// What is not in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What has not left after so long is lost.
    pub timeout: Nanos,
    /// Whether addresses and ports are translated between the taps.
    pub translated: bool,
    /// How many packets are remembered: some 100 bytes each.
    pub packets: usize,
}

impl Default for Settings {
    /// 5 s, not translated, a million packets.
    fn default() -> Self {
        Settings { timeout: Nanos(5_000_000_000), translated: false, packets: 1 << 20 }
    }
}

/// Measures from what taps show. No clock, no I/O.
pub struct Measuring {
    plan: Plan,
    classifier: Classifier,
    /// The class of what no match takes.
    rest: Option<ClassId>,
    contents: Contents,
    order: Order<Event>,
    pairing: Pairing<Arrival>,
    policer: Policer,
    /// By class number.
    classes: Vec<ClassBooks>,
    busiest: Busiest,
    sent: OverTime,
    unclassed: u64,
    unpaired: u64,
    alike: u64,
    /// The first and the last time that is measured.
    span: (Nanos, Nanos),
}

/// What happened; arrivals before departures of one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrived { class: Option<ClassId>, key: u64, length: u32 },
    Left { key: u64, length: u32 },
}

/// A packet that waits to be seen again.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    class: Option<ClassId>,
    length: u32,
    /// Whether the bound of its class holds for it.
    promised: bool,
}

/// The class of packets that no `match` takes.
pub(super) fn class_of_the_rest(plan: &Plan) -> Option<ClassId> {
    let takes_the_rest =
        |class: &Class| class.matching.is_none() && class.relative_deadline().is_none();
    plan.leaves().find(|(_, class)| takes_the_rest(class)).map(|(id, _)| id)
}

impl Measuring {
    /// Measures what happens from `begin` on, under a plan of a link.
    pub fn new(plan: Plan, settings: Settings, begin: Nanos) -> Self {
        Measuring {
            classifier: Classifier::new(&plan),
            rest: class_of_the_rest(&plan),
            contents: Contents::new(settings.translated),
            order: Order::new(settings.packets),
            pairing: Pairing::new(settings.timeout, settings.packets),
            policer: plan.policer(Nanos::ZERO),
            classes: plan.promises().map(ClassBooks::new).collect(),
            busiest: Busiest::default(),
            sent: OverTime::new(begin),
            unclassed: 0,
            unpaired: 0,
            alike: 0,
            span: (begin, begin),
            plan,
        }
    }

    /// A tap shows a frame.
    pub fn see(&mut self, seen: TapFrame<'_>) {
        let TapFrame { tapped, at, frame, segments } = seen;
        if at < self.span.0 {
            return;
        }
        let Measuring { plan, classifier, rest, contents, order, .. } = self;
        let class = match tapped {
            TapPlace::Before => classifier.class(&Headers::from_ethernet(frame)).or(*rest),
            TapPlace::Behind => None,
        };
        contents.each_packet(frame, segments, |Content { key, length }| {
            let length = plan.link.accounted(length);
            let event = match tapped {
                TapPlace::Before => Event::Arrived { class, key, length },
                TapPlace::Behind => Event::Left { key, length },
            };
            order.add(at, event);
        });
    }

    /// Both taps have shown all that passed before this time.
    pub fn settle(&mut self, settled: Nanos) {
        while let Some((at, event)) = self.order.next(settled) {
            match event {
                Event::Arrived { class, key, length } => self.arrive(at, class, key, length),
                Event::Left { key, length } => self.leave(at, key, length),
            }
        }
        let Measuring { plan, pairing, classes, span, sent, .. } = self;
        span.1 = span.1.max(settled);
        pairing.expire(settled, |lost| {
            lost.class.into_iter().for_each(|class| classes[class.index()].lost += 1);
        });
        sent.note(span.1, plan.leaves().map(|(id, _)| classes[id.index()].bytes_sent));
    }

    fn arrive(&mut self, at: Nanos, class: Option<ClassId>, key: u64, length: u32) {
        let mut promised = true;
        match class {
            Some(class) => {
                let books = &mut self.classes[class.index()];
                books.arrived += 1;
                let mut packet = Packet { class, length, arrival: at, ..Packet::default() };
                let entry = self.policer.police(at, &mut packet);
                promised = entry != Entry::Refused && !packet.demoted;
            }
            None => self.unclassed += 1,
        }
        let forgotten = self.pairing.arrive(key, at, Arrival { class, length, promised });
        if let Some(class) = forgotten.and_then(|forgotten| forgotten.class) {
            self.classes[class.index()].forgotten += 1;
        }
    }

    fn leave(&mut self, at: Nanos, key: u64, length: u32) {
        self.busiest.add(at, length);
        let Some(paired) = self.pairing.leave(key) else {
            self.unpaired += 1;
            return;
        };
        self.alike += u64::from(paired.alike);
        let Arrival { class, length, promised } = paired.what;
        if let Some(class) = class {
            let delay = at.saturating_sub(paired.arrived);
            self.classes[class.index()].sent(length, delay, promised);
        }
    }

    /// How long is measured.
    pub fn duration(&self) -> Nanos {
        self.span.1.saturating_sub(self.span.0)
    }

    /// What was seen up to now. Delays are from one tap to the other, lengths as the plan's link
    /// carries packets, and `broken` is how many packets took longer than their bound.
    ///
    /// Packets that are not sent are `lost` if they did not leave within the timeout, and
    /// `forgotten` if it is not known of them, as too many waited to remember them all.
    pub fn status(&self) -> WayStatus {
        let nonconforming = self.policer.nonconforming();
        let of = |(id, class): (ClassId, &Class)| {
            let books = &self.classes[id.index()];
            books.status(&class.name, self.duration(), nonconforming[id.index()])
        };
        let classes: Vec<_> = self.plan.leaves().map(of).collect();
        WayStatus {
            broken: classes.iter().map(|class| class.bound_misses).sum(),
            watched: Some(WayWatch {
                busiest_bps: self.busiest.rate(),
                unclassed: self.unclassed,
                unpaired: self.unpaired,
                alike: self.alike,
            }),
            ..WayStatus::from_classes("watched", &self.plan, classes)
        }
    }

    /// The same over time, and how delays are spread.
    pub fn history(&self) -> History {
        History::new(&self.plan, &self.sent, |id| &self.classes[id.index()].delays.histogram)
    }
}
