//! The namespaces of an emulated link.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};

use laxity_linux::Error;
use laxity_linux::interface::Interface;
use laxity_linux::namespace::Namespace;

/// Where a command runs, what is outside, and the two interfaces of the link between them.
#[derive(Clone, Debug)]
pub struct Place {
    /// Where the command runs.
    pub inside: Namespace,
    /// Where the link is, with its interfaces [`ENDS`].
    pub between: Namespace,
    /// What the command reaches.
    pub outside: Namespace,
    /// The interface outside.
    pub name: String,
    /// The number of the place among those outside.
    number: u8,
}

/// The interfaces of the link: to the command, and to what is outside.
pub const ENDS: [&str; 2] = ["inside", "outside"];
/// The interface of the command.
const INSIDE: &str = "eth0";
/// The most places outside at a time.
const MOST: u8 = 64;
/// The length of the prefix of a place's addresses.
pub const PREFIX: u8 = 30;

impl Place {
    /// Makes namespaces, cables and addresses. `outside` is the namespace that the command reaches.
    ///
    /// # Errors
    /// Without `CAP_SYS_ADMIN` and, outside, `CAP_NET_ADMIN`.
    pub fn new(outside: Namespace) -> Result<Place, Error> {
        let (inside, between) = (silent()?, silent()?);
        inside.veth(INSIDE, &between, ENDS[0])?;
        let (name, number) = cable(&between, &outside)?;
        let place = Place { inside, between, outside, name, number };
        // What the kernel says by itself would take packets' turns on the link.
        let is_off = format!("/proc/sys/net/ipv6/conf/{}/disable_ipv6", place.name);
        let _ = place.outside.run(|| fs::write(is_off, "1"))?;
        place.inside.address(INSIDE, IpAddr::V4(place.address()), PREFIX)?;
        place.outside.address(&place.name, IpAddr::V4(place.gateway()), PREFIX)?;
        place.introduce()?;
        place.inside.default_route(INSIDE, place.gateway())?;
        Ok(place)
    }

    /// The address of what is outside, as the command sees it.
    pub fn gateway(&self) -> Ipv4Addr {
        Ipv4Addr::new(100, 64, self.number, 1)
    }

    /// The address of the command.
    pub fn address(&self) -> Ipv4Addr {
        Ipv4Addr::new(100, 64, self.number, 2)
    }

    /// The interfaces of the link, where it is.
    ///
    /// # Errors
    /// If they are gone.
    pub fn ends(&self) -> Result<[Interface; 2], Error> {
        let [inside, outside] = self.between.run(|| ENDS.map(Interface::named))?;
        Ok([inside?, outside?])
    }

    /// Both sides know each other's Ethernet addresses: requests for them would be delayed and
    /// lost like all else, and draw losses of the packets behind them.
    fn introduce(&self) -> Result<(), Error> {
        let mac = |namespace: &Namespace, name: &str| {
            let interface = namespace.run(|| Interface::named(name))??;
            Ok::<_, Error>(interface.mac.unwrap_or_default())
        };
        let inside = mac(&self.inside, INSIDE)?;
        let outside = mac(&self.outside, &self.name)?;
        self.inside.neighbour(INSIDE, self.gateway(), outside)?;
        self.outside.neighbour(&self.name, self.address(), inside)
    }
}

/// A namespace whose interfaces say nothing by themselves, as far as the system lets it be told so.
fn silent() -> Result<Namespace, Error> {
    let namespace = Namespace::new()?;
    let _ = namespace.run(|| fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1"))?;
    Ok(namespace)
}

/// A cable to what is outside, under the first name that is free there.
fn cable(between: &Namespace, outside: &Namespace) -> Result<(String, u8), Error> {
    let taken = outside.run(Interface::all)??;
    let name = |number: u8| format!("laxity{number}");
    let is_free = |number: &u8| taken.iter().all(|interface| interface.name != name(*number));
    let mut free = (0..MOST).filter(is_free).peekable();
    loop {
        let number = free.next().unwrap_or(MOST);
        match between.veth(ENDS[1], outside, &name(number)) {
            // Another one was faster.
            Err(_) if free.peek().is_some() && is_there(outside, &name(number))? => {}
            made => return made.map(|()| (name(number), number)),
        }
    }
}

fn is_there(namespace: &Namespace, name: &str) -> Result<bool, Error> {
    let all = namespace.run(Interface::all)??;
    Ok(all.iter().any(|interface| interface.name == name))
}
