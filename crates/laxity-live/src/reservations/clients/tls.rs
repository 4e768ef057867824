//! How a listener for clients speaks TLS.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoClientAuth, NoServerSessionStorage, WebPkiClientVerifier};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{Error, InconsistentKeys, RootCertStore, ServerConfig};
use serde::Deserialize;

use super::ClientsError;
use super::file::{public_text, secret_text};

/// The table `[tls]` of a file of clients. Paths are relative to the folder of that file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tls {
    /// The certificate of the listener, and those between it and its authority.
    certificate: PathBuf,
    key: PathBuf,
    /// The authorities that sign certificates of clients.
    pub(super) clients: Option<PathBuf>,
}

impl Tls {
    /// Reads the files, which lie in a folder.
    ///
    /// # Errors
    /// If one of them cannot be read or is not in PEM, others than the owner of the key may read
    /// it, or it is not the key of the certificate.
    pub(super) fn config(&self, folder: &Path) -> Result<Arc<ServerConfig>, ClientsError> {
        let own = self.own_key(folder)?;
        let verifier = match &self.clients {
            Some(path) => verifier(&folder.join(path))?,
            None => Arc::new(NoClientAuth),
        };
        let versions = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring has cipher suites for every version");
        let mut config = versions
            .with_client_cert_verifier(verifier)
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(own)));
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        // A certificate is checked on every connection, and no session takes memory after it.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Arc::new(config))
    }

    fn own_key(&self, folder: &Path) -> Result<CertifiedKey, ClientsError> {
        let (certificate, key) = (folder.join(&self.certificate), folder.join(&self.key));
        let chain = certificates(&certificate)?;
        let secret = PrivateKeyDer::from_pem_slice(secret_text(&key)?.as_bytes())
            .map_err(|error| ClientsError::new(&key, not_pem(&error, KEY)))?;
        let secret = ring::default_provider().key_provider.load_private_key(secret);
        let secret = secret.map_err(|error| ClientsError::new(&key, error))?;
        let own = CertifiedKey::new(chain, secret);
        match own.keys_match() {
            Ok(()) => Ok(own),
            Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => {
                let why = format!("it is not the key of {}", certificate.display());
                Err(ClientsError::new(&key, why))
            }
            Err(error) => Err(ClientsError::new(&certificate, error)),
        }
    }
}

const CERTIFICATE: &str = "certificate (-----BEGIN CERTIFICATE-----)";
const KEY: &str = "private key without a password (-----BEGIN PRIVATE KEY-----)";

/// Checks certificates of clients that have one; others may know a token.
fn verifier(authorities: &Path) -> Result<Arc<dyn ClientCertVerifier>, ClientsError> {
    let mut roots = RootCertStore::empty();
    for authority in certificates(authorities)? {
        roots.add(authority).map_err(|error| ClientsError::new(authorities, error))?;
    }
    let provider = Arc::new(ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
    let verifier = verifier.allow_unauthenticated().build();
    verifier.map_err(|error| ClientsError::new(authorities, error))
}

/// Reads the certificates of a file, at least one.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, ClientsError> {
    let text = public_text(path)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
    match found {
        Ok(found) if found.is_empty() => Err(pem::Error::NoItemsFound),
        found => found,
    }
    .map_err(|error| ClientsError::new(path, not_pem(&error, CERTIFICATE)))
}

fn not_pem(error: &pem::Error, wanted: &str) -> String {
    match error {
        pem::Error::NoItemsFound => format!("there is no {wanted} in PEM"),
        error => format!("it is not in PEM: {error}"),
    }
}
