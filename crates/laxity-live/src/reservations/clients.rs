//! Who may give orders over the network, and how much each of them may ask.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use laxity_answers::reservations::Granted;
use serde::Deserialize;
use thiserror::Error;
use tokio::sync::{Mutex, MutexGuard};

use super::{Answer, Order, Reservation};

/// The clients of a link.
///
/// Reservations of a client are classes `CLIENT/NAME` of the plan. It sees, renews and releases no
/// others.
#[derive(Debug)]
pub struct Clients(Vec<Client>);

/// Someone who knows a token.
#[derive(Debug)]
pub(crate) struct Client {
    name: String,
    token: String,
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

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    client: BTreeMap<String, Keys>,
}

/// A client in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Keys {
    token: String,
    #[serde(default = "usual_reservations")]
    reservations: usize,
    #[serde(default = "usual_orders")]
    orders_per_second: u32,
}

fn usual_reservations() -> usize {
    256
}

fn usual_orders() -> u32 {
    20
}

/// The shortest token: 128 bits in hexadecimal digits.
const SHORTEST_TOKEN: usize = 32;

/// Why nobody may give orders over the network.
#[derive(Debug, Error)]
#[error("{}: {why}", .path.display())]
pub struct ClientsError {
    path: PathBuf,
    why: String,
}

impl Clients {
    /// Reads a TOML file with a table `[client.NAME]` for each client: `token`, and if others than
    /// 256 and 20 are meant, `reservations` at once and `orders-per-second`.
    ///
    /// # Errors
    /// If there is no such file, others than its owner may read it, or it does not name clients
    /// with different tokens of at least 32 characters.
    pub fn read(path: &Path) -> Result<Clients, ClientsError> {
        let refused = |why: String| ClientsError { path: path.to_path_buf(), why };
        let read = || -> io::Result<(u32, String)> {
            Ok((fs::metadata(path)?.mode(), fs::read_to_string(path)?))
        };
        let (mode, text) = read().map_err(|error| refused(error.to_string()))?;
        if mode & 0o077 != 0 {
            return Err(refused("others may read its tokens: chmod 600".into()));
        }
        Clients::parse(&text).map_err(refused)
    }

    fn parse(text: &str) -> Result<Clients, String> {
        let File { client } = toml::from_str(text).map_err(|error| error.to_string())?;
        let mut clients: Vec<Client> = Vec::new();
        for (name, keys) in client {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            if name.is_empty() || !name.chars().all(is_plain) {
                return Err(format!("client {name:?}: a name has letters, digits, `-`, `_`, `.`"));
            }
            if keys.token.len() < SHORTEST_TOKEN {
                return Err(format!(
                    "client {name}: a token has at least {SHORTEST_TOKEN} characters, as of \
                     `openssl rand -hex 16`"
                ));
            }
            if let Some(other) = clients.iter().find(|client| client.token == keys.token) {
                return Err(format!("client {name}: {} has the same token", other.name));
            }
            if keys.orders_per_second == 0 {
                return Err(format!("client {name}: orders-per-second is at least 1"));
            }
            clients.push(Client {
                name,
                token: keys.token,
                most: keys.reservations,
                allowance: Mutex::new(Allowance::new(keys.orders_per_second)),
            });
        }
        if clients.is_empty() {
            return Err("it names no client: write a table [client.NAME] with its token".into());
        }
        Ok(Clients(clients))
    }

    /// Who has a token. How long this takes does not depend on how much of a token is right.
    pub(crate) fn client(&self, token: &str) -> Option<&Client> {
        let mut found = None;
        for client in &self.0 {
            let pairs = client.token.bytes().zip(token.bytes());
            let differ = pairs.fold(0, |differ, (one, other)| differ | (one ^ other));
            if differ == 0 && client.token.len() == token.len() {
                found = Some(client);
            }
        }
        found
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

#[cfg(test)]
mod tests {
    use super::*;

    const TOKENS: [&str; 2] =
        ["0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"];

    fn clients() -> Clients {
        let [one, other] = TOKENS;
        let text = format!(
            "[client.media]\ntoken = \"{one}\"\nreservations = 2\norders-per-second = 1\n\
             [client.media-2]\ntoken = \"{other}\"\n"
        );
        Clients::parse(&text).unwrap()
    }

    #[test]
    fn who_has_a_token_is_known() {
        let clients = clients();
        let name = |token: &str| clients.client(token).map(|client| client.name.as_str());
        assert_eq!(TOKENS.map(name), [Some("media"), Some("media-2")]);
        let longer = format!("{}0", TOKENS[0]);
        for wrong in ["", &TOKENS[0][1..], &longer, "0123456789abcdef0123456789abcdeg"] {
            assert_eq!(name(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_no_file_of_clients_is_refused() {
        let [token, _] = TOKENS;
        for (text, part) in [
            ("", "missing field `client`"),
            ("[client]", "names no client"),
            ("[client.a]\ntoken = \"short\"", "at least 32 characters"),
            (&format!("[client.\"a/b\"]\ntoken = \"{token}\""), "a name has letters"),
            (&format!("[client.a]\ntoken = \"{token}\"\nquota = 3"), "unknown field `quota`"),
            (&format!("[client.a]\ntoken = \"{token}\"\norders-per-second = 0"), "at least 1"),
            (&format!("[client.a]\ntoken = \"{token}\"\n[client.b]\ntoken = \"{token}\""), "same"),
        ] {
            let error = Clients::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clients.toml");
        fs::write(&path, format!("[client.a]\ntoken = \"{token}\"")).unwrap();
        let set = |mode| {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
            fs::set_permissions(&path, mode).unwrap();
        };
        set(0o640);
        assert!(Clients::read(&path).unwrap_err().to_string().contains("chmod 600"));
        set(0o600);
        assert!(Clients::read(&path).is_ok());
    }

    #[test]
    fn a_client_has_names_of_its_own() {
        let clients = clients();
        let [one, other] = TOKENS.map(|token| clients.client(token).unwrap());
        let Order::Release { name } = one.order(Order::Release { name: "call".into() }) else {
            panic!("it is what it was");
        };
        assert_eq!(
            (name.as_str(), one.own(&name), other.own(&name)),
            ("media/call", Some("call"), None)
        );
        assert_eq!(one.own("media-2/call"), None);
    }

    #[test]
    fn orders_come_at_the_rate_that_is_allowed() {
        let mut allowance = Allowance::new(10);
        let begin = allowance.at;
        for _ in 0..20 {
            allowance.take(begin).unwrap();
        }
        let wait = allowance.take(begin).unwrap_err();
        assert!(wait > Duration::from_millis(90) && wait <= Duration::from_millis(100), "{wait:?}");
        allowance.take(begin + Duration::from_millis(101)).unwrap();
        assert!(allowance.take(begin + Duration::from_millis(150)).is_err());
        let later = begin + Duration::from_secs(3600);
        let taken = std::iter::repeat_with(|| allowance.take(later)).take_while(Result::is_ok);
        assert_eq!(taken.count(), 20);
    }
}
