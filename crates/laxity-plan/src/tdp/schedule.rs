//! What is reserved in a network of time-driven priority, as the outputs of its nodes need it.

use std::collections::{BTreeSet, HashMap};

use laxity::admit::tdp::{Ledger, OutputId};
use laxity::packet::ClassId;
use laxity::sched::tdp::{Contract, ContractId, Edge};
use laxity::units::Nanos;

use super::{FramedNetwork, Framing};
use crate::model::{Hop, TdpSpec};

/// When the packets of every flow are sent at every output.
#[derive(Clone, Debug)]
pub struct Schedule<'a> {
    spec: TdpSpec,
    ledger: &'a Ledger,
    outputs: HashMap<Hop, OutputId>,
    /// By output, how far ahead packets come.
    ahead: Vec<u32>,
    /// By class and place on its path.
    steps: HashMap<(ClassId, usize), FrameStep>,
    /// The classes that have any.
    given: BTreeSet<ClassId>,
    /// How long packets of the classes take at most that are promised it.
    bounds: HashMap<ClassId, Nanos>,
}

/// How packets of a flow come to an output on their path where there are frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameStep {
    /// The forwarding delay d in frames, for packets that come in a frame.
    pub forwarding_delay: u32,
    /// The contract at the edge, where they come without a frame.
    pub contract: Option<ContractId>,
}

impl<'a> Schedule<'a> {
    /// What is reserved for the plan's flows, and the edge of all of them.
    pub fn new(framing: &'a Framing<'a>) -> (Schedule<'a>, Edge) {
        let Framing { framed, demand, reservations } = framing;
        let FramedNetwork { plan, spec, .. } = *framed;
        let (mut steps, mut contracts) = (HashMap::new(), Vec::new());
        let (mut delays, mut edges) = (vec![0; demand.outputs.len()], BTreeSet::new());
        let mut at_edge = 0;
        for (stretch, answer) in demand.stretches.iter().zip(&reservations.answers) {
            let Ok(reservation) = answer else { continue };
            let contract = Contract { slots: reservation.slots, packet: stretch.flow.packet };
            let class = &plan.classes[stretch.class.index()];
            at_edge = at_edge.max(plan.frames_ahead(class, &contract));
            let hops = stretch.flow.path.iter().zip(&reservation.delays);
            for (place, (hop, &delay)) in stretch.hops.clone().zip(hops) {
                let is_edge = place == stretch.hops.start;
                let contract = is_edge.then(|| ContractId::from_index(contracts.len()));
                let step = FrameStep { forwarding_delay: delay, contract };
                steps.insert((stretch.class, place), step);
                let longest = &mut delays[hop.output.index()];
                *longest = delay.max(*longest);
                if is_edge {
                    edges.insert(hop.output);
                }
            }
            contracts.push(Some(contract));
        }
        for &output in &edges {
            let longest = &mut delays[output.index()];
            *longest = at_edge.max(*longest);
        }
        let edge = Edge::new(spec.time, at_edge, &contracts);
        let edge = edge.expect("what was reserved are packets of a period");
        let outputs = demand.outputs.iter().copied().zip(demand.output_ids()).collect();
        let bounds = framing
            .bounds()
            .into_iter()
            .filter_map(|(class, bound)| Some((class, bound.ok()?.delay())));
        let bounds = bounds.collect();
        let ledger = &reservations.ledger;
        let given = steps.keys().map(|(class, _)| *class).collect();
        (Schedule { spec: *spec, ledger, outputs, ahead: delays, steps, given, bounds }, edge)
    }

    /// How packets of a class come to the output at a place on its path.
    pub fn step(&self, class: ClassId, place: usize) -> FrameStep {
        self.steps.get(&(class, place)).copied().unwrap_or_default()
    }

    /// Whether a class was given frames anywhere.
    pub fn is_given(&self, class: ClassId) -> bool {
        self.given.contains(&class)
    }

    /// How long a class's packets take at most, if that is promised.
    pub fn bound(&self, class: ClassId) -> Option<Nanos> {
        self.bounds.get(&class).copied()
    }

    /// How many frames ahead packets come to an output.
    pub fn ahead(&self, hop: Hop) -> u32 {
        self.outputs.get(&hop).map_or(0, |output| self.ahead[output.index()])
    }

    /// Whether anything is reserved in a frame of any cycle.
    pub fn is_reserved(&self, hop: Hop, frame: u32) -> bool {
        let Some(&output) = self.outputs.get(&hop) else { return false };
        let frames = (frame..self.spec.period()).step_by(self.spec.time.frames as usize);
        frames.into_iter().any(|frame| self.ledger.reserved(output, frame).0 > 0)
    }
}
