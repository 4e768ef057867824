//! What filters take, and in which order.

use proptest::prelude::*;

use super::{HEAD, Import, NoteKind, class, import, notes, plan, read};

/// The match of class 1:10 under one filter, given its kind and words.
pub(super) fn matched(protocol: &str, filter: &str) -> String {
    let import = one_filter(protocol, filter);
    let plan = read(&import);
    let matching = class(&plan, "voice").matching.as_ref();
    let text = matching.unwrap_or_else(|| panic!("{filter}: {:?}", import.notes)).to_string();
    // A tag is of another protocol than what it hides.
    match protocol {
        "ip" | "ipv6" => text.strip_prefix("untagged and ").unwrap().to_string(),
        _ => text,
    }
}

pub(super) fn one_filter(protocol: &str, filter: &str) -> Import {
    import(&format!("{HEAD}tc filter add dev eth0 parent 1: protocol {protocol} prio 1 {filter}\n"))
}

/// Why a filter has no match.
pub(super) fn unmapped(protocol: &str, filter: &str) -> String {
    let import = one_filter(protocol, filter);
    assert_eq!(class(&read(&import), "voice").matching, None, "{filter}");
    notes(&import, NoteKind::NotMapped)[1].clone()
}

#[test]
fn u32_by_name() {
    let u32 = |matches: &str| matched("ip", &format!("u32 {matches} flowid 1:10"));
    assert_eq!(u32("match ip dport 5060 0xffff"), "ip and dport 5060");
    assert_eq!(
        u32("match ip protocol 17 0xff match ip sport 0x1388 ffff"),
        "ip and udp sport 5000"
    );
    assert_eq!(u32("match ip dport 16384 0xc000"), "ip and dport 16384-32767");
    assert_eq!(
        u32("match ip src 10.1.2.3/16 match ip dst 192.0.2.1"),
        "ip saddr 10.1.0.0/16 and ip daddr 192.0.2.1"
    );
    assert_eq!(u32("match ip src 10.0.0.0/255.0.0.0"), "ip saddr 10.0.0.0/8");
    assert_eq!(u32("match ip dst 10.7/16"), "ip daddr 10.7.0.0/16");
    assert_eq!(u32("match ip dst any"), "ip");
    assert_eq!(u32("match ip tos 0x68 0xfc"), "ip and dscp 26".replace("26", "af31"));
    assert_eq!(u32("match ip dsfield 0xa0 0xe0"), "ip and dscp 40-47");
    assert_eq!(u32("match u32 0 0"), "ip");
    assert_eq!(u32("match ip dsfield 0x01 0x01"), "ip and ecn {ect1, ce}");
    assert_eq!(u32("match ip tos 0x02 0xff"), "ip and dscp be and ecn ect0");
}

#[test]
fn u32_by_place() {
    let u32 = |matches: &str| matched("ip", &format!("u32 {matches} classid 1:10"));
    assert_eq!(u32("match u8 17 0xff at 9"), "ip and udp");
    assert_eq!(u32("match u16 53 0xffff at 22"), "ip and dport 53");
    assert_eq!(u32("match u32 0x00350000 0xffff0000 at 20"), "ip and sport 53");
    assert_eq!(u32("match u32 0x0a000000 0xff000000 at 12"), "ip saddr 10.0.0.0/8");
    assert_eq!(u32("match u32 0x00110000 0x00ff0000 at 8"), "ip and udp");
    let u32 = |matches: &str| matched("ipv6", &format!("u32 {matches} classid 1:10"));
    assert_eq!(u32("match ip6 dport 53 0xffff"), "ip6 and dport 53");
    assert_eq!(
        u32("match ip6 src fd00::/8 match ip6 protocol 6 0xff"),
        "ip6 saddr fd00::/8 and tcp"
    );
    assert_eq!(u32("match ip6 priority 0xb8 0xfc"), "ip6 and dscp ef");
    assert_eq!(u32("match ip6 priority 0x3 0x3"), "ip6 and ecn ce");
    for prefix in [8, 32, 48, 61, 64, 128] {
        let network = format!("match ip6 src 2001:db8:1:f8::/{prefix}");
        assert!(u32(&network).starts_with("ip6 saddr 20"), "{network}");
    }
    let words = "match u32 0x20010db8 0xffffffff at 8 match u32 0x00010000 0xffff0000 at 12";
    assert_eq!(u32(words), "ip6 saddr 2001:db8:1::/48");
    assert_eq!(u32("match u32 0x0b800000 0x0fc00000 at 0"), "ip6 and dscp ef");
}

#[test]
fn what_of_u32_has_no_counterpart() {
    let u32 = |matches: &str| unmapped("ip", &format!("u32 {matches} flowid 1:10"));
    assert!(u32("match tcp dst 80 0xffff").contains("`match ip dport`"));
    assert!(u32("match u16 80 0xffff at nexthdr+2").contains("by way of a link"));
    assert!(u32("match u8 5 0xf at 0").contains("without ports"));
    assert!(u32("match u16 0 0x1fff at 6").contains("fragments"));
    assert!(u32("match u16 0 0xffc0 at 2").contains("byte 2 of the IP header"));
    assert!(u32("match ip dport 1 0x0001").contains("mask 0x1 is no range"));
    assert!(u32("match ip df").contains("`df`"));
    assert!(u32("match mark 5 0xff").contains("mark 0x5/0xff"));
    assert!(u32("match ip6 dport 53 0xffff").contains("of protocol ip, but"));
    assert!(u32("match u32 0xff00ff 0xff00ff at 12").contains("mask with gaps"));
    assert!(u32("link 7:").contains("no table 7:"));
    assert!(unmapped("all", "u32 match u8 17 0xff at 9 flowid 1:10").contains("`protocol ip`"));
    assert!(unmapped("arp", "u32 match u32 0 0 flowid 1:10").contains("protocol arp"));
    assert!(unmapped("ip", "u32 match ip dport 53 0xffff").contains("names no class"));
}

#[test]
fn flower_by_name() {
    let flower = |fields: &str| matched("ip", &format!("flower {fields} classid 1:10"));
    assert_eq!(flower("ip_proto udp dst_port 5060"), "ip and udp dport 5060");
    assert_eq!(flower("ip_proto tcp src_port 8000-8010"), "ip and tcp sport 8000-8010");
    assert_eq!(flower("ip_proto udp dst_port 0x4000/0xc000"), "ip and udp dport 16384-32767");
    assert_eq!(flower("ip_proto 2f"), "ip and gre");
    assert_eq!(
        flower("src_ip 10.0.0.0/8 dst_ip 192.0.2.1"),
        "ip saddr 10.0.0.0/8 and ip daddr 192.0.2.1"
    );
    assert_eq!(flower("ip_tos 0xb8/0xfc"), "ip and dscp ef");
    assert_eq!(flower("skip_hw ip_tos b8/fc"), "ip and dscp ef");
    let tagged = "flower vlan_id 7 vlan_ethtype ipv4 ip_proto udp dst_port 53 classid 1:10";
    assert_eq!(matched("802.1q", tagged), "vlan 7 and ip and udp dport 53");
    assert_eq!(matched("ipv6", "flower ip_proto icmpv6 classid 1:10"), "ip6 and icmp6");
    assert_eq!(matched("all", "matchall classid 1:10"), "any");
    assert_eq!(matched("802.1q", "matchall classid 1:10"), "tagged");
}

#[test]
fn what_other_filters_have_no_counterpart() {
    assert!(unmapped("ip", "flower ip_ttl 5 classid 1:10").contains("`ip_ttl`"));
    assert!(unmapped("ip", "handle 6 fw classid 1:10").contains("netfilter's mark 6"));
    assert!(unmapped("ip", "bpf bytecode-file filter.o classid 1:10").contains("kind bpf"));
    assert!(unmapped("ip", "chain 3 matchall classid 1:10").contains("chains"));
    let told = one_filter("ip", "u32 match ip tos 0x10 0xff classid 1:10 action pass");
    assert_eq!(notes(&told, NoteKind::NotMapped), ["5: filter: its `action` has no counterpart"]);
    // What stands behind an action is read.
    let police = "u32 match ip dport 53 0xffff police rate 1mbit burst 10k drop flowid 1:10";
    assert_eq!(matched("ip", police), "ip and dport 53");
}

#[test]
fn what_a_filter_drops_is_in_no_class() {
    let (matches, import) = under(&[
        ("prio 1", "flower ip_proto udp dst_port 4000 classid 1:10"),
        ("prio 2", "flower ip_proto udp action drop"),
        ("prio 3", "u32 match ip tos 0xb8 0xfc flowid 1:10 action mirred egress redirect dev ifb0"),
        ("prio 4", "u32 match ip src 10.0.0.0/8 flowid 1:10"),
    ]);
    let from_ten = "ip saddr 10.0.0.0/8 and not (ip and udp or ip and dscp ef)";
    assert_eq!(matches[0], format!("voice: untagged and (ip and udp dport 4000 or {from_ten})"));
    let gone = "ip and udp or ip and dscp ef";
    assert!(matches.contains(&format!("rest: not (untagged and ({gone}))")), "{matches:?}");
    let told = notes(&import, NoteKind::Reading).join("\n");
    assert_eq!(told.matches("do not leave by this interface").count(), 2, "{told}");
}

/// The matches of voice and rest under some filters, each a priority and what follows it.
fn under(filters: &[(&str, &str)]) -> (Vec<String>, Import) {
    let classes = "tc class add dev eth0 parent 1:1 classid 1:30 hfsc ls m2 1mbit # web\n";
    let line = |(place, filter): &(&str, &str)| {
        format!("tc filter add dev eth0 parent 1: protocol ip {place} {filter}\n")
    };
    let script = format!("{HEAD}{classes}{}", filters.iter().map(line).collect::<String>());
    let import = import(&script);
    let plan = read(&import);
    let told = plan.classes.iter().map(|class| {
        let matching = class.matching.as_ref().map_or("-".into(), ToString::to_string);
        format!("{}: {matching}", class.name)
    });
    (told.collect(), import)
}

#[test]
fn filters_of_a_class_are_joined() {
    let (classes, _) = under(&[
        ("prio 1", "u32 match ip dport 80 0xffff flowid 1:30"),
        ("prio 1", "u32 match ip dport 443 0xffff flowid 1:30"),
        ("prio 1", "u32 match ip src 10.0.0.1 flowid 1:30"),
        ("prio 2", "u32 match ip dport 4000 0xffff flowid 1:10"),
    ]);
    assert_eq!(
        classes,
        [
            "web: untagged and (ip and dport {80, 443} or ip saddr 10.0.0.1)",
            "voice: untagged and ip and dport 4000",
            "rest: any"
        ]
    );
}

#[test]
fn the_class_of_the_first_filter_comes_first() {
    let voice = "u32 match ip dport 4000 0xffff flowid 1:10";
    let web = "u32 match ip src 10.0.0.0/8 flowid 1:30";
    let first = |filters: &[(&str, &str)]| under(filters).0[0].clone();
    assert_eq!(
        first(&[("prio 1", voice), ("prio 2", web)]),
        "voice: untagged and ip and dport 4000"
    );
    assert_eq!(
        first(&[("prio 2", voice), ("prio 1", web)]),
        "web: untagged and ip saddr 10.0.0.0/8"
    );
    // Without a priority, the one that is added last is asked first.
    assert_eq!(first(&[("", voice), ("", web)]), "web: untagged and ip saddr 10.0.0.0/8");
    assert_eq!(first(&[("", voice), ("prio 7", web)]), "web: untagged and ip saddr 10.0.0.0/8");
}

#[test]
fn where_no_order_is_right_a_match_says_not() {
    let (classes, import) = under(&[
        ("prio 1", "u32 match ip dport 4000 0xffff flowid 1:10"),
        ("prio 2", "u32 match ip src 10.0.0.0/8 flowid 1:30"),
        ("prio 3", "u32 match ip tos 0xb8 0xfc flowid 1:10"),
    ]);
    assert_eq!(
        classes,
        [
            "voice: untagged and (ip and dport 4000 or ip and dscp ef and not ip saddr 10.0.0.0/8)",
            "web: untagged and ip saddr 10.0.0.0/8",
            "rest: any"
        ]
    );
    let told = notes(&import, NoteKind::Reading);
    assert!(
        told.contains(
            &"8: filter: with `not`, since line 7 takes some of its packets first".into()
        )
    );
}

#[test]
fn filters_for_the_default_class_keep_packets_from_others() {
    let (classes, _) = under(&[
        ("prio 1", "u32 match ip src 10.0.0.0/8 flowid 1:20"),
        ("prio 2", "u32 match ip dport 4000 0xffff flowid 1:10"),
    ]);
    assert_eq!(classes[0], "voice: untagged and ip and dport 4000 and not ip saddr 10.0.0.0/8");
}

#[test]
fn a_filter_that_is_never_reached() {
    let (classes, import) = under(&[
        ("prio 1", "matchall classid 1:30"),
        ("prio 2", "u32 match ip dport 4000 0xffff flowid 1:10"),
    ]);
    assert_eq!(classes, ["voice: -", "web: untagged and ip", "rest: any"]);
    let told = notes(&import, NoteKind::Reading);
    assert!(
        told.contains(&"7: filter: never reached, since line 6 takes its packets first".into())
    );
}

#[test]
fn one_priority_is_of_one_kind_and_protocol() {
    let line = "tc filter add dev eth0 parent 1: protocol ipv6 prio 1 matchall classid 1:10\n";
    let first = "tc filter add dev eth0 parent 1: protocol ip prio 1 matchall classid 1:10\n";
    let import = import(&format!("{HEAD}{first}{line}"));
    assert_eq!(
        notes(&import, NoteKind::NotMapped),
        ["6: filter for 1:10: Linux refuses it: priority 1 is for matchall of protocol ip already"]
    );
}

#[test]
fn flower_asks_filters_that_look_at_the_same_bits_together() {
    let (classes, _) = under(&[
        ("prio 1", "flower ip_proto udp dst_port 1 classid 1:10"),
        ("prio 1", "flower src_ip 10.0.0.0/8 classid 1:30"),
        ("prio 1", "flower ip_proto udp dst_port 2 classid 1:10"),
    ]);
    assert_eq!(
        classes,
        [
            "voice: untagged and ip and udp dport 1-2",
            "web: untagged and ip saddr 10.0.0.0/8",
            "rest: any"
        ]
    );
}

#[test]
fn filters_below_a_class_see_what_is_sent_there() {
    let script = format!(
        "{HEAD}tc class add dev eth0 parent 1:1 classid 1:2 hfsc ls m2 2mbit # guests\n\
         tc class add dev eth0 parent 1:2 classid 1:21 hfsc ls m2 1mbit\n\
         tc class add dev eth0 parent 1:2 classid 1:22 hfsc ls m2 1mbit\n\
         tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip src 10.8.0.0/16 flowid 1:2\n\
         tc filter add dev eth0 parent 1: protocol ip prio 2 u32 match ip dport 54 0xffff flowid 1:10\n\
         tc filter add dev eth0 parent 1:2 protocol ip prio 1 u32 match ip dport 53 0xffff flowid 1:21\n\
         tc filter add dev eth0 parent 1:22 protocol ip prio 1 matchall classid 1:21\n"
    );
    let import = import(&script);
    let plan = read(&import);
    let matching = |name: &str| class(&plan, name).matching.as_ref().map(ToString::to_string);
    assert_eq!(matching("1-21").as_deref(), Some("untagged and ip saddr 10.8.0.0/16 and dport 53"));
    assert_eq!(matching("1-22"), None);
    // What goes to the guests and to none of their classes is the default's, and not asked again.
    assert_eq!(
        matching("voice").as_deref(),
        Some("untagged and ip and dport 54 and not ip saddr 10.8.0.0/16")
    );
    assert_eq!(
        notes(&import, NoteKind::NotMapped),
        [
            "7: 1:22 has no filter that is mapped: write its `match`",
            "11: filter: no other filter sends packets to 22, where it hangs"
        ]
    );
}

#[test]
fn a_filter_for_no_class_leaves_its_packets_unfiltered() {
    let script = format!(
        "{HEAD}tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dport 53 0xffff flowid 1:99\n\
         tc filter add dev eth0 parent 1: protocol ip prio 2 u32 match ip protocol 17 0xff flowid 1:10\n"
    );
    let plan = plan(&script);
    let matching = class(&plan, "voice").matching.as_ref().unwrap().to_string();
    assert_eq!(matching, "untagged and ip and udp and not (ip and dport 53)");
}

#[test]
fn ports_are_those_of_first_fragments() {
    let u32 = |matches: &str| matched("ip", &format!("u32 {matches} flowid 1:10"));
    assert_eq!(
        u32(
            "match u8 0x45 0xff at 0 match u16 0 0x1fff at 6 match ip protocol 17 0xff match ip dport 53 0xffff"
        ),
        "ip and udp dport 53"
    );
    assert_eq!(
        u32("match ip ihl 5 0xf match ip firstfrag match ip sport 53 0xffff"),
        "ip and sport 53"
    );
}

#[test]
fn tags_are_of_another_protocol() {
    let udp = "flower vlan_prio 5 vlan_ethtype ipv4 ip_proto udp classid 1:10";
    assert_eq!(matched("802.1q", udp), "pcp 5 and ip and udp");
    let both = "flower vlan_id 7 vlan_prio 5 classid 1:10";
    assert_eq!(matched("802.1q", both), "vlan 7 and pcp 5");
}

const TABLES: &str = "\
tc filter add dev eth0 parent 1: prio 5 protocol ip u32
tc filter add dev eth0 parent 1: prio 5 handle 2: protocol ip u32 divisor 256
tc filter add dev eth0 parent 1: prio 5 protocol ip u32 ht 2:7b: match ip src 10.0.0.123 flowid 1:10
tc filter add dev eth0 parent 1: prio 5 protocol ip u32 ht 2:7c: match u32 0 0 flowid 1:10
tc filter add dev eth0 parent 1: prio 5 protocol ip u32 ht 2:7d: match ip src 10.0.0.126 flowid 1:10
tc filter add dev eth0 parent 1: prio 5 protocol ip u32 ht 800:: match ip src 10.0.0.0/24 hashkey mask 0x000000ff at 12 link 2:
";

#[test]
fn tables_are_followed() {
    let import = import(&format!("{HEAD}{TABLES}"));
    let voice = class(&read(&import), "voice").matching.as_ref().unwrap().to_string();
    assert_eq!(voice, "untagged and (ip saddr 10.0.0.123 or ip saddr 10.0.0.124)");
    let shown = "\
qdisc hfsc 1: root refcnt 2 default 20
class hfsc 1:1 parent 1: sc m1 0bit d 0us m2 10Mbit ul m1 0bit d 0us m2 10Mbit
class hfsc 1:10 parent 1:1 sc m1 0bit d 0us m2 1Mbit
class hfsc 1:20 parent 1:1 ls m1 0bit d 0us m2 9Mbit
filter parent 1: protocol ip pref 5 u32 chain 0
filter parent 1: protocol ip pref 5 u32 chain 0 fh 2: ht divisor 256
filter parent 1: protocol ip pref 5 u32 chain 0 fh 2:7b:800 order 2048 key ht 2 bkt 7b flowid 1:10 not_in_hw
  match 0a00007b/ffffffff at 12
filter parent 1: protocol ip pref 5 u32 chain 0 fh 2:7c:800 order 2048 key ht 2 bkt 7c flowid 1:10 not_in_hw
  match 00000000/00000000 at 0
filter parent 1: protocol ip pref 5 u32 chain 0 fh 800: ht divisor 1
filter parent 1: protocol ip pref 5 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 link 2: not_in_hw
  match 0a000000/ffffff00 at 12
    hash mask 000000ff at 12
";
    let json = r#"[{"kind":"hfsc","handle":"1:","root":true,"options":{"default":"0x20"}}]
[{"class":"hfsc","handle":"1:1","parent":"1:","sc":{"m1":0,"d":0,"m2":1250000},"ul":{"m1":0,"d":0,"m2":1250000}},{"class":"hfsc","handle":"1:10","parent":"1:1","sc":{"m1":0,"d":0,"m2":125000}},{"class":"hfsc","handle":"1:20","parent":"1:1","ls":{"m1":0,"d":0,"m2":1125000}}]
[{"parent":"1:","protocol":"ip","pref":5,"kind":"u32","chain":0},{"parent":"1:","protocol":"ip","pref":5,"kind":"u32","chain":0,"options":{"fh":"2:","ht_divisor":256}},{"parent":"1:","protocol":"ip","pref":5,"kind":"u32","chain":0,"options":{"fh":"2:7b:800","order":2048,"key_ht":"2","bkt":"7b","flowid":"1:10","not_in_hw":true,"match":{"value":"a00007b","mask":"ffffffff","offmask":"","off":12}}},{"parent":"1:","protocol":"ip","pref":5,"kind":"u32","chain":0,"options":{"fh":"2:7c:800","order":2048,"key_ht":"2","bkt":"7c","flowid":"1:10","not_in_hw":true,"match":{"value":"0","mask":"0","offmask":"","off":0}}},{"parent":"1:","protocol":"ip","pref":5,"kind":"u32","chain":0,"options":{"fh":"800:","ht_divisor":1}},{"parent":"1:","protocol":"ip","pref":5,"kind":"u32","chain":0,"options":{"fh":"800::800","order":2048,"key_ht":"800","bkt":"0","link":"2:","not_in_hw":true,"match":{"value":"a000000","mask":"ffffff00","offmask":"","off":12},"hash_mask":"ff","hash_off":12}}]
"#;
    for shown in [shown, json] {
        let shown = plan(shown);
        assert_eq!(class(&shown, "1-10").matching.as_ref().unwrap().to_string(), voice);
    }
}

#[test]
fn a_link_finds_the_header_after_ip() {
    let script = format!(
        "{HEAD}tc filter add dev eth0 parent 1: prio 1 handle 1: protocol ip u32 divisor 1\n\
         tc filter add dev eth0 parent 1: prio 1 protocol ip u32 ht 1: match tcp dst 443 0xffff flowid 1:10\n\
         tc filter add dev eth0 parent 1: prio 1 protocol ip u32 match ip protocol 6 0xff link 1: \
         offset at 0 mask 0f00 shift 6 plus 0\n"
    );
    let voice = class(&plan(&script), "voice").matching.as_ref().unwrap().to_string();
    assert_eq!(voice, "untagged and ip and tcp dport 443");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// A packet goes to the class of the first filter of u32 whose words its bytes have, however
    /// they are cut. Filters in a part of a table come where that part is linked to, as in Linux.
    #[test]
    fn packets_go_where_their_bytes_say(
        filters in prop::collection::vec((words(), prop::option::of(0u32..4)), 1..6),
        linked in 0usize..6,
        packets in prop::collection::vec(packet(), 30),
    ) {
        let filter = "tc filter add dev eth0 parent 1: protocol ip prio 1";
        let mut script = HEAD.to_string();
        for at in 0..filters.len() {
            script += &format!("tc class add dev eth0 parent 1:1 classid 1:{:x} hfsc ls m2 1kbit\n", at + 48);
        }
        script += &format!("{filter} handle 2: u32 divisor 4\n");
        // The line of each, and which are asked in which part of the table.
        let (mut lines, mut order): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        let in_table: Vec<usize> = (0..filters.len()).filter(|at| filters[*at].1.is_some()).collect();
        for (at, (keys, part)) in filters.iter().enumerate() {
            if at == linked.min(filters.len() - 1) {
                script += &format!("{filter} u32 match u32 0 0 hashkey mask 0x3 at 16 link 2:\n");
                order.extend(&in_table);
            }
            let keys: String = keys
                .iter()
                .map(|(value, mask, place)| format!(" match u32 0x{value:x} 0x{mask:x} at {place}"))
                .collect();
            let table = part.map_or(String::new(), |part| format!(" ht 2:{part:x}:"));
            script += &format!("{filter} u32{table}{keys} flowid 1:{:x}\n", at + 48);
            lines.push(script.lines().count());
            order.extend(part.is_none().then_some(at));
        }
        let import = import(&script);
        let plan = read(&import);
        // What is noted as not mapped takes nothing.
        let lost = |at: usize| {
            import.notes.iter().any(|note| note.line == lines[at] && note.kind == NoteKind::NotMapped)
        };
        for bytes in packets {
            let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
            let first = order.iter().find(|at| {
                let (keys, part) = &filters[**at];
                !lost(**at)
                    && part.is_none_or(|part| word(16) & 3 == part)
                    && keys.iter().all(|(value, mask, at)| word(*at) & mask == *value)
            });
            let expected = first.map_or("rest".into(), |at| format!("1-{:x}", at + 48));
            let headers = laxity_plan::matching::Headers::from_ip(&bytes);
            let class = laxity_plan::classify::Classifier::new(&plan).class(&headers);
            let name = class.map(|class| plan.classes[class.index()].name.clone());
            prop_assert_eq!(name, Some(expected), "{}\n{}", script, import.plan);
        }
    }
}

type Key = (u32, u32, usize);

/// Words that ask for protocol, DSCP and ECN, addresses or ports, the last with the first fragment.
fn words() -> impl Strategy<Value = Vec<Key>> {
    let protocol = prop::sample::select(vec![6u32, 17]).prop_map(|one| (one << 16, 0xff << 16, 8));
    let service = (0u32..256, prop::sample::select(vec![3u32, 0xfc, 0xff, 0xe1, 2]))
        .prop_map(|(value, mask)| ((value & mask) << 16, mask << 16, 0));
    let address = (0u32..4, 29u32..=32, prop::sample::select(vec![12usize, 16])).prop_map(
        |(last, prefix, at)| {
            let mask = u32::MAX << (32 - prefix);
            ((0x0a00_0000 | last) & mask, mask, at)
        },
    );
    let port = (0u32..4, prop::sample::select(vec![0xffffu32, 0xfffe]), any::<bool>());
    let port = port.prop_map(|(port, mask, source)| {
        let shift = if source { 16 } else { 0 };
        ((port & mask) << shift, mask << shift, 20)
    });
    let plain = prop::collection::vec(prop_oneof![protocol, service, address], 1..4);
    (plain, prop::option::of(port)).prop_map(|(mut keys, port)| {
        if let Some(port) = port {
            keys.extend([(5 << 24, 0xf << 24, 0), (0, 0x1fff, 4), (6 << 16, 0xff << 16, 8), port]);
        }
        keys
    })
}

/// IPv4 of few values, as a later fragment now and then.
fn packet() -> impl Strategy<Value = Vec<u8>> {
    let ends = (0u8..4, 0u8..4, 0u8..4, 0u8..4);
    let rest = (any::<u8>(), prop::sample::select(vec![6u8, 17]), 0u8..8);
    (ends, rest).prop_map(|((from, to, source, destination), (tos, protocol, fragment))| {
        let mut bytes = vec![0; 60];
        (bytes[0], bytes[1], bytes[3], bytes[9]) = (0x45, tos, 60, protocol);
        bytes[7] = u8::from(fragment == 0);
        bytes[12..20].copy_from_slice(&[10, 0, 0, from, 10, 0, 0, to]);
        (bytes[21], bytes[23]) = (source, destination);
        bytes
    })
}
