//! What hangs at leaves, and what they queue in when nothing does.

use laxity::packet::ClassId;
use laxity::units::{Bytes, Rate};
use laxity_plan::classify::Classifier;
use laxity_plan::model::{QueueLimit, QueueSpec, SchedulerSpec, Weight};
use proptest::prelude::*;

use super::matches::headers;
use super::{HEAD, NoteKind, Options, class, import, import_at, notes, plan, read};
use crate::linux::{Linux, linux_plan};
use crate::setup::QdiscKind;

const SHAPER: &str = "\
tc qdisc add dev eth0 root handle 1: htb default 10
tc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 8mbit
";
const TWO: &str = "\
tc qdisc add dev eth0 root handle 1: htb default 10
tc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 8mbit ceil 10mbit
tc class add dev eth0 parent 1:1 classid 1:20 htb rate 2mbit ceil 10mbit
tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dport 53 0xffff flowid 1:20
";

#[test]
fn a_class_that_only_shapes_is_the_link() {
    for head in
        [SHAPER.to_string(), SHAPER.replace("htb rate", "hfsc sc m2").replace("htb", "hfsc")]
    {
        let ul = head.replace("8mbit", "8mbit ul m2 8mbit");
        let head = if head.contains("hfsc") { ul } else { head };
        let under = |lines: &str| plan(&format!("{head}{lines}"));
        let flows = under("tc qdisc add dev eth0 parent 1:10 fq_codel limit 900 noecn\n");
        let SchedulerSpec::FqCodel(settings) = flows.scheduler else { panic!("{flows:?}") };
        assert!(!settings.codel.ecn && flows.link.rate == Rate(8_000_000), "{flows:?}");
        assert_eq!(flows.classes.len(), 1);
        let cake = under("tc qdisc add dev eth0 parent 1:10 cake bandwidth 5mbit besteffort\n");
        assert!(matches!(cake.scheduler, SchedulerSpec::FqCodel(_)));
        assert_eq!(cake.link.rate, Rate(5_000_000));
        let drr = under(
            "tc qdisc add dev eth0 parent 1:10 handle 2: drr\n\
             tc class add dev eth0 parent 2: classid 2:1 drr quantum 1500\n\
             tc class add dev eth0 parent 2: classid 2:2 drr quantum 3000\n\
             tc qdisc add dev eth0 parent 2:1 pfifo limit 7\n\
             tc filter add dev eth0 parent 2: protocol all prio 1 matchall classid 2:2\n",
        );
        assert_eq!((drr.scheduler, drr.link.rate), (SchedulerSpec::Drr, Rate(8_000_000)));
        let limit = class(&drr, "2-1").queue.as_deref().copied();
        assert_eq!(limit, Some(QueueSpec::limited(QueueLimit::Packets(7))));
        assert_eq!(class(&drr, "2-2").matching.as_ref().unwrap().to_string(), "any");
        let prio = under("tc qdisc add dev eth0 parent 1:10 handle 2: prio\n");
        assert_eq!((prio.scheduler, prio.classes.len()), (SchedulerSpec::Priority, 3));
    }
}

#[test]
fn what_passes_a_shaper_by_keeps_it_a_class() {
    let line = "tc qdisc add dev eth0 parent 1:10 fq_codel\n";
    let script = format!("{}{line}", SHAPER.replace(" default 10", ""));
    let shaped = read(&import(&script));
    assert_eq!(shaped.class("1-10").map(ClassId::index), Some(0));
    let all = "tc filter add dev eth0 parent 1: protocol all prio 1 matchall classid 1:10\n";
    let shaped = plan(&format!("{script}{all}"));
    assert!(matches!(shaped.scheduler, SchedulerSpec::FqCodel(_)));
}

#[test]
fn classes_hold_flow_queues_and_go_back_to_linux() {
    let line = "tc qdisc add dev eth0 parent 1:10 fq_codel quantum 300\n";
    let import = import(&format!("{TWO}{line}"));
    let nested = read(&import);
    assert_eq!(nested.scheduler, SchedulerSpec::Wf2q);
    let inside = class(&nested, "1-10").inside.as_ref().unwrap().scheduler;
    assert!(matches!(inside, SchedulerSpec::FqCodel(settings) if settings.quantum == 300));
    assert!(class(&nested, "1-20").inside.is_none() && class(&nested, "1-20").queue.is_some());
    let rates: Vec<_> = nested.guaranteed_rates();
    assert!(rates.contains(&Rate(8_000_000)) && rates.contains(&Rate(2_000_000)));
    let there = linux_plan(&nested, &Linux::default()).unwrap();
    let flows = |kind: &QdiscKind| matches!(kind, QdiscKind::FqCodel(fq) if fq.quantum == 300);
    assert_eq!(there.setup.qdiscs.iter().filter(|qdisc| flows(&qdisc.kind)).count(), 1);
    assert!(there.plan.classes.iter().all(|class| class.inside.is_none()));
}

/// Two classes with others below each.
const NESTED: &str = "\
tc qdisc add dev eth0 root handle 1: htb default 20
tc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 6mbit ceil 10mbit
tc class add dev eth0 parent 1:1 classid 1:20 htb rate 3mbit ceil 10mbit
tc class add dev eth0 parent 1:1 classid 1:30 htb rate 1mbit ceil 10mbit
tc qdisc add dev eth0 parent 1:10 handle 2: drr
tc class add dev eth0 parent 2: classid 2:1 drr quantum 1000
tc class add dev eth0 parent 2: classid 2:2 drr quantum 3000
tc qdisc add dev eth0 parent 2:1 pfifo limit 7
tc qdisc add dev eth0 parent 1:20 handle 3: prio bands 3 priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2
";

#[test]
fn classes_hold_what_shares_among_others() {
    let import = import(NESTED);
    let plan = read(&import);
    assert_eq!(plan.scheduler, SchedulerSpec::Wf2q);
    let inside = |name| class(&plan, name).inside.as_ref().map(|inside| inside.scheduler);
    assert_eq!(inside("1-10"), Some(SchedulerSpec::Drr));
    assert_eq!(inside("1-20"), Some(SchedulerSpec::Priority));
    let below = |name| {
        let class = class(&plan, name);
        let parent = class.parent.map(|parent| plan.classes[parent.index()].name.as_str());
        (parent, class.weight, class.level)
    };
    assert_eq!(below("2-1"), (Some("1-10"), Weight(1_000_000), None));
    assert_eq!(below("2-2"), (Some("1-10"), Weight(3_000_000), None));
    assert_eq!(below("3-2"), (Some("1-20"), Weight(1_000_000), Some(1)));
    let limit = class(&plan, "2-1").queue.as_deref().copied();
    assert_eq!(limit, Some(QueueSpec::limited(QueueLimit::Packets(7))));
    assert_eq!(class(&plan, "3-3").matching.as_ref().map(ToString::to_string), Some("any".into()));
    let told = notes(&import, NoteKind::NotMapped).join("\n");
    assert!(!told.contains("what hangs at it"), "{told}");

    let limited = NESTED.replace("rate 6mbit ceil 10mbit", "rate 6mbit ceil 7mbit");
    let told = notes(&super::import(&limited), NoteKind::NotMapped).join("\n");
    assert!(told.contains("1:10: drr and what hangs at it: this class has one queue"), "{told}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// A packet goes to a class by the filters at the root, and from there by those below that
    /// class.
    #[test]
    fn packets_go_where_filters_at_each_discipline_send_them(
        filters in prop::collection::vec((0usize..3, any::<bool>(), 0u16..4, 0usize..3), 0..8),
        packets in prop::collection::vec(headers(), 20),
    ) {
        const CLASSES: [[&str; 3]; 3] =
            [["1:10", "1:20", "1:30"], ["2:1", "2:2", "2:2"], ["3:1", "3:2", "3:3"]];
        let mut script = NESTED.to_string();
        for (at, (place, source, port, class)) in filters.iter().enumerate() {
            let side = if *source { "sport" } else { "dport" };
            script += &format!(
                "tc filter add dev eth0 parent {}: protocol all prio {} flower ip_proto udp {side} {port} classid {}\n",
                place + 1,
                at + 1,
                CLASSES[*place][*class]
            )
            .replace("protocol all", "protocol ip")
            .replace("sport", "src_port")
            .replace("dport", "dst_port");
        }
        let import = import(&script);
        let plan = read(&import);
        for headers in packets {
            let ports = headers.ports.filter(|_| {
                headers.vlan.is_none()
                    && headers.ip.is_some_and(|ip| ip.protocol == 17 && ip.source.is_ipv4())
            });
            let sent = |place: usize| {
                let takes = |filter: &&(usize, bool, u16, usize)| {
                    filter.0 == place
                        && ports.is_some_and(|ports| {
                            filter.2 == if filter.1 { ports.source } else { ports.destination }
                        })
                };
                filters.iter().find(takes).map(|filter| filter.3)
            };
            let expected = match sent(0).unwrap_or(1) {
                0 => sent(1).map(|class| CLASSES[1][class]),
                1 => Some(CLASSES[2][sent(2).unwrap_or(2)]),
                _ => Some("1:30"),
            };
            let found = Classifier::new(&plan).class(&headers);
            let found = found.map(|class| plan.classes[class.index()].name.replace('-', ":"));
            prop_assert_eq!(found.as_deref(), expected, "{}\n{:?}", import.plan, headers);
        }
    }
}

#[test]
fn limits_leave_flows_in_one_queue_and_say_so() {
    let limited = TWO.replace("rate 8mbit ceil 10mbit", "rate 8mbit ceil 9mbit");
    let line = "tc qdisc add dev eth0 parent 1:10 fq_codel memory_limit 100kb ce_threshold 1ms\n";
    let import = import(&format!("{limited}{line}"));
    let plan = read(&import);
    assert_eq!(plan.scheduler, SchedulerSpec::Hfsc);
    assert!(matches!(class(&plan, "1-10").queue.as_deref(), Some(QueueSpec::CoDel(_))));
    let told = notes(&import, NoteKind::NotMapped);
    for part in ["turns among them are not kept", "memory_limit", "ce_threshold 1ms"] {
        assert!(told.iter().any(|note| note.starts_with("6: ") && note.contains(part)), "{told:?}");
    }
}

#[test]
fn leaves_without_a_qdisc_queue_what_the_interface_says() {
    let limits = |script: &str| {
        let plan = plan(script);
        let limit = |class: &laxity_plan::model::Class| class.queue.as_deref().copied();
        plan.leaves().map(|(_, class)| limit(class)).collect::<Vec<_>>()
    };
    let packets = |limit| Some(QueueSpec::limited(QueueLimit::Packets(limit)));
    assert_eq!(limits(HEAD), [packets(1000); 2]);
    let (before, after) = HEAD.split_once('\n').unwrap();
    for set in [
        "ip link set eth0 txqueuelen 50",
        "ip link set dev eth0 qlen 50",
        "ifconfig eth0 up txqueuelen 50",
        "/sbin/ip link set txqueuelen 50 dev eth0",
    ] {
        assert_eq!(limits(&format!("{set}\n{HEAD}")), [packets(50); 2], "{set}");
        assert_eq!(limits(&format!("{before}\n{set}\n{after}")), [packets(50); 2], "{set}");
    }
    assert_eq!(limits(&format!("ip link set eth1 txqueuelen 50\n{HEAD}")), [packets(1000); 2]);
}

#[test]
fn a_token_bucket_alone_is_one_queue() {
    for (limit, bytes) in [("limit 20kb", 20_480), ("latency 50ms", 62_500 + 5_000)] {
        let alone =
            plan(&format!("tc qdisc add dev eth0 root tbf rate 10mbit burst 5000 {limit}\n"));
        assert_eq!((alone.scheduler, alone.link.rate), (SchedulerSpec::Fifo, Rate(10_000_000)));
        assert_eq!(alone.queue, Some(QueueSpec::limited(QueueLimit::Bytes(Bytes(bytes)))));
    }
    let after = "tc qdisc add dev eth0 root fq_codel\ntc qdisc replace dev eth0 root tbf rate 1mbit burst 5k limit 9k\n";
    assert_eq!(plan(after).scheduler, SchedulerSpec::Fifo);
    let shown = "qdisc tbf 8001: dev eth0 root refcnt 2 rate 10Mbit burst 5000b lat 50ms\n";
    assert_eq!(plan(shown).queue, Some(QueueSpec::limited(QueueLimit::Bytes(Bytes(67_500)))));
}

#[test]
fn one_queue_of_an_interface_is_read() {
    let trees = "\
tc qdisc add dev eth0 root handle 7fff: mq
tc qdisc add dev eth0 parent 7fff:1 handle 1: htb default 2
tc class add dev eth0 parent 1: classid 1:1 htb rate 1gbit
tc class add dev eth0 parent 1:1 classid 1:2 htb rate 250mbit ceil 1gbit
tc qdisc add dev eth0 parent 7fff:2 handle 2: htb default 2
tc class add dev eth0 parent 2: classid 2:1 htb rate 1gbit
";
    let import = import(trees);
    assert_eq!(read(&import).link.rate, Rate(1_000_000_000));
    let told = notes(&import, NoteKind::NotMapped);
    assert!(told[0].starts_with("5: queue 2 of the interface has a qdisc of its own"), "{told:?}");
    let shown = "qdisc mq 0: dev eth0 root \nqdisc fq_codel 0: dev eth0 parent :1 limit 10240p flows 1024 quantum 1514 \
                 target 5ms interval 100ms memory_limit 32Mb ecn drop_batch 64 \n";
    assert!(matches!(read(&import_at(9_000_000, shown)).scheduler, SchedulerSpec::FqCodel(_)));
}

#[test]
fn classes_that_are_shown_alone_are_read() {
    let shown = "\
class htb 1:11 parent 1:1 leaf 30: prio 0 rate 1000Kbit ceil 1000Kbit burst 1600b cburst 1600b
 Sent 5505782 bytes 49050 pkt (dropped 0, overlimits 0 requeues 0)
class htb 1:1 root rate 4000Kbit ceil 4000Kbit burst 1600b cburst 1600b
";
    let import = import(shown);
    let plan = read(&import);
    assert_eq!((plan.link.rate, plan.classes.len()), (Rate(4_000_000), 1));
    let told = notes(&import, NoteKind::Reading).concat();
    assert!(told.contains("`tc qdisc show` and `tc filter show`"), "{told}");
}

#[test]
fn what_goes_past_all_classes_is_told() {
    let line = "tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dport 22 0xffff flowid 1:0\n";
    let told = notes(&import(&format!("{TWO}{line}")), NoteKind::NotMapped).concat();
    assert!(
        told.contains("6: filter: 1: is htb itself, which sends these packets past all classes"),
        "{told}"
    );
}

/// Who tries a shaper often has a wire in front of it.
#[test]
fn what_hangs_at_a_wire_is_read() {
    let netem = "tc qdisc add dev eth0 root handle 1: netem delay 50ms 5ms loss 1%\n";
    let alone = SHAPER.replace("1:", "10:");
    let below = alone.replace("root handle 10:", "parent 1:1 handle 10:");
    let found = import(&format!("{netem}{below}"));
    assert_eq!(read(&found), read(&import(&alone)));
    let told = notes(&found, NoteKind::NotMapped).concat();
    assert!(told.contains("1: netem delay 50ms 5ms loss 1%: what packets meet before"), "{told}");
    let refused = crate::import(netem, "script", &Options::default()).unwrap_err().to_string();
    assert!(refused.contains("the root of eth0 is netem"), "{refused}");
}
