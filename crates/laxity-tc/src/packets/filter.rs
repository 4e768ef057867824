//! The packets that a filter takes.

use laxity_plan::matching::{Net, Numbers, Version};

use super::bits::{Bits, service};
use super::set::{Field, PORTS, Packets, SIDES, all_vlans, masked, one};
use crate::notes::NotMapped;
use crate::setup::{FilterKind, Flower, Mark, Ports, Protocol, Test, U32};

/// Packets, each with the mark of netfilter that they have: a filter takes any of these.
pub(super) type Alternatives = Vec<(Packets, Option<Mark>)>;

/// The packets that a filter of a protocol takes, or why a plan cannot say it. Of a filter of u32
/// that is in a table or links to one they are those of its protocol.
pub(crate) fn taken(kind: &FilterKind, protocol: &Protocol) -> Result<Alternatives, NotMapped> {
    let mut all = Vec::new();
    let mut add = |bits: Bits, mark| {
        let mut packets = Packets::default();
        bits.packets(&mut packets)?;
        all.push((packets, mark));
        Ok::<(), NotMapped>(())
    };
    match kind {
        FilterKind::Matchall => add(Bits::default(), None)?,
        FilterKind::Fw(mark) => add(Bits::default(), Some(*mark))?,
        FilterKind::Flower(fields) => all.push((flower(fields)?, None)),
        FilterKind::U32(u32) if u32.link.is_some() || u32.place.is_some() => {
            add(Bits::default(), u32.mark)?;
        }
        FilterKind::U32(u32) => add(bits(u32, protocol), u32.mark)?,
        // Without a test it takes everything.
        FilterKind::Basic(tests) if tests.is_empty() => add(Bits::default(), None)?,
        FilterKind::Basic(tests) => {
            for Test { keys, mark } in tests {
                let version = protocol.version().filter(|_| !keys.is_empty());
                add(Bits::new(version, keys), *mark)?;
            }
        }
    }
    for (packets, _) in &mut all {
        limit(packets, protocol)?;
    }
    Ok(all)
}

/// The bits that a filter of u32 asks for itself.
pub(crate) fn bits(u32: &U32, protocol: &Protocol) -> Bits {
    Bits::new(u32.version.or(protocol.version()), &u32.keys)
}

/// Leaves those packets that are of a protocol.
fn limit(packets: &mut Packets, protocol: &Protocol) -> Result<(), NotMapped> {
    match protocol {
        Protocol::All => {}
        // What a tag hides is of another protocol.
        Protocol::Ip => {
            packets.require_version(Version::V4);
            packets.without_tag();
        }
        Protocol::Ipv6 => {
            packets.require_version(Version::V6);
            packets.without_tag();
        }
        Protocol::Vlan => packets.with(Field::Vlan, &all_vlans()),
        Protocol::Other(other) => {
            return Err(format!("frames of protocol {other} have no counterpart").into());
        }
    }
    Ok(())
}

fn flower(fields: &Flower) -> Result<Packets, NotMapped> {
    let mut packets = Packets::default();
    if let Some(inner) = &fields.inner {
        let Some(version) = inner.version() else {
            let name = inner.name();
            return Err(format!("frames of protocol {name} have no counterpart").into());
        };
        packets.require_version(version);
    }
    let numbers = [
        (Field::Vlan, fields.vlan),
        (Field::Pcp, fields.pcp.map(u16::from)),
        (Field::Protocol, fields.ip_proto.map(u16::from)),
    ];
    for (field, number) in numbers {
        if let Some(number) = number {
            packets.with(field, &one(number));
        }
    }
    if let Some((value, mask)) = fields.tos {
        service(value & mask, mask, &mut packets)?;
    }
    for (side, net) in SIDES.into_iter().zip(fields.addresses) {
        if let Some((address, prefix)) = net {
            packets.within(side, Net::new(address, prefix));
        }
    }
    for (field, ports) in PORTS.into_iter().zip(fields.ports) {
        let numbers = match ports {
            None => continue,
            Some(Ports::Range(first, last)) => Some(Numbers::new(vec![(first, last)])),
            Some(Ports::Masked(port, mask)) => masked(port, mask, 16),
        };
        let scattered = || NotMapped::from("its mask of a port is no range of ports");
        packets.with(field, &numbers.ok_or_else(scattered)?);
    }
    Ok(packets)
}

/// The bits that a filter of flower looks at, as fields without values. Filters of one priority
/// that look at the same bits stand together; other kinds look at none.
pub(crate) fn mask(kind: &FilterKind) -> Flower {
    let FilterKind::Flower(fields) = kind else { return Flower::default() };
    let ports = |ports| match ports {
        Ports::Range(..) => Ports::Range(0, 0),
        Ports::Masked(_, mask) => Ports::Masked(0, mask),
    };
    let net = |(_, prefix)| ([0; 4].into(), prefix);
    Flower {
        vlan: fields.vlan.map(|_| 0),
        pcp: fields.pcp.map(|_| 0),
        inner: fields.inner.as_ref().map(|_| Protocol::All),
        ip_proto: fields.ip_proto.map(|_| 0),
        addresses: fields.addresses.map(|address| address.map(net)),
        ports: fields.ports.map(|port| port.map(ports)),
        tos: fields.tos.map(|(_, mask)| (0, mask)),
    }
}
