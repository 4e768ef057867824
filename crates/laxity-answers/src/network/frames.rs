//! What is proved of a network under time-driven priority: which frames are whose, and what
//! follows.

use laxity::admit::tdp::{OutputId, ReservationError};
use laxity::packet::ClassId;
use laxity::units::{Bytes, NANOBITS_PER_BYTE, Nanos};
use laxity_plan::model::Hop;
use laxity_plan::tdp::FramedBound;
use laxity_plan::tdp::{FramedNetwork, Framing, MarginBinding, Stretch};
use serde::Serialize;

use super::nodes;
use crate::reason::{ClockBinding, Clocks, Finding, Reason, SurplusClasses, Unbounded, admitted};

/// What is proved of every class and output.
#[derive(Clone, Debug, Serialize)]
pub struct FramesProof {
    /// The discipline: tdp.
    pub scheduler: &'static str,
    /// Why the plan is admitted or refused.
    #[serde(skip)]
    pub reasons: Vec<Reason>,
    /// The length of a frame, T_f, in ns.
    pub frame_ns: u64,
    /// The frames after which reservations repeat.
    pub period_frames: u32,
    /// The classes that are promised frames.
    pub classes: Vec<ReservedClass>,
    /// The outputs that have frames.
    pub outputs: Vec<ReservedOutput>,
    /// How good clocks must be.
    pub clocks: Clocks,
    /// The longest packet of any class, in bytes.
    #[serde(skip)]
    pub max_packet: u64,
    /// The classes without which the others fit; absent where all do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leave_out: Option<SurplusClasses>,
}

/// A class that is promised frames.
#[derive(Clone, Debug, Serialize)]
pub struct ReservedClass {
    /// Its name.
    pub class: String,
    /// The nodes from the sender to the receiver.
    pub nodes: Vec<String>,
    /// How many packets it may send in a period, and how long.
    pub packets: u32,
    /// The longest.
    pub packet_bytes: u64,
    /// Its stretches with frames, in the order of its path.
    pub stretches: Vec<ReservedStretch>,
    /// The delay that is promised from end to end.
    pub deadline_ns: Option<u64>,
    /// The delay that is proved from end to end.
    pub bound_ns: Option<u64>,
    /// How much earlier than promised that is.
    pub slack_ns: Option<u64>,
    /// Of the bound: what packets wait at edges.
    pub shaping_ns: Option<u64>,
    /// Of the bound: forwarding delays and last frames.
    pub transit_ns: Option<u64>,
    /// By less than this the time varies from a packet's first transmission in a stretch to its
    /// last bit out of it.
    pub jitter_ns: u64,
    /// Why there is no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unbounded: Option<Unbounded>,
}

/// Outputs in a row that have frames, on the path of a class.
#[derive(Clone, Debug, Serialize)]
pub struct ReservedStretch {
    /// The frame of the period in which the first output sends the first packet; absent where there
    /// was no room.
    pub start: Option<u32>,
    /// The forwarding delays of the outputs behind it, in frames.
    pub delays: Vec<u32>,
    /// Full frames. Any choice needs one of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub full: Vec<FullFrame>,
}

/// A frame of an output in which nothing more can be reserved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FullFrame {
    /// The output, `from → to`.
    pub at: String,
    /// The number of the frame in its period.
    pub frame: u32,
}

/// An output that has frames.
#[derive(Clone, Debug, Serialize)]
pub struct ReservedOutput {
    /// The link.
    pub link: String,
    /// The node that sends.
    pub from: String,
    /// The node that receives.
    pub to: String,
    /// What can be reserved in a frame.
    pub capacity_bytes: u64,
    /// What is, frame by frame.
    pub reserved_bytes: Vec<u64>,
    /// The share of all frames' capacity that is.
    pub reserved: f64,
    /// The share of the fullest frame's.
    pub fullest: f64,
    /// The longest best-effort packet that finds room in every period under any reserved traffic;
    /// absent if every packet does.
    pub best_effort_bytes: Option<u64>,
}

impl FramesProof {
    /// What is proved of a network whose frames are assigned.
    pub fn new(framing: &Framing<'_>) -> FramesProof {
        let FramedNetwork { plan, spec, .. } = framing.framed;
        let view = View { framed: framing.framed, framing };
        let clocks = view.clocks();
        let classes = view.classes();
        let leave_out = view.leave_out();
        let error = (clocks.error_ns > clocks.borne_ns)
            .then(|| Reason::whole(Finding::ClockError(clocks.clone())));
        let mut reasons: Vec<_> =
            error.into_iter().chain(classes.iter().filter_map(ReservedClass::broken)).collect();
        if reasons.is_empty() {
            reasons.push(Reason::whole(Finding::FramesHold));
        } else {
            let leave_out = leave_out.clone().map(Finding::LeaveOut);
            reasons.extend(leave_out.map(Reason::whole));
        }
        FramesProof {
            scheduler: "tdp",
            reasons,
            frame_ns: spec.time.frame.0,
            period_frames: spec.period(),
            classes,
            outputs: view.outputs(),
            clocks,
            max_packet: plan.link.max_packet.0,
            leave_out,
        }
    }

    /// Whether every class that is promised frames has them, within its deadline, and clocks are
    /// good enough.
    pub fn admitted(&self) -> Option<bool> {
        admitted(&self.reasons)
    }
}

impl ReservedClass {
    /// What breaks its promise, if anything does. A class without a deadline is promised its
    /// frames.
    fn broken(&self) -> Option<Reason> {
        let is_blocked = self.stretches.iter().any(|stretch| stretch.start.is_none());
        let finding = match (self.deadline_ns, self.bound_ns, &self.unbounded) {
            (deadline_ns, _, Some(why)) if deadline_ns.is_some() || is_blocked => {
                Finding::Unbounded { deadline_ns, why: why.clone() }
            }
            (Some(deadline_ns), Some(bound_ns), _) if bound_ns > deadline_ns => {
                Finding::Late { deadline_ns, bound_ns }
            }
            _ => return None,
        };
        Some(Reason::class(&self.class, finding))
    }
}

/// A network whose frames are assigned.
struct View<'a> {
    framed: FramedNetwork<'a>,
    framing: &'a Framing<'a>,
}

impl View<'_> {
    fn ends(&self, hop: Hop) -> String {
        self.framed.network.output(hop)
    }

    fn classes(&self) -> Vec<ReservedClass> {
        let bounds = self.framing.bounds();
        let paths = self.framed.plan.class_paths();
        let framed = self.framed.plan.leaves().filter(|(_, class)| class.wants_frames());
        framed
            .filter_map(|(id, class)| {
                let bound = bounds.get(&id)?;
                let deadline = class.end_to_end.or(class.deadline);
                let delay = bound.as_ref().ok().map(FramedBound::delay);
                let early = |bound: Nanos| deadline?.0.checked_sub(bound.0);
                let packets = self.framed.packets(class).unwrap_or_default();
                Some(ReservedClass {
                    class: class.name.clone(),
                    nodes: nodes(self.framed.network, paths[id.index()]),
                    packets: u32::try_from(packets).unwrap_or(u32::MAX),
                    packet_bytes: self.framed.plan.max_packet(class).0,
                    stretches: self.stretches(id),
                    deadline_ns: deadline.map(|deadline| deadline.0),
                    bound_ns: delay.map(|delay| delay.0),
                    slack_ns: delay.and_then(early),
                    shaping_ns: bound.as_ref().ok().map(|bound| bound.shaping.0),
                    transit_ns: bound.as_ref().ok().map(|bound| bound.transit.0),
                    jitter_ns: 2 * self.framed.spec.time.frame.0,
                    unbounded: bound.as_ref().err().cloned().map(Unbounded::Frames),
                })
            })
            .collect()
    }

    fn stretches(&self, class: ClassId) -> Vec<ReservedStretch> {
        let full = |blocked: &ReservationError| {
            let named = |full: &laxity::admit::tdp::Full| {
                let output = self.framing.demand.outputs[full.output.index()];
                FullFrame { at: self.ends(output), frame: full.frame }
            };
            blocked.full.iter().map(named).collect()
        };
        let stretches = self.framing.stretches(class);
        stretches
            .map(|(_, answer): (&Stretch, _)| match answer {
                Ok(reservation) => ReservedStretch {
                    start: Some(reservation.slots.start),
                    delays: reservation.delays[1..].to_vec(),
                    full: Vec::new(),
                },
                Err(blocked) => {
                    ReservedStretch { start: None, delays: Vec::new(), full: full(blocked) }
                }
            })
            .collect()
    }

    fn outputs(&self) -> Vec<ReservedOutput> {
        let demand = &self.framing.demand;
        let output = |(number, (&hop, &Bytes(capacity))): (OutputId, (&Hop, &Bytes))| {
            let reserved: Vec<u64> = (0..self.framed.spec.period())
                .map(|frame| self.framing.reservations.ledger.reserved(number, frame).0)
                .collect();
            let [from, to] = self.framed.network.ends(hop).map(str::to_owned);
            let share = |bytes: u64, frames: u64| match capacity.saturating_mul(frames) {
                0 => 0.0,
                all => bytes as f64 / all as f64,
            };
            ReservedOutput {
                link: self.framed.network.link(hop).name.clone(),
                from,
                to,
                capacity_bytes: capacity,
                reserved: share(reserved.iter().sum(), self.framed.spec.period().into()),
                fullest: share(reserved.iter().copied().max().unwrap_or(0), 1),
                best_effort_bytes: self.best_effort(hop, &reserved),
                reserved_bytes: reserved,
            }
        };
        demand.output_ids().zip(demand.outputs.iter().zip(&demand.capacities)).map(output).collect()
    }

    /// The longest packet that fits behind a frame's reserved packets and ends by the guard of the
    /// next reserved frame; none if nothing is reserved.
    fn best_effort(&self, hop: Hop, reserved: &[u64]) -> Option<u64> {
        let settings = self.framed.settings(hop, 0);
        let first = reserved.iter().position(|&bytes| bytes > 0)?;
        let mut next = reserved.len() + first;
        let mut longest = 0;
        for (frame, &bytes) in reserved.iter().enumerate().rev() {
            let frames = self.framed.spec.time.start((next - frame) as u64);
            let time = u128::from(frames.saturating_add(self.framed.spec.guard).0);
            let room = time * u128::from(settings.rate.0) / u128::from(NANOBITS_PER_BYTE);
            let room = u64::try_from(room).unwrap_or(u64::MAX);
            longest = longest.max(room.saturating_sub(bytes));
            if bytes > 0 {
                next = frame;
            }
        }
        Some(longest)
    }

    fn clocks(&self) -> Clocks {
        let margin = self.framing.clock_margin();
        let binding = match margin.binding {
            MarginBinding::Late(hop) => ClockBinding::Late { at: self.ends(hop) },
            MarginBinding::Full(hop) => ClockBinding::Full { at: self.ends(hop) },
            MarginBinding::Marks => ClockBinding::Marks,
        };
        let error = self.framed.worst_clock_error();
        Clocks { error_ns: error.0, borne_ns: margin.error.0, binding }
    }

    fn leave_out(&self) -> Option<SurplusClasses> {
        let is_blocked =
            |id: ClassId| self.framing.stretches(id).any(|(_, answer)| answer.is_err());
        let blocked = self.framed.plan.leaves().filter(|(id, _)| is_blocked(*id));
        let classes: Vec<_> = blocked.map(|(_, class)| class.name.clone()).collect();
        let all = self.framing.demand.stretches.len();
        let fewest = self.framing.reservations.most.map(|most| all - most);
        (!classes.is_empty()).then_some(SurplusClasses { classes, fewest })
    }
}
