//! What time-driven priority promises the classes of a network.

use std::collections::HashMap;
use std::sync::OnceLock;

use laxity::admit::tdp::Reservation;
use laxity::packet::ClassId;
use laxity::sched::tdp::Contract;
use laxity::units::Nanos;

use super::margin::Margins;
use super::{
    ClockMargin, FramedBound, FramedBoundError, FramedNetwork, Framing, MOST_AHEAD, Stretch,
    TdpSpec,
};
use crate::model::{Class, Hop, Network, Plan};
use crate::network::NetworkPlan;
use crate::paths::Paths;

/// A network whose frames are assigned, if its discipline has any. It may take seconds to assign
/// them or to analyse its paths, so both are done once, and all that is asked of the network
/// afterwards is asked of this.
#[derive(Clone, Debug)]
pub struct NetworkAnalysis<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Its network.
    pub network: &'a Network,
    /// What is reserved in it.
    pub framing: Option<Framing<'a>>,
    paths: OnceLock<Paths>,
}

impl<'a> NetworkAnalysis<'a> {
    /// The plan with its network.
    pub fn network_plan(&self) -> NetworkPlan<'a> {
        NetworkPlan { plan: self.plan, network: self.network }
    }

    /// The network's outputs, and the paths through them.
    pub fn paths(&self) -> &Paths {
        self.paths.get_or_init(|| self.network_plan().paths())
    }

    /// The same where anything is known of what comes over them: where nothing is, nothing follows.
    pub fn known_paths(&self) -> Option<&Paths> {
        let is_known = self.plan.knows_arrivals().contains(&true);
        is_known.then(|| self.paths())
    }
}

impl<'a> NetworkPlan<'a> {
    /// The network with its frames assigned.
    pub fn analysis(self) -> NetworkAnalysis<'a> {
        let framing = self.plan.framed_network().map(Framing::new);
        NetworkAnalysis { plan: self.plan, network: self.network, framing, paths: OnceLock::new() }
    }
}

impl Framing<'_> {
    /// What the classes that are to have frames are promised, as long as they keep to what they say
    /// they send, in packets of their largest length, and clocks to the error that is to be borne.
    pub fn bounds(&self) -> HashMap<ClassId, Result<FramedBound, FramedBoundError>> {
        let margins = Margins::new(self);
        let is_kept = margins.are_kept();
        let paths = self.framed.plan.class_paths();
        let mut classes: Vec<_> =
            self.demand.stretches.iter().map(|stretch| stretch.class).collect();
        classes.dedup();
        let bound = |class: ClassId| {
            let bound = self.bound(&margins, class, paths[class.index()]);
            bound.and_then(
                |bound| if is_kept { Ok(bound) } else { Err(FramedBoundError::Disturbed) },
            )
        };
        classes.into_iter().map(|class| (class, bound(class))).collect()
    }

    /// How wrong clocks may be.
    pub fn clock_margin(&self) -> ClockMargin {
        Margins::new(self).all()
    }

    fn bound(
        &self,
        margins: &Margins<'_>,
        id: ClassId,
        path: &[Hop],
    ) -> Result<FramedBound, FramedBoundError> {
        let FramedNetwork { plan, network, spec } = self.framed;
        let class = &plan.classes[id.index()];
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
                let is_once = path.iter().filter(|other| **other == hop).count() == 1;
                let wait = private_wait(self.framed, class, hop, frame_before);
                let wait = wait.filter(|_| is_once);
                beside = beside.saturating_add(wait.ok_or(FramedBoundError::Shared(at))?.0);
                at += 1;
                continue;
            };
            let reservation = reservation.ok_or(FramedBoundError::Blocked(at))?;
            is_held(plan, class, stretch, reservation)?;
            margins.bear_errors(stretch, reservation)?;
            let bounds = stretch.flow.bounds(&spec.time, reservation);
            let waits = if frame_before {
                wait_between(spec, reservation)
            } else {
                let more = plan.packets_at_once(class) - 1;
                let gap = bounds.shaping.0 - spec.time.frame.0;
                bounds.shaping.0.saturating_add(more.saturating_mul(gap))
            };
            shaping = shaping.saturating_add(waits);
            transit = transit.saturating_add(bounds.transit.0);
            let clocks = 2 * self.framed.worst_clock_error().0;
            let last = path[stretch.hops.end - 1];
            let propagation = network.link(last).delay.0;
            beside = beside.saturating_add(clocks).saturating_add(propagation);
            frame_before = true;
            at = stretch.hops.end;
        }
        Ok(FramedBound { shaping: Nanos(shaping), transit: Nanos(transit), beside: Nanos(beside) })
    }
}

/// Whether the edge of a stretch holds all that the class may send at once.
fn is_held(
    plan: &Plan,
    class: &Class,
    stretch: &Stretch,
    Reservation { slots, .. }: &Reservation,
) -> Result<(), FramedBoundError> {
    let contract = Contract { slots: *slots, packet: stretch.flow.packet };
    match plan.frames_ahead(class, &contract) {
        MOST_AHEAD => Err(FramedBoundError::Burst(stretch.hops.start)),
        _ => Ok(()),
    }
}

/// How long packets wait at most, at the edge of a stretch after another, once they have come as
/// late as those of their frames do. From one on that finds its slot free, up to n/k frames away,
/// each takes the next slot; and over any number of slots both patterns are equally long but for a
/// frame.
fn wait_between(spec: &TdpSpec, Reservation { slots, .. }: &Reservation) -> u64 {
    let frames = u64::from(slots.period.div_ceil(slots.packets)) + 1;
    spec.time.start(frames).0
}

/// How long packets of a class take over a private link without frames, propagation included.
fn private_wait(
    framed: FramedNetwork<'_>,
    class: &Class,
    hop: Hop,
    frame_before: bool,
) -> Option<Nanos> {
    let link = framed.network.link(hop);
    if !link.private || link.scheduling.is_some() {
        return None;
    }
    let FramedNetwork { plan, spec, .. } = framed;
    let packets = framed.packets(class)?;
    // In two frames there is one slot more than they are long.
    let of_two_frames = (2 * packets).div_ceil(spec.period().into()) + 1;
    let at_once = if frame_before { of_two_frames } else { plan.packets_at_once(class) };
    let longest = link.rate.time_for(plan.max_packet(class));
    let length = u128::from(spec.time.frame.0) * u128::from(spec.period());
    let keeps_up = u128::from(longest.0) * u128::from(packets) <= length;
    keeps_up.then(|| Nanos(longest.0.saturating_mul(at_once)).saturating_add(link.delay))
}
