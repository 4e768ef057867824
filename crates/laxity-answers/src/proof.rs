use laxity_plan::Plan;
use laxity_plan::tdp::NetworkAnalysis;

use crate::link::Admission;
use crate::network::{FramesProof, NetworkProof};
use crate::reason::{Reason, admitted};

/// What is proved of a plan.
#[derive(Clone, Debug)]
pub enum Proof {
    /// The answer of the admission test on one link.
    Link(Admission),
    /// The bounds of a network's outputs and paths.
    Network(NetworkProof),
    /// The reservations of a network under time-driven priority.
    Frames(FramesProof),
}

impl Proof {
    /// What is proved of a plan on one link; `None` if its discipline has no admission test.
    pub fn link(plan: &Plan) -> Option<Proof> {
        Admission::test(plan).map(Proof::Link)
    }

    /// What is proved of a network.
    pub fn network(on: &NetworkAnalysis<'_>) -> Proof {
        match &on.framing {
            Some(framing) => Proof::Frames(FramesProof::new(framing)),
            None => Proof::Network(NetworkProof::new(on)),
        }
    }

    /// What is proved of a plan, of one link or of a network.
    pub fn new(plan: &Plan) -> Option<Proof> {
        match plan.network_plan() {
            None => Proof::link(plan),
            Some(on) => Some(Proof::network(&on.analysis())),
        }
    }

    /// Why the plan is admitted, refused or left open.
    pub fn reasons(&self) -> &[Reason] {
        match self {
            Proof::Link(admission) => &admission.reasons,
            Proof::Network(proof) => &proof.reasons,
            Proof::Frames(proof) => &proof.reasons,
        }
    }

    /// Whether everything that is promised holds; `None` if that is not known.
    pub fn admitted(&self) -> Option<bool> {
        admitted(self.reasons())
    }
}
