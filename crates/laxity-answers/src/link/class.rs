//! What is proved of a class on one link.

use laxity::admit;
use laxity::packet::ClassId;
use laxity::service::ServiceCurve;
use laxity::units::Nanos;
use laxity_plan::model::Class;
use serde::Serialize;

use crate::reason::Unbounded;

/// What is proved of a class, and what its discipline gives it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ClassProof {
    /// Its number in the plan.
    #[serde(skip)]
    pub id: ClassId,
    /// Its name.
    pub name: String,
    /// The class that it is part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The delay that it is promised, in ns.
    pub deadline_ns: Option<u64>,
    /// The delay that is proved, in ns: no packet that conforms takes longer.
    pub bound_ns: Option<u64>,
    /// By how much the bound is below the deadline, in ns.
    pub slack_ns: Option<u64>,
    /// Why there is no bound, where the discipline could give one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unbounded: Option<Unbounded>,
    /// Its real-time curve under H-FSC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real_time: Option<CurveProof>,
    /// Its link-sharing curve under H-FSC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_share: Option<CurveProof>,
    /// Its upper-limit curve under H-FSC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper_limit: Option<CurveProof>,
    /// The rate that fair queueing guarantees, in bits per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<u64>,
    /// Its quantum under deficit round robin, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantum_bytes: Option<u32>,
    /// Its level under static priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<u32>,
    /// The name of its tin under CAKE.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tin: Option<&'static str>,
    /// Its streams under DWCS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<StreamsProof>,
    /// Whether the following suggestions were looked for.
    pub suggestions_sought: bool,
    /// The shortest deadline that would pass beside the other classes as they are, in ns.
    pub shortest_deadline_ns: Option<u64>,
    /// The highest sustained rate that would pass, in bits per second.
    pub highest_rate_bps: Option<u64>,
    /// The largest burst that would pass, in bytes, within the first piece of a real-time curve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_burst_bytes: Option<u64>,
}

/// The streams of a class, as DWCS takes them.
#[derive(Clone, Debug, Serialize)]
pub struct StreamsProof {
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
pub struct CurveProof {
    /// The curve.
    pub curve: ServiceCurve,
}

/// A service curve in JSON.
#[derive(Serialize)]
struct CurveLine {
    m1_bps: u64,
    d_ns: u64,
    m2_bps: u64,
}

impl From<ServiceCurve> for CurveProof {
    fn from(curve: ServiceCurve) -> Self {
        CurveProof { curve }
    }
}

impl From<CurveProof> for CurveLine {
    fn from(CurveProof { curve }: CurveProof) -> Self {
        CurveLine { m1_bps: curve.m1(), d_ns: curve.d().0, m2_bps: curve.m2().0 }
    }
}

impl ClassProof {
    /// What is proved of a class, without what only its discipline knows.
    pub(super) fn new(
        id: ClassId,
        class: &Class,
        bound: Result<Nanos, admit::Unbounded>,
    ) -> ClassProof {
        let early = |bound: Nanos| class.deadline?.0.checked_sub(bound.0);
        // What is guaranteed nothing, such as best effort, is not expected to have a bound.
        let why = bound.err().filter(|why| *why != admit::Unbounded::NoGuarantee);
        ClassProof {
            id,
            name: class.name.clone(),
            deadline_ns: class.deadline.map(|Nanos(deadline)| deadline),
            bound_ns: bound.ok().map(|bound| bound.0),
            slack_ns: bound.ok().and_then(early),
            unbounded: why.map(Unbounded::Link),
            ..ClassProof::default()
        }
    }
}
