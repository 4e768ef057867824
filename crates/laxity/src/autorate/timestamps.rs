//! Round trips of other people's packets, from the time stamps of TCP.
//!
//! A segment carries a value that its receiver echoes (RFC 7323, section 3). Who sees both
//! directions of a connection can tell how long that took, without a probe of its own (Nichols
//! 2018, "passive ping"). The echo of a value is that of the first segment that carried it.

use alloc::vec::Vec;

use super::Autorate;
use crate::units::Nanos;

/// Values of a connection that wait for their echo.
const PENDING: usize = 8;
/// A connection whose place another one wants is given up after so long without an echo.
const IDLE: Nanos = Nanos(1_000_000_000);
/// A value that was not echoed for so long is forgotten.
const LOST: Nanos = Nanos(2_000_000_000);

/// Connections whose time stamps are watched, at most [`Autorate::PATHS`], in memory that is taken
/// once.
#[derive(Clone, Debug)]
pub struct Timestamps {
    connections: Vec<Connection>,
    /// The least time between two values of a connection that are watched.
    spacing: Nanos,
}

/// A segment whose value was echoed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Echo {
    /// The connection, as [`Autorate::observe`] numbers paths.
    pub path: u32,
    /// Whether it is the first echo of this connection.
    pub is_new: bool,
    /// When the segment was sent.
    pub sent: Nanos,
    /// What the shaper had sent by then.
    pub carried: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Connection {
    key: u64,
    is_new: bool,
    /// When a value was put down last, and when one was echoed.
    put_down: Nanos,
    echoed: Nanos,
    /// The latest value that left, whether it is watched or not.
    highest: Option<u32>,
    pending: [Option<Pending>; PENDING],
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    value: u32,
    sent: Nanos,
    carried: u64,
}

impl Timestamps {
    /// Watches no connection yet, and of each a value at most once in a `spacing`.
    pub fn new(spacing: Nanos) -> Self {
        let connections = alloc::vec![Connection::default(); Autorate::PATHS as usize];
        Timestamps { connections, spacing }
    }

    /// A segment with data leaves with this value, when the shaper has `carried` this number of
    /// bytes. `key` is a hash of its connection that both directions have in common.
    pub fn leaves(&mut self, now: Nanos, key: u64, value: u32, carried: u64) {
        let connection = &mut self.connections[place(key)];
        if connection.key != key {
            let seen = connection.put_down.max(connection.echoed);
            if connection.key != 0 && now.saturating_sub(seen) < IDLE {
                return;
            }
            *connection = Connection { key, is_new: true, ..Connection::default() };
        }
        if connection.highest.is_some_and(|highest| !is_after(value, highest)) {
            return;
        }
        let is_first = connection.highest.replace(value).is_none();
        if !is_first && now.saturating_sub(connection.put_down) < self.spacing {
            return;
        }
        let is_free = |pending: &&mut Option<Pending>| {
            pending.is_none_or(|pending| now.saturating_sub(pending.sent) > LOST)
        };
        if let Some(free) = connection.pending.iter_mut().find(is_free) {
            *free = Some(Pending { value, sent: now, carried });
            connection.put_down = now;
        }
    }

    /// A segment comes back that echoes this value.
    pub fn comes_back(&mut self, now: Nanos, key: u64, echo: u32) -> Option<Echo> {
        let path = place(key);
        let connection = &mut self.connections[path];
        if connection.key != key {
            return None;
        }
        let is_echoed = |pending: &Option<Pending>| pending.is_some_and(|one| one.value == echo);
        let found = connection.pending.iter().copied().find(is_echoed).flatten()?;
        // What was sent before will not be echoed any more.
        for pending in &mut connection.pending {
            *pending = pending.filter(|pending| is_after(pending.value, echo));
        }
        let is_new = core::mem::take(&mut connection.is_new);
        connection.echoed = now;
        Some(Echo { path: path as u32, is_new, sent: found.sent, carried: found.carried })
    }
}

fn place(key: u64) -> usize {
    (key % u64::from(Autorate::PATHS)) as usize
}

/// Whether a value is later than another one on their circle (RFC 7323, section 5.2).
fn is_after(value: u32, other: u32) -> bool {
    (value.wrapping_sub(other) as i32) > 0
}
