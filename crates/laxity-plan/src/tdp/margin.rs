//! How wrong clocks may be for time-driven priority.

use laxity::admit::tdp::{OutputId, Reservation};
use laxity::units::Nanos;

use super::{FramedBoundError, Framing, Stretch, TdpSpec};
use crate::model::{Hop, NetworkLink};

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

/// How wrong clocks may be at each output of a network.
pub(super) struct Margins<'a> {
    framing: &'a Framing<'a>,
    /// The time that each output takes to send what is reserved in its fullest frame.
    fullest: Vec<Nanos>,
}

impl<'a> Margins<'a> {
    pub(super) fn new(framing: &'a Framing<'a>) -> Self {
        let mut margins = Margins { framing, fullest: Vec::new() };
        let fullest = |output| {
            let frames = 0..framing.framed.spec.period();
            let fullest =
                frames.map(|frame| framing.reservations.ledger.reserved(output, frame)).max();
            margins.link(output).rate.time_for(fullest.unwrap_or_default())
        };
        margins.fullest = framing.demand.output_ids().map(fullest).collect();
        margins
    }

    /// Whether all that is reserved bears the error that clocks may have.
    pub(super) fn are_kept(&self) -> bool {
        let Framing { demand, reservations, .. } = self.framing;
        let mut all = demand.stretches.iter().zip(&reservations.answers);
        all.all(|(stretch, answer)| match answer {
            Ok(given) => self.bear_errors(stretch, given).is_ok(),
            Err(_) => true,
        })
    }

    /// Whether a stretch bears the error that clocks may have.
    pub(super) fn bear_errors(
        &self,
        stretch: &Stretch,
        given: &Reservation,
    ) -> Result<(), FramedBoundError> {
        let error = self.framing.framed.worst_clock_error();
        for (place, hop) in stretch.hops.clone().zip(&stretch.flow.path) {
            if self.frame_margin(hop.output) < error {
                return Err(FramedBoundError::Full(place));
            }
        }
        for (place, (output, delay)) in stretch.hops.clone().zip(links(stretch, given)) {
            if self.delay_margin(output, delay).is_none_or(|margin| margin < error) {
                return Err(FramedBoundError::Late(place));
            }
            if self.mark_margin(output) < error {
                return Err(FramedBoundError::Marks(place));
            }
        }
        Ok(())
    }

    /// What all that is reserved bears.
    pub(super) fn all(&self) -> ClockMargin {
        let Framing { framed, demand, reservations } = self.framing;
        let frame = framed.spec.time.frame;
        let mut margin = ClockMargin { error: Nanos(frame.0 / 4), binding: MarginBinding::Marks };
        let mut bind = |error: Nanos, binding| {
            if error < margin.error {
                margin = ClockMargin { error, binding };
            }
        };
        for (stretch, answer) in demand.stretches.iter().zip(&reservations.answers) {
            let Ok(reservation) = answer else { continue };
            for (output, delay) in links(stretch, reservation) {
                let late = self.delay_margin(output, delay).unwrap_or_default();
                bind(late, MarginBinding::Late(demand.outputs[output.index()]));
                bind(self.mark_margin(output), MarginBinding::Marks);
            }
        }
        for ((number, &output), &takes) in
            demand.output_ids().zip(&demand.outputs).zip(&self.fullest)
        {
            if takes > Nanos::ZERO {
                bind(self.frame_margin(number), MarginBinding::Full(output));
            }
        }
        margin
    }

    /// The largest clock error with which an output's fullest frame still fits into one that is
    /// shorter because its clock is set.
    fn frame_margin(&self, output: OutputId) -> Nanos {
        let TdpSpec { time, guard, .. } = *self.framing.framed.spec;
        let takes = self.fullest[output.index()];
        Nanos(time.frame.saturating_sub(guard).saturating_sub(takes).0 / 2)
    }

    /// The largest clock error with which packets still come over an output's link in time.
    ///
    /// They come in time before their frame begins, `delay` frames after the one in which they were
    /// sent. `None` if they are late even with perfect clocks.
    fn delay_margin(&self, output: OutputId, delay: u32) -> Option<Nanos> {
        let ready = self.framing.framed.spec.time.start(u64::from(delay).saturating_sub(1));
        let way = self.link(output).delay.0.checked_add(1)?;
        Some(Nanos(ready.0.checked_sub(way)? / 2))
    }

    /// The largest clock error with which the lags of an output's marked packets differ by less
    /// than a frame, so that their marks [tell](laxity::sched::tdp::Upstream) their frames.
    fn mark_margin(&self, output: OutputId) -> Nanos {
        let TdpSpec { time, guard, .. } = *self.framing.framed.spec;
        let rate = self.link(output).rate;
        // The first packet of a frame that is marked begins with it, or is padding after best
        // effort that was under way; the last one is reserved.
        let shortest = rate.time_for(self.framing.framed.plan.link.min_packet);
        let reserved = guard.saturating_add(self.fullest[output.index()]);
        let apart = reserved
            .saturating_sub(shortest)
            .max(rate.time_for(self.framing.framed.plan.link.max_packet));
        // Both clocks may step from one side to the other, and links round to nanoseconds.
        Nanos(time.frame.saturating_sub(apart).saturating_sub(Nanos(2)).0 / 4)
    }

    fn link(&self, output: OutputId) -> &'a NetworkLink {
        self.framing.framed.network.link(self.framing.demand.outputs[output.index()])
    }
}

/// The outputs of a stretch that are followed by another, with the forwarding delay of that.
fn links<'a>(
    stretch: &'a Stretch,
    given: &'a Reservation,
) -> impl Iterator<Item = (OutputId, u32)> + 'a {
    let outputs = stretch.flow.path.iter().map(|hop| hop.output);
    outputs.zip(given.delays.iter().copied().skip(1))
}
