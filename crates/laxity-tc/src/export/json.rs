//! What `tc -j … show` prints of a set-up.

use laxity::units::Rate;

use super::parameters::{ether_type, flower_fields};
use crate::setup::cake::{self, AckFilter, Cake};
use crate::setup::units::{bytes_a_second, micros};
use crate::setup::{
    Class, ClassKind, Filter, FilterKind, Flower, Handle, Protocol, Qdisc, QdiscKind, Red, Setup,
    SizeTable,
};
use crate::words::json::Json;

/// Three lists, a line each.
pub(super) fn shown(setup: &Setup, device: &str) -> String {
    let lists: [Vec<Json>; 3] = [
        setup.qdiscs.iter().map(|item| qdisc(item, device)).collect(),
        setup.classes.iter().map(|item| class(item, device)).collect(),
        setup.filters.iter().map(|item| filter(item, device)).collect(),
    ];
    let line = |list: Vec<Json>| serde_json::to_string(&list).expect("its keys are texts") + "\n";
    lists.map(line).concat()
}

fn qdisc(qdisc: &Qdisc, device: &str) -> Json {
    let Qdisc { handle, parent, kind, stab } = qdisc;
    let place = match *parent {
        Handle::ROOT => ("root", true.into()),
        parent => ("parent", parent.to_string().into()),
    };
    let stab = stab.map(|SizeTable { overhead, mpu, atm, mtu, tsize }| {
        let members = [
            ("linklayer", if atm { "atm" } else { "ethernet" }.into()),
            ("overhead", overhead.into()),
            ("mpu", mpu.into()),
            ("mtu", mtu.into()),
            ("tsize", tsize.into()),
        ];
        ("stab", Json::object(members))
    });
    let members = [
        ("kind", kind.name().into()),
        ("handle", handle.to_string().into()),
        ("dev", device.into()),
        place,
        ("options", options(kind)),
    ];
    Json::object(members.into_iter().chain(stab))
}

fn options(kind: &QdiscKind) -> Json {
    match kind {
        QdiscKind::Hfsc { default } => Json::object([("default", format!("{default:x}").into())]),
        QdiscKind::Htb { default, r2q } => {
            Json::object([("r2q", (*r2q).into()), ("default", format!("{default:#x}").into())])
        }
        QdiscKind::Red(red) | QdiscKind::Choke(red) => {
            let Red { limit, min, max, wlog, max_p, ecn, .. } = *red;
            Json::object([
                ("limit", limit.into()),
                ("min", min.into()),
                ("max", max.into()),
                ("ecn", ecn.into()),
                ("ewma", wlog.into()),
                ("probability", (f64::from(max_p) / 4_294_967_296.0).into()),
            ])
        }
        QdiscKind::Cake(of) => cake(of),
        kind => {
            Json::object(kind.parameters().into_iter().map(|(name, value)| (name, value.json())))
        }
    }
}

fn cake(of: &Cake) -> Json {
    let text = |word: &str| Json::Text(word.into());
    let ack = match of.ack_filter {
        AckFilter::Off => "disabled",
        AckFilter::On => "enabled",
        AckFilter::Aggressive => "aggressive",
    };
    let bandwidth = match of.rate {
        Rate(0) => text("unlimited"),
        rate => bytes_a_second(rate).into(),
    };
    let mut members = vec![
        ("bandwidth", bandwidth),
        ("diffserv", text(of.diffserv.word())),
        ("flowmode", text(of.isolation.word())),
        ("nat", of.nat.into()),
        ("wash", of.wash.into()),
        ("ingress", of.ingress.into()),
        ("ack-filter", text(ack)),
        ("split_gso", of.split_gso.into()),
        ("rtt", micros(of.rtt).into()),
    ];
    match of.overhead {
        None => members.extend([("raw", true.into()), ("overhead", 0.into())]),
        Some(overhead) => {
            let (bytes, least) = Cake::from_ip(&overhead);
            let framing = cake::word(&cake::FRAMING, overhead.framing);
            members.extend([
                ("atm", text(framing)),
                ("overhead", bytes.into()),
                ("mpu", least.into()),
            ]);
        }
    }
    members.extend((of.memory > 0).then(|| ("memlimit", of.memory.into())));
    members.extend((of.fwmark > 0).then(|| ("fwmark", format!("0x{:x}", of.fwmark).into())));
    Json::object(members)
}

fn class(class: &Class, device: &str) -> Json {
    let mut members: Vec<(&str, Json)> = vec![
        ("class", class.kind.name().into()),
        ("handle", class.handle.to_string().into()),
        ("dev", device.into()),
        ("parent", class.parent.to_string().into()),
    ];
    match &class.kind {
        ClassKind::Hfsc(all) => members.extend(all.named().map(|(name, curve)| {
            let [m1, d, m2] = curve.kernel().map(Json::from);
            (name, Json::object([("m1", m1), ("d", d), ("m2", m2)]))
        })),
        ClassKind::Htb(htb) => members.extend([
            ("prio", htb.prio.into()),
            ("rate", bytes_a_second(htb.rate).into()),
            ("ceil", bytes_a_second(htb.ceil).into()),
            ("burst", htb.burst.into()),
            ("cburst", htb.cburst.into()),
        ]),
        ClassKind::Drr { quantum } => members.push(("quantum", (*quantum).into())),
        ClassKind::Qfq { weight, lmax } => {
            members.extend([("weight", (*weight).into()), ("maxpkt", (*lmax).into())]);
        }
        ClassKind::Own => {}
    }
    Json::object(members)
}

fn filter(filter: &Filter, device: &str) -> Json {
    let Filter { parent, priority, number, protocol, kind, class, .. } = filter;
    let name = if kind.name() == "u32" { "flowid" } else { "classid" };
    let mut options = vec![("handle", (*number).into())];
    options.extend(class.map(|class| (name, class.to_string().into())));
    match kind {
        FilterKind::Flower(fields) => options.push(("keys", keys(protocol, fields))),
        FilterKind::U32(u32) => options.extend(u32.keys.iter().map(|key| {
            let members = [
                ("value", format!("{:x}", key.value).into()),
                ("mask", format!("{:x}", key.mask).into()),
                ("offmask", "".into()),
                ("off", key.offset.into()),
            ];
            ("match", Json::object(members))
        })),
        FilterKind::Matchall | FilterKind::Basic(_) | FilterKind::Fw(_) => {}
    }
    Json::object([
        ("dev", device.into()),
        ("parent", parent.to_string().into()),
        ("protocol", protocol.name().into()),
        ("pref", (*priority).into()),
        ("kind", kind.name().into()),
        ("chain", 0.into()),
        ("options", Json::object(options)),
    ])
}

/// The fields of `flower`; before them the type of frames, which is shown though it is not written.
fn keys(protocol: &Protocol, fields: &Flower) -> Json {
    let frames = ether_type(protocol).map(|ether| ("eth_type", ether.into()));
    let fields = flower_fields(fields).into_iter().map(|(name, _, json)| (name, json));
    Json::object(frames.into_iter().chain(fields))
}
