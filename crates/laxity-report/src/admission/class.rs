//! What is proved of a class on one link.

use laxity::admit::Unbounded;
use laxity::packet::ClassId;
use laxity::service::ServiceCurve;
use laxity::units::Nanos;
use laxity_plan::model::Class;
use serde::Serialize;

/// What is proved of a class, and what its discipline gives it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ClassAnswer {
    /// Its number in the plan.
    #[serde(skip)]
    pub id: ClassId,
    /// Its name.
    pub name: String,
    /// The class that it is part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// What it is promised.
    pub deadline_ns: Option<u64>,
    /// What is proved: no packet that conforms takes longer.
    pub bound_ns: Option<u64>,
    /// How much earlier than promised that is.
    pub slack_ns: Option<u64>,
    /// Why there is no bound, where the discipline could give one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unbounded: Option<String>,
    /// Its service curves under H-FSC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real_time: Option<CurveAnswer>,
    /// The same for sharing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_share: Option<CurveAnswer>,
    /// The same as a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper_limit: Option<CurveAnswer>,
    /// The rate that fair queueing guarantees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<u64>,
    /// What deficit round robin sends in a turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantum_bytes: Option<u32>,
    /// Its level under static priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<u32>,
    /// How many alike streams it has, when they are due and what they tolerate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<StreamsAnswer>,
    /// Whether the next ones were looked for.
    pub mends_sought: bool,
    /// The shortest deadline that would pass beside the other classes as they are.
    pub shortest_deadline_ns: Option<u64>,
    /// The highest sustained rate that would.
    pub highest_rate_bps: Option<u64>,
    /// The largest burst that would, within the first piece of a real-time curve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_burst_bytes: Option<u64>,
}

/// The streams of a class, as DWCS takes them.
#[derive(Clone, Debug, Serialize)]
pub struct StreamsAnswer {
    /// How many.
    pub count: u32,
    /// The time between two deadlines of a stream.
    pub gap_ns: Option<u64>,
    /// What it tolerates, such as `1/80`.
    pub loss: String,
}

/// A service curve.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(into = "CurveLine")]
pub struct CurveAnswer {
    /// The curve.
    pub curve: ServiceCurve,
}

/// The same in JSON.
#[derive(Serialize)]
struct CurveLine {
    m1_bps: u64,
    d_ns: u64,
    m2_bps: u64,
}

impl From<ServiceCurve> for CurveAnswer {
    fn from(curve: ServiceCurve) -> Self {
        CurveAnswer { curve }
    }
}

impl From<CurveAnswer> for CurveLine {
    fn from(CurveAnswer { curve }: CurveAnswer) -> Self {
        CurveLine { m1_bps: curve.m1(), d_ns: curve.d().0, m2_bps: curve.m2().0 }
    }
}

impl ClassAnswer {
    /// Of a class of the plan, without what only its discipline knows.
    pub(super) fn new(id: ClassId, class: &Class, bound: Result<Nanos, Unbounded>) -> ClassAnswer {
        let early = |bound: Nanos| class.deadline?.0.checked_sub(bound.0);
        // What is guaranteed nothing, such as best effort, is not expected to have a bound.
        let why = bound.err().filter(|why| *why != Unbounded::NoGuarantee);
        ClassAnswer {
            id,
            name: class.name.clone(),
            deadline_ns: class.deadline.map(|Nanos(deadline)| deadline),
            bound_ns: bound.ok().map(|bound| bound.0),
            slack_ns: bound.ok().and_then(early),
            unbounded: why.map(|why| why.to_string()),
            ..ClassAnswer::default()
        }
    }
}
