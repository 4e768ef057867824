//! `flower`: fields of the headers by name (iproute2, tc/f_flower.c).

use std::net::IpAddr;

use laxity_plan::error::Fault;

use super::{FilterAction, FilterError, Target};
use crate::error::plain;
use crate::notes::NotMapped;
use crate::setup::{FilterKind, Flower, Ports, Protocol};
use crate::words::command::{Args, Word};
use crate::words::quantity;

/// Protocols by the names that flower has for them.
const PROTOCOLS: [(&str, u8); 7] =
    [("tcp", 6), ("udp", 17), ("sctp", 132), ("icmp", 1), ("icmpv6", 58), ("esp", 50), ("ah", 51)];
/// Protocols whose ports flower reads.
const WITH_PORTS: [u8; 3] = [6, 17, 132];
/// Keys in the order in which the beginning of one is looked for.
const KEYS: &str = "flowid classid ip_proto ip_tos dst_ip src_ip dst_port src_port vlan_id \
    vlan_prio vlan_ethtype eth_type skip_hw skip_sw";

/// Reads the words behind `flower`.
pub(super) fn read(protocol: &Protocol, mut args: Args<'_>) -> Result<FilterAction, FilterError> {
    let (mut target, mut fields) = (Target::default(), Flower::default());
    while let Some(key) = args.next() {
        let names = KEYS.split_whitespace().find(|name| key.means(name));
        let Some(name) = names else {
            if target.take(key, &mut args)? {
                continue;
            }
            return Err(NotMapped(format!("`{}` has no counterpart", plain(&key.text))).into());
        };
        if name.starts_with("skip") {
            continue;
        }
        let value = args.value(name)?;
        match name {
            "flowid" | "classid" => target.class = Some(quantity::handle(value)?),
            "eth_type" | "vlan_ethtype" => fields.inner = Some(super::protocol(value)),
            "vlan_id" => fields.vlan = Some(vlan(name, value, protocol)?),
            "vlan_prio" => fields.pcp = Some(vlan(name, value, protocol)? as u8),
            "ip_proto" => {
                if fields.inner.as_ref().unwrap_or(protocol).version().is_none() {
                    let message = "`ip_proto` without `protocol ip` or `protocol ipv6`";
                    return Err(Fault::at(&key.span, message)
                        .help("write it before `flower`")
                        .into());
                }
                fields.ip_proto = Some(protocol_number(value)?);
            }
            "ip_tos" => fields.tos = Some(tos(value)?),
            "src_ip" => fields.addresses[0] = Some(network(value)?),
            "dst_ip" => fields.addresses[1] = Some(network(value)?),
            _ => {
                if !fields.ip_proto.is_some_and(|number| WITH_PORTS.contains(&number)) {
                    let message = format!("`{name}` without `ip_proto` tcp, udp or sctp before it");
                    return Err(Fault::at(&key.span, message).into());
                }
                fields.ports[usize::from(name == "dst_port")] = Some(ports(value)?);
            }
        }
    }
    Ok(FilterAction { kind: FilterKind::Flower(fields), target })
}

fn vlan(name: &str, value: &Word, protocol: &Protocol) -> Result<u16, Fault> {
    let (what, most) = match name {
        "vlan_id" => ("a VLAN", 4095),
        _ => ("a priority of a VLAN tag", 7),
    };
    let Some(id) = quantity::number(&value.text, 10).filter(|id| *id <= most) else {
        let accepted = format!("flower reads a decimal number from 0 to {most}");
        return Err(value.fault(what, &accepted));
    };
    if *protocol != Protocol::Vlan {
        let message = format!("`{name}` without `protocol 802.1q`");
        return Err(Fault::at(&value.span, message).help("write it before `flower`"));
    }
    Ok(id)
}

fn protocol_number(value: &Word) -> Result<u8, Fault> {
    if let Some((_, number)) = PROTOCOLS.iter().find(|(name, _)| value.means(name)) {
        return Ok(*number);
    }
    quantity::number(&value.text, 16).ok_or_else(|| {
        let accepted = "flower reads tcp, udp, sctp, icmp, icmpv6, esp, ah or a hexadecimal number";
        value.fault("a protocol", accepted)
    })
}

/// A byte and which of its bits count, both hexadecimal; a value that can be decimal is.
fn tos(value: &Word) -> Result<(u8, u8), Fault> {
    let (number, mask) = value.text.split_once('/').unwrap_or((&value.text, "ff"));
    let byte = quantity::number::<u8>;
    let number = byte(number, 10).or_else(|| byte(number, 16));
    let read = number.zip(byte(mask, 16));
    let wrong = || value.fault("a type of service", "flower reads one such as 0xb8 or 0xb8/0xfc");
    read.map(|(number, mask)| (number & mask, mask)).ok_or_else(wrong)
}

fn network(value: &Word) -> Result<(IpAddr, u8), Fault> {
    quantity::network(&value.text).ok_or_else(|| {
        value.fault("an address or network", "flower reads one such as 10.7.0.1 or fd00::/8")
    })
}

/// A port, a range, or a port and a mask.
fn ports(value: &Word) -> Result<Ports, Fault> {
    let port = quantity::number::<u16>;
    let read = if let Some((first, last)) = value.text.split_once('-') {
        let range = port(first, 10).zip(port(last, 10)).filter(|(first, last)| first < last);
        range.map(|(first, last)| Ports::Range(first, last))
    } else if let Some((number, mask)) = value.text.split_once('/') {
        port(number, 0).zip(port(mask, 0)).map(|(number, mask)| Ports::Masked(number, mask))
    } else {
        port(&value.text, 10).map(|port| Ports::Masked(port, u16::MAX))
    };
    read.ok_or_else(|| {
        let accepted = "flower reads 5060, 4000-4010 or 0x4000/0xc000";
        value.fault("a port, a range of ports or a port and its mask", accepted)
    })
}
