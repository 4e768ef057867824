//! Reading a match: recursive descent over words and signs.
//!
//! Depth and size are limited, and counted so that the printed form, which may be longer than the
//! text that was read (`dport != 80` is `dport {0-79, 81-65535}`), stays within the same limits.
//!
//! ```text
//! either = all { "or" all }            all  = unary { "and" unary }
//! unary  = { "not" } ( "(" either ")" | test )
//! test   = [protocol] port | [version] address | version [dscp | ecn | protocol] | …
//! ```

use std::net::IpAddr;
use std::ops::Range;
use std::str::FromStr;

use super::words::{CODE_POINTS, ECN, PROTOCOLS, WITH_PORTS, number};
use super::{Cgroup, Expr, HostTest, MaskedMark, Match, Net, Numbers, Side, Version};
use crate::error::shown;

/// How deep parentheses and `not` may nest.
const DEEPEST: usize = 64;
/// How many tests and values an expression may have.
const MOST: usize = 1024;

const TEST: &str =
    "a test such as udp, ip saddr 10.0.0.0/8, dport 4000, dscp ef, vlan 7, any, or not, or (";

/// Why a text is not a match.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at character {}: {}; accepted here: {expected}", .span.start + 1, self.message())]
pub struct MatchError {
    /// The bytes of the text that are wrong; empty at its end.
    pub span: Range<usize>,
    /// What stands there; empty at the end of the text.
    pub found: String,
    /// What would have been accepted.
    pub expected: String,
}

impl MatchError {
    /// What is wrong, without the place and what is accepted.
    pub fn message(&self) -> String {
        match self.found.as_str() {
            "" => "the expression ends too early".into(),
            found => format!("`{found}` does not belong here"),
        }
    }
}

impl FromStr for Match {
    type Err = MatchError;

    fn from_str(text: &str) -> Result<Match, MatchError> {
        let mut parser = Parser { text, next: 0..0, depth: 0, left: MOST };
        parser.advance();
        let expr = parser.either()?;
        match parser.word() {
            "" => Ok(Match(expr)),
            _ => parser.fail("and, or, the end"),
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    /// The token that comes next; empty at the end of the text.
    next: Range<usize>,
    /// How many parentheses and `not`s are open.
    depth: usize,
    /// How many tests and values may follow.
    left: usize,
}

type Parsed<T> = Result<T, MatchError>;

impl<'a> Parser<'a> {
    /// The next token.
    fn word(&self) -> &'a str {
        &self.text[self.next.clone()]
    }

    /// Finds the token after the next.
    fn advance(&mut self) {
        let rest = &self.text[self.next.end..];
        let token = rest.trim_start();
        let start = self.next.end + (rest.len() - token.len());
        let is_word = |c: char| !c.is_whitespace() && !"(){},!<>=&|".contains(c);
        let length = match token.chars().next() {
            None => 0,
            Some(first) if is_word(first) => token.find(|c| !is_word(c)).unwrap_or(token.len()),
            Some(_)
                if ["!=", "<=", ">=", "==", "&&", "||"]
                    .iter()
                    .any(|sign| token.starts_with(sign)) =>
            {
                2
            }
            Some(first) => first.len_utf8(),
        };
        self.next = start..start + length;
    }

    /// Takes the next token if it is one of these.
    fn take(&mut self, words: &[&str]) -> bool {
        let found = words.contains(&self.word());
        if found {
            self.advance();
        }
        found
    }

    fn fail<T>(&self, expected: impl Into<String>) -> Parsed<T> {
        Err(MatchError {
            span: self.next.clone(),
            found: shown(self.word()),
            expected: expected.into(),
        })
    }

    /// Counts one more test or value.
    fn count(&mut self) -> Parsed<()> {
        match self.left.checked_sub(1) {
            Some(left) => self.left = left,
            None => return self.fail(format!("an expression of at most {MOST} tests and values")),
        }
        Ok(())
    }

    /// Counts one more parenthesis or `not` around what `inner` reads.
    fn nested(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<Expr>) -> Parsed<Expr> {
        if self.depth == DEEPEST {
            return self.fail(format!("at most {DEEPEST} parentheses and `not`s in each other"));
        }
        self.depth += 1;
        let expr = inner(self)?;
        self.depth -= 1;
        Ok(expr)
    }

    fn either(&mut self) -> Parsed<Expr> {
        let mut parts = vec![self.all()?];
        while self.take(&["or", "||"]) {
            parts.push(self.all()?);
        }
        Ok(Expr::either(parts))
    }

    fn all(&mut self) -> Parsed<Expr> {
        let mut parts = vec![self.unary()?];
        while self.take(&["and", "&&"]) {
            parts.push(self.unary()?);
        }
        Ok(Expr::all(parts))
    }

    fn unary(&mut self) -> Parsed<Expr> {
        if self.take(&["not", "!"]) {
            return self.nested(|parser| Ok(Expr::Not(Box::new(parser.unary()?))));
        }
        if !self.take(&["("]) {
            return self.test();
        }
        let inner = self.nested(Self::either)?;
        if self.take(&[")"]) { Ok(inner) } else { self.fail("and, or, )") }
    }

    fn test(&mut self) -> Parsed<Expr> {
        self.count()?;
        let word = self.word();
        if let Some(protocol) = number(&PROTOCOLS, word).or((word == "icmpv6").then_some(58)) {
            self.advance();
            let test = Expr::Protocol(Numbers::new(vec![(protocol, protocol)]));
            return match self.port_side() {
                Some(_) if !WITH_PORTS.contains(&protocol) => {
                    self.fail(format!("and, or, the end ({word} has no ports)"))
                }
                Some(side) => Ok(Expr::all(vec![test, self.port(side)?])),
                None => Ok(test),
            };
        }
        match word {
            "any" => {
                self.advance();
                Ok(Expr::Any)
            }
            "ip" | "ip4" => self.version(Version::V4),
            "ip6" => self.version(Version::V6),
            "protocol" | "proto" => self.protocol(),
            "dscp" => self.dscp(),
            "ecn" => self.ecn(),
            "vlan" => {
                self.advance();
                if self.word() == "pcp" {
                    return self.pcp();
                }
                self.take(&["id"]);
                Ok(Expr::Vlan(self.numbers(4095, &[], "a VLAN 0-4095")?))
            }
            "pcp" => self.pcp(),
            "tagged" | "untagged" => {
                self.advance();
                Ok(Expr::Tagged(word == "tagged"))
            }
            "mark" => Ok(Expr::Host(HostTest::Mark(self.marks()?))),
            "ct" => {
                self.advance();
                if self.word() != "mark" {
                    return self.fail("mark, as in ct mark 0x10");
                }
                Ok(Expr::Host(HostTest::ConnectionMark(self.marks()?)))
            }
            "priority" => {
                self.advance();
                let priorities = self.values(priority, "a priority such as 6 or 1:10")?;
                Ok(Expr::Host(HostTest::Priority(priorities)))
            }
            "cgroup" => self.cgroup(),
            _ => self.end(None),
        }
    }

    fn marks(&mut self) -> Parsed<Box<[MaskedMark]>> {
        self.advance();
        self.values(mark, "a mark such as 0x10, or 0x10/0xf0 where some bits count")
    }

    /// A value or a set of them.
    fn values<T>(&mut self, read: fn(&str) -> Option<T>, expected: &str) -> Parsed<Box<[T]>> {
        self.count()?;
        let values = self.set(|parser| {
            let Some(value) = read(parser.word()) else { return parser.fail(expected) };
            parser.advance();
            Ok(value)
        })?;
        Ok(values.into())
    }

    fn cgroup(&mut self) -> Parsed<Expr> {
        self.advance();
        let path = self.word().trim_matches('/');
        let is_name = |name: &str| !matches!(name, "" | "." | "..");
        if !path.split('/').all(is_name) || !path.starts_with(|c: char| !"(){},!<>=&|".contains(c))
        {
            return self.fail("the path of a control group such as system.slice/backup.service");
        }
        self.count()?;
        let group = Cgroup::new(path);
        self.advance();
        Ok(Expr::Host(HostTest::Cgroup(group)))
    }

    /// `ip` or `ip6`, alone or before what it is about.
    fn version(&mut self, version: Version) -> Parsed<Expr> {
        self.advance();
        let about = match self.word() {
            "protocol" | "proto" | "nexthdr" => self.nested(Self::protocol)?,
            "dscp" => self.nested(Self::dscp)?,
            "ecn" => self.nested(Self::ecn)?,
            "saddr" | "daddr" | "addr" | "src" | "dst" | "host" | "net" => {
                return self.end(Some(version));
            }
            _ => return Ok(Expr::Version(version)),
        };
        self.count()?;
        Ok(Expr::all(vec![Expr::Version(version), about]))
    }

    fn protocol(&mut self) -> Parsed<Expr> {
        self.advance();
        Ok(Expr::Protocol(self.numbers(255, &PROTOCOLS, "a protocol such as udp or 47 (0-255)")?))
    }

    fn dscp(&mut self) -> Parsed<Expr> {
        self.advance();
        Ok(Expr::Dscp(self.numbers(
            63,
            &CODE_POINTS,
            "a code point such as ef, af41, cs5 or 46 (0-63)",
        )?))
    }

    fn ecn(&mut self) -> Parsed<Expr> {
        self.advance();
        Ok(Expr::Ecn(self.numbers(3, &ECN, "not-ect, ect0, ect1, ce or 0-3")?))
    }

    fn pcp(&mut self) -> Parsed<Expr> {
        self.advance();
        Ok(Expr::Pcp(self.numbers(7, &[], "a priority 0-7")?))
    }

    /// A test of ports or addresses.
    fn end(&mut self, version: Option<Version>) -> Parsed<Expr> {
        if version.is_none()
            && let Some(side) = self.port_side()
        {
            return self.port(side);
        }
        let side = match self.word() {
            "saddr" | "src" => Side::Source,
            "daddr" | "dst" => Side::Destination,
            "addr" | "host" | "net" => Side::Any,
            _ => return self.fail(TEST),
        };
        if self.take(&["src", "dst"]) {
            self.take(&["host", "net"]);
        } else {
            self.advance();
        }
        Ok(Expr::Address(side, self.nets(version)?))
    }

    /// Looks for `sport` and its like, `src port` included, and stays before the word `port`.
    fn port_side(&mut self) -> Option<Side> {
        match self.word() {
            "sport" => Some(Side::Source),
            "dport" => Some(Side::Destination),
            "port" => Some(Side::Any),
            word @ ("src" | "dst") => {
                let before = self.next.clone();
                self.advance();
                if self.word() == "port" {
                    return Some(if word == "src" { Side::Source } else { Side::Destination });
                }
                self.next = before;
                None
            }
            _ => None,
        }
    }

    fn port(&mut self, side: Side) -> Parsed<Expr> {
        self.advance();
        Ok(Expr::Port(
            side,
            self.numbers(u16::MAX, &[], "a port 0-65535, a range or a set of them")?,
        ))
    }

    /// A number, a range, a set of them, or a comparison.
    fn numbers(&mut self, max: u16, names: &[(&str, u16)], expected: &str) -> Parsed<Numbers> {
        self.count()?;
        let sign = self.word();
        if ["=", "==", "!=", "<", "<=", ">", ">="].contains(&sign) {
            self.advance();
            let before = self.next.clone();
            let (from, to) = self.range(max, names, expected)?;
            let ranges = match sign {
                "=" | "==" => vec![(from, to)],
                "!=" => {
                    self.count()?;
                    self.count()?;
                    [from.checked_sub(1).map(|end| (0, end)), (to < max).then(|| (to + 1, max))]
                        .into_iter()
                        .flatten()
                        .collect()
                }
                "<" => from.checked_sub(1).map(|end| (0, end)).into_iter().collect(),
                "<=" => vec![(0, to)],
                ">" => (to < max).then(|| (to + 1, max)).into_iter().collect(),
                _ => vec![(from, max)],
            };
            if ranges.is_empty() {
                self.next = before;
                return self.fail(format!("a comparison that some number 0-{max} passes"));
            }
            return Ok(Numbers::new(ranges));
        }
        let ranges = self.set(|parser| parser.range(max, names, expected))?;
        Ok(Numbers::new(ranges))
    }

    /// `item` or `{item, item}`.
    fn set<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        if !self.take(&["{"]) {
            return Ok(vec![item(self)?]);
        }
        let mut items = Vec::new();
        loop {
            self.count()?;
            items.push(item(self)?);
            if self.take(&["}"]) {
                return Ok(items);
            }
            if !self.take(&[","]) {
                return self.fail(", or }");
            }
        }
    }

    fn range(&mut self, max: u16, names: &[(&str, u16)], expected: &str) -> Parsed<(u16, u16)> {
        let value = |text: &str| {
            let plain = text.bytes().all(|byte| byte.is_ascii_digit());
            let decimal = || text.parse().ok().filter(|value| plain && *value <= max);
            number(names, text).or_else(decimal)
        };
        let word = self.word();
        let single = value(word).map(|value| (value, value));
        let ends = || word.split_once('-').and_then(|(from, to)| value(from).zip(value(to)));
        let range = single.or_else(ends);
        match range {
            Some((from, to)) if from <= to => {
                self.advance();
                Ok((from, to))
            }
            Some(_) => self.fail("a range from the smaller to the larger number"),
            None => self.fail(expected),
        }
    }

    fn nets(&mut self, version: Option<Version>) -> Parsed<Box<[Net]>> {
        let mut version = version;
        let nets = self.set(|parser| {
            parser.count()?;
            let expected = match version {
                Some(Version::V4) => {
                    "an IPv4 address such as 10.7.0.1 or network such as 10.0.0.0/8"
                }
                Some(Version::V6) => "an IPv6 address such as fd00::1 or network such as fd00::/8",
                None => "an address such as 10.7.0.1 or fd00::1, or a network such as 10.0.0.0/8",
            };
            let net = net(parser.word()).filter(|net| {
                version.is_none_or(|version| (version == Version::V4) == net.address.is_ipv4())
            });
            let Some(net) = net else { return parser.fail(expected) };
            version = Some(if net.address.is_ipv4() { Version::V4 } else { Version::V6 });
            parser.advance();
            Ok(net)
        })?;
        Ok(nets.into())
    }
}

/// `16`, `0x10` or `0x10/0xf0`.
fn mark(word: &str) -> Option<MaskedMark> {
    let (value, mask) = match word.split_once('/') {
        Some((value, mask)) => (value, number32(mask)?),
        None => (word, u32::MAX),
    };
    Some(MaskedMark::new(number32(value)?, mask))
}

/// `6`, `0x6`, or `1:10` of two hexadecimal numbers as for tc.
fn priority(word: &str) -> Option<u32> {
    let half = |digits: &str| is_plain(digits).then(|| u16::from_str_radix(digits, 16).ok())?;
    match word.split_once(':') {
        Some((major, minor)) => Some(u32::from(half(major)?) << 16 | u32::from(half(minor)?)),
        None => number32(word),
    }
}

fn number32(digits: &str) -> Option<u32> {
    match digits.strip_prefix("0x") {
        Some(digits) => is_plain(digits).then(|| u32::from_str_radix(digits, 16).ok())?,
        None => is_plain(digits).then(|| digits.parse().ok())?,
    }
}

/// Whether digits have no sign.
fn is_plain(digits: &str) -> bool {
    digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// `10.7.0.1` or `10.0.0.0/8`; bits past the prefix do not count.
fn net(word: &str) -> Option<Net> {
    let (address, prefix) = match word.split_once('/') {
        Some((address, prefix)) => (address, Some(prefix)),
        None => (word, None),
    };
    let address: IpAddr = address.parse().ok()?;
    let bits = Net::bits(address);
    let prefix = match prefix {
        Some(digits) => {
            digits.parse().ok().filter(|prefix| *prefix <= bits && !digits.starts_with('+'))?
        }
        None => bits,
    };
    Some(Net::new(address, prefix))
}
