//! Matches as filters. Those of a class that comes first are asked first.

mod decisions;

use laxity::police::TokenBucket;
use laxity::units::Rate;
use laxity_plan::Plan;
use laxity_plan::matching::{Numbers, Version};
use laxity_plan::model::{Class, Police as Policing};

use super::machine::{Filters, Linux};
use super::refusal::Refusal;
use crate::packets::{Field, PORTS, Packets};
use crate::setup::units::{rate_of, whole_ticks};
use crate::setup::{
    Filter, FilterKind, Flower, Handle, MOST_FILTERS, Police, Ports, Protocol, U32, U32Key,
};
use decisions::{Rule, TooManyRules, too_many};

/// Protocols whose ports flower reads, and all that have them at the same place.
const FLOWER_PORTS: [u16; 3] = [6, 17, 132];
const WITH_PORTS: [u16; 5] = [6, 17, 33, 132, 136];

/// The words of a header of IPv4 without options, and where a fragment belongs.
const WORDS: u32 = 5;
const FRAGMENT_OFFSET: u32 = 0x1fff;

/// The filters of a plan's classes, which have these numbers.
pub(super) fn filters(
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
        own.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (protocol, kind) in own {
            let (priority, number) = match all.last() {
                Some(last)
                    if last.class == Some(handle)
                        && last.protocol == protocol
                        && last.kind.name() == kind.name() =>
                {
                    (last.priority, last.number + 1)
                }
                last => (last.map_or(1, |last| last.priority + 1), 1),
            };
            let (class, police, is_gone) = (Some(handle), police.clone(), false);
            all.push(Filter { parent, priority, number, protocol, kind, class, police, is_gone });
        }
    }
    Ok(all)
}

/// The arrival curve of a class in whole bytes a second, where the plan drops packets that do not
/// keep to it, or demotes them: then the filters behind are asked.
pub(super) fn policers(plan: &Plan, class: &Class, handle: Handle) -> Vec<Police> {
    let Some(arrival) = &class.arrival else { return Vec::new() };
    let demote = match class.police {
        Policing::Drop => false,
        Policing::Demote => true,
        Policing::Count => return Vec::new(),
    };
    let mtu = u32::try_from(plan.max_packet(class).0).unwrap_or(u32::MAX);
    let policer = |(at, bucket): (usize, &TokenBucket)| {
        let rate: Rate = rate_of(bucket.rate.0.div_ceil(8).max(1));
        let burst = u32::try_from(bucket.bucket.0).unwrap_or(u32::MAX);
        let index = u32::from(handle.minor()) | (at as u32) << 16;
        Police { index, rate, burst: whole_ticks(rate, burst), mtu, demote }
    };
    arrival.buckets.iter().enumerate().map(policer).collect()
}

/// Adds the filters that take these packets.
fn kinds(
    packets: &Packets,
    filters: Filters,
    class: &Class,
    all: &mut Vec<(Protocol, FilterKind)>,
) -> Result<(), Refusal> {
    let has_ports = PORTS.iter().any(|field| packets.asks_for(*field));
    let of_ip = has_ports
        || packets.version.is_some()
        || [Field::Protocol, Field::Dscp, Field::Ecn].iter().any(|field| packets.asks_for(*field));
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
    if filters == Filters::U32 && is_tagged {
        return Err(Refusal::new(
            format!("a VLAN tag in the `match` of class {}", class.name),
            "u32 counts from the header of IP, before which the tag stands",
            "write filters as flower",
        ));
    }
    let versions = match (packets.version, of_ip) {
        (Some(version), _) => vec![Some(version)],
        (None, true) => vec![Some(Version::V4), Some(Version::V6)],
        (None, false) => vec![None],
    };
    for version in versions {
        let inner = version.map(Protocol::from);
        let flowers = alternatives(packets, filters, inner.clone().filter(|_| is_tagged));
        let outer = if is_tagged { Protocol::Vlan } else { inner.unwrap_or(Protocol::All) };
        for fields in flowers.map_err(|TooManyRules| too_many(class))? {
            match filters {
                Filters::Flower if fields == Flower::default() => {
                    all.push((outer.clone(), FilterKind::Matchall));
                }
                Filters::Flower => all.push((outer.clone(), FilterKind::Flower(fields))),
                Filters::U32 => {
                    let kind = |keys: Vec<U32Key>| match keys[..] {
                        [] => FilterKind::Matchall,
                        _ => FilterKind::U32(U32 { keys, ..U32::default() }),
                    };
                    let words = words(version.unwrap_or(Version::V4), &fields);
                    all.extend(words.into_iter().map(|keys| (outer.clone(), kind(keys))));
                }
            }
            if all.len() > MOST_FILTERS {
                return Err(too_many(class));
            }
        }
    }
    Ok(())
}

/// The fields of flower that take packets of one version, any of these.
fn alternatives(
    packets: &Packets,
    filters: Filters,
    inner: Option<Protocol>,
) -> Result<Vec<Flower>, TooManyRules> {
    let number = |field: Field| packets.numbers[field as usize].as_ref();
    let ports = PORTS.map(|field| number(field).map(|numbers| numbers.ranges().to_vec()));
    let mut protocols = values(number(Field::Protocol), 256);
    if ports.iter().any(Option::is_some) {
        let known: &[u16] = if filters == Filters::Flower { &FLOWER_PORTS } else { &WITH_PORTS };
        let asked = protocols.unwrap_or_else(|| known.to_vec());
        protocols = Some(known.iter().copied().filter(|known| asked.contains(known)).collect());
    }
    let bits = |field: Field, bits: u32| {
        number(field).map(|numbers| {
            numbers.ranges().iter().flat_map(|range| blocks(*range, bits)).collect::<Vec<_>>()
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
    let addresses = packets.nets.map(|net| net.map(|net| (net.address(), net.prefix())));
    let mut all = vec![Flower { inner, addresses, ..Flower::default() }];
    with_each(&mut all, values(number(Field::Vlan), 4_096), |all, vlan| all.vlan = Some(vlan))?;
    with_each(&mut all, values(number(Field::Pcp), 8), |all, pcp| all.pcp = Some(pcp as u8))?;
    with_each(&mut all, protocols, |all, number| all.ip_proto = Some(number as u8))?;
    with_each(&mut all, scopes, |all, tos| all.tos = Some(tos))?;
    for (side, ranges) in ports.into_iter().enumerate() {
        with_each(&mut all, ranges, |all, (from, to)| {
            all.ports[side] = Some(Ports::new(from, to));
        })?;
    }
    Ok(all)
}

/// Makes each into several, one for each of the values.
fn with_each<T: Copy>(
    all: &mut Vec<Flower>,
    values: Option<Vec<T>>,
    set: impl Fn(&mut Flower, T),
) -> Result<(), TooManyRules> {
    let Some(values) = values else { return Ok(()) };
    if all.len().saturating_mul(values.len()) > MOST_FILTERS {
        return Err(TooManyRules);
    }
    let one = |fields: &Flower, value: T| {
        let mut fields = fields.clone();
        set(&mut fields, value);
        fields
    };
    *all = all
        .iter()
        .flat_map(|fields| values.iter().map(|value| one(fields, *value)).collect::<Vec<_>>())
        .collect();
    Ok(())
}

/// The keys of u32 for these fields; ranges of ports come to several filters.
fn words(version: Version, fields: &Flower) -> Vec<Vec<U32Key>> {
    let key = |value, mask, offset| U32Key { value, mask, offset, is_behind_ip: false };
    let mut keys = Vec::new();
    let (addresses, ports) = match version {
        Version::V4 => ([12, 16], 20),
        Version::V6 => ([8, 24], 40),
    };
    let has_ports = fields.ports != [None, None];
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
    for (net, at) in fields.addresses.into_iter().zip(addresses) {
        keys.extend(net.into_iter().flat_map(|net| U32Key::for_address(net, at)));
    }
    let halves = |ports: Option<Ports>| match ports {
        None => vec![(0, 0)],
        Some(Ports::Masked(port, mask)) => vec![(port, mask)],
        Some(Ports::Range(from, to)) => blocks((from, to), 16),
    };
    let mut all = Vec::new();
    for (source, source_mask) in halves(fields.ports[0]) {
        for (destination, mask) in halves(fields.ports[1]) {
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

/// The numbers, if some are asked for and not all below `all`.
fn values(numbers: Option<&Numbers>, all: usize) -> Option<Vec<u16>> {
    let numbers = numbers?;
    let each: Vec<u16> = numbers.ranges().iter().flat_map(|(from, to)| *from..=*to).collect();
    (each.len() < all).then_some(each)
}

/// A range as values and masks of `bits` bits.
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
mod tests;
