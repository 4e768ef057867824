//! The parameters of a set-up. `tc` has the same names for them in its words and in JSON.

use std::net::IpAddr;

use laxity::units::Rate;

use crate::setup::units::{bytes_a_second, micros};
use crate::setup::{Flower, Ports, Protocol, Value};
use crate::words::json::Json;

impl Value {
    /// The words of a parameter of this name.
    pub(super) fn words(&self, name: &str) -> String {
        match self {
            Value::Number(number) => format!("{name} {number}"),
            Value::Bytes(bytes) => format!("{name} {bytes}b"),
            Value::Rate(rate) => format!("{name} {}", rate_word(*rate)),
            Value::Time(time) => format!("{name} {}us", micros(*time)),
            Value::Flag(true) => name.into(),
            Value::Flag(false) => format!("no{name}"),
            Value::Several(numbers) => {
                let words: Vec<String> = numbers.iter().map(u8::to_string).collect();
                format!("{name} {}", words.join(" "))
            }
        }
    }

    /// The value in JSON: rates in bytes a second, times in microseconds.
    pub(super) fn json(&self) -> Json {
        match self {
            Value::Number(number) | Value::Bytes(number) => (*number).into(),
            Value::Rate(rate) => bytes_a_second(*rate).into(),
            Value::Time(time) => micros(*time).into(),
            Value::Flag(flag) => (*flag).into(),
            Value::Several(numbers) => numbers.clone().into(),
        }
    }
}

/// A rate of whole bytes a second as `tc` reads it exactly. `tc` reads bits as a float.
pub(super) fn rate_word(rate: Rate) -> String {
    match bytes_a_second(rate).saturating_mul(8) {
        bits if bits % 1_000_000 == 0 => format!("{}mbit", bits / 1_000_000),
        bits if bits % 1_000 == 0 => format!("{}kbit", bits / 1_000),
        bits => format!("{bits}bit"),
    }
}

/// The fields of `flower`, each with its word and its value in JSON.
pub(super) fn flower_fields(fields: &Flower) -> Vec<(&'static str, String, Json)> {
    let mut all = Vec::new();
    let plain = |text: String| (text.clone(), Json::Text(text));
    let mut say = |name, value: Option<(String, Json)>| {
        all.extend(value.map(|(word, json)| (name, word, json)));
    };
    say("vlan_id", fields.vlan.map(|vlan| (vlan.to_string(), vlan.into())));
    say("vlan_prio", fields.pcp.map(|pcp| (pcp.to_string(), pcp.into())));
    let inner = fields.inner.as_ref();
    say("vlan_ethtype", inner.map(|inner| plain(ether_type(inner).unwrap_or(inner.name()).into())));
    let over = |number| match number {
        1 => "icmp".into(),
        6 => "tcp".into(),
        17 => "udp".into(),
        58 => "icmpv6".into(),
        132 => "sctp".into(),
        number => format!("{number:x}"),
    };
    say("ip_proto", fields.ip_proto.map(over).map(plain));
    say(
        "ip_tos",
        fields.tos.map(|(tos, mask)| {
            (format!("0x{tos:x}/0x{mask:x}"), format!("0x{tos:x}/{mask:x}").into())
        }),
    );
    let net = |(address, prefix): (IpAddr, u8)| plain(format!("{address}/{prefix}"));
    say("src_ip", fields.addresses[0].map(net));
    say("dst_ip", fields.addresses[1].map(net));
    let ports = |ports| match ports {
        Ports::Masked(port, u16::MAX) => (port.to_string(), port.into()),
        Ports::Masked(port, mask) => plain(format!("0x{port:x}/0x{mask:x}")),
        Ports::Range(from, to) => {
            let ends = [("start", from.into()), ("end", to.into())];
            (format!("{from}-{to}"), Json::object(ends))
        }
    };
    say("src_port", fields.ports[0].map(ports));
    say("dst_port", fields.ports[1].map(ports));
    all
}

/// What `flower` calls the frames of a protocol.
pub(super) fn ether_type(protocol: &Protocol) -> Option<&'static str> {
    match protocol {
        Protocol::Ip => Some("ipv4"),
        Protocol::Ipv6 => Some("ipv6"),
        Protocol::All | Protocol::Vlan | Protocol::Other(_) => None,
    }
}
