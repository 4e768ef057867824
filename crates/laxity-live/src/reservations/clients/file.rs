//! The file that names clients.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustls::pki_types::{DnsName, ServerName};
use serde::Deserialize;
use tokio::sync::Mutex;
use toml::Spanned;

use super::tls::Tls;
use super::{Allowance, Client, ClientsError};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    tls: Option<Tls>,
    client: BTreeMap<String, Spanned<Keys>>,
}

/// A client in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Keys {
    token: Option<String>,
    dns_name: Option<String>,
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

/// Reads clients from the text of a file.
///
/// # Errors
/// If it is no TOML, or a client cannot be told from others.
pub(super) fn parse(text: &str) -> Result<(Vec<Client>, Option<Tls>), String> {
    let Tables { tls, client } = toml::from_str(text).map_err(|error| error.to_string())?;
    let has_authority = tls.as_ref().is_some_and(|tls| tls.clients.is_some());
    let mut clients: Vec<Client> = Vec::new();
    for (name, keys) in client {
        let line = text[..keys.span().start].matches('\n').count() + 1;
        let client = checked(name, keys.into_inner(), has_authority, &clients);
        clients.push(client.map_err(|why| format!("line {line}: {why}"))?);
    }
    if clients.is_empty() {
        return Err("it names no client: write a table [client.NAME] with its token".into());
    }
    Ok((clients, tls))
}

/// Checks the keys of a client, beside those that come before it.
fn checked(
    name: String,
    keys: Keys,
    has_authority: bool,
    others: &[Client],
) -> Result<Client, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || !name.chars().all(is_plain) {
        return Err(format!("client {name:?}: a name has letters, digits, `-`, `_`, `.`"));
    }
    let refused = |why: String| Err(format!("client {name}: {why}"));
    if keys.token.as_ref().is_some_and(|token| token.len() < SHORTEST_TOKEN) {
        return refused(format!(
            "a token has at least {SHORTEST_TOKEN} characters, as of `openssl rand -hex 16`"
        ));
    }
    let dns_name = match keys.dns_name {
        Some(text) => match DnsName::try_from(text) {
            Ok(dns_name) => Some(ServerName::from(dns_name)),
            Err(_) => return refused("dns-name is a host name, as media.example".into()),
        },
        None => None,
    };
    if dns_name.is_some() && !has_authority {
        return refused(
            "dns-name is that of a certificate: say in [tls] who signs it, as clients = \"ca.pem\""
                .into(),
        );
    }
    if keys.token.is_none() && dns_name.is_none() {
        return refused(
            "it has neither a token nor, with [tls], the dns-name of a certificate".into(),
        );
    }
    let same = |other: &&Client| keys.token.is_some() && other.token == keys.token;
    if let Some(other) = others.iter().find(same) {
        return refused(format!("{} has the same token", other.name));
    }
    let same = |other: &&Client| dns_name.is_some() && other.dns_name == dns_name;
    if let Some(other) = others.iter().find(same) {
        return refused(format!("{} has the same dns-name", other.name));
    }
    if keys.orders_per_second == 0 {
        return refused("orders-per-second is at least 1".into());
    }
    Ok(Client {
        name,
        token: keys.token,
        dns_name,
        most: keys.reservations,
        allowance: Mutex::new(Allowance::new(keys.orders_per_second)),
    })
}

/// Reads a file that nobody but its owner may read.
pub(super) fn secret_text(path: &Path) -> Result<String, ClientsError> {
    let read = || -> io::Result<(u32, String)> {
        let (mut file, mut text) = (File::open(path)?, String::new());
        file.read_to_string(&mut text)?;
        Ok((file.metadata()?.mode(), text))
    };
    let (mode, text) = read().map_err(|error| ClientsError::new(path, error))?;
    if mode & 0o077 != 0 {
        return Err(ClientsError::new(path, "others may read what is secret: chmod 600"));
    }
    Ok(text)
}

/// Reads a file that anyone may read.
pub(super) fn public_text(path: &Path) -> Result<String, ClientsError> {
    fs::read_to_string(path).map_err(|error| ClientsError::new(path, error))
}
