//! Two hosts, and between them the two interfaces of a forwarder.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};

use laxity_linux::Error;
use laxity_linux::interface::Interface;
use laxity_linux::namespace::Namespace;

/// Three network namespaces, which are gone when nothing holds them any more.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a link has two ends")]
pub struct Laboratory {
    /// Where the forwarder is, with the interfaces [`Laboratory::ends`].
    pub between: Namespace,
    /// The host [`SENDER`].
    pub sender: Namespace,
    /// The host [`RECEIVER`].
    pub receiver: Namespace,
}

/// The address of the host that sends.
pub const SENDER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
/// The address of the host that receives.
pub const RECEIVER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
/// The interface of a host.
pub const HOSTS_END: &str = "eth";

/// The interfaces to the sender and to the receiver.
const ENDS: [&str; 2] = ["a", "b"];

impl Laboratory {
    /// Hosts on cables to what is between them, where nothing forwards yet.
    ///
    /// # Errors
    /// Without `CAP_SYS_ADMIN`, which anyone has within `unshare -Urn` if the system allows that.
    pub fn new() -> Result<Self, Error> {
        let between = Namespace::new()?;
        // What is between says nothing by itself, as far as the system lets it be told so.
        let silent = || fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
        let _ = between.run(silent)?;
        let host = |name: &str, address: IpAddr| {
            let host = Namespace::new()?;
            between.veth(name, &host, HOSTS_END)?;
            host.address(HOSTS_END, address, 24)?;
            Ok(host)
        };
        let [a, b] = ENDS;
        let (sender, receiver) = (host(a, SENDER)?, host(b, RECEIVER)?);
        Ok(Laboratory { between, sender, receiver })
    }

    /// The interfaces between, to the sender and to the receiver.
    ///
    /// # Errors
    /// If they are gone.
    pub fn ends(&self) -> Result<[Interface; 2], Error> {
        let [a, b] = self.between.run(|| ENDS.map(Interface::named))?;
        Ok([a?, b?])
    }
}
