//! `u32`: bits at places of the header (iproute2, tc/f_u32.c).

use laxity_plan::error::Fault;
use laxity_plan::matching::Version;

use super::{FilterAction, FilterError, Target};
use crate::error::plain;
use crate::notes::NotMapped;
use crate::setup::{FilterKind, Mark, Protocol, U32, U32Hash, U32Key};
use crate::words::command::{Args, Word};
use crate::words::quantity;

const SELECTORS: &str = "match ip, ip6, u32, u16, u8, mark; classid; flowid; action";
const FIELDS: &str = "src, dst, protocol, sport, dport, tos, dsfield, priority";

/// From here on tables are those of priorities.
const OWN_TABLES: u16 = 0x800;

/// Where bits stand: a place, and whether it counts from the header behind IP.
type Place = (i64, bool);

/// Reads the words behind `u32`.
pub(super) fn read(protocol: &Protocol, mut args: Args<'_>) -> Result<FilterAction, FilterError> {
    let (mut target, mut u32) = (Target::default(), U32::default());
    while let Some(word) = args.next() {
        match word.text.as_str() {
            "skip_hw" | "skip_sw" => {}
            "ht" => {
                u32.place =
                    Some(place(args.value("ht")?)?).filter(|(table, _)| *table < OWN_TABLES);
            }
            "link" => u32.link = Some(place(args.value("link")?)?.0),
            "sample" | "indev" => return Err(not_read(&word.text).into()),
            _ if word.means("match") && args.take("mark") => {
                let (value, mask) = (args.value("match mark")?, args.value("match mark VALUE")?);
                let bits = |word| quantity::whole(word, 0, "bits of a mark");
                u32.mark = Some(Mark::Is { value: bits(value)?, mask: bits(mask)? });
            }
            _ if word.means("match") => select(protocol, &mut args, &mut u32)?,
            _ if word.means("divisor") => {
                let value = args.value("divisor")?;
                let parts = quantity::whole(value, 0, "a number of parts")?;
                if !parts.is_power_of_two() || parts > 256 {
                    let accepted = "tc reads a power of two up to 256";
                    return Err(value.fault("a number of parts", accepted).into());
                }
                u32.parts = Some(parts);
            }
            _ if word.means("hashkey") => u32.hash = hash_key(&mut args)?,
            _ if word.means("offset") => {
                if !offset(&mut args)? {
                    return Err(
                        NotMapped::from("this `offset` is none of the header after IP").into()
                    );
                }
                u32.finds_next_header = true;
            }
            _ if target.take(word, &mut args)? => {}
            _ if word.means("order") => return Err(not_read("order").into()),
            _ => return Err(word.no_keyword("u32", SELECTORS).into()),
        }
    }
    if u32.place.is_some() && u32.mark.is_some() {
        return Err(NotMapped::from("`match mark` in a table is not followed").into());
    }
    Ok(FilterAction { kind: FilterKind::U32(u32), target })
}

fn not_read(option: &str) -> NotMapped {
    match option {
        "indev" => "the interface that a packet came from has no counterpart".into(),
        "order" => "`order`, its place among others, is not followed".into(),
        option => {
            format!("`{option}` is not read: `ht` says which part of a table is meant").into()
        }
    }
}

/// `2:10:`: the number of the table, and that of its part.
pub(super) fn place(word: &Word) -> Result<(u16, u16), Fault> {
    let mut parts = word.text.split(':');
    let mut next = || match parts.next().unwrap_or_default() {
        "" => Some(0),
        text => quantity::number(text, 16),
    };
    next().zip(next()).ok_or_else(|| {
        word.fault("a table of filters", "tc reads hexadecimal numbers such as 2: or 2:10:")
    })
}

/// `hashkey mask MASK at PLACE`.
fn hash_key(args: &mut Args<'_>) -> Result<U32Hash, Fault> {
    let mut hash = U32Hash::default();
    while let Some(name) = ["mask", "at"].into_iter().find(|name| args.take(name)) {
        let value = args.value(name)?;
        match name {
            "mask" => hash.mask = quantity::whole(value, 16, "a hexadecimal mask")?,
            _ => hash.at = quantity::whole(value, 0, "a place in the header")?.into(),
        }
    }
    Ok(hash)
}

/// Whether this is `offset at 0 mask 0f00 shift 6`, which reads the length of IPv4's header from
/// it.
fn offset(args: &mut Args<'_>) -> Result<bool, Fault> {
    let (mut at, mut mask, mut shift, mut plus) = (0, 0, 0, 0);
    while let Some(name) =
        ["plus", "at", "mask", "shift", "eat"].into_iter().find(|name| args.take(name))
    {
        match name {
            "plus" => plus = quantity::whole(args.value(name)?, 0, "a number of bytes")?,
            "at" => at = quantity::whole(args.value(name)?, 0, "a place in the header")?,
            "mask" => mask = quantity::whole(args.value(name)?, 16, "a hexadecimal mask")?,
            "shift" => shift = quantity::whole(args.value(name)?, 0, "a number of bits")?,
            // The filters behind it count from there, too.
            _ => plus = u32::MAX,
        }
    }
    Ok((at, mask, shift, plus) == (0, 0x0f00, 6, 0))
}

/// One `match`.
fn select(protocol: &Protocol, args: &mut Args<'_>, u32: &mut U32) -> Result<(), FilterError> {
    let selector = args.value("match")?;
    let raw = [("u32", 4), ("u16", 2), ("u8", 1)];
    if let Some((_, width)) = raw.into_iter().find(|(name, _)| selector.means(name)) {
        let (value, mask) = value_and_mask(args, width)?;
        U32Key::push(&mut u32.keys, at_or(args, 0)?, width, value, mask);
        return Ok(());
    }
    let version = match selector {
        ip if ip.means("ip") => Version::V4,
        ip if ip.means("ip6") => Version::V6,
        word if ["tcp", "udp"].into_iter().any(|name| word.means(name)) => {
            return Ok(above(args, u32)?);
        }
        word if ["ether", "icmp"].into_iter().any(|name| word.means(name)) => {
            return Err(
                NotMapped(format!("`match {}` has no counterpart", plain(&word.text))).into()
            );
        }
        word => return Err(word.no_keyword("`match`", "ip, ip6, u32, u16, u8, tcp, udp").into()),
    };
    if protocol.version().is_some_and(|other| other != version) {
        let protocol = protocol.name();
        let text = format!("it is of protocol {protocol}, but matches `{}`", selector.text);
        return Err(NotMapped(text).into());
    }
    u32.version = Some(version);
    field(version, args, u32)
}

/// A port of the header after IP.
fn above(args: &mut Args<'_>, u32: &mut U32) -> Result<(), Fault> {
    let name = args.value("match tcp")?;
    let at = match name.text.as_str() {
        "src" => 0,
        "dst" => 2,
        _ => return Err(name.no_keyword("`match tcp`", "src, dst")),
    };
    let (value, mask) = value_and_mask(args, 2)?;
    U32Key::push(&mut u32.keys, (at, true), 2, value, mask);
    Ok(())
}

/// A field of the header by its name.
fn field(version: Version, args: &mut Args<'_>, u32: &mut U32) -> Result<(), FilterError> {
    let name = args.value("match ip")?;
    let is_v4 = version == Version::V4;
    let (address_at, port_at) = if is_v4 { (12, 20) } else { (8, 40) };
    let length = if is_v4 { 4 } else { 16 };
    let (at, width) = match name.text.as_str() {
        "src" => return Ok(address(version, address_at, args, u32)?),
        "dst" => return Ok(address(version, address_at + length, args, u32)?),
        "sport" => (port_at, 2),
        "dport" => (port_at + 2, 2),
        "protocol" => (if is_v4 { 9 } else { 6 }, 1),
        "tos" if is_v4 => (1, 1),
        _ if is_v4 && (name.means("dsfield") || name.means("precedence")) => (1, 1),
        "priority" if !is_v4 => {
            let (value, mask) = value_and_mask(args, 1)?;
            U32Key::push(&mut u32.keys, (0, false), 4, value << 20, mask << 20);
            return Ok(());
        }
        "firstfrag" if is_v4 => {
            U32Key::push(&mut u32.keys, (6, false), 2, 0, 0x1fff);
            return Ok(());
        }
        "ihl" if is_v4 => {
            let (value, mask) = value_and_mask(args, 1)?;
            U32Key::push(&mut u32.keys, (0, false), 1, value & 0xf, mask & 0xf);
            return Ok(());
        }
        "nofrag" | "df" | "mf" | "icmp_type" | "icmp_code" | "flowlabel" => {
            return Err(NotMapped(format!("`{}` has no counterpart", name.text)).into());
        }
        _ => return Err(name.no_keyword("`match ip`", FIELDS).into()),
    };
    let (value, mask) = value_and_mask(args, width)?;
    U32Key::push(&mut u32.keys, at_or(args, at)?, width, value, mask);
    Ok(())
}

fn address(version: Version, at: i64, args: &mut Args<'_>, u32: &mut U32) -> Result<(), Fault> {
    let word = args.value("match ip")?;
    let is_v4 = version == Version::V4;
    let example = if is_v4 { "10.7.0.1 or 10.0.0.0/8" } else { "fd00::1 or fd00::/8" };
    if ["any", "all", "default"].contains(&word.text.as_str()) {
        return Ok(());
    }
    let network = quantity::network(&word.text).filter(|(address, _)| address.is_ipv4() == is_v4);
    let Some(network) = network else {
        return Err(word.fault("an address or network", &format!("tc reads one such as {example}")));
    };
    let (at, is_behind_ip) = at_or(args, at)?;
    let keys = U32Key::for_address(network, 0);
    for U32Key { value, mask, offset, .. } in keys {
        U32Key::push(&mut u32.keys, (at + i64::from(offset), is_behind_ip), 4, value, mask);
    }
    Ok(())
}

/// `VALUE MASK` of this width in bytes.
fn value_and_mask(args: &mut Args<'_>, width: u32) -> Result<(u32, u32), Fault> {
    let most = u32::MAX >> (32 - 8 * width);
    let read = |word: &Word, base, what: &str| -> Result<u32, Fault> {
        let value = quantity::whole(word, base, what)?;
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

/// `at PLACE`, or else the usual place.
fn at_or(args: &mut Args<'_>, default: i64) -> Result<Place, Fault> {
    if args.peek().is_none_or(|word| word.text != "at") {
        return Ok((default, false));
    }
    args.next();
    let place = args.value("at")?;
    if let Some(rest) = place.text.strip_prefix("nexthdr") {
        let digits = match rest.strip_prefix('+') {
            Some("") => &args.value("nexthdr+")?.text,
            Some(digits) => digits,
            None => "0",
        };
        let bytes = quantity::number::<u16>(digits, 0);
        let accepted = "tc reads one such as nexthdr+2";
        let fault = || place.fault("a place after the header", accepted);
        return bytes.map(|bytes| (bytes.into(), true)).ok_or_else(fault);
    }
    let text = place.text.as_str();
    let (digits, sign) = text.strip_prefix('-').map_or((text, 1), |digits| (digits, -1));
    let read = quantity::number(digits, 0);
    let read = read.map(|place: i32| (sign * i64::from(place), false));
    read.ok_or_else(|| place.fault("a place in the header", "tc reads a number of bytes"))
}
