//! Bits of the header that a filter asks for, and the packets that they come to.

use std::collections::BTreeMap;
use std::net::IpAddr;

use laxity_plan::matching::{Net, Side, Version};

use super::set::{Field, Packets, masked};
use crate::notes::NotMapped;
use crate::setup::{U32Hash, U32Key};

/// From here on places count from the header after IP.
const NEXT_HEADER: i64 = 1 << 40;
/// How long the header of IPv4 is without options.
const IPV4_HEADER: i64 = 20;

/// Bytes by their places, each with its value and which of its bits count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits {
    version: Option<Version>,
    bytes: BTreeMap<i64, (u8, u8)>,
    /// Two of the bits exclude each other.
    is_empty: bool,
}

impl Bits {
    /// The bits that keys compare in headers of this version, if it is known.
    pub(crate) fn new(version: Option<Version>, keys: &[U32Key]) -> Bits {
        let mut bits = Bits { version, ..Bits::default() };
        for U32Key { value, mask, offset, is_behind_ip } in keys {
            let behind = if *is_behind_ip { NEXT_HEADER } else { 0 };
            bits.ask(behind + i64::from(*offset), *value, *mask);
        }
        bits
    }

    /// The bits by which one part of several of a table is asked; `None` if it never is.
    pub(crate) fn for_part(hash: U32Hash, part: u16, parts: u32) -> Option<Bits> {
        let shift = hash.mask.trailing_zeros().min(31);
        let mask = hash.mask & (parts.saturating_sub(1) << shift);
        let value = u32::from(part).checked_shl(shift)?;
        let mut bits = Bits::default();
        bits.ask(hash.at, value, mask);
        (value & !mask == 0 && value >> shift == u32::from(part) && u32::from(part) < parts)
            .then_some(bits)
    }

    /// Asks for a header of this version, too.
    fn require_version(&mut self, version: Version) {
        self.is_empty |= self.version.is_some_and(|other| other != version);
        self.version = Some(version);
    }

    /// Asks for the bits of `value` that `mask` has, in the word at a place.
    fn ask(&mut self, at: i64, value: u32, mask: u32) {
        for (place, (value, mask)) in
            (at..).zip(value.to_be_bytes().into_iter().zip(mask.to_be_bytes()))
        {
            self.byte(place, value, mask);
        }
    }

    fn byte(&mut self, at: i64, value: u8, mask: u8) {
        if mask == 0 {
            return;
        }
        let (before, bits) = self.bytes.entry(at).or_default();
        self.is_empty |= (*before ^ value) & *bits & mask != 0;
        (*before, *bits) = (*before & *bits | value & mask, *bits | mask);
    }

    /// The bits of both.
    pub(crate) fn and(&self, other: &Bits) -> Bits {
        let mut both = self.clone();
        both.is_empty |= other.is_empty;
        if let Some(version) = other.version {
            both.require_version(version);
        }
        for (at, (value, mask)) in &other.bytes {
            both.byte(*at, *value, *mask);
        }
        both
    }

    /// The bits where it is known that places after IP count from the end of its header.
    pub(crate) fn after_ip(&self) -> Bits {
        let known = |at: i64| if at >= NEXT_HEADER { at - NEXT_HEADER + IPV4_HEADER } else { at };
        let mut here = Bits { bytes: BTreeMap::new(), ..self.clone() };
        for (at, (value, mask)) in &self.bytes {
            here.byte(known(*at), *value, *mask);
        }
        here
    }

    /// Adds what these bits ask for.
    pub(crate) fn packets(&self, packets: &mut Packets) -> Result<(), NotMapped> {
        packets.is_empty |= self.is_empty;
        let Some(version) = self.version else {
            if self.bytes.is_empty() {
                return Ok(());
            }
            return Err("bytes are read only with `protocol ip` or `protocol ipv6`".into());
        };
        packets.require_version(version);
        if self.bytes.range(NEXT_HEADER..).next().is_some() {
            return Err("the header after IP is found only by way of a link with `offset at 0 mask 0f00 shift 6`: \
                        `match ip sport` and `match ip dport` are read without one"
                .into());
        }
        let layout: &[(i64, i64, Part)] = match version {
            Version::V4 => &IPV4,
            Version::V6 => &IPV6,
        };
        let ports_at = layout.iter().find(|(.., part)| *part == Part::Number(Field::SourcePort));
        let (first, last) = ports_at.map_or((0, 0), |(at, ..)| (*at, at + 3));
        let has_ports = self.bytes.range(first..=last).next().is_some();
        let mut next = i64::MIN;
        for at in self.bytes.keys() {
            if *at < next {
                continue;
            }
            let holds =
                |(start, length, _): &&(i64, i64, Part)| (*start..start + length).contains(at);
            let Some((start, length, part)) = layout.iter().find(holds) else {
                return Err(format!("byte {at} of the IP header has no counterpart").into());
            };
            next = start + length;
            let byte = |place| self.bytes.get(&place).copied().unwrap_or_default();
            let found: Vec<(u8, u8)> = (*start..next).map(byte).collect();
            part.add(&found, has_ports, packets)?;
        }
        Ok(())
    }
}

/// Where which part of a header stands, and how long it is.
const IPV4: [(i64, i64, Part); 8] = [
    (0, 1, Part::Plain(0x45)),
    (1, 1, Part::Service),
    (6, 2, Part::FirstFragment),
    (9, 1, Part::Number(Field::Protocol)),
    (12, 4, Part::Address(Side::Source)),
    (16, 4, Part::Address(Side::Destination)),
    (20, 2, Part::Number(Field::SourcePort)),
    (22, 2, Part::Number(Field::DestinationPort)),
];
const IPV6: [(i64, i64, Part); 6] = [
    (0, 2, Part::ServiceAcross),
    (6, 1, Part::Number(Field::Protocol)),
    (8, 16, Part::Address(Side::Source)),
    (24, 16, Part::Address(Side::Destination)),
    (40, 2, Part::Number(Field::SourcePort)),
    (42, 2, Part::Number(Field::DestinationPort)),
];

/// What stands in some bytes of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Number(Field),
    Address(Side),
    /// Version and length of a header without options, behind which the ports stand.
    Plain(u8),
    /// Where a fragment belongs: only the first has ports.
    FirstFragment,
    /// DSCP and ECN in one byte.
    Service,
    /// DSCP and ECN behind the four bits of the version, before four bits of the flow label.
    ServiceAcross,
}

impl Part {
    fn add(self, bytes: &[(u8, u8)], has_ports: bool, to: &mut Packets) -> Result<(), NotMapped> {
        let push = |(value, mask): (u16, u16), (v, m): &(u8, u8)| {
            (value << 8 | u16::from(*v), mask << 8 | u16::from(*m))
        };
        // Longer ones are addresses.
        let (value, mask) = bytes.iter().fold((0, 0), push);
        match self {
            Part::Number(field) => {
                let bits = 8 * bytes.len() as u32;
                let scattered = || format!("the mask {mask:#x} is no range of numbers");
                let numbers = masked(value, mask, bits).ok_or_else(scattered)?;
                to.with(field, &numbers);
                Ok(())
            }
            Part::Address(side) => network(side, bytes, to),
            Part::Plain(plain) => {
                let is_plain = u16::from(plain) & mask == value;
                match (mask & 0xf, has_ports) {
                    (0, _) => {
                        to.is_empty |= !is_plain;
                        Ok(())
                    }
                    (_, true) if is_plain => Ok(()),
                    _ => Err("the length of the IP header has no counterpart without ports".into()),
                }
            }
            Part::FirstFragment => match (value, mask, has_ports) {
                (0, 0x1fff, true) => Ok(()),
                _ => Err("fragments have no counterpart but for the first, with ports".into()),
            },
            Part::Service => service(value as u8, mask as u8, to),
            Part::ServiceAcross => {
                to.is_empty |= (value ^ 0x6000) & mask & 0xf000 != 0;
                match mask & 0xf {
                    0 => service((value >> 4) as u8, (mask >> 4) as u8, to),
                    _ => Err("the flow label has no counterpart".into()),
                }
            }
        }
    }
}

fn network(side: Side, bytes: &[(u8, u8)], packets: &mut Packets) -> Result<(), NotMapped> {
    let ones: u32 = bytes.iter().map(|(_, mask)| mask.count_ones()).sum();
    let in_whole_bytes = bytes.iter().take_while(|(_, mask)| *mask == 0xff).count();
    let part = bytes.get(in_whole_bytes).map_or(0, |(_, mask)| mask.leading_ones());
    let leading = 8 * in_whole_bytes as u32 + part;
    if leading != ones {
        return Err("an address mask with gaps has no counterpart".into());
    }
    let mut address = [0; 16];
    for (byte, (value, _)) in address.iter_mut().zip(bytes) {
        *byte = *value;
    }
    let address = match bytes.len() {
        4 => IpAddr::V4([address[0], address[1], address[2], address[3]].into()),
        _ => IpAddr::V6(address.into()),
    };
    packets.within(side, Net::new(address, leading as u8));
    Ok(())
}

/// Asks for bits of the byte that was once called type of service: six of DSCP and two of ECN.
pub(crate) fn service(value: u8, mask: u8, packets: &mut Packets) -> Result<(), NotMapped> {
    let scattered = || format!("the mask {mask:#x} is no range of code points");
    for (field, value, mask, bits) in
        [(Field::Dscp, value >> 2, mask >> 2, 6), (Field::Ecn, value & 3, mask & 3, 2)]
    {
        if mask != 0 {
            let numbers = masked(value.into(), mask.into(), bits).ok_or_else(scattered)?;
            packets.with(field, &numbers);
        }
    }
    Ok(())
}
