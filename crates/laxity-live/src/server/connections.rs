//! Connections: who may have one, how many, and how long.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::answers::{Answering, Door};
use super::guard::Names;
use super::sight::Sight;
use super::{CONNECTIONS, Listeners, PATIENCE, READERS};
use crate::reservations::Clients;

/// So long a handshake of TLS may take.
const HANDSHAKE: Duration = Duration::from_secs(5);
/// So long the head of a request may take.
const HEAD: Duration = Duration::from_secs(5);
/// The largest head of a request, in bytes and in header lines.
const HEAD_BYTES: usize = 16 * 1024;
const HEAD_LINES: usize = 64;
/// How long a connection of the control socket may last: a reload answers when plans are proved.
const CONTROL_PATIENCE: Duration = Duration::from_secs(660);
/// The most connections of one machine that orders.
const CONNECTIONS_OF_ONE: usize = 4;
/// How long it waits when there are no descriptors left for connections.
const PAUSE: Duration = Duration::from_millis(100);

/// What accepts connections.
pub(super) struct Connections {
    /// With the user whom it belongs to.
    control: Option<(UnixListener, u32)>,
    network: Option<(TcpListener, Names)>,
    orders: Option<(TcpListener, Clients)>,
    sight: Arc<Sight>,
}

impl Connections {
    /// To be called within a runtime, with the privilege to listen.
    pub(super) fn new(listeners: Listeners, sight: Sight) -> io::Result<Self> {
        let control = listeners.control.map(|control| {
            let (listener, owner) = control.into_listener();
            UnixListener::from_std(listener).map(|listener| (listener, owner))
        });
        let network = listeners.network.map(|listener| {
            listener.set_nonblocking(true)?;
            let names = Names::new(listener.local_addr()?);
            TcpListener::from_std(listener).map(|listener| (listener, names))
        });
        let orders = listeners.orders.map(|(listener, clients)| {
            listener.set_nonblocking(true)?;
            TcpListener::from_std(listener).map(|listener| (listener, clients))
        });
        let (control, network) = (control.transpose()?, network.transpose()?);
        Ok(Connections { control, network, orders: orders.transpose()?, sight: Arc::new(sight) })
    }

    /// Serves until it is told to end.
    pub(super) async fn until(self, end: oneshot::Receiver<()>) {
        let Connections { control, network, orders, sight } = self;
        if let Some((listener, owner)) = control {
            tokio::spawn(control_of(listener, owner, sight.clone()));
        }
        if let Some((listener, names)) = network {
            let remembering = sight.clone();
            tokio::spawn(async move { remembering.remember().await });
            tokio::spawn(network_of(listener, Arc::new(names), sight.clone()));
        }
        if let Some((listener, clients)) = orders {
            tokio::spawn(orders_of(listener, Arc::new(clients), sight));
        }
        // A dropped sender ends the server as well.
        let _ = end.await;
    }
}

async fn control_of(listener: UnixListener, owner: u32, sight: Arc<Sight>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    while let Ok(place) = places.clone().acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        // The permissions of the socket say the same, unless someone has changed them.
        let user = stream.peer_cred().map(|peer| peer.uid());
        if user.is_ok_and(|user| user == owner || user == 0) {
            let answering = Answering { door: Door::Control, sight: sight.clone() };
            let who = "a user of the control socket".to_string();
            serve(stream, place, answering, CONTROL_PATIENCE, who);
        }
    }
}

async fn network_of(listener: TcpListener, names: Arc<Names>, sight: Arc<Sight>) {
    let mut open = VecDeque::new();
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        make_place(&mut open);
        let answering = Answering { door: Door::Network(names.clone()), sight: sight.clone() };
        open.push_back(serve(stream, (), answering, PATIENCE, peer.to_string()));
    }
}

/// Cuts off the oldest connection if there are as many as there may be. A quick reader is served at
/// once in this way, however many slow ones there are: it is the oldest only when as many have come
/// behind it.
fn make_place(open: &mut VecDeque<AbortHandle>) {
    open.retain(|connection| !connection.is_finished());
    if open.len() >= READERS
        && let Some(oldest) = open.pop_front()
    {
        oldest.abort();
    }
}

async fn orders_of(listener: TcpListener, clients: Arc<Clients>, sight: Arc<Sight>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let machines = Machines::default();
    let acceptor = clients.tls().cloned().map(TlsAcceptor::from);
    while let Ok(place) = places.clone().acquire_owned().await {
        let Ok((stream, peer)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        // One that has its share of connections is cut off, so that others find a place.
        let Some(share) = machines.enter(peer.ip()) else { continue };
        let (held, who) = ((place, share), peer.to_string());
        let (clients, sight) = (clients.clone(), sight.clone());
        let answering =
            |certificate| Answering { door: Door::Clients(clients, certificate), sight };
        match &acceptor {
            None => drop(serve(stream, held, answering(None), CONTROL_PATIENCE, who)),
            Some(acceptor) => {
                let handshake = timeout(HANDSHAKE, acceptor.accept(stream));
                tokio::spawn(async move {
                    // A client that speaks no TLS or has a wrong certificate is cut off.
                    let Ok(Ok(stream)) = handshake.await else { return };
                    let chain = stream.get_ref().1.peer_certificates();
                    let certificate = chain.and_then(<[_]>::first).cloned();
                    serve(stream, held, answering(certificate), CONTROL_PATIENCE, who);
                });
            }
        }
    }
}

/// The open connections of each machine.
#[derive(Clone, Default)]
struct Machines(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// A connection of a machine, until it is dropped.
struct Share {
    machines: Machines,
    machine: IpAddr,
}

impl Machines {
    /// `None` for a machine that has as many connections as it may.
    fn enter(&self, machine: IpAddr) -> Option<Share> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(machine).or_default();
        if *count >= CONNECTIONS_OF_ONE {
            return None;
        }
        *count += 1;
        Some(Share { machines: self.clone(), machine })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut open = self.machines.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.machine) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.machine);
            }
        }
    }
}

/// Answers one request. Aborting what it returns cuts the connection off.
fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    place: impl Send + 'static,
    answering: Answering,
    patience: Duration,
    who: String,
) -> AbortHandle {
    let served = tokio::spawn(async move {
        let _place = place;
        let sight = answering.sight.clone();
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let (answering, (head, body)) = (answering.clone(), request.into_parts());
            async move { Ok::<_, Infallible>(answering.answer(&head, body).await) }
        });
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEAD);
        http.max_buf_size(HEAD_BYTES).max_headers(HEAD_LINES).keep_alive(false);
        if is_late(patience, http.serve_connection(TokioIo::new(stream), service)).await {
            sight.slow_reader(&who);
        }
    });
    served.abort_handle()
}

/// Who breaks off, or does not speak HTTP, is no concern of ours.
async fn is_late<E>(patience: Duration, served: impl Future<Output = Result<(), E>>) -> bool {
    timeout(patience, served).await.is_err()
}
