use etherparse::{
    IpNumber, Ipv4Header, Ipv6FragmentHeader, NetSlice, PacketBuilder, SlicedPacket, TransportSlice,
};
use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Match {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn print(text: &str) -> String {
    parse(text).to_string()
}

/// A frame of UDP over IPv4, 10.7.0.1:5000 to 192.168.0.2:4000, marked EF.
fn udp4() -> Vec<u8> {
    let mut ip = Ipv4Header::new(0, 64, IpNumber::UDP, [10, 7, 0, 1], [192, 168, 0, 2]).unwrap();
    ip.dscp = 46.try_into().unwrap();
    let builder = PacketBuilder::ethernet2([1; 6], [2; 6])
        .ip(etherparse::IpHeaders::Ipv4(ip, Default::default()));
    frame(|bytes| builder.udp(5000, 4000).write(bytes, &[0; 300]).unwrap())
}

/// A frame of TCP over IPv6 in VLAN 7, fd00::1 port 443 to fd00::2 port 40000.
fn tcp6() -> Vec<u8> {
    let [mut from, mut to] = [[0; 16]; 2];
    (from[0], from[15]) = (0xfd, 1);
    (to[0], to[15]) = (0xfd, 2);
    let builder = PacketBuilder::ethernet2([1; 6], [2; 6])
        .single_vlan(7.try_into().unwrap())
        .ipv6(from, to, 64)
        .tcp(443, 40000, 0, 1000);
    frame(|bytes| builder.write(bytes, &[0; 900]).unwrap())
}

fn frame(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes);
    bytes
}

fn holds(text: &str, frame: &[u8]) -> bool {
    parse(text).matches(&Headers::from_ethernet(frame))
}

#[test]
fn headers_of_whole_and_cut_frames() {
    let frame = udp4();
    let headers = Headers::from_ethernet(&frame);
    assert_eq!(headers.vlan, None);
    let ip = IpHeaders {
        source: [10, 7, 0, 1].into(),
        destination: [192, 168, 0, 2].into(),
        protocol: 17,
        dscp: 46,
        ecn: 0,
    };
    assert_eq!(headers.ip, Some(ip));
    assert_eq!(headers.ports, Some(Ports { source: 5000, destination: 4000 }));
    assert_eq!(Headers::from_ethernet(&frame[..128]), headers);
    assert_eq!(Headers::from_ethernet(&frame[..38]), headers);
    assert_eq!(Headers::from_ethernet(&frame[..37]), Headers { ports: None, ..headers });
    assert_eq!(Headers::from_ethernet(&frame[..33]), Headers::default());
    assert_eq!(Headers::from_ip(&frame[14..]), headers);
    assert_eq!(Headers::from_ip(&frame[14..100]), headers);

    let frame = tcp6();
    let headers = Headers::from_ethernet(&frame);
    assert_eq!(headers.vlan, Some(7));
    assert_eq!(headers.ports, Some(Ports { source: 443, destination: 40000 }));
    assert_eq!(Headers::from_ethernet(&frame[..128]), headers);
    assert_eq!(headers.pcp, Some(0));
    assert_eq!(Headers::from_ip(&frame[18..]), Headers { vlan: None, pcp: None, ..headers });
}

#[test]
fn what_is_not_ip_has_no_headers() {
    assert_eq!(Headers::from_ethernet(&[]), Headers::default());
    assert_eq!(Headers::from_ip(&[]), Headers::default());
    assert_eq!(Headers::from_ip(&[0x45; 10]), Headers::default());
    let arp = [&[0xff; 12][..], &[8, 6], &[0; 46]].concat();
    assert_eq!(Headers::from_ethernet(&arp), Headers::default());
    let llc = [&[0xff; 12][..], &[0, 46], &[0x42; 46]].concat();
    assert_eq!(Headers::from_ethernet(&llc), Headers::default());
    assert!(holds("any", &arp) && holds("not udp", &arp) && !holds("ip or ip6", &arp));
}

#[test]
fn only_the_first_fragment_has_ports() {
    let mut frame = udp4();
    frame[20] = 0x20; // more fragments, offset 0
    assert!(Headers::from_ethernet(&frame).ports.is_some());
    frame[21] = 0x10; // offset 128
    let later = Headers::from_ethernet(&frame);
    assert_eq!(later.ports, None);
    assert!(holds("udp", &frame) && !holds("udp dport 4000", &frame));

    for (offset, has_ports) in [(0u16, true), (16, false)] {
        let fragment = Ipv6FragmentHeader::new(IpNumber::UDP, offset.try_into().unwrap(), true, 1);
        let payload = [&fragment.to_bytes()[..], &[0x13, 0x88, 0x0f, 0xa0, 0, 8, 0, 0]].concat();
        let header = etherparse::Ipv6Header {
            payload_length: payload.len() as u16,
            next_header: IpNumber::IPV6_FRAGMENTATION_HEADER,
            ..Default::default()
        };
        let headers = Headers::from_ip(&[&header.to_bytes()[..], &payload].concat());
        assert_eq!(headers.ip.map(|ip| ip.protocol), Some(17));
        assert_eq!(headers.ports.is_some(), has_ports);
    }
}

#[test]
fn ipv6_extensions_are_skipped_and_may_be_cut() {
    let options = [43, 0, 1, 4, 0, 0, 0, 0];
    let routing = [[17, 1, 0, 0, 0, 0, 0, 0], [0; 8]].concat();
    let payload = [&options[..], &routing, &[0x13, 0x88, 0x0f, 0xa0, 0, 8, 0, 0]].concat();
    let header = etherparse::Ipv6Header {
        payload_length: payload.len() as u16,
        next_header: IpNumber::IPV6_HEADER_HOP_BY_HOP,
        ..Default::default()
    };
    let packet = [&header.to_bytes()[..], &payload].concat();
    let headers = Headers::from_ip(&packet);
    assert_eq!(headers.ip.map(|ip| ip.protocol), Some(17));
    assert_eq!(headers.ports, Some(Ports { source: 5000, destination: 4000 }));
    for cut in 40..packet.len() - 4 {
        let headers = Headers::from_ip(&packet[..cut]);
        assert!(headers.ip.is_some() && headers.ports.is_none());
    }
}

#[test]
fn tests_hold_for_what_they_name() {
    let (udp, tcp) = (udp4(), tcp6());
    for text in [
        "any",
        "udp",
        "ip",
        "udp dport 4000",
        "dport 4000",
        "udp sport 5000 and dport 4000",
        "port 5000",
        "udp port {1, 4000-4010}",
        "dport >= 4000",
        "dport <= 4000",
        "dport < 4001",
        "dport != 4001",
        "ip saddr 10.7.0.1",
        "saddr 10.0.0.0/8",
        "daddr {1.2.3.4, 192.168.0.0/16}",
        "addr 192.168.0.2",
        "ip saddr 0.0.0.0/0",
        "dscp ef",
        "dscp 46",
        "ip dscp 40-47",
        "protocol 17",
        "ip protocol udp",
        "not tcp",
        "not (tcp or icmp)",
        "tcp or icmp or udp dport 4000",
        "not ip daddr 10.0.0.0/8",
        "src host 10.7.0.1 and dst port 4000",
        "udp and not vlan 0-4095",
        "src net 10.0.0.0/8",
        "host 10.7.0.1",
        "untagged",
        "ecn not-ect and not pcp 0-7",
    ] {
        assert!(holds(text, &udp), "{text}");
        let for_both = [
            "any",
            "dport >= 4000",
            "dport != 4001",
            "not ip daddr 10.0.0.0/8",
            "tcp or icmp or udp dport 4000",
        ];
        assert_eq!(holds(text, &tcp), for_both.contains(&text), "{text}");
    }
    for text in [
        "vlan 7",
        "vlan id {1, 7}",
        "ip6 saddr fd00::/8",
        "tcp sport 443",
        "dscp be",
        "ip6 and dscp cs0",
        "tagged",
        "vlan pcp 0",
    ] {
        assert!(holds(text, &tcp), "{text}");
        assert!(!holds(text, &udp), "{text}");
    }
}

#[test]
fn not_binds_more_than_and_and_and_more_than_or() {
    assert_eq!(print("not udp and tcp or icmp"), "not udp and tcp or icmp");
    assert_eq!(parse("not udp and tcp or icmp"), parse("(((not udp) and tcp) or icmp)"));
    assert_ne!(parse("not udp and tcp or icmp"), parse("not (udp and tcp or icmp)"));
    assert_eq!(parse("not udp dport 1"), parse("not (udp and dport 1)"));
    assert_eq!(parse("! udp && tcp || icmp"), parse("not udp and tcp or icmp"));
}

#[test]
fn one_printed_form() {
    for (text, printed) in [
        ("udp and dport 4000", "udp dport 4000"),
        ("saddr 10.1.2.3/8", "ip saddr 10.0.0.0/8"),
        ("ip  src 10.7.0.1", "ip saddr 10.7.0.1"),
        ("saddr fd00::1/8", "ip6 saddr fd00::/8"),
        ("port {443,80,81}", "port {80-81, 443}"),
        ("dport != 80", "dport {0-79, 81-65535}"),
        ("dport > 1023", "dport 1024-65535"),
        ("protocol 17", "udp"),
        ("ip protocol 47", "ip and gre"),
        ("ip protocol 200", "ip and protocol 200"),
        ("protocol {tcp, 17}", "protocol {tcp, udp}"),
        ("ip ecn {3, ect0}", "ip and ecn 2-3"),
        ("ecn 0", "ecn not-ect"),
        ("vlan pcp 5", "pcp 5"),
        ("not tagged", "not tagged"),
        ("dscp 46", "dscp ef"),
        ("dscp 0", "dscp be"),
        ("dscp {af11, 5}", "dscp {5, af11}"),
        ("icmpv6", "icmp6"),
        ("((udp))", "udp"),
        ("udp and (tcp and icmp)", "udp and tcp and icmp"),
        ("not (not udp)", "not not udp"),
        ("not ip dscp ef", "not (ip and dscp ef)"),
    ] {
        assert_eq!(print(text), printed);
        assert_eq!(parse(printed), parse(text), "{text}");
    }
}

#[test]
fn errors_say_where_and_what_else() {
    for (text, at, found, expected) in [
        ("", 0, "", "a test such as udp"),
        ("  ", 2, "", "a test such as udp"),
        ("udp and", 7, "", "a test such as udp"),
        ("upd", 0, "upd", "a test such as udp"),
        ("udp dport", 9, "", "a port 0-65535"),
        ("udp dport 65536", 10, "65536", "a port 0-65535"),
        ("dport +1", 6, "+1", "a port 0-65535"),
        ("dport 9-1", 6, "9-1", "from the smaller to the larger"),
        ("dport {}", 7, "}", "a port 0-65535"),
        ("dport {1 2}", 9, "2", ", or }"),
        ("dport < 0", 8, "0", "some number 0-65535"),
        ("dport > 65535", 8, "65535", "some number 0-65535"),
        ("(udp", 4, "", "and, or, )"),
        ("udp)", 3, ")", "and, or, the end"),
        ("udp tcp", 4, "tcp", "and, or, the end"),
        ("icmp dport 1", 5, "dport", "icmp has no ports"),
        ("dscp 64", 5, "64", "(0-63)"),
        ("vlan 4096", 5, "4096", "a VLAN 0-4095"),
        ("pcp 8", 4, "8", "a priority 0-7"),
        ("ecn ect", 4, "ect", "not-ect, ect0"),
        ("protocol 256", 9, "256", "(0-255)"),
        ("ip saddr fd00::1", 9, "fd00::1", "an IPv4 address"),
        ("ip6 saddr 10.0.0.1", 10, "10.0.0.1", "an IPv6 address"),
        ("saddr {10.0.0.1, fd00::1}", 17, "fd00::1", "an IPv4 address"),
        ("saddr 10.0.0.0/33", 6, "10.0.0.0/33", "an address"),
        ("saddr 10.0.0", 6, "10.0.0", "an address"),
        ("udp é", 4, "é", "and, or, the end"),
    ] {
        let error = text.parse::<Match>().expect_err(text);
        assert_eq!((error.span.start, error.found.as_str()), (at, found), "{text}");
        assert!(error.expected.contains(expected), "{text}: {error}");
    }
}

#[test]
fn depth_and_size_are_limited() {
    let nested =
        |depth: usize| format!("{}udp{}", "(".repeat(depth), ")".repeat(depth)).parse::<Match>();
    assert!(nested(64).is_ok() && nested(65).is_err());
    let negated = |depth: usize| format!("{}udp", "not ".repeat(depth)).parse::<Match>();
    assert!(negated(64).is_ok() && negated(65).is_err());
    let long = |count: usize| vec!["udp"; count].join(" or ").parse::<Match>();
    assert!(long(1024).is_ok() && long(1025).is_err());
}

fn numbers(max: u16) -> impl Strategy<Value = Numbers> {
    prop::collection::vec((0..=max, 0..=max), 1..4).prop_map(|ranges| {
        Numbers::new(ranges.into_iter().map(|(a, b)| (a.min(b), a.max(b))).collect())
    })
}

fn addresses() -> impl Strategy<Value = Box<[Net]>> {
    let four = prop::collection::vec(
        (any::<[u8; 4]>(), 0..=32u8).prop_map(|(address, prefix)| Net::new(address.into(), prefix)),
        1..3,
    );
    let six = prop::collection::vec(
        (any::<[u8; 16]>(), 0..=128u8)
            .prop_map(|(address, prefix)| Net::new(address.into(), prefix)),
        1..3,
    );
    prop_oneof![four, six].prop_map(Vec::into_boxed_slice)
}

fn host_tests() -> impl Strategy<Value = HostTest> {
    let mask = prop_oneof![Just(u32::MAX), any::<u32>()];
    let mark = (any::<u32>(), mask).prop_map(|(value, mask)| MaskedMark::new(value, mask));
    let marks = prop::collection::vec(mark, 1..3).prop_map(Vec::into_boxed_slice);
    let priorities = prop::collection::vec(any::<u32>(), 1..3).prop_map(Vec::into_boxed_slice);
    prop_oneof![
        marks.clone().prop_map(HostTest::Mark),
        marks.prop_map(HostTest::ConnectionMark),
        priorities.prop_map(HostTest::Priority),
        "[a-z]{1,3}(/[a-z@.-]{0,3}[a-z])?".prop_map(|path| HostTest::Cgroup(Cgroup::new(&path))),
    ]
}

fn expressions() -> impl Strategy<Value = Expr> {
    let side = || prop::sample::select(vec![Side::Source, Side::Destination, Side::Any]);
    let protocol = prop::sample::select(vec![1, 6, 17, 33, 47, 132, 200]);
    let test = prop_oneof![
        Just(Expr::Any),
        Just(Expr::Version(Version::V4)),
        Just(Expr::Version(Version::V6)),
        protocol.prop_map(|one| Expr::Protocol(Numbers::new(vec![(one, one)]))),
        numbers(255).prop_map(Expr::Protocol),
        (side(), numbers(u16::MAX)).prop_map(|(side, ports)| Expr::Port(side, ports)),
        (side(), addresses()).prop_map(|(side, nets)| Expr::Address(side, nets)),
        numbers(63).prop_map(Expr::Dscp),
        numbers(4095).prop_map(Expr::Vlan),
        numbers(3).prop_map(Expr::Ecn),
        numbers(7).prop_map(Expr::Pcp),
        any::<bool>().prop_map(Expr::Tagged),
        host_tests().prop_map(Expr::Host),
    ];
    test.prop_recursive(5, 40, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|expr| Expr::Not(Box::new(expr))),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Expr::all),
            prop::collection::vec(inner, 2..4).prop_map(Expr::either),
        ]
    })
}

#[test]
fn what_a_host_knows_of_its_packets() {
    let host =
        HostMarks { mark: 0x25, connection_mark: 7, priority: 0x1_0010, cgroups: [9, 3, 0, 0] };
    let headers = Headers { host, ..Headers::default() };
    for (text, expected) in [
        ("mark 0x25", true),
        ("mark 37", true),
        ("mark 0x20", false),
        ("mark 0x20/0xf0", true),
        ("mark {1, 0x25}", true),
        ("ct mark 7", true),
        ("ct mark 8", false),
        ("priority 1:10", true),
        ("priority {6, 0x10010}", true),
        ("priority 6", false),
        ("not mark 0 and ct mark 7", true),
    ] {
        assert_eq!(parse(text).matches(&headers), expected, "{text}");
    }
    let mut group = parse("udp or cgroup system.slice/backup.service/");
    assert!(!group.matches(&headers), "it was not looked up");
    group
        .find_cgroups(|path| if path == "system.slice/backup.service" { Ok(3) } else { Err(()) })
        .unwrap();
    assert!(group.matches(&headers) && group.expr().needs_host());
    assert!(!group.matches(&Headers::default()));
    assert_eq!(group.find_cgroups(|_| Err("gone")), Err("gone"));
    for refused in [
        "mark",
        "mark x",
        "mark 1/",
        "ct 7",
        "priority 1:",
        "priority 12345:1",
        "cgroup",
        "cgroup a/../b",
    ] {
        assert!(refused.parse::<Match>().is_err(), "{refused}");
    }
}

proptest! {
    #[test]
    fn what_is_printed_reads_back(expr in expressions()) {
        let text = Match(expr.clone()).to_string();
        prop_assert_eq!(text.parse(), Ok(Match(expr)), "{}", text);
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        let _ = text.parse::<Match>();
    }

    #[test]
    fn any_words_are_read_back_or_refused(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "udp", "tcp", "ip", "ip6", "icmp", "dport", "src", "dst", "port", "host", "addr", "not",
                "and", "or", "(", ")", "{", "}", ",", "80", "1-9", "!=", "<", ">", "10.0.0.0/8", "fd00::1",
                "dscp", "ef", "ecn", "ce", "not-ect", "pcp", "tagged", "vlan", "7", "any", "é", "!", "protocol", "gre",
            ]),
            0..12,
        )
    ) {
        let text = words.join(" ");
        match text.parse::<Match>() {
            Ok(read) => prop_assert_eq!(read.to_string().parse(), Ok(read)),
            Err(error) => {
                prop_assert!(text.get(error.span.clone()).is_some());
                prop_assert!(!error.expected.is_empty());
            }
        }
    }

    /// What is read here is what etherparse reads, wherever it finds no fault with a frame.
    #[test]
    fn headers_are_those_that_etherparse_sees(
        damage in prop::collection::vec((0..60usize, any::<u8>()), 0..3),
    ) {
        for mut frame in [udp4(), tcp6()] {
            for (at, byte) in &damage {
                frame[*at] = *byte;
            }
            let Ok(packet) = SlicedPacket::from_ethernet(&frame) else { continue };
            let headers = Headers::from_ethernet(&frame);
            let ip = match &packet.net {
                Some(NetSlice::Ipv4(slice)) => Some(slice.header().source_addr().into()),
                Some(NetSlice::Ipv6(slice)) => Some(slice.header().source_addr().into()),
                _ => None,
            };
            prop_assert_eq!(headers.ip.map(|ip| ip.source), ip);
            let ports = match &packet.transport {
                Some(TransportSlice::Udp(udp)) => Some((udp.source_port(), udp.destination_port())),
                Some(TransportSlice::Tcp(tcp)) => Some((tcp.source_port(), tcp.destination_port())),
                _ => None,
            };
            if let Some((source, destination)) = ports {
                // Behind IPv4, an authentication header counts as the protocol.
                let hidden = headers.ip.is_some_and(|ip| ip.protocol == 51);
                let seen = headers.ports == Some(Ports { source, destination });
                prop_assert!(hidden || seen, "{headers:?}");
            }
            let ecn = match &packet.net {
                Some(NetSlice::Ipv4(slice)) => Some(slice.header().ecn().value()),
                Some(NetSlice::Ipv6(slice)) => Some(slice.header().ecn().value()),
                _ => None,
            };
            prop_assert_eq!(headers.ip.map(|ip| ip.ecn), ecn);
            let tag = frame[12..14] == [0x81, 0];
            prop_assert!(!tag || headers.pcp == Some(frame[14] >> 5));
            prop_assert_eq!(headers.vlan, packet.vlan_ids().first().map(|id| id.value()));
        }
    }

    #[test]
    fn any_bytes_have_headers(bytes in prop::collection::vec(any::<u8>(), 0..200), expr in expressions()) {
        let expr = Match(expr);
        expr.matches(&Headers::from_ethernet(&bytes));
        expr.matches(&Headers::from_ip(&bytes));
    }

    #[test]
    fn any_damage_to_a_frame(at in 0..200usize, byte in any::<u8>(), cut in 0..400usize) {
        for mut frame in [udp4(), tcp6()] {
            frame[at] = byte;
            frame.truncate(cut);
            let _ = Headers::from_ethernet(&frame);
            let _ = Headers::from_ip(frame.get(14..).unwrap_or_default());
        }
    }

    #[test]
    fn sets_of_numbers_hold_what_they_are_made_of(ranges in prop::collection::vec((0..50u16, 0..50u16), 1..6), probe in 0..60u16) {
        let ranges: Vec<_> = ranges.into_iter().map(|(a, b)| (a.min(b), a.max(b))).collect();
        let naive = ranges.iter().any(|(from, to)| (from..=to).contains(&&probe));
        prop_assert_eq!(Numbers::new(ranges).contain(probe), naive);
    }
}
