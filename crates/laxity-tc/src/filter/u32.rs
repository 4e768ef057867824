//! `u32`: bits at places of the header (iproute2, tc/f_u32.c).

use std::net::IpAddr;

use laxity_plan::error::Fault;
use laxity_plan::matching::{Net, Side, Version};

use super::selection::{Protocol, Selected, Selection, action};
use crate::args::Args;
use crate::command::Word;
use crate::error::{Read, plain};
use crate::packets::{Field, Packets, masked};
use crate::units;

/// One byte of the header that is looked at: where it is, its value and which of its bits count.
type Byte = (i64, u8, u8);

const SELECTORS: &str = "match ip, ip6, u32, u16, u8; classid; flowid; action";
const FIELDS: &str = "src, dst, protocol, sport, dport, tos, dsfield, priority";

pub fn selected(protocol: &Protocol, mut args: Args<'_>) -> Read<Selected> {
    let mut selection = Selection::default();
    while let Some(word) = args.next() {
        match word.text.as_str() {
            "flowid" => selection.class = Some(units::handle(args.value("flowid")?)?),
            "skip_hw" | "skip_sw" => {}
            "ht" | "link" | "sample" | "indev" => return Ok(Err(not_read(&word.text))),
            _ if word.means("match") => {
                if let Err(reason) = select(protocol, &mut args, &mut selection)? {
                    return Ok(Err(reason));
                }
            }
            _ if word.means("classid") => {
                selection.class = Some(units::handle(args.value("classid")?)?);
            }
            _ if action(word, &mut selection) => break,
            _ => {
                let tables = ["offset", "hashkey", "divisor", "order"];
                return match tables.into_iter().find(|option| word.means(option)) {
                    Some(option) => Ok(Err(not_read(option))),
                    None => Err(word.no_keyword("u32", SELECTORS)),
                };
            }
        }
    }
    Ok(Ok(selection))
}

fn not_read(option: &str) -> String {
    match option {
        "indev" => "the interface that a packet came from has no counterpart".into(),
        "order" => "`order`, its place among others, is not followed".into(),
        option => format!("`{option}` belongs to hash tables of filters, which are not read"),
    }
}

/// One `match`.
fn select(
    protocol: &Protocol,
    args: &mut Args<'_>,
    selection: &mut Selection,
) -> Read<Result<(), String>> {
    let selector = args.value("match")?;
    let raw = [("u32", 4), ("u16", 2), ("u8", 1)];
    if let Some((_, width)) = raw.into_iter().find(|(name, _)| selector.means(name)) {
        let (value, mask) = value_and_mask(args, width)?;
        let at = at(args)?;
        return Ok(match (at, protocol) {
            _ if mask == 0 => Ok(()),
            (None, _) => Err(NEXT_HEADER.into()),
            (Some(at), Protocol::Ip) => {
                take(Version::V4, &bytes(at, width, value, mask), selection)
            }
            (Some(at), Protocol::Ip6) => {
                take(Version::V6, &bytes(at, width, value, mask), selection)
            }
            _ => Err("bytes are read only with `protocol ip` or `protocol ipv6`".into()),
        });
    }
    let version = match selector {
        ip if ip.means("ip") => Version::V4,
        ip if ip.means("ip6") => Version::V6,
        word if ["tcp", "udp", "icmp"].into_iter().any(|name| word.means(name)) => {
            return Ok(Err(NEXT_HEADER.into()));
        }
        word if ["mark", "ether"].into_iter().any(|name| word.means(name)) => {
            return Ok(Err(format!("`match {}` has no counterpart", plain(&word.text))));
        }
        word => return Err(word.no_keyword("`match`", "ip, ip6, u32, u16, u8")),
    };
    let crossed = [(Version::V4, Protocol::Ip6), (Version::V6, Protocol::Ip)];
    if crossed.iter().any(|(other, of)| version == *other && protocol == of) {
        return Ok(Err(format!("it is of protocol {protocol}, but matches `{}`", selector.text)));
    }
    field(version, args, selection)
}

/// Where the payload of IP begins is known only to a filter that another one computed it for.
const NEXT_HEADER: &str = "the header after IP is found only by way of hash tables of filters, which \
     are not read: `match ip sport` and `match ip dport` are";

/// A field of the header by its name.
fn field(
    version: Version,
    args: &mut Args<'_>,
    selection: &mut Selection,
) -> Read<Result<(), String>> {
    let name = args.value("match ip")?;
    let is_v4 = version == Version::V4;
    let (address_at, port_at) = if is_v4 { (12, 20) } else { (8, 40) };
    let length = if is_v4 { 4 } else { 16 };
    let (at, width) = match name.text.as_str() {
        "src" => return address(version, address_at, args, selection),
        "dst" => return address(version, address_at + length, args, selection),
        "sport" => (port_at, 2),
        "dport" => (port_at + 2, 2),
        "protocol" => (if is_v4 { 9 } else { 6 }, 1),
        "tos" if is_v4 => (1, 1),
        _ if is_v4 && (name.means("dsfield") || name.means("precedence")) => (1, 1),
        "priority" if !is_v4 => {
            let (value, mask) = value_and_mask(args, 1)?;
            return Ok(take(version, &bytes(0, 4, value << 20, mask << 20), selection));
        }
        "ihl" | "nofrag" | "firstfrag" | "df" | "mf" | "icmp_type" | "icmp_code" | "flowlabel" => {
            return Ok(Err(format!("`{}` has no counterpart", name.text)));
        }
        _ => return Err(name.no_keyword("`match ip`", FIELDS)),
    };
    let (value, mask) = value_and_mask(args, width)?;
    let Some(at) = at_or(args, at)? else { return Ok(Err(NEXT_HEADER.into())) };
    Ok(take(version, &bytes(at, width, value, mask), selection))
}

fn address(
    version: Version,
    at: i64,
    args: &mut Args<'_>,
    selection: &mut Selection,
) -> Read<Result<(), String>> {
    let word = args.value("match ip")?;
    let is_v4 = version == Version::V4;
    let example = if is_v4 { "10.7.0.1 or 10.0.0.0/8" } else { "fd00::1 or fd00::/8" };
    if ["any", "all", "default"].contains(&word.text.as_str()) {
        selection.packets.of_version(version);
        return Ok(Ok(()));
    }
    let network = units::network(&word.text).filter(|(address, _)| address.is_ipv4() == is_v4);
    let Some((address, prefix)) = network else {
        return Err(word.fault("an address or network", &format!("tc reads one such as {example}")));
    };
    let Some(place) = at_or(args, at)? else { return Ok(Err(NEXT_HEADER.into())) };
    if place != at {
        return Ok(Err(format!("an address at byte {place} of the header has no counterpart")));
    }
    let side = if matches!(at, 12 | 8) { Side::Source } else { Side::Destination };
    selection.packets.within(side, Net::new(address, prefix));
    Ok(Ok(()))
}

/// `VALUE MASK` of so many bytes.
fn value_and_mask(args: &mut Args<'_>, width: u32) -> Read<(u32, u32)> {
    let most = u32::MAX >> (32 - 8 * width);
    let read = |word: &Word, base, what: &str| -> Read<u32> {
        let value = units::whole(word, base, what)?;
        if value > most {
            let message = format!("`{}` has more than {} bits", plain(&word.text), 8 * width);
            return Err(Fault::at(&word.span, message));
        }
        Ok(value)
    };
    let value = read(args.value("match")?, 0, "a value")?;
    let mask = read(args.value("match VALUE")?, 16, "a hexadecimal mask")?;
    Ok((value & mask, mask))
}

/// `at PLACE`, 0 without it; `None` if it counts from the header after IP.
fn at(args: &mut Args<'_>) -> Read<Option<i64>> {
    at_or(args, 0)
}

fn at_or(args: &mut Args<'_>, default: i64) -> Read<Option<i64>> {
    if args.peek().is_none_or(|word| word.text != "at") {
        return Ok(Some(default));
    }
    args.next();
    let place = args.value("at")?;
    if place.text.starts_with("nexthdr") || place.means("nexthdr+") {
        if place.means("nexthdr+") {
            args.value("nexthdr+")?;
        }
        return Ok(None);
    }
    let (digits, sign) = match place.text.strip_prefix('-') {
        Some(digits) => (digits, -1),
        None => (place.text.as_str(), 1),
    };
    let read = units::number(digits, 0).and_then(|place| i32::try_from(place).ok());
    let read = read.map(|place| sign * i64::from(place));
    read.map(Some).ok_or_else(|| place.fault("a place in the header", "tc reads a number of bytes"))
}

/// The bytes of a value in the header's order.
fn bytes(at: i64, width: u32, value: u32, mask: u32) -> Vec<Byte> {
    let byte = |number: u32, index: u32| (number >> (8 * (width - 1 - index))) as u8;
    (0..width).map(|index| (at + i64::from(index), byte(value, index), byte(mask, index))).collect()
}

/// Adds what these bytes ask for.
fn take(version: Version, bytes: &[Byte], selection: &mut Selection) -> Result<(), String> {
    selection.packets.of_version(version);
    let layout: &[(i64, i64, Part)] = match version {
        Version::V4 => &[
            (1, 1, Part::Service),
            (9, 1, Part::Number(Field::Protocol)),
            (12, 4, Part::Address(Side::Source)),
            (16, 4, Part::Address(Side::Destination)),
            (20, 2, Part::Number(Field::SourcePort)),
            (22, 2, Part::Number(Field::DestinationPort)),
        ],
        Version::V6 => &[
            (0, 2, Part::ServiceAcross),
            (6, 1, Part::Number(Field::Protocol)),
            (8, 16, Part::Address(Side::Source)),
            (24, 16, Part::Address(Side::Destination)),
            (40, 2, Part::Number(Field::SourcePort)),
            (42, 2, Part::Number(Field::DestinationPort)),
        ],
    };
    let mut rest: Vec<Byte> = bytes.iter().copied().filter(|(_, _, mask)| *mask != 0).collect();
    while let Some((at, ..)) = rest.first().copied() {
        let holds = |(start, length, _): &&(i64, i64, Part)| (*start..start + length).contains(&at);
        let Some((start, length, part)) = layout.iter().find(holds) else {
            return Err(format!("byte {at} of the IP header has no counterpart"));
        };
        let of_part = |index: i64| rest.iter().find(|(at, ..)| *at == start + index);
        let found: Vec<(u8, u8)> = (0..*length)
            .map(|index| of_part(index).map_or((0, 0), |(_, value, mask)| (value & mask, *mask)))
            .collect();
        part.add(&found, selection)?;
        rest.retain(|(at, ..)| !(*start..start + length).contains(at));
    }
    Ok(())
}

/// What stands in some bytes of a header.
enum Part {
    Number(Field),
    Address(Side),
    /// DSCP and ECN in one byte.
    Service,
    /// The same after the four bits of the version, and before four of the flow label.
    ServiceAcross,
}

impl Part {
    fn add(&self, bytes: &[(u8, u8)], selection: &mut Selection) -> Result<(), String> {
        let number = |bytes: &[(u8, u8)]| {
            let push = |(value, mask): (u16, u16), (v, m): &(u8, u8)| {
                (value << 8 | u16::from(*v), mask << 8 | u16::from(*m))
            };
            bytes.iter().fold((0, 0), push)
        };
        match self {
            Part::Number(field) => {
                let (value, mask) = number(bytes);
                let bits = 8 * bytes.len() as u32;
                let scattered = || format!("the mask {mask:#x} is no range of numbers");
                let numbers = masked(value, mask, bits).ok_or_else(scattered)?;
                selection.packets.with(*field, &numbers);
                Ok(())
            }
            Part::Address(side) => network(*side, bytes, &mut selection.packets),
            Part::Service => {
                let (value, mask) = number(bytes);
                service(value as u8, mask as u8, selection)
            }
            Part::ServiceAcross => {
                let (value, mask) = number(bytes);
                match mask & 0xf00f {
                    0 => service((value >> 4) as u8, (mask >> 4) as u8, selection),
                    _ => Err("the version and the flow label have no counterpart".into()),
                }
            }
        }
    }
}

fn network(side: Side, bytes: &[(u8, u8)], packets: &mut Packets) -> Result<(), String> {
    let ones: u32 = bytes.iter().map(|(_, mask)| mask.count_ones()).sum();
    let in_whole_bytes = bytes.iter().take_while(|(_, mask)| *mask == 0xff).count();
    let part = bytes.get(in_whole_bytes).map_or(0, |(_, mask)| mask.leading_ones());
    let leading = 8 * in_whole_bytes as u32 + part;
    if leading != ones {
        return Err("an address mask with gaps has no counterpart".into());
    }
    let mut address = [0; 16];
    address.iter_mut().zip(bytes).for_each(|(byte, (value, _))| *byte = *value);
    let address = match bytes.len() {
        4 => IpAddr::V4([address[0], address[1], address[2], address[3]].into()),
        _ => IpAddr::V6(address.into()),
    };
    packets.within(side, Net::new(address, leading as u8));
    Ok(())
}

/// The byte that was once called type of service: six bits of DSCP and two of ECN.
pub fn service(value: u8, mask: u8, selection: &mut Selection) -> Result<(), String> {
    if mask >> 2 == 0 {
        return Err("the bits of ECN have no counterpart".into());
    }
    if mask & 3 != 0 {
        selection.lost.push("its test of the ECN bits is left out, that of DSCP is kept".into());
    }
    let scattered = || format!("the mask {mask:#x} is no range of code points");
    let numbers = masked((value >> 2).into(), (mask >> 2).into(), 6).ok_or_else(scattered)?;
    selection.packets.with(Field::Dscp, &numbers);
    Ok(())
}
