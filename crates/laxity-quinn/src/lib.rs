//! Datagrams of a QUIC connection by deadline, expiry and rank, in place of quinn's own queue.
//!
//! quinn queues datagrams first in, first out, and drops the oldest when there are too many. Here
//! they wait in a [deadline queue](laxity::deadline_queue) until quinn has room for the next one,
//! and quinn holds [one](SEND_BUFFER). So the datagram that goes next is chosen when the one before
//! it leaves. Two are out of reach of others that are more urgent: the one that quinn holds, and
//! the one that waits for its place.
//!
//! ```no_run
//! use std::time::{Duration, Instant};
//!
//! use laxity::deadline_queue::Rank;
//! use laxity_quinn::{Datagrams, Outgoing, transport};
//!
//! # async fn example(mut config: quinn::ServerConfig, endpoint: quinn::Endpoint) -> Option<()> {
//! config.transport_config(transport().into());
//! # let connection = endpoint.accept().await?.await.ok()?;
//! let datagrams = Datagrams::new(connection, 1000, |lost| println!("not sent: {:?}", lost.why));
//! let now = Instant::now();
//! let frame = Outgoing {
//!     bytes: vec![0; 1000].into(),
//!     rank: Rank::default(),
//!     deadline: Some(now + Duration::from_millis(20)),
//!     expires: Some(now + Duration::from_millis(100)),
//! };
//! if datagrams.will_arrive(&frame) {
//!     datagrams.send(frame).ok()?;
//! }
//! # None
//! # }
//! ```
//!
//! # What quinn does not say
//!
//! The rate is the window of the congestion control in a round-trip time. quinn does not say how
//! many bytes are in flight, so they are not counted: a forecast is of when a datagram leaves, and
//! a path that is already full delivers it later. Deadlines and expiries are those of leaving.
#![deny(missing_docs)]

mod sender;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use laxity::deadline_queue::{self, Budget, Datagram, DeadlineQueue, QueueFull, Rank, Ticket};
use laxity::units::{self, Nanos, Rate};
use quinn::{Connection, TransportConfig};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

/// The examples of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/deadline-queue.md")]
pub struct Guide;

/// The memory that quinn has for datagrams that wait, in bytes: one datagram of the usual size.
pub const SEND_BUFFER: usize = 1500;

/// Settings of a connection for which quinn holds one datagram at a time.
pub fn transport() -> TransportConfig {
    let mut config = TransportConfig::default();
    config.datagram_send_buffer_size(SEND_BUFFER);
    config
}

/// A datagram that is to be sent.
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "made by callers")]
pub struct Outgoing {
    /// Its bytes.
    pub bytes: Bytes,
    /// Where it stands among others.
    pub rank: Rank,
    /// When it is due; `None` if it only has a share of what others leave.
    pub deadline: Option<Instant>,
    /// From when on it is of no use; `None` if it always is.
    pub expires: Option<Instant>,
}

/// A datagram that is not sent.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "read by callers")]
pub struct Unsent {
    /// Its bytes.
    pub bytes: Bytes,
    /// Why.
    pub why: Why,
}

/// Why a datagram is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Why {
    /// It has expired.
    Expired,
    /// It was its turn, and it would have arrived after it expires.
    TooLate,
    /// It is longer than the path or the peer takes, or the peer takes none.
    Refused,
}

impl From<deadline_queue::Reason> for Why {
    fn from(reason: deadline_queue::Reason) -> Self {
        match reason {
            deadline_queue::Reason::Expired => Why::Expired,
            deadline_queue::Reason::TooLate => Why::TooLate,
        }
    }
}

/// The datagrams of a connection. Dropped, it ends, and what waits is not sent.
#[derive(Debug)]
pub struct Datagrams {
    shared: Arc<Shared>,
    task: AbortHandle,
}

impl Datagrams {
    /// Sends datagrams over a connection. At most `limit` of them wait. `back` is called with each
    /// that is not sent, on a task of the runtime.
    ///
    /// The connection has the settings of [`transport`].
    ///
    /// # Panics
    /// Outside of a Tokio runtime.
    pub fn new(
        connection: Connection,
        limit: usize,
        back: impl FnMut(Unsent) + Send + 'static,
    ) -> Self {
        let waiting = Waiting { queue: DeadlineQueue::new(limit), bytes: HashMap::new(), next: 0 };
        let (began, changed) = (Instant::now(), Notify::new());
        let shared = Shared { connection, began, waiting: Mutex::new(waiting), changed };
        let shared = Arc::new(shared);
        let task = tokio::spawn(sender::run(Arc::clone(&shared), back)).abort_handle();
        Datagrams { shared, task }
    }

    /// Takes in a datagram.
    ///
    /// # Errors
    /// If as many wait as may.
    pub fn send(&self, outgoing: Outgoing) -> Result<Ticket, QueueFull> {
        let mut waiting = self.shared.lock();
        let datagram = self.shared.datagram(&outgoing, waiting.next);
        let ticket = waiting.queue.push(datagram)?;
        waiting.bytes.insert(datagram.handle, outgoing.bytes);
        waiting.next += 1;
        drop(waiting);
        self.shared.changed.notify_one();
        Ok(ticket)
    }

    /// Whether a datagram would leave by its deadline, and before it expires, if it were sent now.
    pub fn will_arrive(&self, outgoing: &Outgoing) -> bool {
        let waiting = self.shared.lock();
        let datagram = self.shared.datagram(outgoing, waiting.next);
        waiting.queue.will_arrive(self.shared.now(), &datagram, self.shared.budget())
    }

    /// Takes out a datagram that waits; `None` if it waits no more.
    pub fn withdraw(&self, ticket: Ticket) -> Option<Bytes> {
        let mut waiting = self.shared.lock();
        let datagram = waiting.queue.withdraw(ticket)?;
        waiting.bytes.remove(&datagram.handle)
    }

    /// How many datagrams wait.
    pub fn waiting(&self) -> usize {
        self.shared.lock().queue.len()
    }
}

impl Drop for Datagrams {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What those who send share with the task.
#[derive(Debug)]
struct Shared {
    connection: Connection,
    /// Times of the queue count from here.
    began: Instant,
    waiting: Mutex<Waiting>,
    changed: Notify,
}

#[derive(Debug)]
struct Waiting {
    queue: DeadlineQueue,
    /// By handle.
    bytes: HashMap<u64, Bytes>,
    /// The handle of the next datagram.
    next: u64,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Nanos {
        self.time(Instant::now())
    }

    fn time(&self, at: Instant) -> Nanos {
        let since = at.saturating_duration_since(self.began).as_nanos();
        Nanos(u64::try_from(since).unwrap_or(u64::MAX))
    }

    fn datagram(&self, outgoing: &Outgoing, handle: u64) -> Datagram {
        let Outgoing { bytes, rank, deadline, expires } = outgoing;
        Datagram {
            handle,
            length: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
            rank: *rank,
            deadline: deadline.map(|at| self.time(at)),
            expires: expires.map(|at| self.time(at)),
        }
    }

    /// What the congestion control lets out: a window in a round-trip time.
    fn budget(&self) -> Budget {
        let path = self.connection.stats().path;
        let bits = u128::from(path.cwnd) * 8_000_000_000;
        let rate = bits.checked_div(path.rtt.as_nanos());
        let rate = rate.map(|rate| Rate(u64::try_from(rate).unwrap_or(u64::MAX)));
        let (bytes, in_flight) = (units::Bytes(u64::MAX), units::Bytes(0));
        Budget { bytes, rate, in_flight }
    }
}
