//! What is reserved in a network of time-driven priority, as its outputs and routes need it.

use std::collections::HashMap;

use laxity::admit::tdp::Ledger;
use laxity::packet::ClassId;
use laxity::sched::tdp::{Contract, Shaper};
use laxity_plan::Plan;
use laxity_plan::network::Hop;
use laxity_plan::tdp::TdpSpec;

pub(super) struct Reserved {
    spec: TdpSpec,
    ledger: Ledger,
    /// The numbers of the outputs in the ledger.
    outputs: HashMap<Hop, u32>,
    /// By output, how far ahead packets come.
    ahead: Vec<u32>,
    /// By class and place on its path: the forwarding delay, or the shaper.
    steps: HashMap<(ClassId, usize), (u32, Option<u32>)>,
}

impl Reserved {
    /// What is reserved for the plan's flows, and their shapers.
    pub fn new(plan: &Plan, spec: TdpSpec) -> (Reserved, Vec<Shaper>) {
        let demand = plan.tdp_demand(&spec);
        let (ledger, answers) = demand.reserve();
        let mut ahead = vec![0; demand.outputs.len()];
        let (mut steps, mut shapers) = (HashMap::new(), Vec::new());
        for (stretch, answer) in demand.stretches.iter().zip(answers) {
            let Ok(reservation) = answer else { continue };
            let contract = Contract { slots: reservation.slots, packet: stretch.flow.packet };
            let class = &plan.classes[stretch.class.index()];
            let at_edge = plan.frames_ahead(class, &contract);
            let hops = stretch.flow.path.iter().zip(&reservation.delays);
            for (place, (hop, &delay)) in stretch.hops.clone().zip(hops) {
                let is_edge = place == stretch.hops.start;
                let shaper = is_edge.then_some(shapers.len() as u32);
                steps.insert((stretch.class, place), (delay, shaper));
                let ahead = &mut ahead[hop.output as usize];
                *ahead = (*ahead).max(if is_edge { at_edge } else { delay });
            }
            shapers.push(Shaper::new(spec.time, at_edge, contract));
        }
        let outputs = demand.outputs.into_iter().zip(0..).collect();
        (Reserved { spec, ledger, outputs, ahead, steps }, shapers)
    }

    /// The forwarding delay of an output on a class's path, and the shaper if it is an edge.
    pub fn step(&self, class: ClassId, place: usize) -> (u32, Option<u32>) {
        self.steps.get(&(class, place)).copied().unwrap_or_default()
    }

    /// How many frames ahead packets come to an output.
    pub fn ahead(&self, hop: Hop) -> u32 {
        self.outputs.get(&hop).map_or(0, |output| self.ahead[*output as usize])
    }

    /// Whether anything is reserved in a frame of any cycle.
    pub fn is_reserved(&self, hop: Hop, frame: u32) -> bool {
        let Some(&output) = self.outputs.get(&hop) else { return false };
        let frames = (frame..self.spec.period()).step_by(self.spec.time.frames as usize);
        frames.into_iter().any(|frame| self.ledger.reserved(output, frame).0 > 0)
    }
}
