//! What is built of plans: schedulers where packets are of no class, and what policers look at.

use std::path::Path;

use laxity::admit::Unbounded;
use laxity::packet::{ClassId, Packet};
use laxity::police::Entry;
use laxity::scheduler::DropReason;
use laxity::units::Nanos;

use super::*;
use crate::discipline::Kind;
use crate::model::SchedulerSpec;

const FLAT: &str = "
    class.a = { deadline = '5ms', arrival = { bucket = '3kB', rate = '1mbit' } }
    class.b = { curve = '2mbit' }
    class.c = {}";

const NESTED: &str = "
    class.x = { weight = 2, scheduler.kind = 'edf' }
    class.a = { parent = 'x', deadline = '50ms', arrival = { bucket = '3kB', rate = '1mbit' } }
    class.b.parent = 'x'
    class.c = {}";

fn plan(queue: &str, classes: &str) -> Plan {
    let head = "version = 1\nlink.rate = '10mbit'\nscheduler.kind = 'wf2q'\n";
    let text = format!("{head}{queue}\n{classes}");
    Plan::parse_for(&text, "plan.toml", Path::new(""), Kind::ALL).unwrap()
}

#[test]
fn packets_of_no_class_are_dropped() {
    let queues = [
        "",
        "droptail', limit = 9",
        "red', min = 3, max = 6, limit = 9",
        "choke', min = 3, max = 6, limit = 9",
        "codel', limit = 9",
        "pie', limit = 9",
    ];
    for queue in queues {
        let queue = match queue {
            "" => String::new(),
            kind => format!("class.d.queue = {{ kind = '{kind} }}"),
        };
        for classes in [FLAT, NESTED] {
            let plan = plan(&queue, classes);
            // Time-driven priority is there in networks only; to what orders its best effort this
            // applies.
            for spec in SchedulerSpec::defaults() {
                let mut scheduler = Plan { scheduler: spec, ..plan.clone() }.build_scheduler(1);
                for class in [plan.classes.len() as u32, 70_000, u32::MAX] {
                    let packet = Packet { class: ClassId(class), length: 100, ..Packet::default() };
                    let mut dropped = Vec::new();
                    scheduler.enqueue(Nanos(1), packet, &mut |packet, reason| {
                        dropped.push((packet, reason));
                    });
                    assert_eq!(dropped, [(packet, DropReason::NoClass)], "{spec}");
                    assert_eq!(scheduler.next_ready(Nanos(1)), None, "{spec}");
                }
            }
        }
    }
}

/// Each line is something that bounds count on, and the first packets that are otherwise.
#[test]
fn what_bounds_count_on_is_policed() {
    let within = (0u64, 800u32);
    for (contract, otherwise) in [
        // The bucket and its rate: 700 bytes are left, and 100 more are there after 0.8 ms.
        ("bucket = '1500b', rate = '1mbit'", vec![within, (0, 800)]),
        ("bucket = '1500b', rate = '1mbit'", vec![within, (799_999, 800)]),
        // The peak: 200 bytes of the largest packet are left, and 600 more are there after 4.8 ms.
        (
            "bucket = '9000b', rate = '1mbit', packet = '1000b', peak = '1mbit'",
            vec![within, (4_799_999, 800)],
        ),
        // The largest packet of the class, and that of the link.
        ("bucket = '9000b', rate = '1mbit', packet = '1000b'", vec![(0, 1_001)]),
        ("bucket = '9000b', rate = '1mbit'", vec![(0, 1_201)]),
        // The shortest packet of the class, and that of the link.
        ("bucket = '9000b', rate = '1mbit', packet = { at-least = '500b' }", vec![(0, 499)]),
        ("bucket = '9000b', rate = '1mbit'", vec![(0, 99)]),
    ] {
        let text = format!(
            "version = 1\nlink = {{ rate = '10mbit', max-packet = '1200b', min-packet = '100b' }}\n\
             scheduler.kind = 'fifo'\nclass.a = {{ police = 'drop', arrival = {{ {contract} }} }}"
        );
        let plan = Plan::parse(&text, "plan.toml", Path::new("")).unwrap();
        let mut policer = plan.policer(Nanos::ZERO);
        let mut admits = |(at, length): (u64, u32)| {
            let mut packet = Packet { length, ..Packet::default() };
            policer.police(Nanos(at), &mut packet) == Entry::Conforming
        };
        let (last, before) = otherwise.split_last().unwrap();
        assert!(before.iter().all(|packet| admits(*packet)), "{contract}");
        assert!(!admits(*last), "{contract}");
        assert!(admits((last.0 + 100_000_000, 800)), "{contract}");
    }
}

/// What `check` says of a class whose demoted packets stay in its queue, under each discipline that
/// bounds delays.
#[test]
fn demoted_packets_that_stay_are_the_reason() {
    let text = "version = 1\nlink.rate = '10mbit'\nscheduler.kind = 'edf'\n\
                [class.a]\ndeadline = '50ms'\nlevel = 0\npolice = 'demote'\narrival = { bucket = '3kB', rate = '1mbit' }\n\
                [class.b]\ndeadline = '50ms'\nlevel = 1\narrival = { bucket = '3kB', rate = '1mbit' }";
    let plan = Plan::parse_for(text, "plan.toml", Path::new(""), Kind::ALL).unwrap();
    for scheduler in SchedulerSpec::defaults() {
        let plan = Plan { scheduler, ..plan.clone() };
        let bounds = plan.bounds();
        let proof = &scheduler.room().proof;
        let (demotes, beside) = (bounds[0], bounds[1]);
        match (proof.sets_demoted_behind, beside) {
            (_, Err(Unbounded::NoGuarantee)) => {
                assert_eq!(demotes, Err(Unbounded::NoGuarantee), "{scheduler}");
            }
            (true, _) => assert!(demotes.is_ok() && beside.is_ok(), "{scheduler}: {bounds:?}"),
            (false, _) => {
                assert_eq!(demotes, Err(Unbounded::Demotes), "{scheduler}");
                let waits = (proof.waits_behind)(&plan)(ClassId(1), ClassId(0));
                let unknown = Err(Unbounded::UnknownCrossTraffic);
                assert!(beside.is_ok() || waits && beside == unknown, "{scheduler}: {beside:?}");
            }
        }
    }
}

/// A gap is policed where bounds count on it, and nowhere else.
#[test]
fn gaps_are_policed_where_bounds_count_on_them() {
    let classes = "class.a = { gap = '8ms', count = 2 }\nclass.b = {}";
    let plan = plan("", classes);
    let conforming = |scheduler: &str| {
        let plan = plan.clone().under(scheduler).unwrap();
        let mut policer = plan.policer(Nanos::ZERO);
        let mut conforms = |at: u64, length| {
            let mut packet = Packet { length, ..Packet::default() };
            policer.police(Nanos(at), &mut packet) == Entry::Conforming
        };
        let longest = plan.link.max_packet.0 as u32;
        [(0, longest), (0, longest), (0, longest), (3_999_999, longest), (4_000_001, longest)]
            .map(|(at, length)| conforms(at, length))
    };
    assert_eq!(conforming("edf"), [true, true, false, false, true]);
    for other in SchedulerSpec::defaults().filter(|other| other.kind() != Kind::Edf) {
        assert_eq!(conforming(other.name()), [true; 5], "{other}");
    }
}
