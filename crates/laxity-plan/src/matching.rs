//! The match language: which packets of a capture or a live link belong to a class.
//!
//! Words as in nft and tcpdump, joined by `not`, `and`, `or` (binding in this order) and
//! parentheses; two tests side by side, as in `udp dport 4000`, must both hold.
//!
//! | test | holds for |
//! | --- | --- |
//! | `any` | every frame |
//! | `ip`, `ip6` | IPv4, IPv6 |
//! | `tcp`, `udp`, `sctp`, `icmp`, `icmp6`, `protocol 47` | this protocol over IP |
//! | `sport`, `dport`, `port` | source, destination, either port |
//! | `saddr`, `daddr`, `addr` | source, destination, either address or network |
//! | `dscp ef` | this code point, by name or number |
//! | `ecn ce` | these bits of ECN, by name or number |
//! | `vlan 7` | this (outermost) VLAN |
//! | `pcp 5` | this priority of the (outermost) VLAN tag |
//! | `tagged`, `untagged` | a VLAN tag, none |
//! | `mark 0x10`, `mark 0x10/0xf0` | this mark of the host's packet, in these bits |
//! | `ct mark 5` | this mark of its connection |
//! | `priority 6`, `priority 1:10` | this priority of the host's packet |
//! | `cgroup system.slice/backup.service` | processes in this control group, or below it |
//!
//! Numbers may be a range `4000-4010`, a set `{80, 443, 8000-8010}` or a comparison `>= 1024`;
//! addresses a network `10.0.0.0/8` or a set. A test of something that a frame does not have
//! fails, so `not udp` holds for a frame that is not IP at all.

mod headers;
mod host;
mod parse;
mod print;
#[cfg(test)]
mod tests;
mod words;

use std::net::IpAddr;

pub use headers::{Headers, IpHeaders, Ports};
pub use host::{Cgroup, HostMarks, HostTest, MaskedMark};
pub use parse::MatchError;

/// The bits of ECN of a name, such as 3 of `ce`.
pub fn ecn(name: &str) -> Option<u16> {
    words::number(&words::ECN, name)
}

/// The code point of a name, such as 46 of `ef`.
pub fn code_point(name: &str) -> Option<u16> {
    words::number(&words::CODE_POINTS, name)
}

/// Which packets belong to a class. Read from text; `Display` prints text that reads back equal.
///
/// ```
/// use laxity_plan::matching::Match;
///
/// let voice: Match = "udp and dport 4000-4010".parse()?;
/// assert_eq!(voice.to_string(), "udp dport 4000-4010");
/// # Ok::<(), laxity_plan::matching::MatchError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match(Expr);

impl Match {
    /// The match of every frame.
    pub const ANY: Match = Match(Expr::Any);

    /// Whether it looks for frames that have a VLAN tag.
    pub fn wants_tag(&self) -> bool {
        self.0.wants_tag()
    }

    /// What it says.
    pub fn expr(&self) -> &Expr {
        &self.0
    }

    /// Looks up the numbers of all control groups by their paths. One that was not looked up holds
    /// no packets.
    ///
    /// # Errors
    /// Those of `number`.
    pub fn find_cgroups<E>(
        &mut self,
        mut number: impl FnMut(&str) -> Result<u64, E>,
    ) -> Result<(), E> {
        self.0.find_cgroups(&mut number)
    }

    /// Whether a packet belongs. Allocates nothing; the time is linear in the expression.
    pub fn matches(&self, headers: &Headers) -> bool {
        self.0.matches(headers)
    }
}

/// The expression of a match, for code that writes one. `Display` prints it in the match language.
/// A [`Match`] is read from that language; reading also enforces the limits of matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// Every frame.
    Any,
    /// Packets of this version of IP.
    Version(Version),
    /// Packets of these protocols over IP.
    Protocol(Numbers),
    /// Packets from or to these ports.
    Port(Side, Numbers),
    /// Packets from or to these networks: at least one, all of one version of IP.
    Address(Side, Box<[Net]>),
    /// Packets with these code points.
    Dscp(Numbers),
    /// Packets with these bits of ECN.
    Ecn(Numbers),
    /// Frames of these VLANs.
    Vlan(Numbers),
    /// Frames whose VLAN tag has these priorities.
    Pcp(Numbers),
    /// Frames with a VLAN tag, or without one.
    Tagged(bool),
    /// Packets with a property that only the host knows.
    Host(HostTest),
    /// Frames that this expression does not match.
    Not(Box<Expr>),
    /// At least two, none of them an `All`.
    All(Vec<Expr>),
    /// At least two, none of them an `Either`.
    Either(Vec<Expr>),
}

/// Versions of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// Which of a packet's two ends a test is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Where it comes from.
    Source,
    /// Where it goes to.
    Destination,
    /// Either of them.
    Any,
}

/// One of a packet's two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a packet has two ends")]
pub enum End {
    /// Where it comes from.
    Source,
    /// Where it goes to.
    Destination,
}

/// Ranges of numbers, both ends included: sorted, disjoint, with a gap between each two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers(Box<[(u16, u16)]>);

/// An address and how many of its leading bits count; the others are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Net {
    address: IpAddr,
    prefix: u8,
}

impl Expr {
    fn wants_tag(&self) -> bool {
        match self {
            Expr::Vlan(_) | Expr::Pcp(_) => true,
            Expr::Tagged(is_tagged) => *is_tagged,
            Expr::All(all) | Expr::Either(all) => all.iter().any(Expr::wants_tag),
            Expr::Not(_)
            | Expr::Any
            | Expr::Version(_)
            | Expr::Protocol(_)
            | Expr::Port(..)
            | Expr::Address(..)
            | Expr::Dscp(_)
            | Expr::Ecn(_)
            | Expr::Host(_) => false,
        }
    }

    fn matches(&self, headers: &Headers) -> bool {
        let ip = headers.ip.as_ref();
        match self {
            Expr::Any => true,
            Expr::Version(Version::V4) => ip.is_some_and(|ip| ip.source.is_ipv4()),
            Expr::Version(Version::V6) => ip.is_some_and(|ip| ip.source.is_ipv6()),
            Expr::Protocol(numbers) => ip.is_some_and(|ip| numbers.contain(ip.protocol.into())),
            Expr::Port(side, numbers) => headers.ports.is_some_and(|ports| {
                side.holds(ports.source, ports.destination, |port| numbers.contain(port))
            }),
            Expr::Address(side, nets) => ip.is_some_and(|ip| {
                side.holds(ip.source, ip.destination, |address| {
                    nets.iter().any(|net| net.contains(address))
                })
            }),
            Expr::Dscp(numbers) => ip.is_some_and(|ip| numbers.contain(ip.dscp.into())),
            Expr::Ecn(numbers) => ip.is_some_and(|ip| numbers.contain(ip.ecn.into())),
            Expr::Pcp(numbers) => headers.pcp.is_some_and(|pcp| numbers.contain(pcp.into())),
            Expr::Tagged(tagged) => headers.vlan.is_some() == *tagged,
            Expr::Vlan(numbers) => headers.vlan.is_some_and(|vlan| numbers.contain(vlan)),
            Expr::Host(test) => test.holds(&headers.host),
            Expr::Not(inner) => !inner.matches(headers),
            Expr::All(parts) => parts.iter().all(|part| part.matches(headers)),
            Expr::Either(parts) => parts.iter().any(|part| part.matches(headers)),
        }
    }

    /// Networks that any frame of it is from or to; `None` if it may hold for other frames.
    pub(crate) fn networks(&self) -> Option<Vec<(End, Net)>> {
        match self {
            Expr::Address(side, nets) => {
                let ends: &[End] = match side {
                    Side::Source => &[End::Source],
                    Side::Destination => &[End::Destination],
                    Side::Any => &[End::Source, End::Destination],
                };
                Some(ends.iter().flat_map(|end| nets.iter().map(|net| (*end, *net))).collect())
            }
            Expr::All(parts) => parts.iter().filter_map(Expr::networks).min_by_key(Vec::len),
            Expr::Either(parts) => {
                let each = parts.iter().map(Expr::networks).collect::<Option<Vec<_>>>()?;
                Some(each.concat())
            }
            Expr::Any
            | Expr::Version(_)
            | Expr::Protocol(_)
            | Expr::Port(..)
            | Expr::Dscp(_)
            | Expr::Ecn(_)
            | Expr::Vlan(_)
            | Expr::Pcp(_)
            | Expr::Tagged(_)
            | Expr::Host(_)
            | Expr::Not(_) => None,
        }
    }

    /// All of two or more expressions, in one flat list.
    pub fn all(parts: Vec<Expr>) -> Expr {
        let flat = parts.into_iter().flat_map(|part| match part {
            Expr::All(inner) => inner,
            other => vec![other],
        });
        alone_or(flat.collect(), Expr::All)
    }

    /// Either of two or more expressions, in one flat list.
    pub fn either(parts: Vec<Expr>) -> Expr {
        let flat = parts.into_iter().flat_map(|part| match part {
            Expr::Either(inner) => inner,
            other => vec![other],
        });
        alone_or(flat.collect(), Expr::Either)
    }
}

fn alone_or(mut parts: Vec<Expr>, join: fn(Vec<Expr>) -> Expr) -> Expr {
    match parts.len() {
        1 => parts.remove(0),
        _ => join(parts),
    }
}

impl Side {
    fn holds<T>(self, source: T, destination: T, test: impl Fn(T) -> bool) -> bool {
        match self {
            Side::Source => test(source),
            Side::Destination => test(destination),
            Side::Any => test(source) || test(destination),
        }
    }
}

impl Numbers {
    /// The numbers of these ranges, each from its first to its last.
    pub fn new(mut ranges: Vec<(u16, u16)>) -> Numbers {
        ranges.sort_unstable();
        let mut merged: Vec<(u16, u16)> = Vec::with_capacity(ranges.len());
        for (from, to) in ranges {
            match merged.last_mut() {
                Some((_, end)) if from <= end.saturating_add(1) => *end = to.max(*end),
                _ => merged.push((from, to)),
            }
        }
        Numbers(merged.into())
    }

    /// First and last of each range, in their order.
    pub fn ranges(&self) -> &[(u16, u16)] {
        &self.0
    }

    fn contain(&self, number: u16) -> bool {
        self.0.iter().any(|(from, to)| (*from..=*to).contains(&number))
    }

    /// The number, if there is just one.
    fn single(&self) -> Option<u16> {
        match *self.0 {
            [(from, to)] if from == to => Some(from),
            _ => None,
        }
    }
}

impl Net {
    /// The network of the first `prefix` bits of an address, or of all its bits if it has fewer.
    pub fn new(address: IpAddr, prefix: u8) -> Net {
        let prefix = prefix.min(Net::bits(address));
        let address = match address {
            IpAddr::V4(address) => {
                let kept = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
                IpAddr::V4((address.to_bits() & kept).into())
            }
            IpAddr::V6(address) => {
                let kept = u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0);
                IpAddr::V6((address.to_bits() & kept).into())
            }
        };
        Net { address, prefix }
    }

    /// Its first address.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// How many leading bits its addresses have in common.
    pub fn prefix(&self) -> u8 {
        self.prefix
    }

    /// Whether an address is of it.
    pub fn contains(&self, address: IpAddr) -> bool {
        address.is_ipv4() == self.address.is_ipv4() && Net::new(address, self.prefix) == *self
    }

    /// How many bits an address of its kind has.
    fn bits(address: IpAddr) -> u8 {
        if address.is_ipv4() { 32 } else { 128 }
    }
}
