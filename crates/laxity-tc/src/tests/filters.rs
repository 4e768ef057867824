//! What filters take, and in which order.

use super::{HEAD, Import, NoteKind, class, import, notes, plan, read};

/// The match of class 1:10 under one filter, of which the kind and its words are given.
fn matched(protocol: &str, filter: &str) -> String {
    let import = one_filter(protocol, filter);
    let plan = read(&import);
    let matching = class(&plan, "voice").matching.as_ref();
    matching.unwrap_or_else(|| panic!("{filter}: {:?}", import.notes)).to_string()
}

fn one_filter(protocol: &str, filter: &str) -> Import {
    import(&format!("{HEAD}tc filter add dev eth0 parent 1: protocol {protocol} prio 1 {filter}\n"))
}

/// Why a filter has no match.
fn unmapped(protocol: &str, filter: &str) -> String {
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
    assert_eq!(u32("match u32 0x0b800000 0x0fc00000 at 0"), "ip6 and dscp ef");
}

#[test]
fn what_of_u32_has_no_counterpart() {
    let u32 = |matches: &str| unmapped("ip", &format!("u32 {matches} flowid 1:10"));
    assert!(u32("match tcp dst 80 0xffff").contains("`match ip dport`"));
    assert!(u32("match u16 80 0xffff at nexthdr+2").contains("hash tables"));
    assert!(u32("match u16 0 0xffc0 at 2").contains("byte 2 of the IP header"));
    assert!(u32("match ip dport 1 0x0001").contains("mask 0x1 is no range"));
    assert!(u32("match ip df").contains("`df`"));
    assert!(u32("match mark 5 0xff").contains("match mark"));
    assert!(u32("match ip6 dport 53 0xffff").contains("of protocol ip, but"));
    assert!(u32("match u32 0xff00ff 0xff00ff at 12").contains("mask with gaps"));
    assert!(u32("match ip tos 1 3").contains("ECN"));
    assert!(u32("ht 2:").contains("hash tables"));
    assert!(u32("divisor 256").contains("hash tables"));
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
    assert_eq!(matched("802.1q", "matchall classid 1:10"), "vlan 0-4095");
}

#[test]
fn what_other_filters_have_no_counterpart() {
    assert!(unmapped("ip", "flower ip_ttl 5 classid 1:10").contains("`ip_ttl`"));
    assert!(unmapped("ip", "handle 6 fw classid 1:10").contains("netfilter's mark 6"));
    assert!(
        unmapped("ip", "basic match 'meta(priority eq 1)' classid 1:10").contains("kind basic")
    );
    assert!(unmapped("ip", "bpf bytecode-file filter.o classid 1:10").contains("kind bpf"));
    assert!(unmapped("ip", "chain 3 matchall classid 1:10").contains("chains"));
    let told = one_filter("ip", "u32 match ip tos 0x10 0xff classid 1:10 action drop");
    assert_eq!(
        notes(&told, NoteKind::NotMapped),
        [
            "5: filter: its test of the ECN bits is left out, that of DSCP is kept",
            "5: filter: its `action` has no counterpart"
        ]
    );
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
            "web: ip and dport {80, 443} or ip saddr 10.0.0.1",
            "voice: ip and dport 4000",
            "rest: any"
        ]
    );
}

#[test]
fn the_class_of_the_first_filter_comes_first() {
    let voice = "u32 match ip dport 4000 0xffff flowid 1:10";
    let web = "u32 match ip src 10.0.0.0/8 flowid 1:30";
    let first = |filters: &[(&str, &str)]| under(filters).0[0].clone();
    assert_eq!(first(&[("prio 1", voice), ("prio 2", web)]), "voice: ip and dport 4000");
    assert_eq!(first(&[("prio 2", voice), ("prio 1", web)]), "web: ip saddr 10.0.0.0/8");
    // Without a priority, the one that is added last is asked first.
    assert_eq!(first(&[("", voice), ("", web)]), "web: ip saddr 10.0.0.0/8");
    assert_eq!(first(&[("", voice), ("prio 7", web)]), "web: ip saddr 10.0.0.0/8");
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
            "voice: ip and dport 4000 or ip and dscp ef and not ip saddr 10.0.0.0/8",
            "web: ip saddr 10.0.0.0/8",
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
    assert_eq!(classes[0], "voice: ip and dport 4000 and not ip saddr 10.0.0.0/8");
}

#[test]
fn a_filter_that_is_never_reached() {
    let (classes, import) = under(&[
        ("prio 1", "matchall classid 1:30"),
        ("prio 2", "u32 match ip dport 4000 0xffff flowid 1:10"),
    ]);
    assert_eq!(classes, ["voice: -", "web: ip", "rest: any"]);
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
        ["6: filter: Linux refuses it: priority 1 is for matchall of protocol ip already"]
    );
}

#[test]
fn flower_asks_filters_that_look_at_the_same_bits_together() {
    let (classes, _) = under(&[
        ("prio 1", "flower ip_proto udp dst_port 1 classid 1:10"),
        ("prio 1", "flower src_ip 10.0.0.0/8 classid 1:30"),
        ("prio 1", "flower ip_proto udp dst_port 2 classid 1:10"),
    ]);
    assert_eq!(classes, ["voice: ip and udp dport 1-2", "web: ip saddr 10.0.0.0/8", "rest: any"]);
}

#[test]
fn filters_below_a_class_see_what_is_sent_there() {
    let script = format!(
        "{HEAD}tc class add dev eth0 parent 1:1 classid 1:2 hfsc ls m2 2mbit # guests\n\
         tc class add dev eth0 parent 1:2 classid 1:21 hfsc ls m2 1mbit\n\
         tc class add dev eth0 parent 1:2 classid 1:22 hfsc ls m2 1mbit\n\
         tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip src 10.8.0.0/16 flowid 1:2\n\
         tc filter add dev eth0 parent 1: protocol ip prio 2 u32 match ip dport 53 0xffff flowid 1:10\n\
         tc filter add dev eth0 parent 1:2 protocol ip prio 1 u32 match ip dport 53 0xffff flowid 1:21\n\
         tc filter add dev eth0 parent 1:22 protocol ip prio 1 matchall classid 1:21\n"
    );
    let import = import(&script);
    let plan = read(&import);
    let matching = |name: &str| class(&plan, name).matching.as_ref().map(ToString::to_string);
    assert_eq!(matching("1-21").as_deref(), Some("ip saddr 10.8.0.0/16 and dport 53"));
    assert_eq!(matching("1-22"), None);
    // What goes to the guests and to none of their classes is the default's, and not asked again.
    assert_eq!(matching("voice").as_deref(), Some("ip and dport 53 and not ip saddr 10.8.0.0/16"));
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
    assert_eq!(matching, "ip and udp and not (ip and dport 53)");
}
