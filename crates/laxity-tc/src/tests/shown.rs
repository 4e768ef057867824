//! A set-up gives the same plan as a script, as what `tc … show` prints of it and as JSON. The
//! recordings in `shown/` are what iproute2 6.1 printed after these scripts on Linux 6.1.

use laxity::overhead::{Framing, Overhead};
use laxity::service::ServiceCurve;
use laxity_plan::Plan;
use laxity_plan::model::Class;

use super::{NoteKind, class, import_at, notes, read};
use crate::Options;

const HFSC: [&str; 4] = [
    include_str!("shown/hfsc.sh"),
    include_str!("shown/hfsc.txt"),
    include_str!("shown/hfsc.details.txt"),
    include_str!("shown/hfsc.json"),
];
const HTB: [&str; 4] = [
    include_str!("shown/htb.sh"),
    include_str!("shown/htb.txt"),
    include_str!("shown/htb.details.txt"),
    include_str!("shown/htb.json"),
];

/// Printed by iproute2 6.1 after `tc qdisc add dev v0 root handle 1: stab overhead -6 linklayer atm
/// mpu 20 htb default 0x30`, without the classes.
const STAB: [&str; 2] = [
    "qdisc htb 1: root refcnt 3 r2q 10 default 0x30 direct_packets_stat 0 ver 3.17 direct_qlen 1000\n \
     linklayer atm overhead -6 mpu 20 mtu 2047 tsize 512 \n",
    r#"[{"kind":"htb","handle":"1:","root":true,"refcnt":3,"options":{"r2q":10,"default":"0x30","direct_packets_stat":0,"ver":"3.17","direct_qlen":1000},"stab":{"linklayer":"atm","overhead":-6,"mpu":20,"mtu":2047,"tsize":512}}]"#,
];

fn plan(text: &str) -> Plan {
    let import = crate::import(text, "shown", &Options::default())
        .unwrap_or_else(|error| panic!("{error:?}"));
    read(&import)
}

/// What counts of a plan: each class by its name, with its curves, match and limit.
fn classes(plan: &Plan) -> Vec<(String, Vec<Option<ServiceCurve>>, String)> {
    let mut classes: Vec<_> = plan
        .classes
        .iter()
        .map(|class| {
            let curves = class.curves;
            let curves = vec![curves.real_time, curves.link_share, curves.upper_limit];
            (class.name.clone(), curves, format!("{:?}", class.matching))
        })
        .collect();
    classes.sort_by(|a, b| a.0.cmp(&b.0));
    classes
}

#[test]
fn what_the_link_adds_is_shown_in_two_forms() {
    let expected = Overhead { bytes: -6, at_least: 20, framing: Framing::Atm };
    let class = "class htb 1:30 root prio 0 rate 1Mbit ceil 1Mbit burst 1600b cburst 1600b\n";
    for form in STAB {
        assert_eq!(plan(&format!("{form}\n{class}")).link.overhead, expected, "{form}");
    }
}

#[test]
fn all_forms_of_a_set_up_are_one_plan() {
    for forms in [HFSC, HTB] {
        let script = plan(forms[0]);
        assert_eq!(script.classes.len(), 5);
        for shown in &forms[1..] {
            let shown = plan(shown);
            assert_eq!(shown.link, script.link);
            assert_eq!(classes(&shown), classes(&script));
            let order = |plan: &Plan| -> Vec<String> {
                plan.classes.iter().map(|class| class.name.clone()).collect()
            };
            assert_eq!(order(&shown), order(&script));
        }
    }
}

#[test]
fn queues_are_shown_as_they_were_set_up() {
    for forms in [HFSC, HTB] {
        let script = plan(forms[0]);
        // Without -d the weight and probability of red are not shown.
        for shown in &forms[1..] {
            for class in &plan(shown).classes {
                let expected = super::class(&script, &class.name);
                let kind = |class: &Class| class.queue.as_deref().map(std::mem::discriminant);
                assert_eq!(kind(class), kind(expected), "{}", class.name);
            }
        }
    }
    let red = |text| class(&plan(text), "1-22").queue.clone();
    assert_eq!(red(HFSC[2]), red(HFSC[0]));
}

#[test]
fn a_part_of_a_terminal() {
    let pasted =
        format!("root@gw:~# tc -s -d class show dev eth7\n    {}", HTB[2].replace('\n', "\n    "));
    assert_eq!(classes(&plan(&pasted)), classes(&plan(HTB[0])));
    let other = format!("qdisc noqueue 0: dev lo root refcnt 2 \n{}", HTB[1]);
    assert_eq!(classes(&plan(&other)), classes(&plan(HTB[0])));
    let import = crate::import(HTB[1], "shown", &Options::default()).unwrap();
    let told = notes(&import, NoteKind::NotMapped);
    assert!(told.iter().any(|note| note.contains("netfilter's mark 0x1/0xff")), "{told:?}");
}

#[test]
fn what_shown_filters_ask_for_is_not_lost() {
    let shown = "\
qdisc drr 1: root refcnt 2
class drr 1:1 root quantum 1514b
class drr 1:2 root quantum 1514b
filter parent 1: protocol ip pref 1 basic chain 0
filter parent 1: protocol ip pref 1 basic chain 0 handle 0x1 flowid 1:1
  cmp(u8 at 9 layer 1 eq 17)
  AND cmp(u16 at 2 layer 2 eq 53)

filter parent 1: protocol ip pref 2 basic chain 0
filter parent 1: protocol ip pref 2 basic chain 0 handle 0x1 flowid 1:1
  NOT cmp(u8 at 9 layer 1 eq 17)

filter parent 1: protocol ip pref 3 u32 chain 0
filter parent 1: protocol ip pref 3 u32 chain 0 fh 800: ht divisor 1
filter parent 1: protocol ip pref 3 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 *flowid 1:1 not_in_hw
  mark 0x0006 0x00ff (success 0)
  match 00000035/0000ffff at 20
filter parent 1: protocol ip pref 4 flower chain 0
filter parent 1: protocol ip pref 4 flower chain 0 handle 0x1
  eth_type ipv4
  ip_proto udp
  not_in_hw
\taction order 1: gact action drop
\t random type none pass val 0
\t index 1 ref 1 bind 1

filter parent 1: protocol ip pref 5 matchall chain 0
filter parent 1: protocol ip pref 5 matchall chain 0 handle 0x1 flowid 1:2
";
    let as_json = r#"[
{"kind":"drr","handle":"1:","root":true,"refcnt":2,"options":{}}]
[{"class":"drr","handle":"1:1","root":true,"quantum":1514},{"class":"drr","handle":"1:2","root":true,"quantum":1514}]
[{"parent":"1:","protocol":"ip","pref":1,"kind":"u32","chain":0,"options":{"fh":"800::800","order":2048,"key_ht":"800",
"bkt":"0","flowid":"1:1","not_in_hw":true,"fwmark_value":"0x6","fwmark_mask":"0xff","fwmark_success":0,
"match":{"value":"35","mask":"ffff","offmask":"","off":20}}},
{"parent":"1:","protocol":"ip","pref":2,"kind":"basic","chain":0,"options":{"handle":"1","flowid":"1:1","ematch":[]}},
{"parent":"1:","protocol":"ip","pref":4,"kind":"flower","chain":0,"options":{"handle":1,"keys":{"eth_type":"ipv4",
"ip_proto":"udp"},"not_in_hw":true,"actions":[{"order":1,"kind":"gact","control_action":{"type":"drop"},"index":1}]}},
{"parent":"1:","protocol":"ip","pref":5,"kind":"matchall","chain":0,"options":{"handle":1,"flowid":"1:2"}}]"#;
    for (shown, first) in [(shown, Some("untagged and ip and udp dport 53")), (as_json, None)] {
        let import = import_at(1_000_000, shown);
        let plan = read(&import);
        let matching = |name| class(&plan, name).matching.as_ref().map(ToString::to_string);
        assert_eq!(matching("1-1").as_deref(), first, "{}", import.plan);
        let second = matching("1-2").unwrap_or_default();
        assert!(second.contains("not (ip and udp)") || second.contains("not udp"), "{second}");
        let told = notes(&import, NoteKind::NotMapped).join("\n");
        assert!(told.contains("mark 0x6/0xff"), "{told}");
        assert!(told.contains("NOT") || told.contains("ematch"), "{told}");
    }
}

#[test]
fn filters_of_which_it_is_not_shown_where_they_hang() {
    for (shown, table) in [
        (HTB[1], "filter parent 1: protocol ip pref 1 u32 chain 0 fh 803: ht divisor 1\n"),
        (
            HTB[3],
            "[{\"parent\":\"1:\",\"protocol\":\"ip\",\"pref\":1,\"kind\":\"u32\",\"chain\":0,\
             \"options\":{\"fh\":\"803:\",\"ht_divisor\":1}}]\n",
        ),
    ] {
        let told = |text: &str| {
            let import = crate::import(text, "shown", &Options::default()).unwrap();
            notes(&import, NoteKind::NotMapped).concat().contains("in several tables")
        };
        assert!(!told(shown));
        assert!(told(&format!("{shown}{table}")));
    }
}

#[test]
fn classes_of_later_releases_in_json() {
    // iproute2 since 6.2: rates are in bytes a second, times in microseconds.
    let text = r#"[{"kind":"hfsc","handle":"1:","root":true,"refcnt":2,"options":{"default":"0x20"}}]
[{"class":"hfsc","handle":"1:1","parent":"1:","sc":{"m1":0,"d":0,"m2":1250000},"ul":{"m1":0,"d":0,"m2":1250000},"stats":{}},
{"class":"hfsc","handle":"1:10","parent":"1:1","leaf":"10:","rt":{"m1":250000,"d":5000,"m2":125000},"ls":{"m1":0,"d":0,"m2":125000},"stats":{}},
{"class":"hfsc","handle":"1:20","parent":"1:1","ls":{"m1":0,"d":0,"m2":1125000},"stats":{}}]
[{"parent":"1:","protocol":"ip","pref":1,"kind":"fw","chain":0},{"parent":"1:","protocol":"ip","pref":1,"kind":"fw","chain":0,"options":{"handle":"0x6","classid":"1:10"}}]"#;
    let plan = plan(text);
    assert_eq!(plan.link.rate, laxity::units::Rate(10_000_000));
    let curve = class(&plan, "1-10").curves.real_time.unwrap();
    assert_eq!((curve.m1(), curve.d().0, curve.m2().0), (2_000_000, 5_000_000, 1_000_000));
}
