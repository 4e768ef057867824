//! A call beside an upload on 10 Mbit/s: how long the call's packets take under several
//! disciplines, and what was proved of that before the first was sent.
//!
//! Time is an argument of every call, so a simulation is a loop: let in what has arrived by now,
//! send the next packet, go on to when its last bit leaves.

use laxity::admit::edf::{RealTime, System};
use laxity::curve::Curve;
use laxity::error::SetupError;
use laxity::link::Link;
use laxity::packet::{ClassId, Packet};
use laxity::police::TokenBucket;
use laxity::sched::edf::{Assign, BestEffort};
use laxity::sched::{Drr, Edf, Fifo, Priority, Wfq};
use laxity::scheduler::{DropReason, Scheduler};
use laxity::units::{Bytes, Nanos, Rate};

const RATE: Rate = Rate(10_000_000);
const DEADLINE: Nanos = Nanos(5_000_000);
const CALL: ClassId = ClassId(0);
const UPLOAD: ClassId = ClassId(1);

fn main() -> Result<(), SetupError> {
    let bound = bound();
    println!("The call's packets are due after {DEADLINE}; EDF is proved to take {bound}.");
    let edf = Edf::new(&[Some(DEADLINE), None], BestEffort::by_arrival(Assign::Background));
    let disciplines: [(&str, Box<dyn Scheduler>); 5] = [
        ("fifo", Box::new(Fifo::new())),
        ("drr", Box::new(Drr::new(&[1_500, 13_500])?)),
        ("wfq", Box::new(Wfq::new(RATE, &[1, 9])?)),
        ("priority", Box::new(Priority::new(&[0, 1]))),
        ("edf", Box::new(edf)),
    ];
    let mut longest = [Nanos::ZERO; 5];
    for ((name, scheduler), longest) in disciplines.into_iter().zip(&mut longest) {
        *longest = longest_delay_of_the_call(scheduler);
        println!("{name:8} {longest}");
    }
    let [fifo, .., edf] = longest;
    assert!(edf <= bound, "what was proved holds");
    assert!(fifo > DEADLINE, "without a scheduler the upload is in the way");
    Ok(())
}

/// What an EDF link guarantees to a call that sends up to 300 bytes at once and 100 kbit/s.
fn bound() -> Nanos {
    let arrival = vec![TokenBucket { bucket: Bytes(300), rate: Rate(100_000) }];
    let system = System {
        rate: RATE,
        latency: Nanos::ZERO,
        max_packet: Bytes(1_500),
        real_time: vec![RealTime { deadline: DEADLINE, arrival, packet: Bytes(150) }],
        best_effort_packet: Some(Bytes(1_500)),
    };
    let admission = system.test(&Curve::zero());
    admission.classes[0].bound.expect("a call takes a hundredth of the link")
}

/// A packet of the call every 20 ms for 10 s, beside an upload that always has 20 packets queued.
fn longest_delay_of_the_call(mut scheduler: Box<dyn Scheduler>) -> Nanos {
    let mut drops = |packet: Packet, reason: DropReason| panic!("{packet:?}: {}", reason.name());
    let (mut now, mut link) = (Nanos::ZERO, Link::new(RATE));
    let mut call = (1..=500).map(|n| Nanos(n * 20_000_000)).peekable();
    let (mut uploading, mut longest) = (0, Nanos::ZERO);
    while call.peek().is_some() || scheduler.backlog().packets > uploading {
        while let Some(arrival) = call.next_if(|arrival| *arrival <= now) {
            let packet = Packet { class: CALL, length: 150, arrival, ..Packet::default() };
            scheduler.enqueue(now, packet, &mut drops);
        }
        while uploading < 20 {
            let packet = Packet { class: UPLOAD, length: 1_500, arrival: now, ..Packet::default() };
            scheduler.enqueue(now, packet, &mut drops);
            uploading += 1;
        }
        let sent = scheduler.dequeue(now, &mut drops).expect("the upload always has packets");
        now = link.transmit(now, sent.packet.length);
        match sent.packet.class {
            CALL => longest = longest.max(now - sent.packet.arrival),
            _ => uploading -= 1,
        }
    }
    longest
}
