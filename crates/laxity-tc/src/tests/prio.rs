//! prio at the root: its bands as levels, its filters, and its priomap as far as headers tell.

use laxity::packet::ClassId;
use laxity::units::{Bytes, Rate};
use laxity_plan::Plan;
use laxity_plan::matching::{Headers, IpHeaders, Ports};
use laxity_plan::model::{QueueLimit, QueueSpec, SchedulerSpec};

use super::{HEAD, NoteKind, class, import_at, notes, read, refusal};
use crate::Options;

const ROOT: &str = "tc qdisc add dev eth0 root handle 1: prio";
const MBIT: u64 = 1_000_000;

/// Each class by its name, with its level and what it takes.
fn classes(plan: &Plan) -> Vec<(String, Option<u8>, String)> {
    let matching = |class: &laxity_plan::model::Class| {
        class.matching.as_ref().map_or("-".into(), ToString::to_string)
    };
    let mut all: Vec<_> = plan
        .classes
        .iter()
        .map(|class| (class.name.clone(), class.level, matching(class)))
        .collect();
    all.sort();
    all
}

fn plan(script: &str) -> Plan {
    read(&import_at(10 * MBIT, script))
}

/// The class of an IPv4 packet of UDP to this port.
fn takes(plan: &Plan, dscp: u8, port: u16) -> &str {
    let address = [192, 0, 2, 1].into();
    let ip = IpHeaders { source: address, destination: address, protocol: 17, dscp, ecn: 0 };
    let ports = Some(Ports { source: 9, destination: port });
    let headers = Headers { ip: Some(ip), ports, ..Headers::default() };
    first(plan, &headers)
}

fn first<'a>(plan: &'a Plan, headers: &Headers) -> &'a str {
    let takes = |class: &&laxity_plan::model::Class| {
        class.matching.as_ref().is_some_and(|matching| matching.matches(headers))
    };
    plan.classes.iter().find(takes).map_or("", |class| class.name.as_str())
}

#[test]
fn bands_are_levels() {
    let import = import_at(10 * MBIT, &format!("{ROOT} bands 4 priomap{}\n", " 3".repeat(16)));
    let plan = read(&import);
    assert_eq!(plan.scheduler, SchedulerSpec::Priority);
    assert_eq!(plan.link.rate, Rate(10 * MBIT));
    let expected = [("1-1", 0, "-"), ("1-2", 1, "-"), ("1-3", 2, "-"), ("1-4", 3, "any")];
    let expected = expected.map(|(name, level, takes)| (name.into(), Some(level), takes.into()));
    assert_eq!(classes(&plan), expected);
    // Whatever its priority, a packet that no filter takes goes to the same band.
    assert!(!import.plan.contains("priomap"), "{}", import.plan);
    let told = notes(&import, NoteKind::NotMapped);
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[0].contains("1: 1:1 has no filter"), "{told:?}");
}

/// A script for a home gateway: interactive traffic first, bulk last, the rest by DSCP.
const GATEWAY: &str = r#"#!/bin/sh
DEV=${1:-ppp0}
tc qdisc del dev $DEV root 2>/dev/null
tc qdisc add dev $DEV root handle 1: prio
tc qdisc add dev $DEV parent 1:1 handle 10: pfifo limit 50
tc qdisc add dev $DEV parent 1:2 handle 20: fq_codel
tc qdisc add dev $DEV parent 1:3 handle 30: red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 ecn
# ssh and DNS
for port in 22 53; do
    tc filter add dev $DEV parent 1: protocol ip prio 1 u32 match ip dport $port 0xffff flowid 1:1
done
tc filter add dev $DEV parent 1: protocol ip prio 2 flower ip_proto udp dst_port 5060 classid :1
tc filter add dev $DEV protocol ip parent 1: prio 3 u32 match ip dport 873 0xffff flowid 1:3
tc filter add dev $DEV parent 1: protocol ip prio 4 handle 6 fw flowid 1:3
"#;

#[test]
fn a_gateway() {
    let import = import_at(MBIT, GATEWAY);
    let plan = read(&import);
    let levels: Vec<_> =
        ["1-1", "1-2", "1-3"].map(|name| class(&plan, name).level).into_iter().collect();
    assert_eq!(levels, [Some(0), Some(1), Some(2)]);
    let queue = |name| class(&plan, name).queue.as_deref().copied();
    assert_eq!(queue("1-1"), Some(QueueSpec::limited(QueueLimit::Packets(50))));
    assert!(matches!(queue("1-2"), Some(QueueSpec::CoDel(codel)) if codel.ecn));
    assert!(matches!(queue("1-3"), Some(QueueSpec::Red(red)) if red.ecn));
    for (dscp, port, expected) in [
        (0, 22, "1-1"),
        (0, 53, "1-1"),
        (0, 5060, "1-1"),
        (0, 873, "1-3"),
        // What a filter takes does not go by its DSCP.
        (0b100, 873, "1-3"),
        (0b010, 22, "1-1"),
        (0, 80, "1-2"),
        (0b100, 80, "1-1"),
        (0b010, 80, "1-3"),
        (0b110, 80, "1-2"),
    ] {
        assert_eq!(takes(&plan, dscp, port), expected, "{dscp} {port}");
    }
    let told = notes(&import, NoteKind::NotMapped);
    assert!(told.iter().any(|note| note.contains("netfilter's mark 6")), "{told:?}");
    assert!(told.iter().any(|note| note.starts_with("4: priomap: priorities")), "{told:?}");
    assert!(told.iter().any(|note| note.starts_with("6: 1:2: fq_codel")), "{told:?}");
}

/// Linux, include/net/route.h, rt_tos2priority: the priority of a packet that is forwarded, from
/// the second to the fifth bit of its TOS (net/ipv4/route.c, ip_tos2prio).
const TOS_TO_PRIORITY: [usize; 16] = [0, 0, 0, 0, 2, 2, 2, 2, 6, 6, 6, 6, 4, 4, 4, 4];

#[test]
fn every_dscp_goes_where_linux_sends_it() {
    for map in [
        "1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1",
        "2 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1",
        "0 1 1 1 2 2 2 2 2 2 2 2 2 2 2 2",
        "3 3 0 3 1 3 2 3 3 3 3 3 3 3 3 3",
    ] {
        let bands: Vec<usize> = map.split(' ').map(|band| band.parse().unwrap()).collect();
        let plan = plan(&format!("{ROOT} bands 4 priomap {map}\n"));
        for dscp in 0..64 {
            let band = bands[TOS_TO_PRIORITY[usize::from((dscp << 2) & 0x1e) >> 1]];
            assert_eq!(takes(&plan, dscp, 80), format!("1-{}", band + 1), "{map}: {dscp}");
        }
        // What is not IPv4 has priority 0.
        let arp = Headers::default();
        assert_eq!(first(&plan, &arp), format!("1-{}", bands[0] + 1));
    }
}

#[test]
fn filters_to_bands_that_cross() {
    // Each of two bands takes packets before the other one does.
    let script = format!(
        "{ROOT}\n\
         tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dport 22 0xffff flowid 1:1\n\
         tc filter add dev eth0 parent 1: protocol ip prio 2 u32 match ip dport 80 0xffff flowid 1:3\n\
         tc filter add dev eth0 parent 1: protocol ip prio 3 u32 match ip dport 99 0xffff flowid 1:9\n"
    );
    let import = import_at(MBIT, &script);
    let plan = read(&import);
    for (dscp, port, expected) in
        [(2, 22, "1-1"), (4, 22, "1-1"), (2, 80, "1-3"), (4, 80, "1-3"), (4, 1, "1-1")]
    {
        assert_eq!(takes(&plan, dscp, port), expected, "{dscp} {port}");
    }
    // A band that is not there is the one of priority 0.
    assert_eq!(takes(&plan, 4, 99), "1-2");
    let told = notes(&import, NoteKind::NotMapped);
    assert!(told.iter().any(|note| note.starts_with("4: filter: 1:9 is no class")), "{told:?}");
    let told = notes(&import, NoteKind::Reading);
    assert!(told.iter().any(|note| note.starts_with("1: priomap: with `not`")), "{told:?}");
}

#[test]
fn what_hangs_below_a_band() {
    let script = format!(
        "{ROOT} # by hand\n\
         tc qdisc add dev eth0 parent 1:1 handle 10: tbf rate 1mbit burst 5k latency 50ms\n\
         tc qdisc add dev eth0 parent 1:2 handle 20: bfifo limit 64kb\n\
         tc qdisc add dev eth0 parent 1:4 handle 40: sfq\n\
         tc qdisc add dev eth0 parent 10:1 handle 11: sfq\n"
    );
    let import = import_at(MBIT, &script);
    let plan = read(&import);
    let kernels = QueueSpec::limited(QueueLimit::Packets(1000));
    assert_eq!(class(&plan, "1-1").queue.as_deref(), Some(&kernels));
    let bytes = QueueSpec::limited(QueueLimit::Bytes(Bytes(65_536)));
    assert_eq!(class(&plan, "1-2").queue.as_deref(), Some(&bytes));
    let told = notes(&import, NoteKind::NotMapped);
    assert!(told.iter().any(|note| note.contains("2: 1:1: qdisc tbf has no")), "{told:?}");
    assert!(told.iter().any(|note| note.contains("4: qdisc sfq at 1:4, which is no")), "{told:?}");
    assert!(told.iter().any(|note| note.starts_with("5: 1 qdisc of 10:, which")), "{told:?}");
}

#[test]
fn bands_that_are_changed() {
    let script = format!(
        "{ROOT} bands 5\n\
         tc qdisc add dev eth0 parent 1:2 handle 20: pfifo limit 7\n\
         tc qdisc change dev eth0 root handle 1: prio bands 3 priomap 0\n"
    );
    let plan = plan(&script);
    assert_eq!(plan.classes.len(), 3);
    assert!(class(&plan, "1-2").queue.is_some());
    assert_eq!(takes(&plan, 0, 80), "1-1");
    let script = script.replace("bands 5", "bands 3").replace("bands 3 priomap 0", "bands 4");
    assert_eq!(self::plan(&script).classes.len(), 4);
}

/// The same as the script, in the forms of iproute2 (tc/q_prio.c, prio_print_opt).
const SHOWN: [&str; 2] = [
    "\
qdisc prio 1: root refcnt 2 bands 4 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1
qdisc pfifo 40: parent 1:4 limit 30p
class prio 1:1 parent 1: 
class prio 1:2 parent 1: 
class prio 1:3 parent 1: 
class prio 1:4 parent 1: leaf 40: 
filter parent 1: protocol ip pref 1 u32 chain 0 
filter parent 1: protocol ip pref 1 u32 chain 0 fh 800: ht divisor 1 
filter parent 1: protocol ip pref 1 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 *flowid 1:4 not_in_hw 
  match 00000035/0000ffff at 20
",
    r#"[{"kind":"prio","handle":"1:","root":true,"refcnt":2,"options":{"bands":4,"priomap":[1,2,2,2,1,2,0,0,1,1,1,1,1,1,1,1]}},{"kind":"pfifo","handle":"40:","parent":"1:4","options":{"limit":30}}]
[{"class":"prio","handle":"1:1","parent":"1:"},{"class":"prio","handle":"1:4","parent":"1:","leaf":"40:"}]
[{"parent":"1:","protocol":"ip","pref":1,"kind":"u32","chain":0},{"parent":"1:","protocol":"ip","pref":1,"kind":"u32","chain":0,"options":{"fh":"800:","ht_divisor":1}},{"parent":"1:","protocol":"ip","pref":1,"kind":"u32","chain":0,"options":{"fh":"800::800","order":2048,"key_ht":"800","bkt":"0","flowid":"1:4","not_in_hw":true,"match":{"value":"35","mask":"ffff","offmask":"","off":20}}}]
"#,
];

#[test]
fn what_is_shown_is_the_script() {
    let script = format!(
        "{ROOT} bands 4\n\
         tc qdisc add dev eth0 parent 1:4 handle 40: pfifo limit 30\n\
         tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dport 53 0xffff flowid 1:4\n"
    );
    let expected = plan(&script);
    assert_eq!(
        class(&expected, "1-4").matching.as_ref().unwrap().to_string(),
        "untagged and ip and dport 53"
    );
    for shown in SHOWN {
        let shown = plan(shown);
        assert_eq!(shown.scheduler, expected.scheduler);
        assert_eq!(classes(&shown), classes(&expected));
        assert_eq!(class(&shown, "1-4").queue, class(&expected, "1-4").queue);
    }
}

#[test]
fn refused() {
    let (line, message, help) = refusal(&format!("\n{ROOT}\n"));
    assert_eq!((line, message.as_str()), (2, "the link's rate is not known: prio has none"));
    assert!(help.contains("--link-rate 10mbit"), "{help}");
    let root = |options: &str| refusal(&format!("{ROOT} {options}\n"));
    assert!(root("bands 1").2.contains("2 to 16"));
    assert!(root("bands 17").1.contains("`17` is not a number of bands"));
    let (_, message, help) = root("bands 2");
    assert_eq!(message, "the priomap sends priority 1 to band 2, and the last one is 1");
    assert!(help.contains("16 bands"), "{help}");
    assert!(root("priomap 0 0 x").1.contains("`x` is not a band"));
    let (_, message, help) = root(&format!("priomap{}", " 0".repeat(17)));
    assert_eq!(message, "`0` does not belong to priomap");
    assert!(help.contains("16 bands"), "{help}");
    assert!(root("band 3").1.contains("`band` does not belong to qdisc prio"));
    let class = "tc class add dev eth0 parent 1: classid 1:5 htb rate 1mbit";
    let (line, message, _) = refusal(&format!("{ROOT}\n{class}\n"));
    assert_eq!((line, message.as_str()), (2, "prio has classes of its own making only"));
}

#[test]
fn hfsc_on_another_interface_is_meant() {
    let script = format!("{}\n{HEAD}", ROOT.replace("eth0", "ifb0"));
    let import = crate::import(&script, "script.sh", &Options::default()).unwrap();
    assert_eq!(read(&import).scheduler, SchedulerSpec::Hfsc);
    assert_eq!(notes(&import, NoteKind::NotRead), ["0: the set-up of ifb0, another interface"]);
    let options =
        Options { link_rate: Some(Rate(MBIT)), device: Some("ifb0".into()), ..Options::default() };
    let import = crate::import(&script, "script.sh", &options).unwrap();
    assert_eq!(read(&import).scheduler, SchedulerSpec::Priority);
    let (_, message, _) = refusal(&format!("{ROOT}\n{}\n", ROOT.replace("eth0", "ifb0")));
    assert_eq!(message, "the script sets up eth0 and ifb0");
}

#[test]
fn what_an_interface_had_before_and_gets_back() {
    let fq_codel = "tc qdisc replace dev eth0 root fq_codel\n";
    let script = format!("{fq_codel}tc qdisc del dev eth0 root\n{ROOT}\n{HEAD}{ROOT}\n{fq_codel}");
    let import = crate::import(&script, "script.sh", &Options::default()).unwrap();
    assert_eq!(read(&import), read(&super::import(HEAD)));
    let told = notes(&import, NoteKind::NotRead);
    assert_eq!(
        told[1..],
        ["8: prio instead of hfsc, which is kept", "9: fq_codel instead of hfsc, which is kept",]
    );
}

#[test]
fn without_a_handle() {
    let plan = plan("tc qdisc add dev eth0 root prio bands 3\n");
    assert_eq!(plan.class("8001-1").map(ClassId::index), Some(0));
}
