//! A slow link on the loopback interface, and QUIC connections over it.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use quinn::{ClientConfig, Connection, Endpoint, ServerConfig, TransportConfig};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::UdpSocket;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// What everything returns that may fail.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// A link that sends to clients at a rate, with a short queue that drops what is too much.
#[derive(Clone, Copy)]
pub(crate) struct Bottleneck {
    /// In bits a second.
    pub(crate) rate: u64,
    /// How long a packet waits at most.
    pub(crate) queue: Duration,
}

/// Two ends of a connection: the one that sends over the bottleneck, and the one behind it.
pub(crate) async fn connect(
    transport: TransportConfig,
    bottleneck: Option<Bottleneck>,
) -> Result<(Connection, Connection)> {
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let certificate: CertificateDer<'static> = own.cert.der().clone();
    let key = PrivateKeyDer::try_from(own.signing_key.serialize_der())?;
    let mut server = ServerConfig::with_single_cert(vec![certificate.clone()], key)?;
    server.transport_config(Arc::new(transport));
    let here = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = Endpoint::server(server, here)?;
    let at = match bottleneck {
        Some(bottleneck) => bottleneck.before(server.local_addr()?).await?,
        None => server.local_addr()?,
    };
    let mut roots = RootCertStore::empty();
    roots.add(certificate)?;
    let mut client = Endpoint::client(here)?;
    client.set_default_client_config(ClientConfig::with_root_certificates(Arc::new(roots))?);
    let connecting = client.connect(at, "localhost")?;
    let accepted = async {
        let incoming = server.accept().await.ok_or("the endpoint is closed")?;
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(incoming.await?)
    };
    let (sends, receives) = tokio::join!(accepted, connecting);
    Ok((sends?, receives?))
}

impl Bottleneck {
    /// Stands before a server, for one client: its address.
    async fn before(self, server: SocketAddr) -> Result<SocketAddr> {
        let outside = Arc::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?);
        let inside = Arc::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?);
        inside.connect(server).await?;
        let at = outside.local_addr()?;
        tokio::spawn(self.link(outside, inside));
        Ok(at)
    }

    async fn link(self, outside: Arc<UdpSocket>, inside: Arc<UdpSocket>) -> Result<()> {
        let (carry, mut carried) = mpsc::unbounded_channel::<(Instant, SocketAddr, Vec<u8>)>();
        let out = Arc::clone(&outside);
        tokio::spawn(async move {
            while let Some((at, client, packet)) = carried.recv().await {
                sleep_until(at).await;
                let _ = out.send_to(&packet, client).await;
            }
        });
        let (mut up, mut down) = ([0; 2048], [0; 2048]);
        let (mut client, mut free_at) = (None, Instant::now());
        loop {
            tokio::select! {
                received = outside.recv_from(&mut up) => {
                    let (length, from) = received?;
                    client = Some(from);
                    inside.send(&up[..length]).await?;
                }
                received = inside.recv(&mut down) => {
                    let (length, now) = (received?, Instant::now());
                    let begins = free_at.max(now);
                    if begins - now > self.queue {
                        continue;
                    }
                    free_at = begins + Duration::from_nanos(length as u64 * 8_000_000_000 / self.rate);
                    if let Some(client) = client {
                        carry.send((free_at, client, down[..length].to_vec()))?;
                    }
                }
            }
        }
    }
}
