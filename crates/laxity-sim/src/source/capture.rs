//! Captures as arrivals: which frame belongs to which class and flow, and when it arrived.

use std::collections::HashMap;
use std::net::IpAddr;

use laxity::packet::{AckTag, ClassId, FlowId, HostId, Hosts};
use laxity::units::Nanos;
use laxity_plan::acks::AckTable;
use laxity_plan::classify::{Classifier, Conversation};
use laxity_plan::encapsulation::{self, Inside, Opaque};
use laxity_plan::matching::{Headers, Match};
use laxity_plan::model::{Overhead, Plan};

use super::arrival::{Introduction, Remarks};
use super::frames::{Frame, Frames};
use super::links;
use super::order::{ClassLimit, MOST_HELD, Record, Records, Sighting, WINDOW};
use crate::error::{CaptureProblem, SimError, Stamp};

/// Turns a capture's frames into arrivals.
///
/// - Times count from the capture's earliest frame, whether that takes part or not.
/// - A frame belongs to the first class of the plan whose `match` it has; frames that belong to
///   none are counted and left out.
/// - Lengths are the original ones, however little of a frame was kept, and what the link adds to
///   them. On Ethernet they are those of the frame, elsewhere those of the IP packet.
/// - Flows are numbered within each class in the order in which the file has them, a flow being
///   what has the same addresses, protocol and ports.
/// - Hosts are numbered by their addresses, alike in all captures.
pub(super) struct Capture<F> {
    frames: F,
    overhead: Overhead,
    filter: Option<Match>,
    classifier: Classifier,
    classes: Vec<ClassLimit>,
    flows: Flows,
    /// If the plan drops acknowledgements.
    acks: Option<Box<AckTable>>,
    first: Option<i128>,
    remarks: Remarks,
}

impl<F: Frames> Capture<F> {
    /// Its flows are numbered from `first` on: by class, 0 where nothing is said.
    pub(super) fn new(frames: F, plan: &Plan, filter: Option<&Match>, first: FirstFlows) -> Self {
        Capture {
            frames,
            overhead: plan.link.overhead,
            filter: filter.cloned(),
            classifier: Classifier::new(plan),
            classes: ClassLimit::all(plan),
            flows: Flows { next: first, ..Flows::default() },
            acks: plan.filters_acks().then(|| Box::new(AckTable::new(0))),
            first: None,
            remarks: Remarks::default(),
        }
    }
}

impl<F: Frames> Records for Capture<F> {
    const WINDOW: Nanos = WINDOW;

    fn next_record(&mut self) -> Result<Option<Record>, SimError> {
        let frame = match self.frames.next_frame() {
            Ok(Some(frame)) => frame,
            Ok(None) => return Ok(None),
            Err(SimError::Capture { problem: CaptureProblem::Truncated, frame: 2.., .. }) => {
                self.remarks.cut = 1;
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let first = *self.first.get_or_insert(frame.time);
        let acks = self.acks.as_deref_mut();
        let seen = contents(&frame, &self.overhead, acks)
            .and_then(|seen| Ok((time_after(first, frame.time)?, seen)));
        let (time, Contents { headers, length, ds, ack, opaque }) =
            seen.map_err(|problem| self.frames.refuse(problem))?;
        if let Some(opaque) = opaque {
            self.remarks.opaque[opaque as usize] += 1;
        }
        if self.filter.as_ref().is_some_and(|filter| !filter.matches(&headers)) {
            return Ok(Some(Record { time, packet: None }));
        }
        let Some(class) = self.classifier.class(&headers) else {
            self.remarks.unmatched += 1;
            return Ok(Some(Record { time, packet: None }));
        };
        let ClassLimit { name, longest, .. } = &self.classes[class.index()];
        if u64::from(length) > *longest {
            let (class, limit) = (name.clone(), *longest);
            return Err(self.frames.refuse(CaptureProblem::TooLong { length, limit, class }));
        }
        let (flow, is_shared) = self.flows.number(class, &headers);
        // Acknowledgements of connections that nothing tells apart say nothing of one another.
        let ack = if is_shared { AckTag::NONE } else { ack }.bits();
        Ok(Some(Record { time, packet: Some(Sighting { class, flow, length, ds, ack }) }))
    }

    fn refuse_step(&self, time: i64, newest: i64) -> SimError {
        let first = self.first.unwrap_or(0);
        let stamp = |time: i64| Stamp(first + i128::from(time));
        let (stamp, newest) = (stamp(time), stamp(newest));
        self.frames.refuse(CaptureProblem::StepBack {
            stamp,
            newest,
            window: WINDOW,
            held: MOST_HELD,
        })
    }

    fn origin(&self, earliest: i64) -> i64 {
        earliest
    }

    fn introduce(&mut self, introduce: &mut dyn FnMut(Introduction)) {
        self.flows.introduced.drain(..).for_each(introduce);
    }

    fn remarks(&self) -> Remarks {
        self.remarks
    }
}

/// The time since the first frame, negative for one that is stamped before it.
fn time_after(first: i128, stamp: i128) -> Result<i64, CaptureProblem> {
    match i64::try_from(stamp - first) {
        Ok(time) if time.unsigned_abs() <= Nanos::LIMIT.0 => Ok(time),
        _ => Err(CaptureProblem::Time { limit: Nanos::LIMIT.0 / 1_000_000_000 }),
    }
}

/// The contents of a frame.
struct Contents {
    headers: Headers,
    /// In bytes of the link.
    length: u32,
    /// The DS field, of IP packets.
    ds: u8,
    /// What it makes of earlier acknowledgements.
    ack: AckTag,
    /// What it is if it is not looked into.
    opaque: Option<Opaque>,
}

fn contents(
    frame: &Frame<'_>,
    overhead: &Overhead,
    acks: Option<&mut AckTable>,
) -> Result<Contents, CaptureProblem> {
    let Frame { link_type, length, data, .. } = *frame;
    if length == 0 {
        return Err(CaptureProblem::Empty);
    }
    let layers = links::look(link_type, data).ok_or(CaptureProblem::LinkType { link_type })?;
    let headers = Headers::within(data, &layers.encapsulation);
    let opaque = match layers.encapsulation.inside {
        Inside::Opaque(opaque) => Some(opaque),
        Inside::Ip => Opaque::from_headers(&headers),
        Inside::Other => None,
    };
    let packet = layers.encapsulation.packet(data);
    let ds = packet.and_then(encapsulation::ds).unwrap_or_default();
    let ack = acks.zip(packet).map(|(acks, packet)| acks.tag(&headers, packet));
    let ack = ack.unwrap_or_default();
    Ok(Contents { headers, length: layers.length(length, overhead), ds, ack, opaque })
}

/// As many numbers of flows a capture takes of a class at most.
pub(super) const MOST_FLOWS: u32 = 65_537;

/// By class, the number of the first flow of a capture.
pub(super) type FirstFlows = HashMap<ClassId, u32>;

/// Numbers flows in order of appearance, a class at a time.
#[derive(Default)]
struct Flows {
    numbers: HashMap<(ClassId, Conversation), FlowId>,
    /// The next number of each class.
    next: FirstFlows,
    /// Flows that have come into sight since somebody asked.
    introduced: Vec<Introduction>,
}

impl Flows {
    /// The largest number of flows that are distinguished; all others of a class share one number.
    const MOST: usize = MOST_FLOWS as usize - 1;

    /// The number of a flow, and whether others may have it.
    fn number(&mut self, class: ClassId, headers: &Headers) -> (FlowId, bool) {
        let conversation = Conversation::new(headers);
        if let Some(number) = self.numbers.get(&(class, conversation)) {
            return (*number, false);
        }
        let next = self.next.entry(class).or_default();
        let number = FlowId(*next);
        let is_shared = self.numbers.len() >= Self::MOST;
        if !is_shared {
            *next = next.saturating_add(1);
            self.numbers.insert((class, conversation), number);
            let introduction = headers.ip.map(|ip| {
                let [source, destination] = [ip.source, ip.destination].map(host);
                Introduction { class, flow: number, hosts: Hosts { source, destination } }
            });
            self.introduced.extend(introduction);
        }
        (number, is_shared)
    }
}

/// The number of the host of an address: captures that are read apart have to agree.
fn host(address: IpAddr) -> HostId {
    let bits = match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    };
    // Nothing is chosen to collide in a recording: multiplication by odd numbers spreads enough.
    let halves = [(bits >> 64) as u64, bits as u64];
    let mixed = halves.into_iter().fold(0, |hash: u64, half| {
        let product = u128::from(hash ^ half) * 0x9e37_79b9_7f4a_7c15;
        (product >> 64) as u64 ^ (product as u64).rotate_left(32)
    });
    // A plan numbers the hosts that its sources name from 0 on.
    HostId((mixed as u32 | 1 << 31).min(HostId::UNKNOWN.0 - 1))
}
