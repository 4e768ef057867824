//! Random filters in the kernel, beside the matches of the plans that are imported from them: which
//! class each packet goes to.

use std::fmt::Write as _;
use std::net::UdpSocket;
use std::path::Path;
use std::time::Duration;

use laxity_plan::Plan;
use laxity_plan::classify::Classifier;
use laxity_plan::matching::{Headers, IpHeaders, Ports};
use laxity_search::Generator;
use rand::{RngExt, SeedableRng};

use crate::lab::{plan as file, run, says};
use crate::traffic::HEADERS;
use crate::uml::{inside, whole};

const LIMIT: Duration = Duration::from_secs(900);
/// The first of the ports on either side, and how many there are.
const FIRST: [u16; 2] = [5_000, 4_000];
const PORTS: u16 = 3;
const CLASSES: usize = 3;

#[test]
fn every_packet_goes_to_the_class_whose_match_takes_it() {
    inside("filters::every_packet_goes_to_the_class_whose_match_takes_it", LIMIT, || {
        for arguments in [
            "link add v0 type veth peer name w0",
            "link set v0 up",
            "link set w0 up",
            "addr add 10.9.0.1/24 dev v0",
            "neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev v0",
        ] {
            run("ip", arguments);
        }
        let mut draw = Generator::seed_from_u64(4);
        let (mut packets, mut classified) = (0, 0);
        for _ in 0..whole(8, 400) {
            let batch = drawn(&mut draw);
            run("tc", &format!("-batch {}", file("filters.tc", &batch)));
            let (script, out) = (file("filters.tc", &batch), "/run/filters.toml");
            let _ = std::fs::remove_file(out);
            says(0, &["import", "tc", &script, "--link-rate", "10mbit", "--out", out]);
            let text = std::fs::read_to_string(out).expect("a plan");
            let plan = Plan::parse(&text, "plan.toml", Path::new(".")).expect("a plan");
            assert!(!text.contains("has no counterpart"), "{text}");
            for (ports, class) in taken() {
                let ip = IpHeaders {
                    source: [10, 9, 0, 1].into(),
                    destination: [10, 9, 0, 2].into(),
                    protocol: 17,
                    dscp: 0,
                    ecn: 0,
                };
                let headers = Headers { ip: Some(ip), ports: Some(ports), ..Headers::default() };
                let said = Classifier::new(&plan).class(&headers);
                let said = said.map(|class| plan.classes[class.index()].name.replace('-', ":"));
                assert_eq!(class, said, "{ports:?}\n{batch}\n{text}");
                packets += 1;
                classified += usize::from(said.is_some());
            }
            run("tc", "qdisc del dev v0 root");
        }
        println!("{packets} packets, {classified} of them in a class");
        assert!(classified > packets / 4 && classified < packets);
    });
}

/// The class in the kernel of a packet of each pair of ports.
fn taken() -> Vec<(Ports, Option<String>)> {
    let pairs =
        (0..PORTS).flat_map(|source| (0..PORTS).map(move |destination| (source, destination)));
    let all: Vec<Ports> = pairs
        .map(|(source, destination)| Ports {
            source: FIRST[0] + source,
            destination: FIRST[1] + destination,
        })
        .collect();
    for (number, ports) in all.iter().enumerate() {
        let socket = UdpSocket::bind(("10.9.0.1", ports.source)).expect("a socket");
        // So that the sum of bytes tells which packets it is of.
        let _dropped = socket.send_to(&vec![0; 1 << number], ("10.9.0.2", ports.destination));
    }
    let shown = run("tc", "-s class show dev v0");
    let mut class = String::new();
    let mut of_each: Vec<Option<String>> = vec![None; all.len()];
    for line in shown.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["class", _, handle, ..] => class = handle.to_owned(),
            ["Sent", bytes, "bytes", packets, ..] => {
                let [bytes, packets] =
                    [bytes, packets].map(|word| word.parse::<u64>().expect("a count"));
                let sum = bytes - packets * HEADERS;
                let of_it = of_each.iter_mut().enumerate().filter(|(at, _)| sum >> at & 1 == 1);
                of_it.for_each(|(_, of)| *of = Some(class.clone()));
            }
            _ => {}
        }
    }
    all.into_iter().zip(of_each).collect()
}

/// Classes of drr and filters of all kinds.
fn drawn(draw: &mut Generator) -> String {
    let mut batch = String::from("qdisc add dev v0 root handle 1: drr\n");
    for class in 1..=CLASSES {
        let _ = writeln!(batch, "class add dev v0 parent 1: classid 1:{class} drr");
    }
    for number in 1..=draw.random_range(1..6) {
        let side = draw.random_range(0..2);
        let port = port(side, draw);
        let tests = match draw.random_range(0..4) {
            0 => format!("u32 match ip {} {port} 0xffff", ["sport", "dport"][side]),
            1 => format!("flower ip_proto udp {} {port}", ["src_port", "dst_port"][side]),
            _ => format!("basic match '{}'", expression(draw, 0)),
        };
        let class = draw.random_range(1..=CLASSES);
        let end =
            if draw.random_bool(0.2) { "action drop".into() } else { format!("classid 1:{class}") };
        let _ =
            writeln!(batch, "filter add dev v0 parent 1: protocol ip prio {number} {tests} {end}");
    }
    batch
}

fn port(side: usize, draw: &mut Generator) -> u16 {
    FIRST[side] + draw.random_range(0..PORTS)
}

/// Tests of basic, joined.
fn expression(draw: &mut Generator, depth: u32) -> String {
    let side = draw.random_range(0..2);
    let port = port(side, draw);
    let test = match draw.random_range(0..6) {
        0 => {
            format!("cmp(u8 at 9 layer network eq {})", [17, 6][usize::from(draw.random_bool(0.3))])
        }
        1 => format!("cmp(u16 at {} layer transport eq {port})", 2 * side),
        2 => format!("cmp(u16 at {} mask 0xfffe eq {})", 20 + 2 * side, port & !1),
        3 => format!("u32(u16 {port} 0xffff at {})", 20 + 2 * side),
        4 => "cmp(u8 at 23 layer link eq 17)".into(),
        _ if depth < 2 => format!("({})", expression(draw, depth + 1)),
        _ => "u32(u32 0x0a090000 0xffff0000 at 12)".into(),
    };
    match draw.random_range(0..4) {
        0 if depth < 3 => format!("{test} and {}", expression(draw, depth + 1)),
        1 if depth < 3 => format!("{test} or {}", expression(draw, depth + 1)),
        _ => test,
    }
}
