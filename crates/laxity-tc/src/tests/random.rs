//! Whatever a script holds: it is imported as a plan that reads back, or refused.

use std::path::Path;

use laxity_plan::Plan;
use proptest::prelude::*;

use super::HEAD;
use crate::Options;

/// Words that scripts are made of.
const WORDS: [&str; 116] = [
    "basic match 'cmp(u8 at 9 eq 17) or'",
    "'meta(nf_mark eq 6)'",
    "action drop",
    "match mark 6 0xff",
    "cake",
    "bandwidth",
    "tbf",
    "burst",
    "latency",
    "mq",
    "drr",
    "ht",
    "2:a:",
    "link",
    "2:",
    "divisor",
    "256",
    "hashkey",
    "mask",
    "0x000000ff",
    "12",
    "nexthdr+2",
    "fw",
    "vlan_prio",
    "memory_limit",
    "iptables",
    "-j",
    "MARK",
    "nft",
    "txqueuelen",
    "tc",
    "qdisc",
    "class",
    "filter",
    "add",
    "change",
    "replace",
    "del",
    "dev",
    "eth0",
    "root",
    "handle",
    "parent",
    "classid",
    "flowid",
    "1:",
    "1:1",
    "1:2",
    "1:10",
    "1:20",
    "1:30",
    "2:1",
    "hfsc",
    "htb",
    "fq_codel",
    "bands",
    "priomap",
    "quantum",
    "target",
    "ecn",
    "default",
    "20",
    "10",
    "sc",
    "rt",
    "ls",
    "ul",
    "m1",
    "d",
    "m2",
    "umax",
    "dmax",
    "rate",
    "ceil",
    "1mbit",
    "500kbit",
    "0",
    "10ms",
    "1500b",
    "pfifo",
    "limit",
    "protocol",
    "ip",
    "ipv6",
    "802.1q",
    "prio",
    "u32",
    "match",
    "ip6",
    "dport",
    "sport",
    "src",
    "dst",
    "80",
    "443",
    "0xffff",
    "0xfc",
    "10.0.0.0/8",
    "fd00::/8",
    "flower",
    "ip_proto",
    "udp",
    "tcp",
    "dst_port",
    "matchall",
    "at",
    "9",
    "u8",
    "\\\n",
    "\n",
    "\n",
    "\n",
    "# voice\n",
    "A=$A$B",
    "\"$A",
    "'",
];

fn tried(script: &str) -> Result<(), TestCaseError> {
    for link_rate in [None, "10mbit".parse().ok(), "1bit".parse().ok()] {
        match crate::import(script, "script.sh", &Options { link_rate, ..Options::default() }) {
            Ok(import) => {
                let read = Plan::parse(&import.plan, "plan.toml", Path::new(""));
                prop_assert!(read.is_ok(), "{:?}\n{}", read, import.plan);
            }
            Err(error) => {
                prop_assert!(!error.message().starts_with("no plan came"), "{error}\n{script}");
                prop_assert!(error.to_string().len() < 2000);
            }
        }
    }
    Ok(())
}

/// A class drawn from a few values.
fn class() -> impl Strategy<Value = String> {
    let parents = prop::sample::select(vec!["1:", "1:1", "1:10", "1:20", "1:30", "1:31"]);
    let names = prop::sample::select(vec!["1:30", "1:31", "1:32", "1:33", "1:34"]);
    let rate = prop::sample::select(vec!["0", "1", "500kbit", "1mbit", "10mbit", "9tbit", "3bps"]);
    let time = prop::sample::select(vec!["0", "1", "10ms", "0.5s"]);
    let curve = (0..4u8, rate.clone(), time, rate).prop_map(|(form, a, d, b)| match form {
        0 => format!("m2 {a}"),
        1 => format!("m1 {a} d {d} m2 {b}"),
        2 => format!("umax 1500 dmax {d} rate {a}"),
        _ => format!("dmax {d} rate {a}"),
    });
    let kind = prop::sample::select(vec!["sc", "rt", "ls"]);
    (parents, names, kind, curve.clone(), prop::option::of(curve)).prop_map(
        |(parent, name, kind, curve, limit)| {
            let limit = limit.map_or(String::new(), |limit| format!("ul {limit}"));
            format!(
                "tc class add dev eth0 parent {parent} classid {name} hfsc {kind} {curve} {limit}\n"
            )
        },
    )
}

/// A root of prio or fq_codel, or what hangs at one.
fn line() -> impl Strategy<Value = String> {
    let at = prop::sample::select(vec!["1:", "1:1", "1:2", "1:3", "1:16", "1:17", ":2", "2:1"]);
    let number = prop::sample::select(vec!["0", "1", "2", "3", "16", "17", "65537", "4294967295"]);
    let verb = prop::sample::select(vec!["add", "replace", "change"]);
    (0..14u8, verb, at, number.clone(), number).prop_map(|(form, verb, at, a, b)| {
        let root = format!("tc qdisc {verb} dev eth0 root handle 1:");
        match form {
            0 => format!("{root} prio bands {a} priomap {b} {a}\n"),
            1 => format!("{root} prio\n"),
            2 => format!("{root} fq_codel limit {a} flows {b} quantum {a} target {b} ecn\n"),
            3 => format!("tc qdisc {verb} dev eth0 parent {at} pfifo limit {a}\n"),
            5 => format!("{root} cake bandwidth {a}kbit rtt {b}\n"),
            6 => format!("{root} tbf rate {a}kbit burst {b} limit {a}\n"),
            7 => format!("{root} mq\n"),
            8 => format!("tc qdisc {verb} dev eth0 parent {at} handle {a}: drr\n"),
            9 => format!("tc class {verb} dev eth0 parent {a}: classid {at} drr quantum {b}\n"),
            10 => format!("tc filter add dev eth0 handle {a}: u32 divisor {b}\n"),
            11 => format!("tc filter add dev eth0 protocol ip u32 ht {a}:{b}: match ip src 10.0.0.1 flowid {at}\n"),
            12 => format!("tc filter add dev eth0 protocol ip u32 link {a}: hashkey mask 0x{b} at {a}\n"),
            13 => format!(
                "tc filter add dev eth0 handle {a} fw flowid {at}\niptables -t mangle -A POSTROUTING -j MARK --set-mark {b}\n"
            ),
            4 => format!("tc filter add dev eth0 u32 match ip tos 0x{b} 0xfc flowid {at}\n"),
            _ => format!(
                "tc filter add dev eth0 protocol ip prio {a} u32 match ip dport {b} 0xfff0 flowid {at}\n"
            ),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn words_in_any_order(words in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..60)) {
        let words = words.join(" ");
        tried(&words)?;
        tried(&format!("{HEAD}{words}"))?;
    }

    #[test]
    fn classes_in_any_order(classes in prop::collection::vec(class(), 1..8)) {
        tried(&format!("{HEAD}{}", classes.concat()))?;
    }

    #[test]
    fn other_roots_in_any_order(lines in prop::collection::vec(line(), 0..8), prio in any::<bool>()) {
        let kind = if prio { "prio bands 4" } else { "fq_codel" };
        let root = format!("tc qdisc add dev eth0 root handle 1: {kind}\n");
        tried(&format!("{root}{}", lines.concat()))?;
        tried(&format!("{root}{}{HEAD}", lines.concat()))?;
    }

    #[test]
    fn any_text(text in "(?s).{0,200}") {
        tried(&text)?;
        tried(&format!("{HEAD}{text}"))?;
    }
}
