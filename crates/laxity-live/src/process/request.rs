//! What others ask for while a link is looked after.

use std::sync::mpsc::Sender;

use crate::reservations::{Answer, Order};
use crate::status::{PastSpan, PastStatus, Status};

/// A request to the process that looks after a link. The requester need not await the answer.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "made by whoever asks")]
pub enum Request {
    /// What the link is like now.
    Status(Sender<Status>),
    /// What there is of a history, none where there is no history.
    Past {
        /// How far back.
        span: PastSpan,
        /// The largest number of points.
        most: u64,
        /// Who waits for it.
        answer: Sender<Option<PastStatus>>,
    },
    /// To read the plans again and follow them. The answer says why they are not followed.
    Reload(Sender<Result<(), String>>),
    /// To make, change or list reservations. The answer comes when the plan with them is followed.
    Order(Order, Sender<Answer>),
    /// To send what is queued, and end.
    End,
}
