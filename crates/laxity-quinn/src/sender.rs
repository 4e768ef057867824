//! The task that gives datagrams to quinn.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use laxity::deadline_queue::{Datagram, Reason, Sent};
use laxity::units::Nanos;
use quinn::SendDatagramError;
use tokio::time::Instant;

use super::{Shared, Unsent, Waiting, Why};

/// Sends until the connection ends. What waits then is handed back no more.
pub(super) async fn run(shared: Arc<Shared>, mut back: impl FnMut(Unsent)) {
    loop {
        let next = shared.next(&mut back);
        let sent = match next {
            Some((datagram, bytes)) => shared.send(datagram, bytes, &mut back).await,
            None => shared.wait().await,
        };
        if sent.is_err() {
            return;
        }
    }
}

/// The connection is no more.
struct Ended;

impl Shared {
    /// Takes out the datagram whose turn it is.
    fn next(&self, back: &mut impl FnMut(Unsent)) -> Option<(Datagram, Bytes)> {
        let (now, budget) = (self.now(), self.budget());
        self.change(back, |Waiting { queue, bytes, .. }, lost| {
            let Sent { datagram, .. } = queue.pop(now, budget, lost)?;
            Some((datagram, bytes.remove(&datagram.handle)?))
        })
    }

    /// Changes what waits. What it loses is handed back when others can use it again.
    fn change<T>(
        &self,
        back: &mut impl FnMut(Unsent),
        change: impl FnOnce(&mut Waiting, &mut dyn FnMut(Datagram, Reason)) -> T,
    ) -> T {
        let mut lost = Vec::new();
        let mut waiting = self.lock();
        let result = change(&mut waiting, &mut |datagram, why| lost.push((datagram, why)));
        let bytes = lost.into_iter().filter_map(|(Datagram { handle, .. }, why)| {
            Some(Unsent { bytes: waiting.bytes.remove(&handle)?, why: why.into() })
        });
        let unsent: Vec<Unsent> = bytes.collect();
        drop(waiting);
        unsent.into_iter().for_each(back);
        result
    }

    /// Waits until quinn has room for a datagram, and gives it to it, unless it expires before.
    async fn send(
        &self,
        datagram: Datagram,
        bytes: Bytes,
        back: &mut impl FnMut(Unsent),
    ) -> Result<(), Ended> {
        let mut sending = pin!(self.connection.send_datagram_wait(bytes.clone()));
        loop {
            let expiry = self.lock().queue.next_expiry().into_iter().chain(datagram.expires).min();
            tokio::select! {
                biased;
                sent = &mut sending => {
                    return match sent {
                        Ok(()) => Ok(()),
                        Err(SendDatagramError::ConnectionLost(_)) => Err(Ended),
                        Err(_) => {
                            back(Unsent { bytes, why: Why::Refused });
                            Ok(())
                        }
                    };
                }
                () = self.at(expiry) => {
                    self.change(back, |waiting, lost| waiting.queue.expire(self.now(), lost));
                    if datagram.expires.is_some_and(|expires| expires <= self.now()) {
                        back(Unsent { bytes, why: Why::Expired });
                        return Ok(());
                    }
                }
                () = self.changed.notified() => {}
            }
        }
    }

    /// Waits until another datagram comes or one expires.
    async fn wait(&self) -> Result<(), Ended> {
        let expiry = self.lock().queue.next_expiry();
        tokio::select! {
            () = self.changed.notified() => Ok(()),
            () = self.at(expiry) => Ok(()),
            _ = self.connection.closed() => Err(Ended),
        }
    }

    /// Waits for a time of the queue; without one, for ever.
    async fn at(&self, time: Option<Nanos>) {
        match time {
            Some(Nanos(time)) => {
                let at = self.began.checked_add(Duration::from_nanos(time));
                match at {
                    Some(at) => tokio::time::sleep_until(Instant::from_std(at)).await,
                    None => std::future::pending().await,
                }
            }
            None => std::future::pending().await,
        }
    }
}
