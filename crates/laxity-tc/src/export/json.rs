//! What `tc -j … show` prints of a tree.

use super::super::tree::{ClassKind, FilterKind, Flower, HfscCurve, Protocol, QdiscKind, Tree};
use crate::tree::Handle;

/// Three lists, a line each.
pub fn shown(tree: &Tree, device: &str) -> String {
    let list = |items: Vec<String>| format!("[{}]\n", items.join(","));
    let qdiscs = tree.qdiscs.iter().map(|qdisc| {
        let place = match qdisc.parent {
            Handle::ROOT => "\"root\":true".to_string(),
            parent => format!("\"parent\":\"{parent}\""),
        };
        let stab = qdisc.stab.map_or(String::new(), |stab| {
            let layer = if stab.atm { "atm" } else { "ethernet" };
            format!(
                ",\"stab\":{{\"linklayer\":\"{layer}\",\"overhead\":{},\"mpu\":{},\"mtu\":{},\"tsize\":{}}}",
                stab.overhead, stab.mpu, stab.mtu, stab.tsize
            )
        });
        format!(
            "{{\"kind\":\"{}\",\"handle\":\"{}\",\"dev\":\"{device}\",{place},\"options\":{{{}}}{stab}}}",
            qdisc.kind.name(),
            qdisc.handle,
            options(&qdisc.kind)
        )
    });
    let classes = tree.classes.iter().map(|class| {
        let parameters = match &class.kind {
            ClassKind::Hfsc(curves) => {
                let curve = |name: &str, curve: Option<HfscCurve>| {
                    curve.map(|HfscCurve { m1, d, m2 }| {
                        format!(",\"{name}\":{{\"m1\":{m1},\"d\":{d},\"m2\":{m2}}}")
                    })
                };
                let both = curves.rsc.filter(|rsc| curves.fsc == Some(*rsc));
                let words = match both {
                    Some(both) => [curve("sc", Some(both)), curve("ul", curves.usc), None],
                    None => [
                        curve("rt", curves.rsc),
                        curve("ls", curves.fsc),
                        curve("ul", curves.usc),
                    ],
                };
                words.into_iter().flatten().collect()
            }
            ClassKind::Htb(htb) => format!(
                ",\"prio\":{},\"rate\":{},\"ceil\":{},\"burst\":{},\"cburst\":{}",
                htb.prio, htb.rate, htb.ceil, htb.burst, htb.cburst
            ),
            ClassKind::Drr { quantum } => format!(",\"quantum\":{quantum}"),
            ClassKind::Qfq { weight, lmax } => {
                format!(",\"weight\":{weight},\"maxpkt\":{lmax}")
            }
        };
        format!(
            "{{\"class\":\"{}\",\"handle\":\"{}\",\"dev\":\"{device}\",\"parent\":\"{}\"{parameters}}}",
            class.kind.name(),
            class.handle,
            class.parent
        )
    });
    let filters = tree.filters.iter().map(|filter| {
        let keys = match &filter.kind {
            FilterKind::Matchall => String::new(),
            FilterKind::Flower(fields) => format!(",\"keys\":{{{}}}", flower(filter.protocol, fields)),
            FilterKind::U32(keys) => keys
                .iter()
                .map(|key| {
                    format!(
                        ",\"match\":{{\"value\":\"{:x}\",\"mask\":\"{:x}\",\"offmask\":\"\",\"off\":{}}}",
                        key.value, key.mask, key.offset
                    )
                })
                .collect(),
        };
        let class = if filter.kind.name() == "u32" { "flowid" } else { "classid" };
        format!(
            "{{\"dev\":\"{device}\",\"parent\":\"{}\",\"protocol\":\"{}\",\"pref\":{},\"kind\":\"{}\",\"chain\":0,\
             \"options\":{{\"handle\":{},\"{class}\":\"{}\"{keys}}}}}",
            filter.parent,
            filter.protocol.name(),
            filter.priority,
            filter.kind.name(),
            filter.number,
            filter.class
        )
    });
    [list(qdiscs.collect()), list(classes.collect()), list(filters.collect())].concat()
}

fn options(kind: &QdiscKind) -> String {
    let early = |red: &crate::tree::Red| {
        format!(
            "\"limit\":{},\"min\":{},\"max\":{},\"ecn\":{},\"ewma\":{},\"probability\":{}",
            red.limit,
            red.min,
            red.max,
            red.ecn,
            red.wlog,
            f64::from(red.max_p) / 4_294_967_296.0
        )
    };
    match kind {
        QdiscKind::Hfsc { default } => format!("\"default\":\"{default:x}\""),
        QdiscKind::Htb { default, r2q } => format!("\"r2q\":{r2q},\"default\":\"{default:#x}\""),
        QdiscKind::Drr | QdiscKind::Qfq => String::new(),
        QdiscKind::Prio { bands, priomap } => {
            let map: Vec<String> = priomap.iter().map(u8::to_string).collect();
            format!("\"bands\":{bands},\"priomap\":[{}]", map.join(","))
        }
        QdiscKind::Tbf(tbf) => {
            format!("\"rate\":{},\"burst\":{},\"limit\":{}", tbf.rate, tbf.burst, tbf.limit)
        }
        QdiscKind::FqCodel(fq) => format!(
            "\"limit\":{},\"flows\":{},\"quantum\":{},\"target\":{},\"interval\":{},\"ecn\":{}",
            fq.limit, fq.flows, fq.quantum, fq.target, fq.interval, fq.ecn
        ),
        QdiscKind::CoDel(codel) => format!(
            "\"limit\":{},\"target\":{},\"interval\":{},\"ecn\":{}",
            codel.limit, codel.target, codel.interval, codel.ecn
        ),
        QdiscKind::Pie(pie) => format!(
            "\"limit\":{},\"target\":{},\"tupdate\":{},\"alpha\":{},\"beta\":{},\"ecn\":{}",
            pie.limit, pie.target, pie.tupdate, pie.alpha, pie.beta, pie.ecn
        ),
        QdiscKind::Red(red) | QdiscKind::Choke(red) => early(red),
        QdiscKind::Pfifo { limit } | QdiscKind::Bfifo { limit } => format!("\"limit\":{limit}"),
    }
}

fn flower(protocol: Protocol, fields: &Flower) -> String {
    let mut keys = Vec::new();
    let inner = fields.inner.unwrap_or(protocol);
    let ether = match inner {
        Protocol::Ip => Some("ipv4"),
        Protocol::Ipv6 => Some("ipv6"),
        Protocol::All | Protocol::Vlan => None,
    };
    if protocol == Protocol::Vlan {
        keys.extend(fields.vlan.map(|vlan| format!("\"vlan_id\":{vlan}")));
        keys.extend(fields.pcp.map(|pcp| format!("\"vlan_prio\":{pcp}")));
        keys.extend(ether.map(|ether| format!("\"vlan_ethtype\":\"{ether}\"")));
    } else {
        keys.extend(ether.map(|ether| format!("\"eth_type\":\"{ether}\"")));
    }
    if let Some(number) = fields.ip_proto {
        let name = match number {
            1 => "icmp".into(),
            6 => "tcp".into(),
            17 => "udp".into(),
            58 => "icmpv6".into(),
            132 => "sctp".into(),
            number => format!("{number:x}"),
        };
        keys.push(format!("\"ip_proto\":\"{name}\""));
    }
    if let Some((tos, mask)) = fields.tos {
        keys.push(format!("\"ip_tos\":\"0x{tos:x}/{mask:x}\""));
    }
    for (name, net) in [("src_ip", fields.source), ("dst_ip", fields.destination)] {
        keys.extend(net.map(|(address, prefix)| format!("\"{name}\":\"{address}/{prefix}\"")));
    }
    for (name, range) in [("src_port", fields.source_port), ("dst_port", fields.destination_port)] {
        keys.extend(range.map(|(from, to)| match from == to {
            true => format!("\"{name}\":{from}"),
            false => format!("\"{name}\":{{\"start\":{from},\"end\":{to}}}"),
        }));
    }
    keys.join(",")
}
