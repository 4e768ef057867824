//! Matches as filters. Those of a class that comes first are asked first.

mod decisions;

use std::net::IpAddr;

use laxity_plan::Plan;
use laxity_plan::matching::{Numbers, Version};
use laxity_plan::model::{Class, Police as Policing};

use super::units::whole_ticks;
use decisions::Rule;

use super::{Filter, FilterKind, Flower, Handle, Police, Protocol, U32Key};
use crate::linux::{Filters, Linux, Refusal, bytes_up};
use crate::packets::{Field, Packets};
use crate::setup::MOST_FILTERS;

/// Protocols of which flower reads ports, and all that have them at the same place.
const FLOWER_PORTS: [u16; 3] = [6, 17, 132];
const PORTS: [u16; 5] = [6, 17, 33, 132, 136];

/// The words of a header of IPv4 without options, and where a fragment belongs.
const WORDS: u32 = 5;
const FRAGMENT_OFFSET: u32 = 0x1fff;

/// The filters of a plan's classes, each of which has the handle `numbers` says.
pub fn filters(
    plan: &Plan,
    numbers: &[Handle],
    linux: &Linux,
    remarks: &mut Vec<String>,
) -> Result<Vec<Filter>, Refusal> {
    let parent = Handle::new(numbers.first().map_or(2, |handle| handle.major()), 0);
    let mut all: Vec<Filter> = Vec::new();
    let rules = decisions::rules(plan, numbers, remarks)?;
    for rules in rules.chunk_by(|a, b| a.class == b.class) {
        let id = rules[0].class;
        let (class, handle) = (&plan.classes[id.index()], numbers[id.index()]);
        let police = policers(plan, class, handle);
        let mut own = Vec::new();
        for Rule { packets, .. } in rules {
            kinds(packets, linux.filters, class, &mut own)?;
            if all.len() + own.len() > MOST_FILTERS {
                return Err(Refusal::new(
                    format!("`match` of class {} comes to too many filters", class.name),
                    format!(
                        "a packet is asked one after the other, and {MOST_FILTERS} are the most here"
                    ),
                    "write fewer ranges and alternatives",
                ));
            }
        }
        // One priority has one protocol and one kind.
        own.sort_by_key(|(protocol, _)| *protocol);
        for (protocol, kind) in own {
            let before = all.last().filter(|last| {
                last.class == handle && last.protocol == protocol && last.kind.name() == kind.name()
            });
            let (priority, number) = match (before, all.last()) {
                (Some(before), _) => (before.priority, before.number + 1),
                (None, last) => (last.map_or(1, |last| last.priority + 1), 1),
            };
            let police = police.clone();
            all.push(Filter { parent, priority, number, protocol, kind, class: handle, police });
        }
    }
    Ok(all)
}

/// What a class's packets have to keep to, where the plan drops those that do not or demotes them, which is to ask the
/// filters behind: its arrival curve, with whole bytes a second.
pub(crate) fn policers(plan: &Plan, class: &Class, handle: Handle) -> Vec<Police> {
    let Some(arrival) = &class.arrival else { return Vec::new() };
    let demote = match class.police {
        Policing::Drop => false,
        Policing::Demote => true,
        Policing::Count => return Vec::new(),
    };
    let mtu = u32::try_from(plan.max_packet(class).0).unwrap_or(u32::MAX);
    let policer = |(at, bucket): (usize, &laxity::police::TokenBucket)| {
        let rate = bytes_up(bucket.rate.0).max(1);
        let burst = u32::try_from(bucket.bucket.0).unwrap_or(u32::MAX);
        let index = u32::from(handle.minor()) | (at as u32) << 16;
        Police { index, rate, burst: whole_ticks(rate, burst), mtu, demote }
    };
    arrival.buckets.iter().enumerate().map(policer).collect()
}

fn too_many(class: &Class) -> Refusal {
    Refusal::new(
        format!("`match` of class {} has too many alternatives", class.name),
        format!("{MOST_FILTERS} filters are the most here"),
        "write fewer ranges and alternatives",
    )
}

/// The filters that take these packets.
fn kinds(
    packets: &Packets,
    filters: Filters,
    class: &Class,
    all: &mut Vec<(Protocol, FilterKind)>,
) -> Result<(), Refusal> {
    let number = |field: Field| packets.numbers[field as usize].as_ref();
    let ports = [number(Field::SourcePort), number(Field::DestinationPort)];
    let has_ports = ports.iter().any(Option::is_some);
    let of_ip = has_ports
        || packets.version.is_some()
        || number(Field::Protocol).is_some()
        || number(Field::Dscp).is_some()
        || number(Field::Ecn).is_some();
    let (vlans, pcps) = (values(number(Field::Vlan), 4_096), values(number(Field::Pcp), 8));
    let is_tagged = packets.has_tag();
    if packets.untagged && !of_ip {
        return Err(Refusal::new(
            format!("`untagged` without a test of IP in the `match` of class {}", class.name),
            "a filter names the protocol that it takes, not the one that it leaves",
            "write `untagged and ip or untagged and ip6`",
        ));
    }
    if !of_ip && !is_tagged {
        all.push((Protocol::All, FilterKind::Matchall));
        return Ok(());
    }
    let versions = match (packets.version, of_ip) {
        (Some(version), _) => vec![Some(version)],
        (None, true) => vec![Some(Version::V4), Some(Version::V6)],
        (None, false) => vec![None],
    };
    let mut protocols = values(number(Field::Protocol), 256);
    if has_ports {
        let known: &[u16] = if filters == Filters::Flower { &FLOWER_PORTS } else { &PORTS };
        let asked = protocols.unwrap_or_else(|| known.to_vec());
        protocols = Some(known.iter().copied().filter(|known| asked.contains(known)).collect());
    }
    let bits = |field: Field, bits: u32| {
        number(field).map(|numbers| {
            let blocks = numbers.ranges().iter().flat_map(|range| blocks(*range, bits));
            blocks.collect::<Vec<(u16, u16)>>()
        })
    };
    let (dscp, ecn) = (bits(Field::Dscp, 6), bits(Field::Ecn, 2));
    let scopes = (dscp.is_some() || ecn.is_some()).then(|| {
        let (dscp, ecn) = (dscp.unwrap_or(vec![(0, 0)]), ecn.unwrap_or(vec![(0, 0)]));
        let both = |(value, mask): (u16, u16)| {
            ecn.iter().map(move |(low, of)| ((value << 2 | low) as u8, (mask << 2 | of) as u8))
        };
        dscp.into_iter().flat_map(both).collect::<Vec<(u8, u8)>>()
    });
    let tags: Vec<(Option<u16>, Option<u16>)> = optional(vlans)
        .into_iter()
        .flat_map(|vlan| optional(pcps.clone()).into_iter().map(move |pcp| (vlan, pcp)))
        .collect();
    let ranges = |side: usize| {
        ports[side]
            .map_or(vec![None], |numbers| numbers.ranges().iter().copied().map(Some).collect())
    };
    for version in &versions {
        for (vlan, pcp) in tags.iter().copied() {
            for ip_proto in optional(protocols.clone()) {
                for tos in optional(scopes.clone()) {
                    for source_port in ranges(0) {
                        for destination_port in ranges(1) {
                            let net = |side: usize| {
                                packets.nets[side].map(|net| (net.address(), net.prefix()))
                            };
                            let fields = Flower {
                                vlan,
                                pcp: pcp.map(|pcp| pcp as u8),
                                inner: version.map(protocol_of).filter(|_| is_tagged),
                                ip_proto: ip_proto.map(|number| number as u8),
                                source: net(0),
                                destination: net(1),
                                source_port,
                                destination_port,
                                tos,
                            };
                            push(*version, is_tagged, fields, filters, class, all)?;
                            if all.len() > MOST_FILTERS {
                                return Err(too_many(class));
                            }
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

/// One for each, or one for none.
fn optional<T>(values: Option<Vec<T>>) -> Vec<Option<T>> {
    values.map_or_else(|| vec![None], |values| values.into_iter().map(Some).collect())
}

fn protocol_of(version: Version) -> Protocol {
    match version {
        Version::V4 => Protocol::Ip,
        Version::V6 => Protocol::Ipv6,
    }
}

fn push(
    version: Option<Version>,
    is_tagged: bool,
    fields: Flower,
    filters: Filters,
    class: &Class,
    all: &mut Vec<(Protocol, FilterKind)>,
) -> Result<(), Refusal> {
    let outer = if is_tagged { Protocol::Vlan } else { version.map_or(Protocol::All, protocol_of) };
    if filters == Filters::Flower {
        let plain = fields == Flower::default();
        let kind = if plain { FilterKind::Matchall } else { FilterKind::Flower(fields) };
        all.push((outer, kind));
        return Ok(());
    }
    if is_tagged {
        return Err(Refusal::new(
            format!("a VLAN tag in the `match` of class {}", class.name),
            "u32 counts from the header of IP, before which the tag stands",
            "write filters as flower",
        ));
    }
    let version = version.unwrap_or(Version::V4);
    all.extend(words(version, &fields).into_iter().map(|keys| match keys.is_empty() {
        true => (outer, FilterKind::Matchall),
        false => (outer, FilterKind::U32(keys)),
    }));
    Ok(())
}

/// The keys of u32 for these fields; ranges of ports come to several filters.
fn words(version: Version, fields: &Flower) -> Vec<Vec<U32Key>> {
    let key = |value, mask, offset| U32Key { value, mask, offset };
    let mut keys = Vec::new();
    let (addresses, ports) = match version {
        Version::V4 => ([12, 16], 20),
        Version::V6 => ([8, 24], 40),
    };
    let has_ports = fields.source_port.is_some() || fields.destination_port.is_some();
    let shift = if version == Version::V4 { 16 } else { 20 };
    let (value, mask) = fields.tos.unwrap_or_default();
    let (mut first, mut of_first) = (u32::from(value) << shift, u32::from(mask) << shift);
    let looks_at_length = has_ports && version == Version::V4;
    if looks_at_length {
        // Ports stand here only behind a header without options, and in no fragment but the first.
        (first, of_first) = (first | WORDS << 24, of_first | 0xf << 24);
    }
    if of_first != 0 {
        keys.push(key(first, of_first, 0));
    }
    if looks_at_length {
        keys.push(key(0, FRAGMENT_OFFSET, 4));
    }
    if let Some(number) = fields.ip_proto {
        keys.push(match version {
            Version::V4 => key(u32::from(number) << 16, 0xff << 16, 8),
            Version::V6 => key(u32::from(number) << 8, 0xff << 8, 4),
        });
    }
    for (net, at) in [fields.source, fields.destination].into_iter().zip(addresses) {
        if let Some((address, prefix)) = net {
            keys.extend(address_words(address, prefix, at));
        }
    }
    let halves = |range: Option<(u16, u16)>| range.map_or(vec![(0, 0)], |range| blocks(range, 16));
    let mut all = Vec::new();
    for (source, source_mask) in halves(fields.source_port) {
        for (destination, mask) in halves(fields.destination_port) {
            let value = u32::from(source) << 16 | u32::from(destination);
            let mask = u32::from(source_mask) << 16 | u32::from(mask);
            let mut keys = keys.clone();
            if mask != 0 || has_ports {
                keys.push(key(value, mask, ports));
            }
            all.push(keys);
        }
    }
    all
}

fn address_words(address: IpAddr, prefix: u8, at: i32) -> Vec<U32Key> {
    let bytes = match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    };
    let words = bytes.chunks_exact(4).enumerate().map(|(index, word)| {
        let left = u32::from(prefix).saturating_sub(32 * index as u32).min(32);
        let mask = u32::MAX.checked_shl(32 - left).unwrap_or(0);
        let value = u32::from_be_bytes([word[0], word[1], word[2], word[3]]) & mask;
        U32Key { value, mask, offset: at + 4 * index as i32 }
    });
    words.filter(|key| key.mask != 0).collect()
}

/// The numbers, if there are any that are asked for and not all below `all`.
fn values(numbers: Option<&Numbers>, all: usize) -> Option<Vec<u16>> {
    let numbers = numbers?;
    let each: Vec<u16> = numbers.ranges().iter().flat_map(|(from, to)| *from..=*to).collect();
    (each.len() < all).then_some(each)
}

/// A range as values and masks of so many bits.
fn blocks((from, to): (u16, u16), bits: u32) -> Vec<(u16, u16)> {
    let whole = (1u32 << bits) - 1;
    let (mut next, last) = (u32::from(from), u32::from(to).min(whole));
    let mut all = Vec::new();
    while next <= last {
        let aligned = if next == 0 { bits } else { next.trailing_zeros().min(bits) };
        let size = (0..=aligned).rev().find(|log| next + (1 << log) - 1 <= last).unwrap_or(0);
        all.push((next as u16, (whole & !((1u32 << size) - 1)) as u16));
        next += 1 << size;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packets::{masked, one};
    use proptest::prelude::*;

    proptest! {
        /// Blocks are the range, each number once.
        #[test]
        fn blocks_cover_their_range(from in 0u16..600, length in 0u16..600) {
            let to = from + length;
            let blocks = blocks((from, to), 16);
            let ranges: Vec<_> = blocks
                .iter()
                .flat_map(|(value, mask)| masked(*value, *mask, 16).unwrap().ranges().to_vec())
                .collect();
            let numbers: Vec<u16> = ranges.iter().flat_map(|(from, to)| *from..=*to).collect();
            prop_assert_eq!(numbers, (from..=to).collect::<Vec<_>>());
        }
    }

    #[test]
    fn one_number_is_one_block() {
        assert_eq!(blocks((5_004, 5_004), 16), [(5_004, 0xffff)]);
        assert_eq!(blocks((0, 63), 6), [(0, 0)]);
        assert_eq!(one(4).ranges(), [(4, 4)]);
    }
}
