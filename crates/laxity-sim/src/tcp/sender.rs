//! The sender: what to send, and when.

mod common;
mod duplicate_acks;
mod rack_tlp;

use std::sync::Arc;

use laxity::packet::Ecn;
use laxity::units::Nanos;

use super::Recovery;
use super::config::{Config, Counts};
use super::segment::{Ack, ONE, Segment};
use super::timing::Timeout;
use super::window::Window;
use common::Common;
use duplicate_acks::DuplicateAcks;
use rack_tlp::RackTlp;

/// The sending end of a transfer.
#[derive(Clone, Debug)]
pub struct Sender {
    common: Common,
    losses: LossDetection,
}

/// How losses are detected, with the segments that are outstanding.
#[derive(Clone, Debug)]
enum LossDetection {
    DuplicateAcks(DuplicateAcks),
    RackTlp(Box<RackTlp>),
}

impl Sender {
    /// A sender that has sent nothing. Senders that are made of the same may share it.
    pub fn new(config: impl Into<Arc<Config>>) -> Self {
        let config = config.into();
        let settled = config.settled();
        let config = if settled == *config { config } else { Arc::new(settled) };
        Sender::from_settled(config.transfer, config)
    }

    fn from_settled(transfer: Option<u64>, config: Arc<Config>) -> Self {
        let mut common = Common {
            window: Window::new(&config),
            expiry: None,
            reduced_until: 0,
            marked: 0,
            expired_for: None,
            tell_reduced: false,
            pacer: config.pacing.then(Box::default),
            counts: Counts::default(),
            timeout: Timeout::new(config.timing),
            transfer,
            config,
        };
        common.set_rate();
        let losses = match common.config.variant.recovery {
            Recovery::Newreno | Recovery::Sack => {
                LossDetection::DuplicateAcks(DuplicateAcks::default())
            }
            Recovery::RackTlp => LossDetection::RackTlp(Box::default()),
        };
        Sender { common, losses }
    }

    /// Begins another transfer of this many segments, or without end. Only the counts remain.
    pub fn restart(&mut self, transfer: Option<u64>) {
        let counts = self.common.counts;
        *self = Sender::from_settled(transfer, self.common.config.clone());
        self.common.counts = counts;
    }

    /// The next segment that leaves now, if one may. Call until there is none.
    // Inlined, so that the segment is built where the caller keeps it.
    #[inline]
    pub fn poll_send(&mut self, now: Nanos) -> Option<Segment> {
        let common = &mut self.common;
        if common.pacer.as_mut().is_some_and(|pacer| !pacer.permits(now)) {
            return None;
        }
        let (number, again) = match &mut self.losses {
            LossDetection::DuplicateAcks(acks) => acks.send(common, now),
            LossDetection::RackTlp(rack) => rack.send(common, now),
        }?;
        if let Some(pacer) = &mut common.pacer {
            pacer.left(now, common.config.length);
        }
        common.counts.sent += 1;
        common.counts.retransmitted += u64::from(again);
        Some(Segment {
            number,
            length: common.config.length,
            ecn: if again { Ecn::NotCapable } else { common.config.ecn },
            reduced: !again && std::mem::take(&mut common.tell_reduced),
        })
    }

    /// An acknowledgement arrives. One that acknowledges what was never sent is ignored.
    pub fn on_ack(&mut self, now: Nanos, ack: &Ack) {
        let common = &mut self.common;
        match &mut self.losses {
            LossDetection::DuplicateAcks(acks) => acks.on_ack(common, now, ack),
            LossDetection::RackTlp(rack) => rack.on_ack(common, now, ack),
        }
        common.set_rate();
    }

    /// The timer, if its time has come.
    pub fn on_timer(&mut self, now: Nanos) {
        let common = &mut self.common;
        if let Some(pacer) = &mut common.pacer {
            pacer.on_timer(now);
        }
        if common.expiry.is_none_or(|expiry| now < expiry) {
            return;
        }
        match &mut self.losses {
            LossDetection::DuplicateAcks(acks) => acks.on_timer(common, now),
            LossDetection::RackTlp(rack) => rack.on_timer(common, now),
        }
    }

    /// When [`Sender::on_timer`] wants to be called, after which there may be something to send. It
    /// moves with most acknowledgements; calling early does nothing.
    pub fn next_timer(&self) -> Option<Nanos> {
        let Common { expiry, pacer, .. } = &self.common;
        let paced =
            pacer.as_ref().and_then(|pacer| pacer.next_timer()).filter(|_| !self.is_finished());
        paced.map_or(*expiry, |paced| Some(expiry.map_or(paced, |expiry| expiry.min(paced))))
    }

    /// Looks at what an acknowledgement needs, in every line of memory.
    pub(crate) fn touch(&self) -> u64 {
        let Common { window, expiry, reduced_until, counts, timeout, transfer, .. } = &self.common;
        let [expiry, transfer] =
            [expiry.map(|expiry| expiry.0), *transfer].map(Option::unwrap_or_default);
        let common = window.exact() ^ window.threshold() ^ expiry ^ reduced_until ^ counts.sent;
        common ^ timeout.touch() ^ transfer ^ self.acknowledged()
    }

    /// Whether everything there was to send is acknowledged.
    pub fn is_finished(&self) -> bool {
        self.common.transfer == Some(self.acknowledged())
    }

    /// How many segments the receiver has acknowledged.
    pub fn acknowledged(&self) -> u64 {
        match &self.losses {
            LossDetection::DuplicateAcks(acks) => acks.first(),
            LossDetection::RackTlp(rack) => rack.first(),
        }
    }

    /// The congestion window in segments, for traces.
    pub fn congestion_window(&self) -> f64 {
        self.common.window.exact() as f64 / ONE as f64
    }

    /// The slow-start threshold in segments, for traces.
    pub fn threshold(&self) -> f64 {
        self.common.window.threshold() as f64 / ONE as f64
    }

    /// The window, for tests.
    #[cfg(test)]
    pub(super) fn window(&self) -> &Window {
        &self.common.window
    }

    /// What was done so far, over all transfers.
    pub fn counts(&self) -> Counts {
        self.common.counts
    }
}

#[cfg(test)]
mod tests {
    use super::super::bbr::Bbr;
    use super::super::receiver::Receiver;
    use super::*;

    /// Both ends with their memory on the heap, without that of outstanding segments.
    #[test]
    fn a_connection_takes_little_memory() {
        let ends = size_of::<Sender>() + size_of::<Receiver>();
        let timed = ends + size_of::<RackTlp>();
        let bbr = timed + size_of::<Bbr>();
        assert!(ends <= 448 && timed <= 1_024 && bbr <= 1_536, "{ends} {timed} {bbr}");
    }
}
