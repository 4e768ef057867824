//! What others ask for while a link is looked after.

use std::sync::mpsc::Sender;

use crate::status::Status;

/// A request to the process that looks after a link. The requester need not await the answer.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "made by whoever asks")]
pub enum Request {
    /// What the link is like now.
    Status(Sender<Status>),
    /// To read the plans again and follow them. The answer says why they are not followed.
    Reload(Sender<Result<(), String>>),
    /// To send what is queued, and end.
    End,
}
