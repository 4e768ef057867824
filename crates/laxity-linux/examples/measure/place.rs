//! Where it is measured.

use laxity_linux::Error;
use laxity_linux::interface::{Interface, Offload, set_offload};
use laxity_linux::namespace::Namespace;

/// Three namespaces in a row.
pub struct Place {
    pub sender: Namespace,
    pub between: Namespace,
    pub receiver: Namespace,
}

impl Place {
    pub fn new() -> Result<Place, Error> {
        let [sender, between, receiver] = [Namespace::new()?, Namespace::new()?, Namespace::new()?];
        for (name, host) in [("a", &sender), ("b", &receiver)] {
            between.veth(name, host, "eth")?;
            let off = |which| set_offload("eth", which, false);
            host.run(|| Offload::ALL.into_iter().try_for_each(off))??;
        }
        // Without addresses of their own, interfaces say nothing of themselves.
        for namespace in [&sender, &between, &receiver] {
            let off = || std::fs::write("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
            namespace.run(off)?.unwrap_or_else(|error| println!("IPv6 stays on: {error}"));
        }
        Ok(Place { sender, between, receiver })
    }

    pub fn ends(&self) -> Result<[Interface; 2], Error> {
        self.between.run(|| Ok([Interface::named("a")?, Interface::named("b")?]))?
    }

    pub fn host(namespace: &Namespace) -> Result<Interface, Error> {
        namespace.run(|| Interface::named("eth"))?
    }
}

/// The smallest frame, 60 bytes without its checksum, of a protocol that no host knows.
pub fn smallest() -> [u8; 60] {
    let mut frame = [0; 60];
    frame[..12].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
    frame[12..14].copy_from_slice(&[0x88, 0xb5]);
    frame
}
