//! Captures as arrivals: which frame belongs to which class and flow, and when it arrived.

use std::collections::HashMap;
use std::net::IpAddr;

use laxity::packet::{ClassId, FlowId};
use laxity::units::Nanos;
use laxity_plan::matching::{Headers, Match};
use laxity_plan::model::Plan;

use super::frames::{Frame, Frames};
use super::{Arrival, Arrivals, Remarks};
use crate::error::{CaptureProblem, SimError};

/// Turns a capture's frames into arrivals.
///
/// - Times count from the capture's first frame, whether that takes part or not. A frame stamped
///   before its predecessor arrives together with it, and is counted.
/// - A frame belongs to the first class of the plan whose `match` it has; frames that belong to
///   none are counted and left out.
/// - Lengths are the original ones, however little of a frame was kept. On Ethernet they are those
///   of the frame, elsewhere those of the IP packet.
/// - Flows are numbered within each class in order of appearance, a flow being what has the same
///   addresses, protocol and ports.
pub(super) struct Capture<F> {
    frames: F,
    filter: Option<Match>,
    classes: Vec<Class>,
    flows: Flows,
    first: Option<i128>,
    previous: Nanos,
    remarks: Remarks,
}

struct Class {
    name: String,
    matching: Option<Match>,
    longest: u64,
}

impl<F: Frames> Capture<F> {
    pub(super) fn new(frames: F, plan: &Plan, filter: Option<&Match>) -> Self {
        let classes = plan.classes.iter().map(|class| Class {
            name: class.name.clone(),
            matching: class.matching.clone(),
            longest: plan.max_packet(class).min(plan.link.max_packet).0,
        });
        Capture {
            frames,
            filter: filter.cloned(),
            classes: classes.collect(),
            flows: Flows::default(),
            first: None,
            previous: Nanos::ZERO,
            remarks: Remarks::default(),
        }
    }
}

impl<F: Frames> Arrivals for Capture<F> {
    fn is_recording(&self) -> bool {
        true
    }

    fn next_arrival(&mut self) -> Result<Option<Arrival>, SimError> {
        loop {
            let Some(frame) = self.frames.next_frame()? else { return Ok(None) };
            let (stamp, seen) = (frame.time, see(&frame));
            let (headers, length) = match seen {
                Ok(seen) => seen,
                Err(problem) => return Err(self.frames.refuse(problem)),
            };
            let time = match time_after(*self.first.get_or_insert(stamp), stamp) {
                Ok(time) => time,
                Err(problem) => return Err(self.frames.refuse(problem)),
            };
            self.remarks.reordered += u64::from(time.is_none_or(|time| time < self.previous));
            let time = time.unwrap_or(self.previous).max(self.previous);
            self.previous = time;
            if self.filter.as_ref().is_some_and(|filter| !filter.matches(&headers)) {
                continue;
            }
            let matches = |class: &Class| {
                class.matching.as_ref().is_some_and(|matching| matching.matches(&headers))
            };
            let Some(number) = self.classes.iter().position(matches) else {
                self.remarks.unmatched += 1;
                continue;
            };
            let class = &self.classes[number];
            if u64::from(length) > class.longest {
                let (class, limit) = (class.name.clone(), class.longest);
                return Err(self.frames.refuse(CaptureProblem::TooLong { length, limit, class }));
            }
            let class = ClassId(number as u32);
            let flow = self.flows.number(class, Conversation::of(&headers));
            return Ok(Some(Arrival { time, class, flow, length }));
        }
    }

    fn remarks(&self) -> Remarks {
        self.remarks
    }
}

/// The time since the first frame; `None` when that is negative.
fn time_after(first: i128, stamp: i128) -> Result<Option<Nanos>, CaptureProblem> {
    let Ok(time) = u128::try_from(stamp - first) else { return Ok(None) };
    match u64::try_from(time) {
        Ok(time) if time <= Nanos::LIMIT.0 => Ok(Some(Nanos(time))),
        _ => Err(CaptureProblem::Time { limit: Nanos::LIMIT.0 / 1_000_000_000 }),
    }
}

/// A frame's headers and its length on the link.
fn see(frame: &Frame<'_>) -> Result<(Headers, u32), CaptureProblem> {
    const ETHERNET: u32 = 1;
    /// Raw IP: the two old numbers that systems wrote, the right one, and those of one version.
    const RAW_IP: [u32; 5] = [12, 14, 101, 228, 229];
    /// Linux cooked, versions 1 and 2, and the length of the header in place of Ethernet's.
    const COOKED: [(u32, u32); 2] = [(113, 16), (276, 20)];

    let link_type = frame.link_type;
    let (headers, before) = if link_type == ETHERNET {
        (Headers::from_ethernet(frame.data), 0)
    } else if RAW_IP.contains(&link_type) {
        (Headers::from_ip(frame.data), 0)
    } else if let Some((_, header)) = COOKED.iter().find(|(cooked, _)| *cooked == link_type) {
        (Headers::from_ip(frame.data.get(*header as usize..).unwrap_or(&[])), *header)
    } else {
        return Err(CaptureProblem::LinkType { link_type });
    };
    match frame.length.checked_sub(before) {
        None | Some(0) => Err(CaptureProblem::TooShort { length: frame.length }),
        Some(length) => Ok((headers, length)),
    }
}

/// What tells flows apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Conversation {
    ends: Option<(IpAddr, IpAddr, u8)>,
    ports: Option<(u16, u16)>,
}

impl Conversation {
    fn of(headers: &Headers) -> Self {
        Conversation {
            ends: headers.ip.map(|ip| (ip.source, ip.destination, ip.protocol)),
            ports: headers.ports.map(|ports| (ports.source, ports.destination)),
        }
    }
}

/// Numbers flows in order of appearance, a class at a time.
#[derive(Default)]
struct Flows {
    numbers: HashMap<(ClassId, Conversation), FlowId>,
    /// How many each class has.
    counts: HashMap<ClassId, u32>,
}

impl Flows {
    /// So many flows are told apart; all others of a class share one number.
    const MOST: usize = 65_536;

    fn number(&mut self, class: ClassId, conversation: Conversation) -> FlowId {
        if let Some(number) = self.numbers.get(&(class, conversation)) {
            return *number;
        }
        let count = self.counts.entry(class).or_default();
        let number = FlowId(*count);
        if self.numbers.len() < Self::MOST {
            *count += 1;
            self.numbers.insert((class, conversation), number);
        }
        number
    }
}
