//! Serves the measurements of a link over HTTP.
//!
//! | | over the control socket | over TCP |
//! | --- | --- | --- |
//! | `GET /status` | [`Status`](crate::status::Status) as JSON | the same |
//! | `GET /history` | chart data of the last hour, if it listens on TCP | the same |
//! | `GET /past?hour`, `?day`, `?week` | [`PastStatus`](crate::status::PastStatus) as JSON, if a history is kept | the same |
//! | `GET /metrics` | [`metrics`](crate::metrics) for Prometheus | the same |
//! | `GET /` | a page with charts | the same |
//! | `POST /reload` | reads the plans again; 409 and the reason if they are not followed | |
//! | `POST /reservations` | carries out an [`Order`](crate::reservations::Order) | |
//!
//! The control socket is a Unix socket. Only its user and root may connect to it and reload. The
//! TCP listener changes nothing, and so needs no authentication. Clients that have a token or a
//! certificate order reservations at a listener of their own, with `POST /reservations`;
//! `GET /openapi.json` describes it. That listener speaks TLS if the clients say so.
//!
//! The server has its own thread and sandbox and reaches the link only through [`Request`]s. Every
//! connection carries one request. At most [`READERS`] read over TCP at once: one more has the
//! oldest cut off. Of other kinds at most [`CONNECTIONS`] are open at once; further ones wait. The
//! server cuts off a client that has not taken the answer after [`PATIENCE`]. It answers frequent
//! requests from a status that is up to [`FRESH`] old. A client that reads slowly or too much
//! therefore costs this thread some memory and does not affect the link.

mod answers;
mod connections;
pub(crate) mod control;
mod guard;
mod orders;
mod page;
mod past;
mod sight;
#[cfg(test)]
mod tests;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use laxity_linux::sandbox::Sandbox;
use thiserror::Error;
use tokio::runtime;
use tokio::sync::oneshot;

use crate::process::Request;
use crate::reservations::Clients;
use sight::Sight;

pub use control::{ControlSocket, control_socket_of, watch_socket_of};

/// Maximum number of open connections over TCP that read.
pub const READERS: usize = 32;
/// Maximum number of open connections of another kind.
pub const CONNECTIONS: usize = 16;
/// So long a connection over TCP may last.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// How old an answer may be.
pub const FRESH: Duration = Duration::from_millis(50);

/// Where a server listens.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "made by whoever starts a server")]
pub struct Listeners {
    /// For the user who runs it.
    pub control: Option<ControlSocket>,
    /// For everyone who may see.
    pub network: Option<TcpListener>,
    /// For clients that may order reservations.
    pub orders: Option<(TcpListener, Clients)>,
}

/// A server at work. It ends when this is dropped, and its control socket is removed.
#[derive(Debug)]
pub struct Server {
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Why there is no server.
#[derive(Debug, Error)]
pub enum ServerError {
    /// Another process listens there.
    #[error("{} is in use: another laxity listens there; choose another with --control", .0.display())]
    InUse(PathBuf),
    /// The system does not let it listen.
    #[error("cannot listen at {at}: {cause}")]
    Listen {
        /// Where.
        at: String,
        /// Why.
        cause: io::Error,
    },
    /// A thread that listens cannot be had.
    #[error("cannot start a server: {0}")]
    Start(#[from] io::Error),
    /// It does not get rid of its privileges.
    #[error(transparent)]
    Privileges(#[from] laxity_linux::Error),
}

impl Listeners {
    /// Listens at a TCP address.
    ///
    /// # Errors
    /// If that is in use, not one of this machine, or not allowed.
    pub fn listen(address: SocketAddr) -> Result<TcpListener, ServerError> {
        let refused = |cause| ServerError::Listen { at: address.to_string(), cause };
        TcpListener::bind(address).map_err(refused)
    }

    /// Says where it listens, one sentence each.
    pub fn said(&self) -> Vec<String> {
        let mut said = Vec::new();
        if let Some(control) = &self.control {
            said.push(format!("controlled at {}", control.path().display()));
        }
        if let Some(Ok(address)) = self.network.as_ref().map(TcpListener::local_addr) {
            said.push(format!("page, status and metrics at http://{address}/"));
            if !address.ip().is_loopback() {
                said.push(format!(
                    "{address} is open to other machines: whoever reaches it sees all that is measured"
                ));
            }
        }
        if let Some((listener, clients)) = &self.orders
            && let Ok(address) = listener.local_addr()
        {
            let is_encrypted = clients.tls().is_some();
            let scheme = if is_encrypted { "https" } else { "http" };
            said.push(format!("reservations are taken at {scheme}://{address}/reservations"));
            if !is_encrypted && !address.ip().is_loopback() {
                said.push(format!(
                    "tokens are not encrypted on their way to {address}: write a table [tls] into the file of clients"
                ));
            }
        }
        said
    }
}

impl Server {
    /// Starts a server that passes requests to the receiver of `requests`.
    ///
    /// Call it before the calling thread gives up its privileges. The server calls `say` on its own
    /// thread.
    ///
    /// `colours` is the style sheet with the page's colours. It sets the variables `--paper`,
    /// `--ink`, `--soft`, `--line`, `--bad` and `--shade`, and `--subject` and `--dash` in the CSS
    /// classes `subject-0`, `subject-1` and so on.
    ///
    /// # Errors
    /// If the thread cannot be started or does not get rid of its privileges.
    pub fn start(
        listeners: Listeners,
        colours: String,
        requests: Sender<Request>,
        say: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Server, ServerError> {
        let (end, ended) = oneshot::channel();
        let (ready, is_ready) = mpsc::channel();
        let socket = listeners.control.as_ref().map(|control| control.path().to_path_buf());
        let sight = Sight::new(colours, requests, say);
        let serve = move || {
            match begin(listeners, sight) {
                Ok((runtime, connections)) => {
                    // The caller blocks on this result, so sending it cannot fail.
                    let _ = ready.send(Ok(()));
                    runtime.block_on(connections.until(ended));
                    // Whose answer is under way is cut off.
                    drop(runtime);
                    if let Some(socket) = socket {
                        // It may have been removed by hand.
                        let _ = std::fs::remove_file(socket);
                    }
                }
                Err(error) => drop(ready.send(Err(error))),
            }
        };
        let thread = thread::Builder::new().name("server".into()).spawn(serve)?;
        let server = Server { end: Some(end), thread: Some(thread) };
        let gone = |_| io::Error::other("its thread ended at once");
        is_ready.recv().map_err(gone)??;
        Ok(server)
    }
}

/// All that takes privileges or files, and then gives them up.
fn begin(
    listeners: Listeners,
    sight: Sight,
) -> Result<(runtime::Runtime, connections::Connections), ServerError> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let folder = listeners.control.as_ref().map(ControlSocket::folder);
    let connections = {
        let _within = runtime.enter();
        connections::Connections::new(listeners, sight)?
    };
    // That it can remove the socket.
    folder.into_iter().fold(Sandbox::new().server(), Sandbox::remove).enter()?;
    Ok((runtime, connections))
}

impl Drop for Server {
    fn drop(&mut self) {
        // A thread that is gone is at its end, too.
        let _ = self.end.take().map(|end| end.send(()));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
