//! What grows with the number of circuits, and what does not.

use std::path::Path;
use std::time::{Duration, Instant};

use laxity::packet::Ecn;
use laxity::units::Nanos;
use laxity_forward::{Event, Forwarder, Frame, PreparedPlan, Settings};
use laxity_plan::Plan;

use crate::circuits::{self, Upper};

const FEW: usize = 10;
const MANY: usize = 10_000;

/// Keys of circuits under every discipline that shares the link among them.
const KINDS: [(Upper, &str); 5] = [
    (Upper::Wf2q, "scheduler = { kind = \"fq-codel\" }"),
    (Upper::Wf2q, "scheduler = { kind = \"cake\", diffserv = \"besteffort\", flows = 16 }"),
    (Upper::Hfsc, "scheduler = { kind = \"fq-codel\" }"),
    (Upper::Hfsc, "queue = { kind = \"codel\", limit = 1000 }"),
    (Upper::Drr, "scheduler = { kind = \"fq-codel\" }"),
];

/// Flows of a circuit.
const FLOWS: u16 = 4;
/// Packets that arrive at one instant.
const TOGETHER: usize = 32;
/// Beyond what caches cost, and far below a thousand, the cost of a look at each circuit.
const MOST: u32 = 25;

struct Circuits {
    forwarder: Forwarder,
    count: usize,
    now: Nanos,
    next: usize,
}

impl Circuits {
    fn new(upper: Upper, key: &str, count: usize) -> Self {
        let plan = parse(&circuits::plan(upper, key, count));
        // All flows are remembered.
        let settings = Settings { flows: 1 << 17, ..Settings::default() };
        let forwarder = Forwarder::new(plan, settings).expect("a plan of a link");
        Circuits { forwarder, count, now: Nanos(1), next: 0 }
    }

    /// Packets arrive that fill nine tenths of the link; what may be sent is sent.
    fn run(&mut self, packets: usize, sink: &mut dyn FnMut(&Event)) {
        for _ in 0..packets / TOGETHER {
            let frames: [Frame; TOGETHER] = std::array::from_fn(|handle| {
                self.next = self.next.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1_013);
                let circuit = (self.next >> 33) % self.count;
                let headers = circuits::headers(circuit, (self.next >> 20) as u16 % FLOWS);
                Frame {
                    headers,
                    ecn: Ecn::NotCapable,
                    length: 1000,
                    handle: handle as u64,
                    ..Frame::default()
                }
            });
            self.now += Nanos(TOGETHER as u64 * 888);
            self.forwarder.arrive_together(self.now, &frames, sink);
            self.forwarder.poll(self.now, sink);
        }
    }
}

fn parse(text: &str) -> Plan {
    Plan::parse(text, "circuits.toml", Path::new(".")).expect("a plan")
}

#[test]
fn no_packet_takes_a_look_at_every_circuit() {
    for (upper, key) in KINDS {
        let mut both = [FEW, MANY].map(|count| Circuits::new(upper, key, count));
        // All flows are known before.
        both.iter_mut().for_each(|circuits| circuits.run(8 * circuits.count, &mut |_| {}));
        let mut least = [Duration::MAX; 2];
        for _ in 0..20 {
            for (circuits, least) in both.iter_mut().zip(&mut least) {
                let begin = Instant::now();
                circuits.run(1_600, &mut |_| {});
                *least = begin.elapsed().min(*least);
            }
        }
        let [few, many] = least;
        assert!(
            many < few * MOST,
            "{upper:?}, {key}: {few:?} with {FEW} circuits, {many:?} with {MANY}"
        );
    }
}

#[test]
fn a_circuit_takes_eight_kilobytes_at_most() {
    for (upper, key) in KINDS {
        let mut circuits = Circuits::new(upper, key, MANY);
        circuits.run(8 * MANY, &mut |_| {});
        let each = circuits.forwarder.footprint() / MANY;
        assert!(each <= 8_000, "{upper:?}, {key}: {each} bytes");
    }
}

/// What the thread that forwards does of a reload depends on what is queued alone.
#[test]
fn a_reload_takes_as_long_with_many_circuits_as_with_few() {
    for (upper, key) in KINDS {
        let least = [FEW, MANY].map(|count| {
            let mut circuits = Circuits::new(upper, key, count);
            circuits.run(3_200, &mut |_| {});
            let queued = (0..100).map(|handle| Frame {
                headers: circuits::headers(handle as usize % count, 0),
                ecn: Ecn::NotCapable,
                length: 1000,
                handle,
                ..Frame::default()
            });
            let queued: Vec<Frame> = queued.collect();
            circuits.forwarder.arrive_together(circuits.now, &queued, &mut |_| {});
            let text = circuits::plan(upper, key, count);
            let rounds = (1..=5).map(|round| {
                let changed = text.replace("weight = 0.01", &format!("weight = 0.0{round}"));
                let mut next = PreparedPlan::new(parse(&changed), circuits.forwarder.settings())
                    .expect("a plan of a link");
                let before = circuits.forwarder.backlog();
                let begin = Instant::now();
                circuits.forwarder.reload(circuits.now, &mut next, &mut |_| {}).expect("it fits");
                let took = begin.elapsed();
                assert_eq!(circuits.forwarder.backlog(), before);
                took
            });
            rounds.min().expect("five rounds")
        });
        let [few, many] = least;
        assert!(
            many < few * MOST,
            "{upper:?}, {key}: {few:?} with {FEW} circuits, {many:?} with {MANY}"
        );
    }
}
