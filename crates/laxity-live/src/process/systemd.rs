//! What systemd is told of a service (`sd_notify(3)`).
//!
//! The socket stays open: once privileges are given up, none can be opened.

use std::env;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use laxity::units::Nanos;
use laxity_linux::clock::Clock;

/// A service as systemd sees it; silent where nobody asked to be told.
pub(crate) struct Service {
    socket: Option<UnixDatagram>,
    /// So often it is to say that it is alive.
    period: Option<Nanos>,
    said: Nanos,
}

impl Service {
    /// The service that the environment speaks of: `NOTIFY_SOCKET` and `WATCHDOG_USEC`.
    pub(crate) fn from_environment() -> Self {
        let socket = env::var_os("NOTIFY_SOCKET").and_then(|path| connect(path.as_bytes()));
        let limit = env::var("WATCHDOG_USEC").ok().and_then(|limit| limit.parse::<u64>().ok());
        // Half of it leaves room for a late wake-up.
        let period = limit.map(|limit| Nanos(limit.saturating_mul(500)));
        Service { socket, period, said: Nanos::ZERO }
    }

    /// It is at work, or has read its plans again.
    pub(crate) fn ready(&self, status: &str) {
        self.tell(&format!("READY=1\nSTATUS={status}"));
    }

    /// It reads its plans again.
    pub(crate) fn reloading(&self) {
        let now = Clock::Monotonic.now().0 / 1000;
        self.tell(&format!("RELOADING=1\nMONOTONIC_USEC={now}"));
    }

    /// It sends what is queued and ends.
    pub(crate) fn stopping(&self) {
        self.tell("STOPPING=1");
    }

    /// It is alive. Call it as often as you like.
    pub(crate) fn alive(&mut self) {
        let Some(period) = self.period else { return };
        let now = Clock::Monotonic.now();
        if now >= self.said.saturating_add(period) {
            self.said = now;
            self.tell("WATCHDOG=1");
        }
    }

    fn tell(&self, what: &str) {
        if let Some(socket) = &self.socket {
            // The receiver may have exited.
            let _ = socket.send(what.as_bytes());
        }
    }
}

/// A path, or after an `@` a name without one.
fn connect(path: &[u8]) -> Option<UnixDatagram> {
    let address = match path.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(path)),
    };
    let socket = UnixDatagram::unbound().ok()?;
    socket.set_nonblocking(true).ok()?;
    socket.connect_addr(&address.ok()?).ok()?;
    Some(socket)
}
