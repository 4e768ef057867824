//! Who may give orders over the network, and how much each of them may ask.

#[cfg(test)]
pub(crate) mod authority;
mod file;
#[cfg(test)]
mod tests;
mod tls;

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use laxity_answers::reservations::Granted;
use rustls::ServerConfig;
use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::ParsedCertificate;
use thiserror::Error;
use tokio::sync::{Mutex, MutexGuard};

use super::{Answer, Order, Reservation};
use crate::file::folder_of;

/// The clients of a link.
///
/// Reservations of a client are classes `CLIENT/NAME` of the plan. It sees, renews and releases no
/// others.
#[derive(Debug)]
pub struct Clients {
    clients: Vec<Client>,
    tls: Option<Arc<ServerConfig>>,
}

/// Someone who knows a token or has the key of a certificate.
#[derive(Debug)]
pub(crate) struct Client {
    name: String,
    token: Option<String>,
    /// The name in its certificate.
    dns_name: Option<ServerName<'static>>,
    /// The most reservations at once.
    most: usize,
    /// Held while an order of this client is carried out, so that its reservations are counted
    /// right.
    allowance: Mutex<Allowance>,
}

/// How many orders a client may give now: a token bucket.
#[derive(Debug)]
pub(crate) struct Allowance {
    a_second: u32,
    /// Orders that may come at once, as of `at`.
    orders: f64,
    at: Instant,
}

/// Why nobody may give orders over the network.
#[derive(Debug, Error)]
#[error("{}: {why}", .path.display())]
pub struct ClientsError {
    path: PathBuf,
    why: String,
}

impl ClientsError {
    fn new(path: &Path, why: impl Display) -> ClientsError {
        ClientsError { path: path.to_path_buf(), why: why.to_string() }
    }
}

impl Clients {
    /// Reads a TOML file with a table `[client.NAME]` for each client: `token`, or `dns-name`, or
    /// both, and if others than 256 and 20 are meant, `reservations` at once and
    /// `orders-per-second`.
    ///
    /// A table `[tls]` has orders come over TLS. It names files in PEM, relative to the folder of
    /// this one: `certificate` and `key` of the listener, and as `clients` the authorities that
    /// sign certificates of clients. `dns-name` is a name in the certificate of a client (subject
    /// alternative name, RFC 5280, Section 4.2.1.6).
    ///
    /// # Errors
    /// If there is no such file, others than its owner may read it, or it does not name clients
    /// with different tokens of at least 32 characters and different names. The same if a file of
    /// `[tls]` cannot be read, others may read the key, or it is not that of the certificate.
    pub fn read(path: &Path) -> Result<Clients, ClientsError> {
        let parsed = file::parse(&file::secret_text(path)?);
        let (clients, tls) = parsed.map_err(|why| ClientsError::new(path, why))?;
        let tls = tls.map(|tls| tls.config(&folder_of(path))).transpose()?;
        Ok(Clients { clients, tls })
    }

    /// How the listener speaks TLS, if it does.
    pub(crate) fn tls(&self) -> Option<&Arc<ServerConfig>> {
        self.tls.as_ref()
    }

    /// Who has a token. How long this takes does not depend on how much of a token is right.
    pub(crate) fn by_token(&self, token: &str) -> Option<&Client> {
        let mut found = None;
        for client in &self.clients {
            let Some(own) = &client.token else { continue };
            let pairs = own.bytes().zip(token.bytes());
            let differ = pairs.fold(0, |differ, (one, other)| differ | (one ^ other));
            if differ == 0 && own.len() == token.len() {
                found = Some(client);
            }
        }
        found
    }

    /// Who is named in a certificate that an authority of clients has signed. One that names
    /// several clients is nobody's.
    pub(crate) fn by_certificate(&self, certificate: &CertificateDer<'_>) -> Option<&Client> {
        let certificate = ParsedCertificate::try_from(certificate).ok()?;
        let mut named = self.clients.iter().filter(|client| {
            let name = client.dns_name.as_ref();
            name.is_some_and(|name| verify_server_name(&certificate, name).is_ok())
        });
        let client = named.next()?;
        named.next().is_none().then_some(client)
    }
}

impl Client {
    /// The turn to give an order, or how long to wait for it.
    pub(crate) async fn turn(&self) -> Result<MutexGuard<'_, Allowance>, Duration> {
        let mut allowance = self.allowance.lock().await;
        match allowance.take(Instant::now()) {
            Ok(()) => Ok(allowance),
            Err(wait) => Err(wait),
        }
    }

    /// The most reservations at once.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// An order with the names of classes.
    pub(crate) fn order(&self, mut order: Order) -> Order {
        let name = match &mut order {
            Order::Reserve(wish) => &mut wish.name,
            Order::Change { name, .. }
            | Order::Commit { name }
            | Order::Renew { name, .. }
            | Order::Release { name } => name,
            Order::List => return order,
        };
        *name = format!("{}/{name}", self.name);
        order
    }

    /// An answer with the names that the client has given, and nothing of others.
    pub(crate) fn answer(&self, answer: Answer) -> Answer {
        match answer {
            Answer::Granted(granted) => Answer::Granted(self.own_granted(granted)),
            Answer::Changed(changed) => Answer::Changed(self.own_granted(changed)),
            Answer::Listed { reservations } => {
                let own = |reservation: Reservation| {
                    let name = self.own(&reservation.name)?.to_string();
                    Some(Reservation { name, ..reservation })
                };
                Answer::Listed { reservations: reservations.into_iter().filter_map(own).collect() }
            }
            Answer::Done | Answer::Refused(_) => answer,
        }
    }

    fn own_granted(&self, granted: Granted) -> Granted {
        let name = self.own(&granted.name).unwrap_or_default().to_string();
        Granted { name, ..granted }
    }

    fn own<'a>(&self, class: &'a str) -> Option<&'a str> {
        class.strip_prefix(&self.name)?.strip_prefix('/')
    }
}

impl Allowance {
    /// As many orders at once as in two seconds.
    fn new(a_second: u32) -> Self {
        Allowance { a_second, orders: f64::from(a_second) * 2.0, at: Instant::now() }
    }

    fn take(&mut self, now: Instant) -> Result<(), Duration> {
        let rate = f64::from(self.a_second);
        let since = now.saturating_duration_since(self.at).as_secs_f64();
        self.orders = (self.orders + since * rate).min(rate * 2.0);
        self.at = now;
        if self.orders < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - self.orders) / rate));
        }
        self.orders -= 1.0;
        Ok(())
    }
}
