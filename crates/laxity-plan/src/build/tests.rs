//! Every scheduler that a plan can ask for keeps the contract where packets are of no class.

use std::path::Path;

use laxity::packet::{ClassId, Packet};
use laxity::scheduler::DropReason;
use laxity::units::Nanos;

use super::*;
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
    Plan::parse(&format!("{head}{queue}\n{classes}"), "plan.toml", Path::new("")).unwrap()
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
            // Time-driven priority is there in networks only; to what orders its best effort this applies.
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
