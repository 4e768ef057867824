//! What time-driven priority promises the classes of a network.

use std::collections::HashMap;

use laxity::admit::tdp::{Answer, Reservation};
use laxity::packet::ClassId;
use laxity::units::Nanos;

use super::{Demand, Reserved, Stretch, TdpSpec};
use crate::model::{Class, Plan};
use crate::network::Hop;

/// What is reserved in a network, and what follows from it.
#[derive(Clone, Debug)]
pub struct Framing {
    /// What was asked for.
    pub demand: Demand,
    /// What was reserved for it.
    pub reserved: Reserved,
}

/// What a class is promised over its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FramedBound {
    /// How long packets wait at most at edges, over all stretches.
    pub shaping: Nanos,
    /// From the frame in which an edge sends to the last bit out of the last output, over all stretches.
    pub transit: Nanos,
    /// What other links take, propagation after the last frame, and the error of clocks.
    pub beside: Nanos,
}

impl FramedBound {
    /// From a packet's arrival at its first output to its arrival at the receiver.
    pub fn delay(&self) -> Nanos {
        self.shaping.saturating_add(self.transit).saturating_add(self.beside)
    }
}

/// Why a class has no bound.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unframed {
    /// There was no room for it on this stretch.
    #[error("no frames are left for it")]
    Blocked(usize),
    /// Its packets pass an output, at this place on the path, that has no frames and is shared.
    #[error("it passes an output without frames that others share")]
    Shared(usize),
}

/// How clocks may be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockMargin {
    /// The largest error of any node's clock that every promise bears.
    pub error: Nanos,
    /// What breaks first.
    pub binding: MarginBinding,
}

/// What bears no larger error of clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarginBinding {
    /// Packets would come over this link when their frame has begun.
    Late(Hop),
    /// This output's fullest frame would not fit into one that is shorter as its clock is set.
    Full(Hop),
    /// Marks would be taken for those of another frame.
    Marks,
}

impl Framing {
    /// Reserves what a plan's network is asked for.
    ///
    /// # Panics
    /// If the plan has no network.
    pub fn of(plan: &Plan, spec: &TdpSpec) -> Framing {
        let demand = plan.tdp_demand(spec);
        let reserved = demand.reserve();
        Framing { demand, reserved }
    }

    /// The stretches of a class, with what they were given.
    pub fn stretches(&self, class: ClassId) -> impl Iterator<Item = (&Stretch, &Answer)> {
        let both = self.demand.stretches.iter().zip(&self.reserved.answers);
        both.filter(move |(stretch, _)| stretch.class == class)
    }

    /// What the classes that are to have frames are promised, as long as they keep to what they say
    /// they send, in packets of their largest length.
    pub fn bounds(&self, plan: &Plan) -> HashMap<ClassId, Result<FramedBound, Unframed>> {
        let classes: Vec<_> = self.demand.stretches.iter().map(|stretch| stretch.class).collect();
        classes.into_iter().map(|class| (class, self.bound(plan, class))).collect()
    }

    fn bound(&self, plan: &Plan, id: ClassId) -> Result<FramedBound, Unframed> {
        let spec = &self.demand.spec;
        let class = &plan.classes[id.index()];
        let path = plan.paths_of(id).next().unwrap_or_default();
        let mut given: HashMap<usize, (&Stretch, Option<&Reservation>)> = HashMap::new();
        for (stretch, answer) in self.stretches(id) {
            given.insert(stretch.hops.start, (stretch, answer.as_ref().ok()));
        }
        let (mut shaping, mut transit, mut beside) = (0u64, 0u64, 0u64);
        let mut at = 0;
        // The frame in which all packets come that come at once; none before the first edge.
        let mut frame_before = false;
        while let Some(&hop) = path.get(at) {
            let Some((stretch, reservation)) = given.get(&at) else {
                let wait = private_wait(plan, spec, class, hop, frame_before);
                beside = beside.saturating_add(wait.ok_or(Unframed::Shared(at))?.0);
                at += 1;
                continue;
            };
            let reservation = reservation.ok_or(Unframed::Blocked(at))?;
            let bounds = stretch.flow.bounds(&spec.time, reservation);
            // A stretch after another gets what comes of one frame or two at once.
            let more = plan.packets_at_once(class) + u64::from(frame_before) - 1;
            let gap = bounds.shaping.0 - spec.time.frame.0;
            shaping =
                shaping.saturating_add(bounds.shaping.0).saturating_add(more.saturating_mul(gap));
            transit = transit.saturating_add(bounds.transit.0);
            let clocks = 2 * plan.clock_error(spec).0;
            let propagation = plan.propagation(path[stretch.hops.end - 1]).0;
            beside = beside.saturating_add(clocks).saturating_add(propagation);
            frame_before = true;
            at = stretch.hops.end;
        }
        Ok(FramedBound { shaping: Nanos(shaping), transit: Nanos(transit), beside: Nanos(beside) })
    }

    /// How wrong clocks may be.
    pub fn clock_margin(&self, plan: &Plan) -> ClockMargin {
        let spec = &self.demand.spec;
        let frame = spec.time.frame;
        // Both clocks may step from one side to the other, and lags bear half a frame more.
        let mut margin = ClockMargin { error: Nanos(frame.0 / 8), binding: MarginBinding::Marks };
        let mut bind = |error: u64, binding| {
            if error < margin.error.0 {
                margin = ClockMargin { error: Nanos(error), binding };
            }
        };
        for (stretch, answer) in self.demand.stretches.iter().zip(&self.reserved.answers) {
            let Ok(reservation) = answer else { continue };
            let outputs =
                || stretch.flow.path.iter().map(|hop| self.demand.outputs[hop.output as usize]);
            for (before, delay) in outputs().zip(&reservation.delays[1..]) {
                let ready = u64::from(delay - 1).saturating_mul(frame.0);
                let spare = ready.saturating_sub(plan.propagation(before).0 + 1);
                bind(spare / 2, MarginBinding::Late(before));
            }
        }
        for (number, &output) in (0..).zip(&self.demand.outputs) {
            let fullest =
                (0..spec.period()).map(|at| self.reserved.ledger.reserved(number, at)).max();
            let settings = plan.tdp_settings(spec, output, 0);
            let takes = settings.rate.time_for(fullest.unwrap_or_default());
            let spare = frame.saturating_sub(spec.guard).saturating_sub(takes);
            bind(spare.0 / 2, MarginBinding::Full(output));
        }
        margin
    }
}

/// How long packets of a class take over a private link without frames, propagation included.
fn private_wait(
    plan: &Plan,
    spec: &TdpSpec,
    class: &Class,
    hop: Hop,
    frame_before: bool,
) -> Option<Nanos> {
    let link = &plan.network.as_ref()?.links[hop.link as usize];
    if !link.private || link.scheduling.is_some() {
        return None;
    }
    let packets = plan.tdp_packets(spec, class)?;
    // In two frames there is one slot more than they are long.
    let of_two_frames = (2 * packets).div_ceil(spec.period().into()) + 1;
    let at_once = if frame_before { of_two_frames } else { plan.packets_at_once(class) };
    let longest = link.rate.time_for(plan.max_packet(class));
    let length = u128::from(spec.time.frame.0) * u128::from(spec.period());
    let keeps_up = u128::from(longest.0) * u128::from(packets) <= length;
    keeps_up.then(|| Nanos(longest.0.saturating_mul(at_once)).saturating_add(link.delay))
}

impl Plan {
    /// How long bits take over the link of a hop.
    fn propagation(&self, hop: Hop) -> Nanos {
        self.network.as_ref().map_or(Nanos::ZERO, |network| network.links[hop.link as usize].delay)
    }
}
