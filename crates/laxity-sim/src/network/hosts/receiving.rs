//! The receiving end of a TCP connection.

use laxity::units::Nanos;

use crate::tcp::{Ack, Acknowledging, Receiver, Segment, Variant};

/// The receiving end of a TCP connection, which knows from what comes which transfer is under way.
pub(crate) struct ReceivingEnd {
    pub receiver: Receiver,
    /// The latest transfer of which anything has come.
    pub transfer: u32,
    /// How long its acknowledgements are in bytes.
    pub ack_length: u32,
    acknowledging: Acknowledging,
    variant: Variant,
    expected: Option<Request>,
}

/// A transfer that is asked for by time, and complete when its last byte has arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub transfer: u32,
    /// When it was asked for.
    pub asked: Nanos,
    pub segments: u64,
}

impl ReceivingEnd {
    /// An end to which nothing has come.
    pub(crate) fn new(acknowledging: Acknowledging, variant: Variant, ack_length: u32) -> Self {
        let receiver = Receiver::new(acknowledging, variant);
        ReceivingEnd { receiver, transfer: 0, ack_length, acknowledging, variant, expected: None }
    }

    /// Looks at what a segment needs.
    pub(crate) fn touch(&self) -> u64 {
        self.receiver.touch() ^ u64::from(self.transfer) ^ u64::from(self.ack_length)
    }

    /// A transfer has begun of which nothing can have come yet: the one before is acknowledged.
    pub(crate) fn expect(&mut self, expected: Request) {
        self.expected = Some(expected);
    }

    /// Whether a transfer is under way of which the end is measured here.
    pub(crate) fn is_expecting(&self) -> bool {
        self.expected.is_some()
    }

    /// A segment of a transfer has come: how many are new by that, and what is answered. What is
    /// left of an earlier transfer is ignored.
    pub(crate) fn on_segment(
        &mut self,
        now: Nanos,
        transfer: u32,
        segment: &Segment,
    ) -> (u64, Option<Ack>) {
        let is_newer = transfer.wrapping_sub(self.transfer).cast_signed() > 0;
        if is_newer {
            self.transfer = transfer;
            self.receiver = Receiver::new(self.acknowledging, self.variant);
        }
        if transfer != self.transfer {
            return (0, None);
        }
        let before = self.receiver.received();
        let ack = self.receiver.on_segment(now, segment);
        (self.receiver.received() - before, ack)
    }

    /// How long the transfer took that is complete now, if its end is measured here.
    pub(crate) fn complete(&mut self, now: Nanos) -> Option<Nanos> {
        let has_come = |expected: &mut Request| {
            expected.transfer == self.transfer && expected.segments == self.receiver.delivered()
        };
        let expected = self.expected.take_if(has_come)?;
        Some(now.saturating_sub(expected.asked))
    }
}
