//! Who may order over TLS, and who is cut off.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::pki_types::pem::PemObject;
use rustls::version::{TLS12, TLS13};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion,
};
use tempfile::TempDir;

use super::{Listeners, Server};
use crate::process::Request;
use crate::reservations::authority::{Authority, Identity};
use crate::reservations::{Answer, Clients, Order};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

type TlsStream = StreamOwned<ClientConnection, TcpStream>;

/// A server for clients, and what they have ordered to be released.
struct Sample {
    authority: Authority,
    address: SocketAddr,
    released: Arc<Mutex<Vec<String>>>,
    _server: Server,
}

impl Sample {
    fn new() -> Sample {
        let authority = Authority::new();
        let (_folder, clients) = clients(&authority);
        let listener = Listeners::listen(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let address = listener.local_addr().unwrap();
        let listeners =
            Listeners { control: None, network: None, orders: Some((listener, clients)) };
        let (ask, requests) = mpsc::channel();
        let released = Arc::new(Mutex::new(Vec::new()));
        let notes = released.clone();
        thread::spawn(move || answer(&requests, &notes));
        let server = Server::start(listeners, String::new(), ask, |_| {}).unwrap();
        Sample { authority, address, released, _server: server }
    }

    /// What an order is answered that comes with a certificate and a token.
    fn order(&self, mut stream: TlsStream, token: Option<&str>) -> io::Result<String> {
        let authorization =
            token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        let body = r#"{ "order": "release", "name": "call" }"#;
        let length = body.len();
        write!(
            stream,
            "POST /reservations HTTP/1.1\r\nHost: a\r\n{authorization}\
             Content-Length: {length}\r\n\r\n{body}"
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    /// What an order of a client with a token is answered.
    fn order_with_token(&self) -> io::Result<String> {
        self.order(self.connect_tls(&TLS13, None)?, Some(TOKEN))
    }

    /// A connection whose client is through with the handshake; the server may still refuse it.
    fn connect_tls(
        &self,
        version: &'static SupportedProtocolVersion,
        identity: Option<&Identity>,
    ) -> io::Result<TlsStream> {
        let mut roots = RootCertStore::empty();
        let authority = PemObject::from_pem_slice(self.authority.pem().as_bytes());
        roots.add(authority.unwrap()).unwrap();
        let provider = Arc::new(ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
            .unwrap()
            .with_root_certificates(roots);
        let config = match identity {
            Some(of) => config.with_client_auth_cert(vec![of.certificate()], of.key()).unwrap(),
            None => config.with_no_client_auth(),
        };
        let name = ServerName::try_from("localhost").unwrap();
        let connection = ClientConnection::new(Arc::new(config), name).unwrap();
        let mut stream = StreamOwned::new(connection, self.connect()?);
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        Ok(stream)
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        Ok(stream)
    }

    fn take_released(&self) -> Vec<String> {
        std::mem::take(&mut self.released.lock().unwrap())
    }
}

/// Clients, one with a token, one with a certificate, and one with both.
fn clients(authority: &Authority) -> (TempDir, Clients) {
    let folder = tempfile::tempdir().unwrap();
    let server = authority.identity(&["localhost"]);
    let text = format!(
        "[tls]\ncertificate = 'server.pem'\nkey = 'server.key'\nclients = 'ca.pem'\n\
         [client.studio]\ntoken = '{TOKEN}'\n\
         [client.media]\ndns-name = 'media.example'\n\
         [client.both]\ntoken = '{TOKEN}0'\ndns-name = 'both.example'\n"
    );
    for (name, text) in [
        ("server.pem", &server.certificate),
        ("server.key", &server.key),
        ("ca.pem", &authority.pem()),
        ("clients.toml", &text),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    }
    let clients = Clients::read(&folder.path().join("clients.toml")).unwrap();
    (folder, clients)
}

/// Does what is ordered.
fn answer(requests: &Receiver<Request>, released: &Mutex<Vec<String>>) {
    for request in requests {
        let Request::Order(Order::Release { name }, answer) = request else {
            panic!("nothing else is asked")
        };
        released.lock().unwrap().push(name);
        answer.send(Answer::Done).unwrap();
    }
}

#[test]
fn a_client_is_known_by_its_certificate_or_its_token() {
    let sample = Sample::new();
    let [media, both, stranger] = ["media.example", "both.example", "stranger.example"]
        .map(|name| sample.authority.identity(&[name]));
    let several = sample.authority.identity(&["media.example", "both.example"]);
    let other = format!("{TOKEN}0");
    for version in [&TLS13, &TLS12] {
        for (identity, token, client) in [
            (Some(&media), None, "media"),
            (None, Some(TOKEN), "studio"),
            (Some(&both), None, "both"),
            (None, Some(&*other), "both"),
            // The token is said with the order, the certificate once for a connection.
            (Some(&media), Some(TOKEN), "studio"),
            (Some(&stranger), Some(TOKEN), "studio"),
        ] {
            let answer =
                sample.order(sample.connect_tls(version, identity).unwrap(), token).unwrap();
            assert!(answer.starts_with("HTTP/1.1 200"), "{client}: {answer}");
            assert_eq!(sample.take_released(), [format!("{client}/call")]);
        }
        for (identity, token) in [
            (None, None),
            (Some(&stranger), None),
            (Some(&several), None),
            (None, Some("wrong")),
            (Some(&media), Some("wrong")),
        ] {
            let answer =
                sample.order(sample.connect_tls(version, identity).unwrap(), token).unwrap();
            assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
        }
    }
    assert_eq!(sample.take_released(), [""; 0]);
}

#[test]
fn a_certificate_that_is_not_valid_is_refused() {
    let sample = Sample::new();
    let other_authority = Authority::new().identity(&["media.example"]);
    let expired = sample.authority.expired("media.example");
    for (identity, alert) in [(&other_authority, "DecryptError"), (&expired, "CertificateExpired")]
    {
        // From TLS 1.3 on a client is through before the server has seen its certificate.
        let mut stream = sample.connect_tls(&TLS13, Some(identity)).unwrap();
        let refused = stream.read(&mut [0; 1]).unwrap_err().to_string();
        assert!(refused.contains(alert), "{refused}");
    }
}

#[test]
fn who_does_not_speak_tls_disturbs_nobody() {
    let sample = Sample::new();
    let request = format!("GET /openapi.json HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\n\r\n");
    let garbage: Vec<u8> = (0..20_000u32).map(|at| (at * at % 251) as u8).collect();
    let long = [&[22, 3, 1, 0xff, 0xff, 1, 0xff, 0xff, 0xff][..], &garbage].concat();
    for bytes in [request.as_bytes(), &garbage, &long, &[22, 3, 1, 0, 0], b""] {
        let mut stream = sample.connect().unwrap();
        // It is cut off at the first wrong byte.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        // An alert at most.
        assert!(answer.len() <= 7, "{}", String::from_utf8_lossy(&answer));
        assert!(sample.order_with_token().unwrap().starts_with("HTTP/1.1 200"));
    }
}

/// Handshakes that hang take all places of a machine, and are cut off, also if bytes drip in.
#[test]
fn a_handshake_has_its_time() {
    let sample = Sample::new();
    let begun = Instant::now();
    let mut hanging: Vec<TcpStream> = (0..4).map(|_| sample.connect().unwrap()).collect();
    let mut dripping = hanging[0].try_clone().unwrap();
    let drips = thread::spawn(move || {
        let hello = [22, 3, 1, 1, 0, 1, 0, 0, 252, 3, 3].into_iter().chain(std::iter::repeat(0));
        for byte in hello.take(100) {
            if dripping.write_all(&[byte]).is_err() {
                break;
            }
            thread::sleep(Duration::from_millis(200));
        }
    });
    thread::sleep(Duration::from_millis(500));
    assert!(sample.order_with_token().is_err(), "there is no place for a fifth");
    assert!(begun.elapsed() < Duration::from_secs(3), "it is cut off at once");
    for stream in &mut hanging {
        // Cut off with bytes unread is a reset.
        let _ = stream.read(&mut [0; 100]);
    }
    let cut_off = begun.elapsed();
    assert!(
        Duration::from_secs(3) < cut_off && cut_off < Duration::from_secs(12),
        "after {cut_off:?}"
    );
    drips.join().unwrap();
    assert!(sample.order_with_token().unwrap().starts_with("HTTP/1.1 200"));
}

#[test]
fn it_is_said_whether_tokens_are_encrypted() {
    let authority = Authority::new();
    let said = |clients| {
        let listener = Listeners::listen(SocketAddr::from(([0, 0, 0, 0], 0))).unwrap();
        let orders = Some((listener, clients));
        Listeners { control: None, network: None, orders }.said().join("\n")
    };
    let (folder, clients) = clients(&authority);
    let encrypted = said(clients);
    assert!(encrypted.contains("https://0.0.0.0:") && !encrypted.contains("encrypted"));
    let path = folder.path().join("clients.toml");
    fs::write(&path, format!("[client.studio]\ntoken = '{TOKEN}'\n")).unwrap();
    let plain = said(Clients::read(&path).unwrap());
    assert!(plain.contains("http://0.0.0.0:") && plain.contains("not encrypted"), "{plain}");
}
