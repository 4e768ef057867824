//! Where it is measured.

use laxity_linux::Error;
use laxity_linux::interface::{Interface, Offload, set_offload};
use laxity_linux::namespace::Namespace;

/// Three namespaces in a row.
pub(crate) struct Place {
    pub sender: Namespace,
    pub between: Namespace,
    pub receiver: Namespace,
}

impl Place {
    pub(crate) fn new() -> Result<Place, Error> {
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

    pub(crate) fn ends(&self) -> Result<[Interface; 2], Error> {
        self.between.run(|| Ok([Interface::named("a")?, Interface::named("b")?]))?
    }

    pub(crate) fn host(namespace: &Namespace) -> Result<Interface, Error> {
        namespace.run(|| Interface::named("eth"))?
    }

    /// How many frames the receiver's interface has taken in.
    pub(crate) fn arrived(&self) -> Result<u64, Error> {
        let read = || std::fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
        let counters = self.receiver.run(read)?;
        let line = counters.lines().find_map(|line| line.trim().strip_prefix("eth:"));
        let packets = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        Ok(packets.unwrap_or(0))
    }
}
