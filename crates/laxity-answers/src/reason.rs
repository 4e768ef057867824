//! Why a plan is admitted, refused or left open.

use std::fmt;

use laxity::admit::{self, Interval, dwcs};
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::paths::BoundError;
use laxity_plan::tdp::FramedBoundError;
use serde::{Serialize, Serializer};

/// One finding of an admission test, and where it was made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reason {
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// The class that it is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// What was found.
    #[serde(flatten)]
    pub finding: Finding,
}

/// Where something was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Place {
    /// On the link, or in the network as a whole.
    Whole {},
    /// At an output of a network.
    Output {
        /// The nodes that it joins, `from → to`.
        at: String,
    },
    /// From end to end of a path.
    Path {
        /// The nodes from the sender to the receiver.
        path: Vec<String>,
    },
}

/// What a finding does to a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It is for the plan, or beside the question.
    Admits,
    /// It is not known whether everything that is promised holds.
    LeavesOpen,
    /// Something that is promised may not hold.
    Refuses,
}

/// A finding of an admission test, with its numbers. In JSON its name is `code`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum Finding {
    /// Every class with a deadline has a bound within it.
    DeadlinesHold,
    /// No class has a deadline.
    NoDeadline,
    /// No class is real-time, so EDF promises nothing.
    NoRealTimeClass,
    /// No class has a real-time curve, so H-FSC promises nothing.
    NoRealTimeCurve,
    /// No class has a gap, so DWCS promises no window.
    NoGap,
    /// No class of a network that tells what it sends has a deadline.
    NoPromise {
        /// Whether any path has a bound nevertheless.
        is_bounded: bool,
    },
    /// Every promise of a network holds, at every output and from end to end.
    PromisesHold,
    /// Every class has its frames, and no frame is reserved beyond its capacity.
    FramesHold,
    /// The interval in which least capacity is spare.
    Tightest(Span),
    /// The rates of WF²Q+ fit at every level.
    RatesFit,
    /// The real-time curves of H-FSC fit on the link.
    CurvesFit {
        /// The sum of their rates in the long run, in bits per second.
        long_run_bps: u64,
        /// The rate of the link, in bits per second.
        link_bps: u64,
        /// The interval in which the link has least to spare.
        fullest: Option<Span>,
    },
    /// The consecutive windows of all streams are kept.
    WindowsHold {
        /// Services that the streams need between two deadlines on average, in tenths, rounded up.
        needed_tenths: u64,
        /// Services that the link begins at least.
        services: u64,
        /// The share of the link that the streams cannot do without.
        utilization: f64,
        /// Whether sliding windows are kept as well.
        covers_sliding: bool,
    },
    /// Classes without which the rest fits.
    LeaveOut(SurplusClasses),

    /// The discipline has no admission test.
    NoTest {
        /// The discipline, as `--scheduler` names it.
        scheduler: &'static str,
    },
    /// Nothing is proved of the discipline where the rate of a link changes or the link may be
    /// late.
    VaryingRate,
    /// The theorem on the windows of DWCS does not apply.
    WindowsUnproved {
        /// The condition that is not met, by the class of the reason if it is one.
        #[serde(serialize_with = "condition")]
        why: dwcs::UnmetCondition,
        /// The share of the link that the streams cannot do without.
        utilization: f64,
    },
    /// DWCS proves no delay, so a deadline is no promise.
    DeadlineUnproved,
    /// A queue or the police drop packets of a stream in time, and these losses are not counted by
    /// the theorem.
    DropsUncounted,

    /// A class may be delayed for longer than it is promised.
    Late {
        /// The promised delay in ns.
        deadline_ns: u64,
        /// The proved delay in ns.
        bound_ns: u64,
    },
    /// The delay of a class has no bound.
    Unbounded {
        /// The promised delay in ns; absent for a class that has only frames.
        #[serde(skip_serializing_if = "Option::is_none")]
        deadline_ns: Option<u64>,
        /// Why there is none.
        #[serde(serialize_with = "code")]
        why: Unbounded,
    },
    /// More may be due in an interval than the link sends in it.
    Interval(Span),
    /// More may be due than the link sends, in an interval that is too long to be told in
    /// nanoseconds.
    EndlessInterval,
    /// Real-time curves of H-FSC sum to more than the link, or the class above them, has.
    CurvesOverbooked(Excess),
    /// The rates of classes sum to more than the link, or the class above them, has.
    RatesOverbooked {
        /// The sum in bits per second.
        asked_bps: u64,
        /// What there is, in bits per second.
        given_bps: u64,
    },
    /// No scheduler keeps the windows of all streams.
    Overloaded {
        /// The share of the link that the streams cannot do without.
        utilization: f64,
        /// Streams without which the link is not overloaded.
        shed: Vec<SurplusStreams>,
    },
    /// The link is not sure to begin as many services as the windows need.
    TooFewServices {
        /// Services that the streams need between two deadlines on average, in tenths, rounded up.
        needed_tenths: u64,
        /// Services that the link begins at least.
        services: u64,
        /// Whether packets differ in length, so that every one is counted as the longest.
        lengths_differ: bool,
        /// Streams without which the rest fits.
        shed: Vec<SurplusStreams>,
    },
    /// A queue has no room for what may wait of a class that is promised a delay.
    QueueTooSmall {
        /// All that can arrive within the delay bound, in bytes.
        needed_bytes: u64,
    },
    /// Clocks may be further apart than frames bear.
    ClockError(Clocks),
}

/// An interval, what the link sends in it and what may have to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Span {
    /// Its length in ns.
    pub length_ns: u64,
    /// What can be sent in it, in bytes.
    pub capacity_bytes: u64,
    /// What may have to be sent in it, in bytes.
    pub demand_bytes: u64,
}

impl From<Interval> for Span {
    fn from(interval: Interval) -> Span {
        Span {
            length_ns: interval.length.0,
            capacity_bytes: interval.capacity.0,
            demand_bytes: interval.demand.0,
        }
    }
}

/// By how much one service curve exceeds another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Excess {
    /// In the long run.
    Lasting {
        /// The higher rate, in bits per second.
        asked_bps: u64,
        /// The rate that there is, in bits per second.
        given_bps: u64,
    },
    /// For a time only: the interval in which it is most.
    Passing(Span),
}

impl From<admit::hfsc::Excess> for Excess {
    fn from(excess: admit::hfsc::Excess) -> Excess {
        match excess {
            admit::hfsc::Excess::Lasting { asked, given } => {
                Excess::Lasting { asked_bps: asked.0, given_bps: given.0 }
            }
            admit::hfsc::Excess::Passing(interval) => Excess::Passing(interval.into()),
        }
    }
}

/// Streams of a class to leave out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SurplusStreams {
    /// The class.
    pub class: String,
    /// How many of its streams to leave out.
    pub streams: u32,
    /// How many it has.
    pub count: u32,
}

/// Classes to leave out of a network under time-driven priority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SurplusClasses {
    /// The classes that have no frames. Without them the others fit.
    pub classes: Vec<String>,
    /// The number of flows that must be left out at least, if an exact assignment looked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fewest: Option<usize>,
}

/// How good clocks must be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Clocks {
    /// The largest error of any node's clock, or the one that the network is to bear, in ns.
    pub error_ns: u64,
    /// The largest error that every promise bears, in ns.
    pub borne_ns: u64,
    /// What a larger error breaks first.
    pub binding: ClockBinding,
}

/// What a larger error of clocks breaks first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "code")]
pub enum ClockBinding {
    /// Packets would arrive when their frame has begun.
    Late {
        /// The output that they come from, `from → to`.
        at: String,
    },
    /// The fullest frame would outlast a frame that is shortened as a clock is set.
    Full {
        /// The output, `from → to`.
        at: String,
    },
    /// Marks would be taken for those of other frames.
    Marks,
}

/// Why a delay has no bound. `Display` says it in a clause; [`name`](Self::name) is its word for
/// programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unbounded {
    /// On one link.
    Link(admit::Unbounded),
    /// At an output or over a path of a network.
    Path(BoundError),
    /// In the time frames of a network.
    Frames(FramedBoundError),
}

impl Unbounded {
    /// Its word in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Unbounded::Link(why) => why.name(),
            Unbounded::Path(why) => why.name(),
            Unbounded::Frames(why) => why.name(),
        }
    }
}

impl fmt::Display for Unbounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unbounded::Link(why) => why.fmt(f),
            Unbounded::Path(why) => why.fmt(f),
            Unbounded::Frames(why) => why.fmt(f),
        }
    }
}

/// As the clause that people read: the form in tables of classes.
impl Serialize for Unbounded {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

fn condition<S: Serializer>(why: &dwcs::UnmetCondition, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(why.name())
}

/// As the word that programs read: the form in reasons.
fn code<S: Serializer>(why: &Unbounded, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(why.name())
}

impl Reason {
    /// A finding about the link or the network as a whole.
    pub fn whole(finding: Finding) -> Reason {
        Reason { place: Place::Whole {}, class: None, finding }
    }

    /// A finding about a class on the link.
    pub fn class(class: impl Into<String>, finding: Finding) -> Reason {
        Reason { place: Place::Whole {}, class: Some(class.into()), finding }
    }

    /// The same finding at an output of a network.
    pub fn at(self, output: String) -> Reason {
        Reason { place: Place::Output { at: output }, ..self }
    }

    /// The same finding over a path of a network.
    pub fn over(self, nodes: Vec<String>) -> Reason {
        Reason { place: Place::Path { path: nodes }, ..self }
    }

    /// Whether something that is promised may not hold.
    pub fn refuses(&self) -> bool {
        self.finding.effect() == Effect::Refuses
    }

    /// A broken promise of a delay, if a bound breaks it.
    pub fn late(class: &str, deadline: Nanos, bound: Result<Nanos, Unbounded>) -> Option<Reason> {
        let deadline_ns = deadline.0;
        let finding = match bound {
            Ok(bound) if bound <= deadline => return None,
            Ok(Nanos(bound_ns)) => Finding::Late { deadline_ns, bound_ns },
            Err(why) => Finding::Unbounded { deadline_ns: Some(deadline_ns), why },
        };
        Some(Reason::class(class, finding))
    }
}

impl Finding {
    /// What it does to the plan.
    pub fn effect(&self) -> Effect {
        match self {
            Finding::DeadlinesHold
            | Finding::NoDeadline
            | Finding::NoRealTimeClass
            | Finding::NoRealTimeCurve
            | Finding::NoGap
            | Finding::NoPromise { is_bounded: true }
            | Finding::PromisesHold
            | Finding::FramesHold
            | Finding::Tightest(_)
            | Finding::RatesFit
            | Finding::CurvesFit { .. }
            | Finding::WindowsHold { .. }
            | Finding::LeaveOut(_) => Effect::Admits,
            Finding::NoPromise { is_bounded: false }
            | Finding::NoTest { .. }
            | Finding::VaryingRate
            | Finding::WindowsUnproved { .. }
            | Finding::DeadlineUnproved
            | Finding::DropsUncounted => Effect::LeavesOpen,
            Finding::Late { .. }
            | Finding::Unbounded { .. }
            | Finding::Interval(_)
            | Finding::EndlessInterval
            | Finding::CurvesOverbooked(_)
            | Finding::RatesOverbooked { .. }
            | Finding::Overloaded { .. }
            | Finding::TooFewServices { .. }
            | Finding::QueueTooSmall { .. }
            | Finding::ClockError(_) => Effect::Refuses,
        }
    }
}

/// Whether a plan is admitted for these reasons; `None` if that is not known.
pub fn admitted(reasons: &[Reason]) -> Option<bool> {
    let has = |effect| reasons.iter().any(|reason| reason.finding.effect() == effect);
    match (has(Effect::Refuses), has(Effect::LeavesOpen)) {
        (true, _) => Some(false),
        (false, true) => None,
        (false, false) => Some(true),
    }
}

/// Whether the deadlines of a plan's classes hold on one link: what breaks them, that all hold, or
/// that there is none.
pub(crate) fn deadlines(
    plan: &Plan,
    bounds: &[Result<Nanos, admit::Unbounded>],
    without: Option<Finding>,
) -> Vec<Reason> {
    let classes = plan.classes.iter().zip(bounds);
    let promised: Vec<_> =
        classes.filter_map(|(class, bound)| Some((class, class.deadline?, bound))).collect();
    if promised.is_empty() {
        return without.map(Reason::whole).into_iter().collect();
    }
    let late: Vec<_> = promised
        .into_iter()
        .filter_map(|(class, deadline, bound)| {
            Reason::late(&class.name, deadline, bound.map_err(Unbounded::Link))
        })
        .collect();
    if late.is_empty() { vec![Reason::whole(Finding::DeadlinesHold)] } else { late }
}
