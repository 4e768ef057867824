//! Time-driven priority in networks, against a reference that goes from frame to frame.

mod beside;
mod clocks;
mod drawn;
mod exact;
mod losses;
mod random;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use laxity::admit::tdp::Reservation;
use laxity::scheduler::DropReason;
use laxity_plan::model::{Network, SchedulerSpec, TdpSpec};
use laxity_plan::tdp::{Framing, MarginBinding, Reservations, Stretch};

use super::*;
use crate::network::output::clock::NodeClock;

fn spec(plan: &Plan) -> TdpSpec {
    let SchedulerSpec::Tdp(spec) = plan.scheduler else { panic!("no time-driven priority") };
    spec
}

/// Runs a plan and follows every packet.
fn travel(plan: &Plan, duration: Nanos, seed: u64) -> (Summary, Vec<Trip>) {
    let mut trips =
        Trips { paths: plan.class_paths(), under_way: HashMap::new(), trips: Vec::new() };
    let on = plan.network_plan().unwrap().analysis();
    let run = NetworkRun::new(&on, Some(duration), seed);
    let summary = run.simulate(&mut trips, &mut crate::to_the_end).unwrap().summary;
    (summary, trips.trips)
}

/// A packet on its way.
#[derive(Clone, Debug, PartialEq)]
struct Trip {
    class: ClassId,
    length: u32,
    set_out: Nanos,
    hops: Vec<Transmission>,
    dropped: Option<DropReason>,
}

/// What an output did with it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Transmission {
    start: Nanos,
    departure: Nanos,
    /// When the frame ends in which it was to be sent, by the node's clock; none for best effort.
    due: Option<Nanos>,
}

/// Tells packets apart by their handles. A handle is used again once a packet has arrived or is
/// lost: of those that are lost under way, paths must not come to the first link again.
struct Trips<'a> {
    paths: Vec<&'a [Hop]>,
    under_way: HashMap<u64, usize>,
    trips: Vec<Trip>,
}

impl Observer for Trips<'_> {
    fn record(&mut self, record: &Record) {
        let hop = record.hop.unwrap();
        let packet = record.packet;
        let path = self.paths[packet.class.index()];
        let goes_on = |&number: &usize| {
            let Trip { class, hops, dropped, .. } = &self.trips[number];
            *class == packet.class && path.get(hops.len()) == Some(&hop) && dropped.is_none()
        };
        let known = self.under_way.get(&packet.handle).copied().filter(goes_on);
        let number = known.unwrap_or_else(|| {
            let Packet { class, length, arrival: set_out, .. } = packet;
            self.trips.push(Trip { class, length, set_out, hops: Vec::new(), dropped: None });
            self.under_way.insert(packet.handle, self.trips.len() - 1);
            self.trips.len() - 1
        });
        match record.fate {
            Fate::Sent { start, departure } => {
                self.trips[number].hops.push(Transmission {
                    start,
                    departure,
                    due: record.deadline,
                });
            }
            Fate::Dropped(reason) => self.trips[number].dropped = Some(reason),
            Fate::Queued => {}
        }
    }
}

/// What every packet of a plan's admitted classes must have done, frame by frame.
struct Reference<'a> {
    plan: &'a Plan,
    network: &'a Network,
    spec: TdpSpec,
    framing: Framing<'a>,
    paths: Vec<&'a [Hop]>,
}

impl<'a> Reference<'a> {
    fn new(plan: &'a Plan) -> Self {
        let (spec, network) = (spec(plan), plan.network.as_ref().unwrap());
        Reference {
            plan,
            network,
            spec,
            framing: Framing::new(plan.framed_network().unwrap()),
            paths: plan.class_paths(),
        }
    }

    /// Whether frames are reserved for a class wherever it is to have any.
    fn is_admitted(&self, class: ClassId) -> bool {
        let mut stretches = self.framing.stretches(class).peekable();
        stretches.peek().is_some() && stretches.all(|(_, answer)| answer.is_ok())
    }

    /// Whether a class's path is one stretch.
    fn is_framed_throughout(&self, class: ClassId) -> bool {
        let path = self.paths[class.index()];
        self.framing.stretches(class).any(|(stretch, _)| stretch.hops == (0..path.len()))
    }

    fn clock(&self, hop: Hop) -> NodeClock {
        let [from, _] = self.network.between(hop);
        NodeClock::new(self.network.nodes[from.index()].clock)
    }

    fn link_delay(&self, hop: Hop) -> Nanos {
        self.network.links[hop.link.index()].delay
    }

    /// In which frame each trip of a class is to be sent by the first output of a stretch: the
    /// first of its slots that begins after the packet has come and that no packet before it got.
    /// What the edge drops gets none.
    fn first_frames(
        &self,
        stretch: &Stretch,
        reservation: &Reservation,
        trips: &[Trip],
    ) -> Vec<(usize, u64)> {
        let path = self.paths[stretch.class.index()];
        let place = stretch.hops.start;
        let clock = self.clock(path[place]);
        let comes = |(number, trip): (usize, &Trip)| {
            if trip.dropped.is_some() && trip.hops.len() == place {
                return None;
            }
            let comes = match place.checked_sub(1) {
                None => trip.set_out,
                Some(before) => trip.hops.get(before)?.departure + self.link_delay(path[before]),
            };
            (trip.class == stretch.class).then_some((clock.at(comes), number))
        };
        let mut coming: Vec<_> = trips.iter().enumerate().filter_map(comes).collect();
        coming.sort();
        let slots = reservation.slots;
        let period = u64::from(slots.period);
        let of_period = |number: u64| {
            let offset = move |packet| u64::from(slots.start) + u64::from(slots.offset(packet));
            (0..slots.packets).map(move |packet| number * period + offset(packet))
        };
        // The period before time zero, so that its last slots may come after.
        let mut slots = (0u64..).flat_map(of_period).filter_map(|frame| frame.checked_sub(period));
        let frame = |(comes, number)| {
            let current = self.spec.time.frame_at(comes);
            (number, slots.find(|&slot| slot > current).unwrap())
        };
        coming.into_iter().map(frame).collect()
    }

    /// Checks the frame of every packet at every output of the stretches of admitted classes, and
    /// tells how many there were.
    fn check_frames(&self, trips: &[Trip]) -> usize {
        let mut checked = 0;
        for (stretch, answer) in
            self.framing.demand.stretches.iter().zip(&self.framing.reservations.answers)
        {
            let Ok(reservation) = answer else { continue };
            let path = self.paths[stretch.class.index()];
            let of_class = trips.iter().filter(|trip| trip.class == stretch.class);
            // Outputs that reserve no frames for the class may have no room for its packets, or
            // bunch them so that the edge of the stretch behind overflows.
            let Range { start, end } = stretch.hops;
            let kept = start + usize::from(start > 0)..end;
            let dropped: Vec<_> = of_class
                .filter(|trip| trip.dropped.is_some() && kept.contains(&trip.hops.len()))
                .collect();
            assert!(dropped.is_empty(), "{:?}", dropped[0]);
            for (number, mut frame) in self.first_frames(stretch, reservation, trips) {
                for (at, place) in stretch.hops.clone().enumerate() {
                    frame += if at > 0 { u64::from(reservation.delays[at]) } else { 0 };
                    let Some(&sent) = trips[number].hops.get(place) else { break };
                    let clock = self.clock(path[place]);
                    let what = || format!("{place} {:?} {sent:?}", trips[number]);
                    let end = self.spec.time.start(frame + 1);
                    assert_eq!(sent.due, Some(end), "frame {frame} at {}", what());
                    let begins = self.spec.time.frame_at(clock.at(sent.start));
                    assert_eq!(begins, frame, "begins at {}", what());
                    assert!(clock.at(sent.departure) <= end, "ends late at {}", what());
                    checked += 1;
                }
            }
        }
        checked
    }

    /// Checks, where clocks are perfect, that all packets of a frame leave from its beginning on,
    /// or the guard later at most, without a pause in the order in which they come.
    fn check_order(&self, trips: &[Trip]) {
        let mut frames: BTreeMap<(Hop, Nanos), Vec<(Nanos, Transmission)>> = BTreeMap::new();
        for trip in trips {
            let path = self.paths[trip.class.index()];
            let mut comes = trip.set_out;
            for (sent, &hop) in trip.hops.iter().zip(path) {
                if let Some(due) = sent.due {
                    frames.entry((hop, due)).or_default().push((comes, *sent));
                }
                comes = sent.departure + self.link_delay(hop);
            }
        }
        for ((hop, due), mut packets) in frames {
            packets.sort_by_key(|(_, sent)| sent.start);
            let begin = due - self.spec.time.frame;
            let first = packets[0].1.start;
            assert!((begin..=begin + self.spec.guard).contains(&first), "{hop:?} {packets:?}");
            for pair in packets.windows(2) {
                let [(before, one), (comes, other)] = pair else { unreachable!() };
                assert!(before <= comes, "{hop:?} {packets:?}");
                assert_eq!(one.departure, other.start, "{hop:?} {packets:?}");
            }
        }
    }

    /// Checks that no frame is reserved beyond its capacity, from nothing.
    fn check_ledger(&self) {
        let Framing { demand, reservations: Reservations { ledger, answers, .. }, .. } =
            &self.framing;
        let flows = demand.stretches.iter().zip(answers);
        let flows =
            flows.filter_map(|(stretch, answer)| Some((&stretch.flow, answer.as_ref().ok()?)));
        assert_eq!(ledger.verify(flows), Ok(()));
    }

    /// Checks what is promised of admitted classes: nothing is lost nor late, end-to-end delays
    /// keep to their bounds, and from the first transmission on they vary by less than two frames,
    /// and what clocks add to that.
    fn check_promises(&self, summary: &Summary, clocks: Nanos) {
        let is = |name: &str| self.plan.leaves().find(|(_, class)| class.name == name).unwrap().0;
        for class in summary.ends().classes.iter().filter(|class| self.is_admitted(is(&class.name)))
        {
            assert_eq!((class.dropped, class.bound_misses), (0, 0), "{class:?}");
            if let Some(transit) = class.transit_ns
                && self.is_framed_throughout(is(&class.name))
            {
                let jitter = 2 * self.spec.time.frame.0 + 4 * clocks.0;
                assert!(transit.max - transit.min < jitter, "{class:?}");
            }
        }
        for hop in &summary.hops {
            let Some(frames) = hop.frames else { continue };
            let what = (&hop.from, &hop.to, frames);
            assert_eq!((frames.late, frames.losses, frames.unknown), (0, 0, 0), "{what:?}");
        }
    }
}
