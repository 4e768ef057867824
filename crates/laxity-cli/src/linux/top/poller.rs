//! A thread that asks what runs, so that keys are heard meanwhile.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use laxity_live::client::{Client, ClientError};
use laxity_live::status::Status;

/// So often it asks.
const EVERY: Duration = Duration::from_secs(1);

/// What came of asking.
pub(super) enum Reply {
    /// What the link is like.
    Status(Box<Status>),
    /// What came of a reload.
    Reloaded(Result<(), String>),
    /// Nobody answers.
    Gone(ClientError),
}

/// The thread, as seen by who waits for it.
pub(super) struct Poller {
    reload: Sender<()>,
    heard: Receiver<Reply>,
}

impl Poller {
    /// Asks from now on, until this is dropped.
    pub(super) fn begin(client: Client) -> Self {
        let (reload, wishes) = mpsc::channel();
        let (tell, heard) = mpsc::channel();
        thread::spawn(move || {
            loop {
                let answer = match wishes.recv_timeout(EVERY) {
                    Ok(()) => client.reload().map(Reply::Reloaded),
                    Err(RecvTimeoutError::Timeout) => {
                        client.status().map(|status| Reply::Status(Box::new(status)))
                    }
                    Err(RecvTimeoutError::Disconnected) => return,
                };
                if tell.send(answer.unwrap_or_else(Reply::Gone)).is_err() {
                    return;
                }
            }
        });
        Poller { reload, heard }
    }

    /// What has been heard since this was asked last.
    pub(super) fn heard(&self) -> impl Iterator<Item = Reply> {
        self.heard.try_iter()
    }

    /// Has the plans read again; what comes of it is heard.
    pub(super) fn reload(&self) {
        // The thread is there as long as this is.
        let _ = self.reload.send(());
    }
}
