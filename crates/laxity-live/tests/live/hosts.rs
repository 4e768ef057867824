//! Two hosts with a bridge between them.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use laxity_linux::interface::Interface;
use laxity_linux::namespace::Namespace;
use laxity_linux::packet::{Mmsg, Options, Ring};
use laxity_plan::Plan;

pub const A: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
pub const B: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));

/// Hosts `a` and `b`, each on a cable to the namespace between them.
pub struct Hosts {
    pub between: Namespace,
    pub a: Namespace,
    pub b: Namespace,
}

impl Hosts {
    /// None where that is not allowed, and then it says so.
    pub fn new() -> Option<Hosts> {
        let between = match Namespace::new() {
            Ok(namespace) => namespace,
            Err(error) if error.is_permission() => {
                eprintln!("SKIPPED: {error}; run as root or within `unshare -Urn`");
                return None;
            }
            Err(error) => panic!("{error}"),
        };
        let host = |name: &str, address: IpAddr| {
            let host = Namespace::new().expect("a host");
            between.veth(name, &host, "eth").expect("a cable");
            host.address("eth", address, 24).expect("an address");
            host
        };
        let (a, b) = (host("a", A), host("b", B));
        Some(Hosts { between, a, b })
    }

    fn ends(&self) -> [Interface; 2] {
        let find = || ["a", "b"].map(|name| Interface::named(name).expect("it is there"));
        self.between.run(find).expect("entered")
    }

    pub fn ring(&self) -> Ring {
        let [a, b] = self.ends();
        let open = || Ring::open([&a, &b], &Options::default());
        self.between.run(open).expect("entered").expect("sockets")
    }

    pub fn mmsg(&self) -> Mmsg {
        let [a, b] = self.ends();
        let open = || Mmsg::open([&a, &b], &Options::default());
        self.between.run(open).expect("entered").expect("sockets")
    }
}

/// A link of 20 Mbit/s on which calls have a deadline.
pub fn plan(kind: &str) -> Plan {
    Plan::parse(&text(kind), "plan.toml", Path::new("")).expect("a plan")
}

/// Its text.
pub fn text(kind: &str) -> String {
    format!(
        "version = 1
        link = {{ rate = '20mbit', overhead = 'ethernet' }}
        scheduler.kind = '{kind}'
        [class.call]
        deadline = '10ms'
        arrival = {{ bucket = '3kB', rate = '2mbit', packet = '320b' }}
        match = 'udp dport 5000'
        police = 'demote'
        [class.rest]
        queue = {{ kind = 'droptail', limit = 500 }}"
    )
}
