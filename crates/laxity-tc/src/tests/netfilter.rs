//! Marks, classes and code points that netfilter sets, and where packets go by them.

use laxity_plan::classify::Classifier;
use laxity_plan::matching::{Headers, Net};
use proptest::prelude::*;

use super::matches::headers;
use super::{HEAD, Import, NoteKind, class, import, notes, read};

const MORE: &str = "\
tc class add dev eth0 parent 1:1 classid 1:30 hfsc ls m2 1mbit # web
tc filter add dev eth0 parent 1: protocol ip prio 1 handle 1 fw flowid 1:10
tc filter add dev eth0 parent 1: protocol ip prio 2 handle 0x2/0xff fw flowid 1:30
";

fn under(rules: &[&str]) -> Import {
    let rules: String = rules.iter().map(|rule| format!("iptables -t mangle {rule}\n")).collect();
    import(&format!("{rules}{HEAD}{MORE}"))
}

fn matches(import: &Import) -> Vec<String> {
    let plan = read(import);
    let matching =
        |name| class(&plan, name).matching.as_ref().map_or("-".into(), ToString::to_string);
    ["voice", "web"].map(matching).to_vec()
}

#[test]
fn marks_are_matches() {
    let of = |rule: &str| matches(&under(&[rule]))[0].clone();
    let set = "-j MARK --set-mark 1";
    for (condition, expected) in [
        ("-p udp --dport 5060", "ip and udp dport 5060"),
        ("-p tcp -m tcp --sport 1024: -m comment --comment x", "ip and tcp sport 1024-65535"),
        ("-p tcp -m multiport --dports 22,80:81", "ip and tcp dport {22, 80-81}"),
        ("-p tcp -m multiport --ports ssh", "ip and (tcp sport 22 or tcp dport 22)"),
        ("-s 10.0.0.0/8 -d 192.0.2.1", "ip saddr 10.0.0.0/8 and ip daddr 192.0.2.1"),
        ("-s 10.1.0.0/16,10.2.0.0/16", "(ip saddr 10.1.0.0/16 or ip saddr 10.2.0.0/16)"),
        ("-m dscp --dscp-class EF", "ip and dscp ef"),
        ("-m tos --tos 0x10/0x3f", "ip and dscp {4, af22, af42, 52} and ecn not-ect"),
        ("! -p udp", "ip and protocol {0-16, 18-255}"),
        ("-p icmp -o eth0", "ip and icmp"),
    ] {
        let found = of(&format!("-A POSTROUTING {condition} {set}"));
        let found = found.strip_prefix("untagged and ").unwrap_or(&found).to_string();
        let plain = |text: &str| text.replace(['(', ')'], "");
        let (found, expected) = (plain(&found), plain(expected));
        assert!(
            found == expected || found.replace(" or ip and ", " or ") == expected,
            "{condition}: {found}"
        );
    }
    assert_eq!(of("-A POSTROUTING -o eth1 -p udp -j MARK --set-mark 1"), "-");
    assert_eq!(of("-A INPUT -p udp -j MARK --set-mark 1"), "-");
    let before = under(&["-A FORWARD -p udp -j MARK --set-mark 1"]);
    assert_eq!(matches(&before)[0], "untagged and ip and udp");
    assert!(notes(&before, NoteKind::Reading).concat().contains("rules of netfilter in FORWARD"));
}

#[test]
fn what_is_not_followed_is_told_and_takes_nothing() {
    for rule in [
        "-A POSTROUTING -m state --state NEW -j MARK --set-mark 1",
        "-A POSTROUTING -p tcp --syn -j MARK --set-mark 1",
        "-A PREROUTING -i eth1 -j MARK --set-mark 1",
        "-A POSTROUTING -p udp -m length --length 0:200 -j MARK --set-mark 1",
        "-A POSTROUTING ! -s 10.0.0.0/8 -j MARK --set-mark 1",
        "-A POSTROUTING -p tcp -j CONNMARK --restore-mark",
        "-A POSTROUTING -s 10.0.0.256 -j MARK --set-mark 1",
        "-A POSTROUTING -p tcp --dport $(cat ports) -j MARK --set-mark 1",
    ] {
        let import = under(&[rule]);
        assert_eq!(matches(&import), ["-", "-"], "{rule}");
        let told = notes(&import, NoteKind::NotMapped);
        assert!(told.iter().any(|note| note.starts_with("1: `iptables`: `-t mangle")), "{told:?}");
        assert!(
            told.iter().any(|note| note.contains("netfilter's mark 1, which no rule sets")),
            "{told:?}"
        );
        assert!(told.iter().any(|note| note.contains("1:10 has no filter")), "{told:?}");
    }
    // Other tables have nothing to do with it.
    let other = import(&format!("iptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE\n{HEAD}"));
    assert_eq!(notes(&other, NoteKind::NotRead).len(), 1);
    // Whether it is done is not known.
    let unknown = format!(
        "[ -f /etc/x ] && iptables -t mangle -A POSTROUTING -p udp -j MARK --set-mark 1\n{HEAD}{MORE}"
    );
    assert_eq!(matches(&import(&unknown)), ["-", "-"]);
}

#[test]
fn chains_call_each_other_and_the_last_mark_counts() {
    let import = under(&[
        "-N SHAPER",
        "-F SHAPER",
        "-I POSTROUTING -o eth0 -j SHAPER",
        "-A SHAPER -p tcp -j MARK --set-mark 2",
        "-A SHAPER -p tcp --dport 22 -j MARK --set-mark 1",
        "-A SHAPER -p icmp -j RETURN",
        "-A SHAPER -m mark --mark 0 -j MARK --set-mark 0x302",
        "-D SHAPER -p gre -j RETURN",
    ]);
    let plan = read(&import);
    let of = |protocol, port| {
        let ip = laxity_plan::matching::IpHeaders {
            source: [10, 0, 0, 1].into(),
            destination: [10, 0, 0, 2].into(),
            protocol,
            dscp: 0,
            ecn: 0,
        };
        let ports = laxity_plan::matching::Ports { source: 9, destination: port };
        let headers = Headers { ip: Some(ip), ports: Some(ports), ..Headers::default() };
        plan.classes[Classifier::new(&plan).class(&headers).unwrap().index()].name.clone()
    };
    assert_eq!([of(6, 22), of(6, 80), of(17, 22), of(1, 0)], ["voice", "web", "web", "rest"]);
}

#[test]
fn classes_and_code_points_are_set() {
    let import = under(&[
        "-A POSTROUTING -p udp --dport 4000 -j CLASSIFY --set-class 1:10",
        "-A POSTROUTING -p tcp --dport 443 -j DSCP --set-dscp-class AF21",
    ]);
    assert_eq!(matches(&import)[0], "ip and udp dport 4000");
    let marked = format!(
        "iptables -t mangle -A POSTROUTING -p tcp --dport 443 -j DSCP --set-dscp 46\n{HEAD}{MORE}\
         tc filter add dev eth0 parent 1: protocol ip prio 3 u32 match ip tos 0xb8 0xfc flowid 1:30\n"
    );
    let web = matches(&super::import(&marked))[1].clone();
    assert!(web.contains("tcp dport 443") && web.contains("dscp ef"), "{web}");
}

#[test]
fn marks_are_asked_for_by_every_kind_of_filter() {
    let rule = "iptables -t mangle -A POSTROUTING -p udp -j MARK --set-mark 0x21\n";
    let voice = |filter: &str| {
        let filter = format!("tc filter add dev eth0 parent 1: protocol ip prio 1 {filter}\n");
        let import = import(&format!("{rule}{HEAD}{filter}"));
        let plan = read(&import);
        let matching = class(&plan, "voice").matching.as_ref().map(ToString::to_string);
        (matching, notes(&import, NoteKind::NotMapped).join("\n"))
    };
    let udp = Some("untagged and ip and udp".to_string());
    for filter in [
        "u32 match mark 0x21 0xff flowid 1:10",
        "u32 match mark 0x1 0xf match ip src 0/0 flowid 1:10",
        "basic match 'meta(nf_mark eq 0x21)' classid 1:10",
        "basic match 'meta(nf_mark mask 0xf0 eq 0x20)' classid 1:10",
        "basic match 'cmp(u8 at 9 eq 17) and (meta(nf_mark eq 5) or meta(nf_mark eq 33))' flowid 1:10",
    ] {
        assert_eq!(voice(filter).0, udp, "{filter}");
    }
    let both = voice("u32 match mark 0x21 0xff match ip dport 53 0xffff flowid 1:10").0;
    assert_eq!(both.as_deref(), Some("untagged and ip and udp dport 53"));
    let (none, told) = voice("u32 match mark 2 0xff match ip dport 53 0xffff flowid 1:10");
    assert_eq!(none, None);
    assert!(told.contains("filter for 1:10: it goes by netfilter's mark 0x2/0xff"), "{told}");
}

#[test]
fn six_is_another_table() {
    let six = "ip6tables -t mangle -A POSTROUTING -p udp -j MARK --set-mark 1\n";
    let filter = "tc filter add dev eth0 parent 1: protocol ipv6 prio 1 handle 1 fw flowid 1:10\n";
    let import = import(&format!("{six}{HEAD}{filter}"));
    let voice = class(&read(&import), "voice").matching.as_ref().unwrap().to_string();
    assert_eq!(voice, "untagged and ip6 and udp");
}

#[test]
fn nft_marks_as_iptables_does() {
    let of = |rules: &str| matches(&import(&format!("{rules}{HEAD}{MORE}")))[0].clone();
    let rule = |words: &str| of(&format!("nft add rule ip mangle postrouting {words}\n"));
    assert_eq!(
        rule("udp dport 5060 counter meta mark set 1"),
        "untagged and ip and udp dport 5060"
    );
    assert_eq!(
        rule(
            "oifname eth0 tcp sport '{ 22, 80-81 }' ip saddr 10.0.0.0/8 counter packets 0 bytes 0 mark set 0x1 accept"
        ),
        "untagged and ip saddr 10.0.0.0/8 and tcp sport {22, 80-81}"
    );
    assert_eq!(rule("ip dscp ef meta mark set 1"), "untagged and ip and dscp ef");
    assert_eq!(rule("meta l4proto udp meta priority set 1:10"), "ip and udp");
    for lost in [
        "ct state new meta mark set 1",
        "iifname eth1 meta mark set 1",
        "ip saddr != 10.0.0.0/8 meta mark set 1",
        "udp dport @calls meta mark set 1",
        "udp length 100 meta mark set 1",
        "meta mark set ct mark",
    ] {
        assert_eq!(rule(lost), "-", "{lost}");
    }
    let table = "nft -f - <<'EOF'
table inet shaper {
    # what is called
    chain calls {
        udp dport { 4000,
            4001 } meta mark set 1; tcp dport 22 meta mark set 1
    }
    chain out {
        type filter hook postrouting priority mangle; policy accept;
        oifname \"eth0\" jump calls
        tcp dport != {22, 4000} meta mark set 2
    }
}
EOF
";
    let import = import(&format!("{table}{HEAD}{MORE}"));
    assert_eq!(
        matches(&import),
        [
            "untagged and (ip and udp dport 4000-4001 or ip and tcp dport 22)",
            "untagged and ip and tcp dport {0-21, 23-3999, 4001-65535}"
        ]
    );
    let quoted =
        "nft 'add rule inet shaper postrouting tcp dport {22, 23} meta mark set 1; add table x'\n";
    assert_eq!(of(quoted), "untagged and ip and tcp dport 22-23");
}

proptest! {
    #[test]
    fn any_words_of_netfilter_are_read(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "-A", "POSTROUTING", "-j", "MARK", "--set-mark", "1", "!", "-p", "udp", "--dport", "-m", "mark", "--mark",
                "0x1/0x2", "-I", "-F", "add", "rule", "ip", "mangle", "postrouting", "{", "}", ",", ";", "meta", "set",
                "jump", "chain", "table", "inet", "tcp", "dport", "22-1", "type", "hook", "!=", "mark", "-s", "10.0.0.0/8",
            ]),
            0..20,
        ),
    ) {
        let words = words.iter().map(|word| format!("'{word}' ")).collect::<String>();
        import(&format!("iptables -t mangle {words}\nnft {words}\n{HEAD}{MORE}"));
    }
}

/// A rule as it is written, and what it asks for and does.
#[derive(Clone, Debug)]
struct Drawn {
    udp: Option<bool>,
    port: Option<(u16, u16)>,
    net: Option<(u8, u8)>,
    dscp: Option<u8>,
    marked: Option<(u32, bool)>,
    action: (u8, u8),
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let few = |strategy| prop::option::weighted(0.4, strategy);
    let port = (0u16..4, 0u16..4).prop_map(|(a, b)| (a.min(b), a.max(b)));
    let all = (
        few(any::<bool>().boxed()),
        prop::option::weighted(0.3, port),
        prop::option::weighted(0.3, (0u8..4, 30u8..=32)),
        prop::option::weighted(0.3, 0u8..4),
        prop::option::weighted(0.2, (0u32..3, any::<bool>())),
        (0u8..6, 0u8..4),
    );
    all.prop_map(|(udp, port, net, dscp, marked, action)| {
        let port = port.filter(|_| udp.is_some());
        Drawn { udp, port, net, dscp, marked, action }
    })
}

impl Drawn {
    fn written(&self) -> String {
        let mut text = "iptables -t mangle -A POSTROUTING".to_string();
        if let Some(udp) = self.udp {
            text += if udp { " -p udp" } else { " -p tcp" };
        }
        if let Some((from, to)) = self.port {
            text += &format!(" --dport {from}:{to}");
        }
        if let Some((last, prefix)) = self.net {
            text += &format!(" -s 10.0.0.{last}/{prefix}");
        }
        if let Some(dscp) = self.dscp {
            text += &format!(" -m dscp --dscp {dscp}");
        }
        if let Some((mark, not)) = self.marked {
            text += &format!(" -m mark {}--mark {mark}", if not { "! " } else { "" });
        }
        let (kind, value) = self.action;
        text += &match kind {
            0 => format!(" -j CLASSIFY --set-class 1:{value}0"),
            1 => format!(" -j DSCP --set-dscp {value}"),
            2 => " -j RETURN".into(),
            _ => format!(" -j MARK --set-mark {value}"),
        };
        text + "\n"
    }

    fn holds(&self, headers: &Headers, dscp: u8, mark: u32) -> bool {
        let Some(ip) = headers.ip.filter(|ip| ip.source.is_ipv4()) else { return false };
        self.udp.is_none_or(|udp| ip.protocol == if udp { 17 } else { 6 })
            && self.port.is_none_or(|(from, to)| {
                headers.ports.is_some_and(|ports| (from..=to).contains(&ports.destination))
            })
            && self.net.is_none_or(|(last, prefix)| {
                Net::new([10, 0, 0, last].into(), prefix).contains(ip.source)
            })
            && self.dscp.is_none_or(|asked| asked == dscp)
            && self.marked.is_none_or(|(asked, not)| (asked == mark) != not)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Packets go where netfilter and then the filters of tc send them.
    #[test]
    fn packets_go_where_the_rules_send_them(
        rules in prop::collection::vec(drawn(), 1..6),
        packets in prop::collection::vec(headers(), 30),
    ) {
        let written: String = rules.iter().map(Drawn::written).collect();
        let filters = "\
            tc filter add dev eth0 parent 1: protocol ip prio 3 u32 match ip tos 0x08 0xfc flowid 1:30\n";
        let import = import(&format!("{written}{HEAD}{MORE}{filters}"));
        let plan = read(&import);
        for headers in packets {
            let is_v4 = headers.ip.filter(|ip| ip.source.is_ipv4());
            let (mut mark, mut class) = (0, 0);
            let mut dscp = headers.ip.map_or(0, |ip| ip.dscp);
            for rule in &rules {
                if !rule.holds(&headers, dscp, mark) {
                    continue;
                }
                match rule.action {
                    (0, value) => class = value,
                    (1, value) => dscp = value,
                    (2, _) => break,
                    (_, value) => mark = u32::from(value),
                }
            }
            let filtered = is_v4.is_some() && headers.vlan.is_none();
            let expected = match (class, mark) {
                (1, _) => "voice",
                (2, _) => "rest",
                (3, _) => "web",
                (_, 1) if filtered => "voice",
                (_, 2) if filtered => "web",
                _ if filtered && dscp == 2 => "web",
                _ => "rest",
            };
            let found = Classifier::new(&plan).class(&headers).map(|class| &plan.classes[class.index()].name[..]);
            prop_assert_eq!(found, Some(expected), "{}\n{}\n{:?}", written, import.plan, headers);
        }
    }
}
