//! A tree in the words of `tc`.

use std::net::IpAddr;

use laxity::units::Rate;

use super::{
    Class, ClassKind, Filter, FilterKind, Flower, HfscCurve, HfscCurves, Police, Protocol, Qdisc,
    QdiscKind, Red, Stab,
};

/// `qdisc add` and what follows, without `tc`.
pub fn qdisc(qdisc: &Qdisc, device: &str) -> String {
    let Qdisc { handle, parent, kind, stab: sizes } = qdisc;
    let place =
        if *parent == super::Handle::ROOT { "root".into() } else { format!("parent {parent}") };
    let sizes = sizes.map_or(String::new(), |sizes| format!(" {}", stab(&sizes)));
    let options = qdisc_options(kind);
    let space = if options.is_empty() { "" } else { " " };
    format!("qdisc add dev {device} {place} handle {handle}{sizes} {}{space}{options}", kind.name())
}

/// `class add` and what follows.
pub fn class(class: &Class, device: &str) -> String {
    let Class { handle, parent, kind, .. } = class;
    let options = match kind {
        ClassKind::Hfsc(curves) => hfsc(curves),
        ClassKind::Htb(htb) => format!(
            "rate {} ceil {} burst {}b cburst {}b quantum {} prio {}",
            rate(htb.rate),
            rate(htb.ceil),
            htb.burst,
            htb.cburst,
            htb.quantum,
            htb.prio
        ),
        ClassKind::Drr { quantum } => format!("quantum {quantum}"),
        ClassKind::Qfq { weight, lmax } => format!("weight {weight} maxpkt {lmax}"),
    };
    format!("class add dev {device} parent {parent} classid {handle} {} {options}", kind.name())
}

/// `filter add` and what follows. A policer is told in full where it comes first, and else by its number.
pub fn filter(filter: &Filter, device: &str, police_is_known: bool) -> String {
    let Filter { parent, priority, protocol, kind, class, .. } = filter;
    let keys = match kind {
        FilterKind::Matchall => String::new(),
        FilterKind::Flower(fields) => flower(fields),
        FilterKind::U32(keys) => keys
            .iter()
            .map(|key| format!(" match u32 0x{:x} 0x{:x} at {}", key.value, key.mask, key.offset))
            .collect(),
    };
    let police = police(&filter.police, police_is_known);
    let kind = kind.name();
    format!(
        "filter add dev {device} parent {parent} protocol {} prio {priority} {kind}{keys} classid {class}{police}",
        protocol.name()
    )
}

fn police(policers: &[Police], is_known: bool) -> String {
    let one = |police: &Police| {
        let Police { index, rate: bytes, burst, mtu, demote } = police;
        let beyond = if *demote { "continue" } else { "drop" };
        match is_known {
            true => format!(" action police index {index}"),
            false => format!(
                " action police rate {} burst {burst}b mtu {mtu}b conform-exceed {beyond}/pipe index {index}",
                rate(*bytes)
            ),
        }
    };
    policers.iter().map(one).collect()
}

fn qdisc_options(kind: &QdiscKind) -> String {
    let marks = |ecn: bool| if ecn { " ecn" } else { " noecn" };
    match kind {
        QdiscKind::Hfsc { default: 0 } | QdiscKind::Drr | QdiscKind::Qfq => String::new(),
        QdiscKind::Hfsc { default } => format!("default {default:x}"),
        QdiscKind::Htb { default, r2q } => format!("default {default:x} r2q {r2q}"),
        QdiscKind::Prio { bands, priomap } => {
            let map: Vec<String> = priomap.iter().map(u8::to_string).collect();
            format!("bands {bands} priomap {}", map.join(" "))
        }
        QdiscKind::Tbf(tbf) => {
            format!("rate {} burst {}b limit {}b", rate(tbf.rate), tbf.burst, tbf.limit)
        }
        QdiscKind::FqCodel(fq) => format!(
            "limit {} flows {} quantum {} target {}us interval {}us{}",
            fq.limit,
            fq.flows,
            fq.quantum,
            fq.target,
            fq.interval,
            marks(fq.ecn)
        ),
        QdiscKind::CoDel(codel) => format!(
            "limit {} target {}us interval {}us{}",
            codel.limit,
            codel.target,
            codel.interval,
            marks(codel.ecn)
        ),
        QdiscKind::Pie(pie) => format!(
            "limit {} target {}us tupdate {}us alpha {} beta {}{}",
            pie.limit,
            pie.target,
            pie.tupdate,
            pie.alpha,
            pie.beta,
            marks(pie.ecn)
        ),
        QdiscKind::Red(red) => early(red, "b", 1),
        QdiscKind::Choke(red) => early(red, "", red.packet.max(1)),
        QdiscKind::Pfifo { limit } => format!("limit {limit}"),
        QdiscKind::Bfifo { limit } => format!("limit {limit}b"),
    }
}

/// `tc` computes the weight of the average from a burst, so it is told one that comes to the weight: the largest that
/// it still does for (iproute2, tc/tc_red.c, tc_red_eval_ewma).
fn early(red: &Red, unit: &str, bytes: u32) -> String {
    let Red { limit, min, max, wlog, max_p, packet, ecn, .. } = *red;
    let packet = packet.max(1);
    let least = f64::from(min) * f64::from(bytes) / f64::from(packet);
    let weight = 0.5f64.powi(wlog.into());
    let fits = |burst: f64| burst + 1.0 - least <= (1.0 - (1.0 - weight).powf(burst)) / weight;
    // What fits one weight fits all smaller ones, so a burst between this one's end and the next larger one's is meant.
    let (mut fit, mut too_long) = (least.max(1.0), 2.0 * least + 4.0 / weight);
    for _ in 0..64 {
        let middle = (fit + too_long) / 2.0;
        if fits(middle) { fit = middle } else { too_long = middle }
    }
    let burst = (fit.floor() as u64).max(1);
    let marks = if ecn { " ecn" } else { "" };
    format!(
        "limit {limit}{unit} min {min}{unit} max {max}{unit} avpkt {packet} burst {burst} probability {}{marks}",
        f64::from(max_p) / 4_294_967_296.0
    )
}

fn hfsc(curves: &HfscCurves) -> String {
    let HfscCurves { rsc, fsc, usc } = *curves;
    let kinds = match (rsc, fsc) {
        (Some(both), Some(other)) if both == other => [("sc", Some(both)), ("", None), ("ul", usc)],
        _ => [("rt", rsc), ("ls", fsc), ("ul", usc)],
    };
    let words = kinds
        .into_iter()
        .filter_map(|(kind, curve)| Some(format!("{kind} {}", curve_words(curve?))));
    words.collect::<Vec<_>>().join(" ")
}

fn curve_words(HfscCurve { m1, d, m2 }: HfscCurve) -> String {
    match (m1, d) {
        (0, 0) => format!("m2 {}", rate(m2.into())),
        _ => format!("m1 {} d {d}us m2 {}", rate(m1.into()), rate(m2.into())),
    }
}

fn stab(stab: &Stab) -> String {
    let Stab { overhead, mpu, atm, mtu, tsize } = *stab;
    let mut words = vec!["stab".to_string()];
    if mtu > 0 {
        words.push(format!("mtu {mtu} tsize {tsize}"));
    }
    if mpu > 0 {
        words.push(format!("mpu {mpu}"));
    }
    words.push(format!("overhead {overhead}"));
    words.push(format!("linklayer {}", if atm { "atm" } else { "ethernet" }));
    words.join(" ")
}

fn flower(fields: &Flower) -> String {
    let mut words = String::new();
    let mut say = |word: String| words += &format!(" {word}");
    if let Some(vlan) = fields.vlan {
        say(format!("vlan_id {vlan}"));
    }
    if let Some(pcp) = fields.pcp {
        say(format!("vlan_prio {pcp}"));
    }
    if let Some(inner) = fields.inner {
        say(format!("vlan_ethtype {}", if inner == Protocol::Ip { "ipv4" } else { inner.name() }));
    }
    if let Some(number) = fields.ip_proto {
        say(match number {
            1 => "ip_proto icmp".into(),
            6 => "ip_proto tcp".into(),
            17 => "ip_proto udp".into(),
            58 => "ip_proto icmpv6".into(),
            132 => "ip_proto sctp".into(),
            number => format!("ip_proto {number:x}"),
        });
    }
    if let Some((tos, mask)) = fields.tos {
        say(format!("ip_tos 0x{tos:x}/0x{mask:x}"));
    }
    let network = |(address, prefix): (IpAddr, u8)| format!("{address}/{prefix}");
    if let Some(net) = fields.source {
        say(format!("src_ip {}", network(net)));
    }
    if let Some(net) = fields.destination {
        say(format!("dst_ip {}", network(net)));
    }
    let ports =
        |(from, to): (u16, u16)| if from == to { from.to_string() } else { format!("{from}-{to}") };
    if let Some(range) = fields.source_port {
        say(format!("src_port {}", ports(range)));
    }
    if let Some(range) = fields.destination_port {
        say(format!("dst_port {}", ports(range)));
    }
    words
}

/// A rate of whole bytes a second so that `tc` reads just that: it reads bits as a floating-point number.
pub fn rate(bytes: u64) -> String {
    let bits = Rate(bytes.saturating_mul(8));
    match bits.0 {
        bits if bits % 1_000_000 == 0 => format!("{}mbit", bits / 1_000_000),
        bits if bits % 1_000 == 0 => format!("{}kbit", bits / 1_000),
        bits => format!("{bits}bit"),
    }
}
