//! `u32`: bits at places of the header (iproute2, tc/f_u32.c).

use laxity_plan::error::Fault;
use laxity_plan::matching::{Net, Version};

use super::bits::{Bits, NEXT_HEADER};
use super::selection::{Mark, Protocol, Selected, Selection, action};
use crate::args::Args;
use crate::command::Word;
use crate::error::{Read, plain};
use crate::units;

const SELECTORS: &str = "match ip, ip6, u32, u16, u8, mark; classid; flowid; action";
const FIELDS: &str = "src, dst, protocol, sport, dport, tos, dsfield, priority";

/// What a u32 filter has beside the packets of its protocol.
#[derive(Clone, Debug, Default)]
pub struct U32 {
    pub bits: Bits,
    /// The table that it is in, and which part of it; `None` for that of its priority.
    pub place: Option<(u16, u16)>,
    /// The table whose filters are asked about its packets.
    pub link: Option<u16>,
    pub hash: Hash,
    /// It is a table of so many parts itself.
    pub parts: Option<u32>,
    /// For the filters that it links to, places after IP count from the end of its header.
    pub finds_next_header: bool,
}

/// Which part of a table is asked: some bits of a word of the header (`u32_hash_fold`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Hash {
    mask: u32,
    at: i64,
}

impl Hash {
    /// The bits by which one part of so many is asked; `None` if it never is.
    pub fn bits(&self, part: u16, parts: u32) -> Option<Bits> {
        let shift = self.mask.trailing_zeros().min(31);
        let mask = self.mask & (parts.saturating_sub(1) << shift);
        let value = u32::from(part).checked_shl(shift)?;
        let mut bits = Bits::default();
        bits.ask(self.at, 4, value, mask);
        (value & !mask == 0 && value >> shift == u32::from(part) && u32::from(part) < parts)
            .then_some(bits)
    }
}

/// From here on tables are those of priorities.
const OWN_TABLES: u16 = 0x800;

pub fn selected(protocol: &Protocol, mut args: Args<'_>) -> Read<Selected> {
    let mut selection = Selection::default();
    let mut u32 = U32::default();
    match protocol {
        Protocol::Ip => u32.bits.of_version(Version::V4),
        Protocol::Ip6 => u32.bits.of_version(Version::V6),
        Protocol::All | Protocol::Vlan | Protocol::Other(_) => {}
    }
    while let Some(word) = args.next() {
        match word.text.as_str() {
            "flowid" => selection.class = Some(units::handle(args.value("flowid")?)?),
            "skip_hw" | "skip_sw" => {}
            "ht" => {
                let (table, part) = place(args.value("ht")?)?;
                u32.place = Some((table, part)).filter(|_| table < OWN_TABLES);
            }
            "link" => u32.link = Some(place(args.value("link")?)?.0),
            "sample" | "indev" => return Ok(Err(not_read(&word.text))),
            _ if word.means("match") && args.take("mark") => {
                let (value, mask) = (args.value("match mark")?, args.value("match mark VALUE")?);
                let bits = |word| units::whole(word, 0, "bits of a mark");
                let (value, mask) = (bits(value)?, bits(mask)?);
                selection.mark = Some(Mark::Is { value, mask });
            }
            _ if word.means("match") => {
                if let Err(reason) = select(protocol, &mut args, &mut u32.bits)? {
                    return Ok(Err(reason));
                }
            }
            _ if word.means("classid") => {
                selection.class = Some(units::handle(args.value("classid")?)?);
            }
            _ if word.means("divisor") => {
                let value = args.value("divisor")?;
                let parts = units::whole(value, 0, "a number of parts")?;
                if !parts.is_power_of_two() || parts > 256 {
                    return Err(
                        value.fault("a number of parts", "tc reads a power of two up to 256")
                    );
                }
                u32.parts = Some(parts);
            }
            _ if word.means("hashkey") => u32.hash = hash_key(&mut args)?,
            _ if word.means("offset") => match offset(&mut args)? {
                true => u32.finds_next_header = true,
                false => return Ok(Err("this `offset` is none of the header after IP".into())),
            },
            _ if action(word, &mut args, &mut selection)? => break,
            _ if word.means("order") => return Ok(Err(not_read("order"))),
            _ => return Err(word.no_keyword("u32", SELECTORS)),
        }
    }
    if u32.place.is_some() && selection.mark.is_some() {
        return Ok(Err("`match mark` in a table is not followed".into()));
    }
    selection.u32 = Some(u32);
    Ok(Ok(selection))
}

fn not_read(option: &str) -> String {
    match option {
        "indev" => "the interface that a packet came from has no counterpart".into(),
        "order" => "`order`, its place among others, is not followed".into(),
        option => format!("`{option}` is not read: `ht` says which part of a table is meant"),
    }
}

/// `2:10:`, of which the first number is the table and the second its part.
pub fn place(word: &Word) -> Read<(u16, u16)> {
    let mut parts = word.text.split(':');
    let mut next = || match parts.next().unwrap_or_default() {
        "" => Some(0),
        text => units::number(text, 16).and_then(|number| u16::try_from(number).ok()),
    };
    next().zip(next()).ok_or_else(|| {
        word.fault("a table of filters", "tc reads hexadecimal numbers such as 2: or 2:10:")
    })
}

/// `hashkey mask MASK at PLACE`.
fn hash_key(args: &mut Args<'_>) -> Read<Hash> {
    let mut hash = Hash::default();
    while let Some(name) = ["mask", "at"].into_iter().find(|name| args.take(name)) {
        let value = args.value(name)?;
        match name {
            "mask" => hash.mask = units::whole(value, 16, "a hexadecimal mask")?,
            _ => hash.at = units::whole(value, 0, "a place in the header")?.into(),
        }
    }
    Ok(hash)
}

/// `offset at 0 mask 0f00 shift 6`, by which the length of IPv4's header is read from it: whether it is that.
fn offset(args: &mut Args<'_>) -> Read<bool> {
    let (mut at, mut mask, mut shift, mut plus) = (0, 0, 0, 0);
    while let Some(name) =
        ["plus", "at", "mask", "shift", "eat"].into_iter().find(|name| args.take(name))
    {
        match name {
            "plus" => plus = units::whole(args.value(name)?, 0, "a number of bytes")?,
            "at" => at = units::whole(args.value(name)?, 0, "a place in the header")?,
            "mask" => mask = units::whole(args.value(name)?, 16, "a hexadecimal mask")?,
            "shift" => shift = units::whole(args.value(name)?, 0, "a number of bits")?,
            // The filters behind it count from there, too.
            _ => plus = u32::MAX,
        }
    }
    Ok((at, mask, shift, plus) == (0, 0x0f00, 6, 0))
}

/// One `match`.
fn select(protocol: &Protocol, args: &mut Args<'_>, bits: &mut Bits) -> Read<Result<(), String>> {
    let selector = args.value("match")?;
    let raw = [("u32", 4), ("u16", 2), ("u8", 1)];
    if let Some((_, width)) = raw.into_iter().find(|(name, _)| selector.means(name)) {
        let (value, mask) = value_and_mask(args, width)?;
        bits.ask(at_or(args, 0)?, width, value, mask);
        return Ok(Ok(()));
    }
    let version = match selector {
        ip if ip.means("ip") => Version::V4,
        ip if ip.means("ip6") => Version::V6,
        word if ["tcp", "udp"].into_iter().any(|name| word.means(name)) => {
            return above(args, bits).map(Ok);
        }
        word if ["ether", "icmp"].into_iter().any(|name| word.means(name)) => {
            return Ok(Err(format!("`match {}` has no counterpart", plain(&word.text))));
        }
        word => return Err(word.no_keyword("`match`", "ip, ip6, u32, u16, u8, tcp, udp")),
    };
    let crossed = [(Version::V4, Protocol::Ip6), (Version::V6, Protocol::Ip)];
    if crossed.iter().any(|(other, of)| version == *other && protocol == of) {
        return Ok(Err(format!("it is of protocol {protocol}, but matches `{}`", selector.text)));
    }
    bits.of_version(version);
    field(version, args, bits)
}

/// A port of the header after IP.
fn above(args: &mut Args<'_>, bits: &mut Bits) -> Read<()> {
    let name = args.value("match tcp")?;
    let at = match name.text.as_str() {
        "src" => 0,
        "dst" => 2,
        _ => return Err(name.no_keyword("`match tcp`", "src, dst")),
    };
    let (value, mask) = value_and_mask(args, 2)?;
    bits.ask(NEXT_HEADER + at, 2, value, mask);
    Ok(())
}

/// A field of the header by its name.
fn field(version: Version, args: &mut Args<'_>, bits: &mut Bits) -> Read<Result<(), String>> {
    let name = args.value("match ip")?;
    let is_v4 = version == Version::V4;
    let (address_at, port_at) = if is_v4 { (12, 20) } else { (8, 40) };
    let length = if is_v4 { 4 } else { 16 };
    let (at, width) = match name.text.as_str() {
        "src" => return address(version, address_at, args, bits).map(Ok),
        "dst" => return address(version, address_at + length, args, bits).map(Ok),
        "sport" => (port_at, 2),
        "dport" => (port_at + 2, 2),
        "protocol" => (if is_v4 { 9 } else { 6 }, 1),
        "tos" if is_v4 => (1, 1),
        _ if is_v4 && (name.means("dsfield") || name.means("precedence")) => (1, 1),
        "priority" if !is_v4 => {
            let (value, mask) = value_and_mask(args, 1)?;
            bits.ask(0, 4, value << 20, mask << 20);
            return Ok(Ok(()));
        }
        "firstfrag" if is_v4 => {
            bits.ask(6, 2, 0, 0x1fff);
            return Ok(Ok(()));
        }
        "ihl" if is_v4 => {
            let (value, mask) = value_and_mask(args, 1)?;
            bits.ask(0, 1, value & 0xf, mask & 0xf);
            return Ok(Ok(()));
        }
        "nofrag" | "df" | "mf" | "icmp_type" | "icmp_code" | "flowlabel" => {
            return Ok(Err(format!("`{}` has no counterpart", name.text)));
        }
        _ => return Err(name.no_keyword("`match ip`", FIELDS)),
    };
    let (value, mask) = value_and_mask(args, width)?;
    bits.ask(at_or(args, at)?, width, value, mask);
    Ok(Ok(()))
}

fn address(version: Version, at: i64, args: &mut Args<'_>, bits: &mut Bits) -> Read<()> {
    let word = args.value("match ip")?;
    let is_v4 = version == Version::V4;
    let example = if is_v4 { "10.7.0.1 or 10.0.0.0/8" } else { "fd00::1 or fd00::/8" };
    if ["any", "all", "default"].contains(&word.text.as_str()) {
        return Ok(());
    }
    let network = units::network(&word.text).filter(|(address, _)| address.is_ipv4() == is_v4);
    let Some((address, prefix)) = network else {
        return Err(word.fault("an address or network", &format!("tc reads one such as {example}")));
    };
    bits.network(at_or(args, at)?, Net::new(address, prefix));
    Ok(())
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

/// `at PLACE`, or else the usual place; from [`NEXT_HEADER`] on if it counts from the header after IP.
fn at_or(args: &mut Args<'_>, default: i64) -> Read<i64> {
    if args.peek().is_none_or(|word| word.text != "at") {
        return Ok(default);
    }
    args.next();
    let place = args.value("at")?;
    if let Some(rest) = place.text.strip_prefix("nexthdr") {
        let digits = match rest.strip_prefix('+') {
            Some("") => &args.value("nexthdr+")?.text,
            Some(digits) => digits,
            None => "0",
        };
        let bytes = units::number(digits, 0).filter(|bytes| *bytes < 1 << 16);
        let accepted = "tc reads one such as nexthdr+2";
        let fault = || place.fault("a place after the header", accepted);
        return bytes.map(|bytes| NEXT_HEADER + bytes as i64).ok_or_else(fault);
    }
    let (digits, sign) = match place.text.strip_prefix('-') {
        Some(digits) => (digits, -1),
        None => (place.text.as_str(), 1),
    };
    let read = units::number(digits, 0).and_then(|place| i32::try_from(place).ok());
    let read = read.map(|place| sign * i64::from(place));
    read.ok_or_else(|| place.fault("a place in the header", "tc reads a number of bytes"))
}
