//! Items of a set-up in the words of `tc`.

use laxity::units::{Nanos, Rate};

use super::parameters::{self, rate_word};
use crate::setup::cake::{self, Cake};
use crate::setup::units::micros;
use crate::setup::{
    Class, ClassKind, Filter, FilterKind, Handle, HfscCurve, Item, Police, Qdisc, QdiscKind, Red,
};

/// `qdisc add`, `class add` or `filter add` and what follows, without `tc`.
pub(crate) fn item(item: &Item, device: &str) -> String {
    match item {
        Item::Qdisc(item) => qdisc(item, device),
        Item::Class(item) => class(item, device),
        Item::Filter(item) => filter(item, device, false),
    }
}

/// Where something hangs: `root`, or `parent` and a number.
pub(crate) fn place(parent: Handle) -> String {
    if parent == Handle::ROOT { "root".into() } else { format!("parent {parent}") }
}

/// `qdisc add` and what follows.
pub(crate) fn qdisc(qdisc: &Qdisc, device: &str) -> String {
    let Qdisc { handle, parent, kind, stab: sizes } = qdisc;
    let sizes = sizes.map_or(String::new(), |sizes| format!(" stab {}", sizes.words(true)));
    let options = qdisc_options(kind);
    let space = if options.is_empty() { "" } else { " " };
    let place = place(*parent);
    format!("qdisc add dev {device} {place} handle {handle}{sizes} {}{space}{options}", kind.name())
}

/// `class add` and what follows.
pub(crate) fn class(class: &Class, device: &str) -> String {
    let Class { handle, parent, kind, .. } = class;
    let options = match kind {
        ClassKind::Hfsc(curves) => {
            let words = curves.named().map(|(name, curve)| format!("{name} {}", slopes(curve)));
            words.collect::<Vec<_>>().join(" ")
        }
        ClassKind::Htb(htb) => format!(
            "rate {} ceil {} burst {}b cburst {}b quantum {} prio {}",
            rate_word(htb.rate),
            rate_word(htb.ceil),
            htb.burst,
            htb.cburst,
            htb.quantum,
            htb.prio
        ),
        ClassKind::Drr { quantum } => format!("quantum {quantum}"),
        ClassKind::Qfq { weight, lmax } => format!("weight {weight} maxpkt {lmax}"),
        ClassKind::Own => String::new(),
    };
    format!("class add dev {device} parent {parent} classid {handle} {} {options}", kind.name())
}

/// `filter add` and what follows. A policer is written in full once, and then by its number.
pub(crate) fn filter(filter: &Filter, device: &str, police_is_known: bool) -> String {
    let Filter { parent, priority, protocol, kind, class, .. } = filter;
    let keys: String = match kind {
        FilterKind::Flower(fields) => parameters::flower_fields(fields)
            .into_iter()
            .map(|(name, word, _)| format!(" {name} {word}"))
            .collect(),
        FilterKind::U32(u32) => u32
            .keys
            .iter()
            .map(|key| format!(" match u32 0x{:x} 0x{:x} at {}", key.value, key.mask, key.offset))
            .collect(),
        FilterKind::Matchall | FilterKind::Basic(_) | FilterKind::Fw(_) => String::new(),
    };
    let class = class.map_or(String::new(), |class| format!(" classid {class}"));
    let police: String = filter.police.iter().map(|one| police(one, police_is_known)).collect();
    format!(
        "filter add dev {device} parent {parent} protocol {} prio {priority} {}{keys}{class}{police}",
        protocol.name(),
        kind.name()
    )
}

fn police(police: &Police, is_known: bool) -> String {
    let Police { index, rate, burst, mtu, demote } = police;
    if is_known {
        return format!(" action police index {index}");
    }
    let beyond = if *demote { "continue" } else { "drop" };
    let rate = rate_word(*rate);
    format!(
        " action police rate {rate} burst {burst}b mtu {mtu}b conform-exceed {beyond}/pipe index {index}"
    )
}

fn qdisc_options(kind: &QdiscKind) -> String {
    match kind {
        QdiscKind::Hfsc { default: 0 } => String::new(),
        QdiscKind::Hfsc { default } => format!("default {default:x}"),
        QdiscKind::Htb { default, r2q } => format!("default {default:x} r2q {r2q}"),
        QdiscKind::Red(red) => early(red, "b", 1),
        QdiscKind::Choke(red) => early(red, "", red.packet.max(1)),
        QdiscKind::Cake(of) => cake(of),
        kind => {
            let parameters = kind.parameters().into_iter();
            parameters.map(|(name, value)| value.words(name)).collect::<Vec<_>>().join(" ")
        }
    }
}

/// `cake` in words, each of them said.
fn cake(of: &Cake) -> String {
    let rate = match of.rate {
        Rate(0) => "unlimited".into(),
        rate => format!("bandwidth {}", rate_word(rate)),
    };
    let flag = |is_set: bool, [yes, no]: [&'static str; 2]| if is_set { yes } else { no };
    let mut words = vec![
        rate,
        of.diffserv.word().into(),
        of.isolation.word().into(),
        flag(of.nat, ["nat", "nonat"]).into(),
        flag(of.wash, ["wash", "nowash"]).into(),
        cake::word(&cake::ACK_FILTER, of.ack_filter).into(),
        flag(of.split_gso, ["split-gso", "no-split-gso"]).into(),
        format!("rtt {}us", micros(of.rtt)),
    ];
    words.push(match of.overhead {
        None => "raw".into(),
        Some(overhead) => {
            let (bytes, least) = Cake::from_ip(&overhead);
            let framing = cake::word(&cake::FRAMING, overhead.framing);
            format!("{framing} overhead {bytes} mpu {least}")
        }
    });
    let more = [
        (of.ingress, "ingress".into()),
        (of.memory > 0, format!("memlimit {}b", of.memory)),
        (of.fwmark > 0, format!("fwmark 0x{:x}", of.fwmark)),
    ];
    words.extend(more.into_iter().filter(|(is_said, _)| *is_said).map(|(_, words)| words));
    words.join(" ")
}

/// Early detection in words. `tc` computes the weight of the average from a burst (iproute2,
/// tc/tc_red.c, tc_red_eval_ewma). The burst that is written is the largest that comes to the
/// weight.
fn early(red: &Red, unit: &str, bytes: u32) -> String {
    let Red { limit, min, max, wlog, max_p, packet, ecn, .. } = *red;
    let packet = packet.max(1);
    let least = f64::from(min) * f64::from(bytes) / f64::from(packet);
    let weight = 0.5f64.powi(wlog.into());
    let fits = |burst: f64| burst + 1.0 - least <= (1.0 - (1.0 - weight).powf(burst)) / weight;
    // What fits one weight fits all smaller ones, so a burst between this one's end and the next
    // larger one's is meant.
    let (mut fit, mut too_long) = (least.max(1.0), 2.0 * least + 4.0 / weight);
    for _ in 0..64 {
        let middle = (fit + too_long) / 2.0;
        if fits(middle) { fit = middle } else { too_long = middle }
    }
    let burst = (fit.floor() as u64).max(1);
    let marks = if ecn { " ecn" } else { "" };
    let probability = f64::from(max_p) / 4_294_967_296.0;
    format!(
        "limit {limit}{unit} min {min}{unit} max {max}{unit} avpkt {packet} burst {burst} \
         probability {probability}{marks}"
    )
}

fn slopes(curve: HfscCurve) -> String {
    let HfscCurve { m1, d, m2, .. } = curve;
    let m2 = rate_word(m2);
    if m1.0 == 0 && d == Nanos::ZERO {
        return format!("m2 {m2}");
    }
    let [_, micros, _] = curve.kernel();
    format!("m1 {} d {micros}us m2 {m2}", rate_word(m1))
}
