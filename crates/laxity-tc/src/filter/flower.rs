//! `flower`: fields of the headers by name (iproute2, tc/f_flower.c).

use laxity_plan::error::Fault;
use laxity_plan::matching::{Net, Numbers, Side, Version};

use super::bits::service;
use super::selection::{Protocol, Selected, Selection, action};
use crate::args::Args;
use crate::command::Word;
use crate::error::{Read, plain};
use crate::packets::{Field, masked, one};
use crate::units;

/// Protocols by the names that flower has for them.
const PROTOCOLS: [(&str, u16); 7] =
    [("tcp", 6), ("udp", 17), ("sctp", 132), ("icmp", 1), ("icmpv6", 58), ("esp", 50), ("ah", 51)];
/// Those of which flower reads ports.
const WITH_PORTS: [u16; 3] = [6, 17, 132];

pub fn selected(protocol: &Protocol, mut args: Args<'_>) -> Read<Selected> {
    let mut selection = Selection::default();
    // What the frame carries, VLAN tags apart.
    let mut inside = protocol.clone();
    let mut over = None;
    while let Some(key) = args.next() {
        let known = ["flowid", "classid", "ip_proto", "ip_tos", "dst_ip", "src_ip", "dst_port"];
        let more =
            ["src_port", "vlan_id", "vlan_prio", "vlan_ethtype", "eth_type", "skip_hw", "skip_sw"];
        let mut names = known.into_iter().chain(more);
        let Some(name) = names.find(|name| key.means(name)) else {
            match action(key, &mut args, &mut selection)? {
                true => break,
                false => return Ok(Err(format!("`{}` has no counterpart", plain(&key.text)))),
            }
        };
        if name.starts_with("skip") {
            continue;
        }
        let value = args.value(name)?;
        let done = match name {
            "flowid" | "classid" => {
                selection.class = Some(units::handle(value)?);
                continue;
            }
            "eth_type" | "vlan_ethtype" => {
                inside = Protocol::read(value);
                carried(&inside, &mut selection)
            }
            "vlan_id" | "vlan_prio" => vlan(name, value, protocol, &mut selection)?,
            "ip_proto" => {
                if !matches!(inside, Protocol::Ip | Protocol::Ip6) {
                    let message = "`ip_proto` without `protocol ip` or `protocol ipv6`";
                    return Err(Fault::at(&key.span, message).help("write it before `flower`"));
                }
                let number = protocol_number(value)?;
                over = Some(number);
                selection.packets.with(Field::Protocol, &one(number));
                Ok(name.into())
            }
            "ip_tos" => tos(value, &mut selection)?,
            "dst_ip" | "src_ip" => {
                let side = if name == "src_ip" { Side::Source } else { Side::Destination };
                let net = network(value)?;
                selection.packets.within(side, net);
                Ok(format!("{name}/{}", net.prefix()))
            }
            _ => {
                if !over.is_some_and(|number| WITH_PORTS.contains(&number)) {
                    let message = format!("`{name}` without `ip_proto` tcp, udp or sctp before it");
                    return Err(Fault::at(&key.span, message));
                }
                let source = name == "src_port";
                let field = if source { Field::SourcePort } else { Field::DestinationPort };
                ports(field, value, &mut selection)?.map(|mask| format!("{name}{mask}"))
            }
        };
        match done {
            Ok(mask) => selection.mask.push(mask),
            Err(reason) => return Ok(Err(reason)),
        }
    }
    selection.mask.sort_unstable();
    Ok(Ok(selection))
}

/// Each of these gives which bits it looked at, or why a plan cannot say it.
type Looked = Result<String, String>;

fn carried(protocol: &Protocol, selection: &mut Selection) -> Looked {
    match protocol {
        Protocol::Ip => selection.packets.of_version(Version::V4),
        Protocol::Ip6 => selection.packets.of_version(Version::V6),
        other => return Err(format!("frames of protocol {other} have no counterpart")),
    }
    Ok("eth_type".into())
}

fn vlan(name: &str, value: &Word, protocol: &Protocol, selection: &mut Selection) -> Read<Looked> {
    let (field, what, most) = match name {
        "vlan_id" => (Field::Vlan, "a VLAN", 4095),
        _ => (Field::Pcp, "a priority of a VLAN tag", 7),
    };
    let id = units::number(&value.text, 10).and_then(|id| u16::try_from(id).ok());
    let Some(id) = id.filter(|id| *id <= most) else {
        let accepted = format!("flower reads a decimal number from 0 to {most}");
        return Err(value.fault(what, &accepted));
    };
    if *protocol != Protocol::Vlan {
        let message = format!("`{name}` without `protocol 802.1q`");
        return Err(Fault::at(&value.span, message).help("write it before `flower`"));
    }
    selection.packets.with(field, &one(id));
    Ok(Ok(name.into()))
}

fn protocol_number(value: &Word) -> Read<u16> {
    if let Some((_, number)) = PROTOCOLS.iter().find(|(name, _)| value.means(name)) {
        return Ok(*number);
    }
    let number = units::number(&value.text, 16).and_then(|number| u8::try_from(number).ok());
    number.map(u16::from).ok_or_else(|| {
        let accepted = "flower reads tcp, udp, sctp, icmp, icmpv6, esp, ah or a hexadecimal number";
        value.fault("a protocol", accepted)
    })
}

/// A byte and which of its bits count, both hexadecimal; a value that can be decimal is.
fn tos(value: &Word, selection: &mut Selection) -> Read<Looked> {
    let (number, mask) = value.text.split_once('/').unwrap_or((&value.text, "ff"));
    let byte =
        |text: &str, base| units::number(text, base).and_then(|byte| u8::try_from(byte).ok());
    let number = byte(number, 10).or_else(|| byte(number, 16));
    let Some((number, mask)) = number.zip(byte(mask, 16)) else {
        return Err(value.fault("a type of service", "flower reads one such as 0xb8 or 0xb8/0xfc"));
    };
    Ok(service(number & mask, mask, &mut selection.packets).map(|()| format!("ip_tos/{mask:x}")))
}

fn network(value: &Word) -> Read<Net> {
    let read = units::network(&value.text).map(|(address, prefix)| Net::new(address, prefix));
    read.ok_or_else(|| {
        value.fault("an address or network", "flower reads one such as 10.7.0.1 or fd00::/8")
    })
}

/// A port, a range, or a port and a mask.
fn ports(field: Field, value: &Word, selection: &mut Selection) -> Read<Looked> {
    let port =
        |text: &str, base| units::number(text, base).and_then(|port| u16::try_from(port).ok());
    let wrong = || {
        let accepted = "flower reads 5060, 4000-4010 or 0x4000/0xc000";
        value.fault("a port, a range of ports or a port and its mask", accepted)
    };
    let (numbers, looked) = if let Some((first, last)) = value.text.split_once('-') {
        let range = port(first, 10).zip(port(last, 10)).filter(|(first, last)| first < last);
        let (first, last) = range.ok_or_else(wrong)?;
        (Some(Numbers::new(vec![(first, last)])), "-".to_string())
    } else if let Some((number, mask)) = value.text.split_once('/') {
        let (number, mask) = port(number, 0).zip(port(mask, 0)).ok_or_else(wrong)?;
        (masked(number, mask, 16), format!("/{mask:x}"))
    } else {
        (Some(one(port(&value.text, 10).ok_or_else(wrong)?)), "/ffff".to_string())
    };
    let Some(numbers) = numbers else {
        return Ok(Err("its mask of a port is no range of ports".into()));
    };
    selection.packets.with(field, &numbers);
    Ok(Ok(looked))
}
