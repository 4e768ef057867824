//! The receiving end of a TCP connection.

use laxity::units::Nanos;

use crate::network::ids::TransferId;
use crate::tcp::{Ack, Acknowledging, Receiver, Segment, Variant};

/// The receiving end of a TCP connection. Segments say to which transfer they belong.
pub(crate) struct ReceivingEnd {
    pub receiver: Receiver,
    /// The latest transfer with a segment that has come; 0 before any.
    pub transfer: TransferId,
    /// The length of its acknowledgements in bytes.
    pub ack_length: u32,
    acknowledging: Acknowledging,
    variant: Variant,
    expected: Option<Request>,
}

/// A transfer that was requested by time. It is complete when its last byte has arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub transfer: TransferId,
    /// When it was requested.
    pub asked: Nanos,
    pub segments: u64,
}

impl ReceivingEnd {
    /// A receiving end before any segment.
    pub(crate) fn new(acknowledging: Acknowledging, variant: Variant, ack_length: u32) -> Self {
        let receiver = Receiver::new(acknowledging, variant);
        ReceivingEnd {
            receiver,
            transfer: TransferId(0),
            ack_length,
            acknowledging,
            variant,
            expected: None,
        }
    }

    /// Reads what a segment needs into the cache.
    pub(crate) fn touch(&self) -> u64 {
        self.receiver.touch() ^ u64::from(self.transfer.0) ^ u64::from(self.ack_length)
    }

    /// A requested transfer begins. All before it is acknowledged.
    pub(crate) fn expect(&mut self, expected: Request) {
        self.expected = Some(expected);
    }

    /// Whether a requested transfer is not complete.
    pub(crate) fn is_expecting(&self) -> bool {
        self.expected.is_some()
    }

    /// Takes a segment of a transfer; returns the number of new segments and the acknowledgement.
    /// Segments of earlier transfers are ignored.
    pub(crate) fn on_segment(
        &mut self,
        now: Nanos,
        transfer: TransferId,
        segment: &Segment,
    ) -> (u64, Option<Ack>) {
        if transfer.is_after(self.transfer) {
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

    /// The duration of the requested transfer that is complete now.
    pub(crate) fn complete(&mut self, now: Nanos) -> Option<Nanos> {
        let has_come = |expected: &mut Request| {
            expected.transfer == self.transfer && expected.segments == self.receiver.delivered()
        };
        let expected = self.expected.take_if(has_come)?;
        Some(now.saturating_sub(expected.asked))
    }
}
