//! Frames go to the class of the first match that holds, whatever is in them and in the cache.

use std::path::Path;

use etherparse::PacketBuilder;
use laxity::packet::{ClassId, Ecn, FlowId};
use laxity::units::Nanos;
use laxity_forward::{Event, Forwarder, Frame, Refusal, Settings};
use laxity_plan::Plan;
use laxity_plan::matching::Headers;
use proptest::prelude::*;

const MATCHES: [&str; 10] = [
    "udp dport 5000-5003",
    "tcp port 443 or tcp port 80",
    "ip6 and not tcp",
    "dscp ef",
    "vlan 7",
    "saddr 10.0.0.0/30",
    "not udp and vlan {1, 3}",
    "protocol 47",
    "daddr fd00::/16 or icmp",
    "not (ip or ip6)",
];

fn plan(text: &str) -> Plan {
    Plan::parse(text, "test.toml", Path::new(".")).expect("a plan")
}

/// A plan with these of the matches, in this order, and a class for the rest.
fn with_matches(order: &[usize]) -> Plan {
    let mut text = String::from(
        "version = 1\nlink = { rate = \"1gbit\", max-packet = \"10000b\" }\nscheduler = { kind = \"fifo\" }\n",
    );
    for (class, which) in order.iter().enumerate() {
        text += &format!("[class.c{class}]\nmatch = \"{}\"\n", MATCHES[*which]);
    }
    plan(&(text + "[class.rest]\n"))
}

/// A frame that a match may hold for, before anything is done to it.
fn frame() -> impl Strategy<Value = Vec<u8>> {
    let few = (0..2u8, 0..2u8, 0..3usize, 0..4u8, 0..6u16, any::<[bool; 3]>());
    few.prop_map(|(source, destination, port, last, vlan, [is_v6, is_tcp, is_tagged])| {
        let ports = [5000 + u16::from(last), 443, 9];
        let builder = PacketBuilder::ethernet2([1; 6], [2; 6]);
        let builder = if is_tagged {
            builder.single_vlan(etherparse::VlanId::try_new(vlan + 2).unwrap())
        } else {
            builder.single_vlan(etherparse::VlanId::ZERO)
        };
        let v6 = |end: u8| [0xfd, end, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last];
        let builder = if is_v6 {
            builder.ipv6(v6(source), v6(destination), 8)
        } else {
            builder.ipv4([10, 0, source, last * 2], [10, 0, destination, 1], 8)
        };
        let mut frame = Vec::new();
        if is_tcp {
            builder.tcp(1, ports[port], 0, 0).write(&mut frame, &[0; 20]).unwrap()
        } else {
            builder.udp(1, ports[port]).write(&mut frame, &[0; 20]).unwrap()
        }
        frame
    })
}

/// The class by the matches themselves.
fn expected(plan: &Plan, headers: &Headers) -> ClassId {
    let holds = |class: &laxity_plan::model::Class| {
        class.matching.as_ref().is_some_and(|matching| matching.matches(headers))
    };
    let found = plan.classes.iter().position(holds).unwrap_or(plan.classes.len() - 1);
    ClassId(found as u32)
}

fn classes_of(plan: &Plan, frames: &[Vec<u8>], flows: usize) -> Vec<(ClassId, FlowId)> {
    let settings = Settings { flows, ..Settings::default() };
    let mut forwarder = Forwarder::new(plan.clone(), settings).unwrap();
    let mut found = Vec::new();
    for (time, frame) in (0..).zip(frames) {
        let (headers, length) = (Headers::from_ethernet(frame), frame.len() as u32);
        let frame =
            Frame { headers, ecn: Ecn::NotCapable, length, handle: time, ..Frame::default() };
        forwarder.arrive(Nanos(time * 1_000_000), frame, &mut |event| {
            if let Event::Arrived(arrived) = event {
                found.push((arrived.class, arrived.flow));
            }
        });
        forwarder.poll(Nanos(time * 1_000_000), &mut |_| {});
    }
    found
}

proptest! {
    /// Frames of all kinds, and such with bytes changed or missing, through caches of few places:
    /// no frame passes as a class that it is not of, and no bytes panic.
    #[test]
    fn a_frame_is_of_the_first_class_whose_match_holds(
        order in prop::sample::subsequence((0..MATCHES.len()).collect::<Vec<_>>(), 0..8).prop_shuffle(),
        mut frames in prop::collection::vec(frame(), 1..80),
        noise in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 0..40),
        wild in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..10),
        flows in prop_oneof![Just(1usize), Just(16), Just(1000)],
    ) {
        for (frame, place, byte) in noise {
            let which = frame.index(frames.len());
            let frame = &mut frames[which];
            match byte {
                0..16 => frame.truncate(place.index(frame.len() + 1)),
                _ if frame.is_empty() => {}
                _ => {
                    let place = place.index(frame.len());
                    frame[place] = byte;
                }
            }
        }
        frames.extend(wild);
        let plan = with_matches(&order);
        let found = classes_of(&plan, &frames, flows);
        prop_assert_eq!(found.len(), frames.len());
        for (frame, (class, _)) in frames.iter().zip(found) {
            prop_assert_eq!(class, expected(&plan, &Headers::from_ethernet(frame)));
        }
    }

    /// Whatever else comes, as long as there are places, a class's flows are told apart as captures
    /// tell them.
    #[test]
    fn flows_are_numbered_in_the_order_in_which_they_come(
        frames in prop::collection::vec(frame(), 1..120),
    ) {
        use laxity_plan::classify::Conversation;
        use std::collections::HashMap;
        let plan = with_matches(&[3, 0, 4]);
        let found = classes_of(&plan, &frames, 100_000);
        let (mut numbers, mut counts) = (HashMap::new(), HashMap::new());
        for (frame, (class, flow)) in frames.iter().zip(found) {
            let conversation = Conversation::new(&Headers::from_ethernet(frame));
            let number = numbers.entry((class, conversation)).or_insert_with(|| {
                let count = counts.entry(class).or_insert(0);
                *count += 1;
                FlowId(*count - 1)
            });
            prop_assert_eq!(flow, *number);
        }
    }
}

/// A flow that goes on keeps its number while others come and go.
#[test]
fn a_flow_that_goes_on_is_not_driven_out() {
    let plan = with_matches(&[]);
    let udp = |port: u16| {
        let mut frame = Vec::new();
        let builder =
            PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2], 8);
        builder.udp(port, 1).write(&mut frame, &[0; 20]).unwrap();
        frame
    };
    let frames: Vec<_> = (1..20_000).flat_map(|port| [udp(0), udp(port)]).collect();
    let found = classes_of(&plan, &frames, 64);
    assert!(found.iter().step_by(2).all(|(_, flow)| *flow == FlowId(0)));
    let others = found.iter().skip(1).step_by(2);
    assert!(others.map(|(_, flow)| flow.0).eq(1..20_000));
}

#[test]
fn a_plan_says_where_all_frames_go() {
    let head = "version = 1\nlink = { rate = \"1mbit\" }\nscheduler = { kind = \"edf\" }\n";
    let voice =
        "[class.voice]\ndeadline = \"50ms\"\narrival = { bucket = \"300b\", rate = \"80kbit\" }\n";
    let refused = |text: &str| Forwarder::new(plan(text), Settings::default()).err();
    assert_eq!(refused(&format!("{head}{voice}")), Some(Refusal::NoDefault));
    let any = format!("{head}{voice}match = \"any\"\n");
    assert_eq!(refused(&any), None);
    assert_eq!(refused(&format!("{head}{voice}match = \"udp\"\n[class.rest]\n")), None);
    let matched = format!("{head}{voice}[class.some]\nmatch = \"tcp\"\n");
    assert_eq!(refused(&matched), Some(Refusal::NoDefault));
    let network = "[network.l]\nbetween = [\"a\", \"b\"]\nrate = \"1mbit\"\ndelay = \"1ms\"\n\
                   [[source]]\nclass = \"rest\"\nmodel = \"poisson\"\nrate = \"1kbit\"\npacket = \"100b\"\npath = [\"a\", \"b\"]\n";
    let fifo = head.replace("edf", "fifo");
    assert_eq!(refused(&format!("{fifo}[class.rest]\n{network}")), Some(Refusal::Network));
}
