//! cake at the root: read, written, and told to the kernel.

use std::net::{IpAddr, Ipv4Addr};

use laxity::overhead::{Framing, Overhead};
use laxity::sched::cake::{Diffserv, Isolation};
use laxity::units::{Nanos, Rate};
use laxity_plan::Plan;
use laxity_plan::classify::Classifier;
use laxity_plan::matching::{Headers, IpHeaders};
use laxity_plan::model::SchedulerSpec;
use proptest::prelude::*;

use super::exported::{both_ways, parse, script};
use super::{import, notes, read};
use crate::NoteKind;
use crate::export::Format;
use crate::linux::{Linux, linux_plan};
use crate::netlink;
use crate::setup::{AckFilter, Cake, Handle, Qdisc, QdiscKind, Setup};

fn cake(plan: &Plan) -> laxity_plan::model::CakeSpec {
    let SchedulerSpec::Cake(spec) = plan.scheduler else { panic!("{plan:?}") };
    spec
}

fn headers(dscp: u8) -> Headers {
    let any = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let ip = IpHeaders { source: any, destination: any, protocol: 17, dscp, ecn: 0 };
    Headers { ip: Some(ip), ..Headers::default() }
}

/// What the kernel is given for a plan.
fn given(plan: &Plan) -> Cake {
    let there = linux_plan(plan, &Linux::default()).unwrap_or_else(|refusal| panic!("{refusal}"));
    let [Qdisc { kind: QdiscKind::Cake(cake), parent: Handle::ROOT, .. }] = there.setup.qdiscs[..]
    else {
        panic!("{:?}", there.setup)
    };
    cake
}

#[test]
fn all_words_of_a_root_are_read() {
    let line = "tc qdisc add dev eth0 root cake bandwidth 20mbit diffserv4 dual-srchost rtt 40ms nat docsis ingress wash \
                ack-filter memlimit 1m fwmark 0xff no-split-gso\n";
    let import = import(line);
    let plan = read(&import);
    let spec = cake(&plan);
    assert_eq!(plan.link.rate, Rate(20_000_000));
    assert_eq!(plan.link.overhead, Overhead { bytes: 4, at_least: 64, framing: Framing::Whole });
    assert_eq!(spec.settings.diffserv, Diffserv::Diffserv4);
    assert_eq!(spec.settings.isolation, Isolation::DualSrchost);
    assert_eq!(spec.settings.rtt, Nanos(40_000_000));
    assert!(spec.settings.ingress && spec.rate.is_none());
    let names: Vec<_> = plan.classes.iter().map(|class| class.name.as_str()).collect();
    assert_eq!(names, ["voice", "video", "bulk", "best-effort"]);
    let told = notes(&import, NoteKind::NotMapped).join("\n");
    assert!(spec.wash);
    assert_eq!(spec.settings.ack_filter, AckFilter::On);
    for part in ["memlimit", "fwmark"] {
        assert!(told.contains(part), "{told}");
    }
    let told = notes(&import, NoteKind::Reading).join("\n");
    assert!(told.contains("nat") && told.contains("no-split-gso"), "{told}");
}

#[test]
fn what_tc_shows_of_cake_is_read() {
    let shown = "qdisc cake 8001: dev wan root refcnt 2 bandwidth 20Mbit besteffort flows nonat nowash no-ack-filter \
                 split-gso rtt 100ms raw overhead 0 \n";
    let plan = read(&import(shown));
    assert_eq!(plan.link.overhead, Overhead::NONE);
    assert_eq!(plan.classes.len(), 1);
    let framed = shown.replace("raw overhead 0", "atm overhead 44 mpu 68");
    let overhead = Overhead { bytes: 30, at_least: 68, framing: Framing::Atm };
    assert_eq!(read(&import(&framed)).link.overhead, overhead);
}

/// Every packet comes to the class of the tin that the kernel puts it into.
#[test]
fn classes_are_tins() {
    for (word, diffserv) in Diffserv::ALL.map(|diffserv| (diffserv.word(), diffserv)) {
        let line = format!("tc qdisc add dev eth0 root cake bandwidth 20mbit {word}\n");
        let plan = read(&import(&line));
        assert_eq!(plan.classes.len(), diffserv.tins());
        let classifier = Classifier::new(&plan);
        for dscp in 0..64 {
            let class = classifier.class(&headers(dscp)).unwrap();
            let own = plan.classes[class.index()].dscp;
            assert_eq!(diffserv.tin(own), diffserv.tin(dscp), "{word} {dscp}");
        }
    }
}

#[test]
fn what_the_kernels_cake_does_not_do_is_refused() {
    let plan = |more: &str, class: &str| {
        parse(&format!(
            "version = 1\nlink = {{ rate = \"8mbit\"{more} }}\nscheduler = {{ kind = \"cake\" }}\n\
             [class.a]\ndscp = \"ef\"\n{class}\n[class.bulk]\ndscp = 8\nmatch = \"dscp {{1, 8}}\"\n\
             [class.rest]\nmatch = \"any\"\n"
        ))
    };
    let refusal = |more: &str, class: &str| {
        linux_plan(&plan(more, class), &Linux::default()).unwrap_err().to_string()
    };
    assert!(refusal("", "match = \"udp dport 5004\"").contains("code points alone"));
    assert!(
        refusal("", "match = \"dscp {4, 34, 44, 46, 48, 56}\"").contains("takes code point 34")
    );
    let arrival = "match = \"dscp {4, 44, 46, 48, 56}\"\npolice = \"drop\"\narrival = { bucket = \"2kB\", rate = \"1mbit\" }";
    assert!(refusal("", arrival).contains("polices nothing"));
    let queue = "match = \"dscp {4, 44, 46, 48, 56}\"\nqueue = { kind = \"droptail\", limit = 9 }";
    assert!(refusal("", queue).contains("queues of its own"));
    assert!(
        refusal(", overhead = \"900b\"", "match = \"dscp {4, 44, 46, 48, 56}\"")
            .contains("to an IP packet")
    );
    assert!(given(&plan("", "match = \"dscp {4, 44, 46, 48, 56}\"")).overhead.is_none());
}

fn any_cake() -> impl Strategy<Value = Cake> {
    let sorts = (0..5usize, 0..8usize, 0..3u32, any::<bool>(), any::<bool>());
    let overhead = prop::option::of((-50..=256i32, 0..=256u32, 0..3usize));
    (sorts, 1..1_000_000_000u64, 1..10_000_000u64, overhead, any::<[bool; 3]>()).prop_map(
        |((diffserv, isolation, ack, nat, wash), bytes, micros, overhead, [gso, ingress, more])| {
            let framing = [Framing::Whole, Framing::Atm, Framing::Ptm];
            Cake {
                rate: Rate(bytes * 8),
                diffserv: Diffserv::ALL[diffserv],
                isolation: Isolation::ALL[isolation],
                rtt: Nanos(micros * 1_000),
                nat,
                wash,
                ack_filter: [AckFilter::Off, AckFilter::On, AckFilter::Aggressive][ack as usize],
                split_gso: gso,
                ingress,
                overhead: overhead.map(|(bytes, at_least, kind)| Overhead {
                    bytes: bytes - 14,
                    at_least,
                    framing: framing[kind],
                }),
                memory: if more { 4 << 20 } else { 0 },
                fwmark: if more { 0xff } else { 0 },
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Words and attributes say the same, whatever they say.
    #[test]
    fn words_and_attributes_come_back(cake in any_cake()) {
        let kind = QdiscKind::Cake(cake);
        let qdisc = Qdisc { handle: Handle::new(1, 0), parent: Handle::ROOT, kind, stab: None };
        let setup = Setup { qdiscs: vec![qdisc.clone()], ..Setup::default() };
        let object = netlink::objects(&setup).remove(0);
        prop_assert_eq!(netlink::item(&object), Some(crate::setup::Item::Qdisc(qdisc)));
        let [told, said] = both_ways(&[object], "").map(Result::unwrap);
        prop_assert_eq!(told.plan, said.plan);
        prop_assert_eq!(told.notes, said.notes);
    }

    /// What is imported is exported as it was, as far as a plan has it.
    #[test]
    fn a_plan_goes_to_linux_and_comes_back(cake in any_cake()) {
        let hosts = !matches!(cake.isolation, Isolation::Flowblind | Isolation::Flows);
        let kept = Cake {
            nat: hosts, split_gso: true, memory: 0, fwmark: 0,
            overhead: cake.overhead.filter(|overhead| *overhead != Overhead::NONE),
            ..cake
        };
        let kind = QdiscKind::Cake(cake);
        let qdisc = Qdisc { handle: Handle::new(1, 0), parent: Handle::ROOT, kind, stab: None };
        let setup = Setup { qdiscs: vec![qdisc], ..Setup::default() };
        let command = netlink::command(&netlink::objects(&setup).remove(0), "eth0");
        let plan = read(&import(&command));
        prop_assert_eq!(given(&plan), kept, "{}", command);
        let there = linux_plan(&plan, &Linux::default()).unwrap();
        for format in [Format::Script, Format::Batch, Format::Json] {
            let written = script(&plan, &there, format);
            prop_assert_eq!(given(&read(&import(&written))), kept, "{}", written);
        }
    }
}
