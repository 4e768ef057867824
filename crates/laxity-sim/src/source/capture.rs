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
    pub(super) fn new(frames: F, plan: &Plan, filter: Option<&Match>) -> Self {
        Capture {
            frames,
            overhead: plan.link.overhead,
            filter: filter.cloned(),
            classifier: Classifier::new(plan),
            classes: ClassLimit::all(plan),
            flows: Flows::default(),
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
        let flow = self.flows.number(class, &headers);
        let ack = ack.bits();
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

/// Numbers flows in order of appearance, a class at a time, and hosts.
#[derive(Default)]
struct Flows {
    numbers: HashMap<(ClassId, Conversation), FlowId>,
    /// How many each class has.
    counts: HashMap<ClassId, u32>,
    hosts: HashMap<IpAddr, HostId>,
    /// Flows that have come into sight since somebody asked.
    introduced: Vec<Introduction>,
}

impl Flows {
    /// The largest number of flows that are distinguished; all others of a class share one number.
    const MOST: usize = 65_536;

    fn number(&mut self, class: ClassId, headers: &Headers) -> FlowId {
        let conversation = Conversation::new(headers);
        if let Some(number) = self.numbers.get(&(class, conversation)) {
            return *number;
        }
        let count = self.counts.entry(class).or_default();
        let number = FlowId(*count);
        if self.numbers.len() < Self::MOST {
            *count += 1;
            self.numbers.insert((class, conversation), number);
            let hosts = headers.ip.map(|ip| [ip.source, ip.destination].map(|ip| self.host(ip)));
            let introduction = hosts.map(|[source, destination]| {
                let hosts = Hosts { source, destination };
                Introduction { class, flow: number, hosts }
            });
            self.introduced.extend(introduction);
        }
        number
    }

    /// The host of an address. They are numbered from the last on, for a plan numbers those that
    /// its sources name from 0.
    fn host(&mut self, address: IpAddr) -> HostId {
        let next = HostId(HostId::UNKNOWN.0 - 1 - self.hosts.len() as u32);
        *self.hosts.entry(address).or_insert(next)
    }
}
