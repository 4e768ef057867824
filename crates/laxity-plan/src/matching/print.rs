//! Matches as text, in the one form that is printed for each.

use std::fmt::{self, Display, Formatter};

use super::words::{CODE_POINTS, ECN, PROTOCOLS, WITH_PORTS, name};
use super::{Expr, HostTest, MaskedMark, Match, Net, Numbers, Side, Version};

impl Display for Match {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Any => f.write_str("any"),
            Expr::Version(Version::V4) => f.write_str("ip"),
            Expr::Version(Version::V6) => f.write_str("ip6"),
            Expr::Protocol(numbers) => match numbers.single().and_then(|one| name(&PROTOCOLS, one))
            {
                Some(protocol) => f.write_str(protocol),
                None => write!(f, "protocol {}", NamedNumbers(numbers, &PROTOCOLS)),
            },
            Expr::Port(side, numbers) => {
                write!(
                    f,
                    "{} {}",
                    side.word(["sport", "dport", "port"]),
                    NamedNumbers(numbers, &[])
                )
            }
            Expr::Address(side, nets) => {
                let ip = if nets[0].address.is_ipv4() { "ip" } else { "ip6" };
                write!(f, "{ip} {} ", side.word(["saddr", "daddr", "addr"]))?;
                set(f, nets, |f, net| net.fmt(f))
            }
            Expr::Dscp(numbers) => write!(f, "dscp {}", NamedNumbers(numbers, &CODE_POINTS)),
            Expr::Ecn(numbers) => write!(f, "ecn {}", NamedNumbers(numbers, &ECN)),
            Expr::Pcp(numbers) => write!(f, "pcp {}", NamedNumbers(numbers, &[])),
            Expr::Tagged(true) => f.write_str("tagged"),
            Expr::Tagged(false) => f.write_str("untagged"),
            Expr::Vlan(numbers) => write!(f, "vlan {}", NamedNumbers(numbers, &[])),
            Expr::Host(test) => test.fmt(f),
            Expr::Not(inner) if inner.is_one_test() => write!(f, "not {inner}"),
            Expr::Not(inner) => write!(f, "not ({inner})"),
            Expr::All(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    match at.checked_sub(1).map(|before| side_by_side(&parts[before], part)) {
                        None => {}
                        Some(true) => f.write_str(" ")?,
                        Some(false) => f.write_str(" and ")?,
                    }
                    match part {
                        Expr::Either(_) => write!(f, "({part})")?,
                        _ => part.fmt(f)?,
                    }
                }
                Ok(())
            }
            Expr::Either(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    f.write_str(if at == 0 { "" } else { " or " })?;
                    part.fmt(f)?;
                }
                Ok(())
            }
        }
    }
}

impl Expr {
    /// Whether it needs no parentheses after `not`.
    fn is_one_test(&self) -> bool {
        match self {
            Expr::All(parts) => matches!(&parts[..], [a, b] if side_by_side(a, b)),
            Expr::Either(_) => false,
            _ => true,
        }
    }
}

/// Whether two tests are printed as `udp dport 4000`, without `and`.
fn side_by_side(before: &Expr, test: &Expr) -> bool {
    match (before, test) {
        (Expr::Protocol(numbers), Expr::Port(..)) => numbers
            .single()
            .is_some_and(|one| WITH_PORTS.contains(&one) && name(&PROTOCOLS, one).is_some()),
        _ => false,
    }
}

impl Side {
    fn word(self, [source, destination, any]: [&'static str; 3]) -> &'static str {
        match self {
            Side::Source => source,
            Side::Destination => destination,
            Side::Any => any,
        }
    }
}

/// Numbers with the names that single ones go by.
struct NamedNumbers<'a>(&'a Numbers, &'a [(&'static str, u16)]);

impl Display for NamedNumbers<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        set(f, &self.0.0, |f, (from, to)| match name(self.1, *from) {
            Some(name) if from == to => f.write_str(name),
            _ if from == to => from.fmt(f),
            _ => write!(f, "{from}-{to}"),
        })
    }
}

impl Display for Net {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.prefix == Net::bits(self.address) {
            self.address.fmt(f)
        } else {
            write!(f, "{}/{}", self.address, self.prefix)
        }
    }
}

impl Display for HostTest {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            HostTest::Mark(marks) => {
                f.write_str("mark ")?;
                set(f, marks, |f, mark| mark.fmt(f))
            }
            HostTest::ConnectionMark(marks) => {
                f.write_str("ct mark ")?;
                set(f, marks, |f, mark| mark.fmt(f))
            }
            HostTest::Priority(priorities) => {
                f.write_str("priority ")?;
                set(f, priorities, |f, priority| match priority >> 16 {
                    0 => priority.fmt(f),
                    major => write!(f, "{major:x}:{:x}", priority & 0xffff),
                })
            }
            HostTest::Cgroup(group) => write!(f, "cgroup {}", group.path),
        }
    }
}

impl Display for MaskedMark {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.parts() {
            (value, u32::MAX) => write!(f, "{value:#x}"),
            (value, mask) => write!(f, "{value:#x}/{mask:#x}"),
        }
    }
}

/// Prints one item plainly and several in braces.
fn set<T>(
    f: &mut Formatter<'_>,
    items: &[T],
    print: impl Fn(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    if let [one] = items {
        return print(f, one);
    }
    for (at, item) in items.iter().enumerate() {
        f.write_str(if at == 0 { "{" } else { ", " })?;
        print(f, item)?;
    }
    f.write_str("}")
}
