//! The kernel's hfsc below its token bucket, written from what they do (Linux 6.1,
//! net/sched/sch_hfsc.c and sch_tbf.c), with a timer that is late, beside the bounds that are
//! proved of plans there.

use std::collections::VecDeque;
use std::path::Path;

use laxity::units::Nanos;
use laxity_plan::Plan;
use proptest::prelude::*;

use super::hfsc::Integers;
use super::{Linux, linux_plan};
use crate::setup::{Class, ClassKind, QdiscKind, Setup, Tbf};

const TICK: u64 = 64;
const SM_SHIFT: u32 = 24;
const ISM_SHIFT: u32 = 14;

/// `struct runtime_sc`, of a curve.
#[derive(Clone, Copy)]
struct Runtime {
    x: u64,
    y: u64,
    dx: u64,
    dy: u64,
    isc: Integers,
}

fn x2y(x: u64, sm: u64) -> u64 {
    ((u128::from(x) * u128::from(sm)) >> SM_SHIFT) as u64
}

fn y2x(y: u64, ism: u64) -> u64 {
    if y == 0 { 0 } else { ((u128::from(y) * u128::from(ism)) >> ISM_SHIFT).min(1 << 62) as u64 }
}

impl Runtime {
    fn new(isc: Integers) -> Self {
        Runtime { x: 0, y: 0, dx: isc.dx, dy: isc.dy, isc }
    }

    fn time(&self, y: u64) -> u64 {
        if y < self.y {
            self.x
        } else if y <= self.y + self.dy {
            self.x + if self.dy == 0 { self.dx } else { y2x(y - self.y, self.isc.ism1) }
        } else {
            self.x + self.dx + y2x(y - self.y - self.dy, self.isc.ism2)
        }
    }

    fn service(&self, x: u64) -> u64 {
        if x <= self.x {
            self.y
        } else if x <= self.x + self.dx {
            self.y + x2y(x - self.x, self.isc.sm1)
        } else {
            self.y + self.dy + x2y(x - self.x - self.dx, self.isc.sm2)
        }
    }

    /// `rtsc_min`.
    fn min(&mut self, x: u64, y: u64) {
        let isc = self.isc;
        let now = self.service(x);
        if isc.sm1 <= isc.sm2 {
            if now >= y {
                (self.x, self.y) = (x, y);
            }
            return;
        }
        if now <= y {
            return;
        }
        if self.service(x + isc.dx) >= y + isc.dy {
            (self.x, self.y, self.dx, self.dy) = (x, y, isc.dx, isc.dy);
            return;
        }
        let mut dx = ((now - y) << SM_SHIFT) / (isc.sm1 - isc.sm2);
        if self.x + self.dx > x {
            dx += self.x + self.dx - x;
        }
        (self.x, self.y, self.dx, self.dy) = (x, y, dx, x2y(dx, isc.sm1));
    }
}

/// `struct hfsc_class`, of a leaf, as far as real time goes.
struct Leaf {
    real_time: Option<(Runtime, Runtime)>,
    cumul: u64,
    e: u64,
    d: u64,
    /// Whether it has a link-sharing curve.
    shares: bool,
    queue: VecDeque<(u64, u32)>,
    longest: u64,
}

impl Leaf {
    fn eligible(&mut self) {
        let Some((deadline, eligible)) = &mut self.real_time else { return };
        *eligible = *deadline;
        if deadline.isc.sm1 <= deadline.isc.sm2 {
            (eligible.dx, eligible.dy) = (0, 0);
        }
    }

    fn update(&mut self, both: bool) {
        let (Some((deadline, eligible)), Some((_, next))) = (&self.real_time, self.queue.front())
        else {
            return;
        };
        if both {
            self.e = eligible.time(self.cumul);
        }
        self.d = deadline.time(self.cumul + u64::from(*next));
    }

    fn enqueue(&mut self, now: u64, length: u32) {
        self.queue.push_back((now, length));
        if self.queue.len() > 1 {
            return;
        }
        let (x, y) = (now / TICK, self.cumul);
        if let Some((deadline, _)) = &mut self.real_time {
            deadline.min(x, y);
        }
        self.eligible();
        self.update(true);
    }
}

/// The interface: hfsc below tbf.
struct Interface {
    leaves: Vec<Leaf>,
    tbf: Tbf,
    tokens: u64,
    at: u64,
    held: Option<(usize, u64, u32)>,
}

impl Interface {
    /// `hfsc_dequeue`: a packet, or when one may be. Link-sharing serves whom it likes.
    fn hfsc(&mut self, now: u64, whim: usize) -> Result<(usize, u64, u32), Option<u64>> {
        let cur = now / TICK;
        let waiting = |leaf: &Leaf| !leaf.queue.is_empty();
        let of = |take: &dyn Fn(&Leaf) -> bool| -> Vec<usize> {
            (0..self.leaves.len()).filter(|at| take(&self.leaves[*at])).collect()
        };
        let real = of(&|leaf| waiting(leaf) && leaf.real_time.is_some());
        let due = real.iter().copied().filter(|at| self.leaves[*at].e <= cur);
        let first = due.min_by_key(|at| self.leaves[*at].d);
        let shared = of(&|leaf| waiting(leaf) && leaf.shares);
        let Some(at) = first.or_else(|| shared.get(whim % shared.len().max(1)).copied()) else {
            return Err(real.into_iter().map(|at| self.leaves[at].e * TICK).min());
        };
        let leaf = &mut self.leaves[at];
        let (came, length) = leaf.queue.pop_front().unwrap();
        if first.is_some() {
            leaf.cumul += u64::from(length);
        }
        leaf.update(first.is_some());
        Ok((at, came, length))
    }

    /// `tbf_dequeue`, as often as it sends; when it wants to be woken.
    fn run(&mut self, now: u64, whim: &mut impl FnMut() -> usize) -> Option<u64> {
        let time = |length: u32| u64::from(length) * 8_000_000_000 / self.tbf.rate.0;
        let buffer = time(self.tbf.burst);
        loop {
            if self.held.is_none() {
                match self.hfsc(now, whim()) {
                    Ok(packet) => self.held = Some(packet),
                    Err(later) => return later,
                }
            }
            let (at, came, length) = self.held?;
            let tokens = (self.tokens + (now - self.at)).min(buffer);
            let needed = u64::from(length) * 8_000_000_000 / self.tbf.rate.0;
            if tokens < needed {
                return Some(now + needed - tokens);
            }
            (self.tokens, self.at, self.held) = (tokens - needed, now, None);
            self.leaves[at].longest = self.leaves[at].longest.max(now - came);
        }
    }
}

const LINK: u64 = 20_000_000;

/// A class: its curve, and a contract that it can serve.
#[derive(Clone, Debug)]
struct Drawn {
    m2: u64,
    steeper: u64,
    d: u64,
    convex: bool,
    bucket: u32,
    packet: u32,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let curve = (64_000u64..6_000_000, 1u64..8_000_000, 500u64..40_000, any::<bool>());
    (curve, 300u32..6_000, 64u32..1_515).prop_map(|((m2, steeper, d, convex), bucket, packet)| {
        Drawn { m2, steeper, d, convex, bucket, packet: packet.min(bucket) }
    })
}

fn plan(classes: &[Drawn]) -> Plan {
    let mut text = format!(
        "version = 1\nlink = {{ rate = \"{LINK}bit\" }}\nscheduler = {{ kind = \"hfsc\" }}\n"
    );
    for (at, class) in classes.iter().enumerate() {
        let Drawn { m2, steeper, d, convex, bucket, packet } = class;
        let m1 = if *convex { 0 } else { m2 + steeper };
        text += &format!(
            "[class.c{at}]\nreal-time = {{ m1 = \"{m1}bit\", d = \"{d}us\", m2 = \"{m2}bit\" }}\n\
             arrival = {{ bucket = \"{bucket}b\", rate = \"{m2}bit\", packet = \"{packet}b\" }}\nmatch = \"udp dport {}\"\n",
            5_000 + at
        );
    }
    text += "[class.rest]\nlink-share = \"1mbit\"\nmatch = \"any\"\n";
    Plan::parse(&text, "plan.toml", Path::new("")).unwrap()
}

/// The longest delay of each class in ns, under bursts of the contracts at the given times.
fn longest(plan: &Plan, setup: &Setup, timer: u64, times: &[u32], whims: &[u16]) -> Vec<u64> {
    let QdiscKind::Tbf(tbf) = setup.qdiscs[0].kind else { panic!("a token bucket is first") };
    let leaf = |class: &Class| {
        let ClassKind::Hfsc(curves) = &class.kind else { panic!("classes of hfsc") };
        let runtime = curves.rsc.map(|rsc| Runtime::new(Integers::from(rsc)));
        Leaf {
            real_time: runtime.map(|runtime| (runtime, runtime)),
            cumul: 0,
            e: 0,
            d: 0,
            shares: curves.fsc.is_some(),
            queue: VecDeque::new(),
            longest: 0,
        }
    };
    let leaves = setup.classes.iter().map(leaf).collect();
    let mut at_will = whims.iter().cycle().map(|whim| usize::from(*whim));
    let mut whim = move || at_will.next().unwrap_or(0);
    // What comes: all that the contracts allow at each time, and full packets of the rest.
    let mut arrivals: Vec<(u64, usize, u32)> = Vec::new();
    for (at, class) in plan.classes.iter().enumerate() {
        let (mut left, mut last) = (0u128, 0u64);
        let mut now = 0u64;
        for (turn, gap) in times.iter().enumerate() {
            now += u64::from(*gap);
            let Some(arrival) = &class.arrival else {
                if turn % 3 != 0 {
                    continue;
                }
                arrivals.extend([(now, at, 1_514); 4]);
                continue;
            };
            let bucket = arrival.buckets[0];
            let full = u128::from(bucket.bucket.0) * 8_000_000_000;
            if turn == 0 {
                left = full;
            }
            left = (left + u128::from(bucket.rate.0) * u128::from(now - last)).min(full);
            last = now;
            // Classes skip turns, so that they fall idle and come back.
            if (turn + at) % 4 == 3 {
                continue;
            }
            let packet = arrival.packet.unwrap().0 as u32;
            loop {
                let bytes = u128::from(packet).min(left / 8_000_000_000) as u32;
                if bytes == 0 {
                    break;
                }
                left -= u128::from(bytes) * 8_000_000_000;
                arrivals.push((now, at, bytes));
            }
        }
    }
    arrivals.sort_by_key(|(now, ..)| *now);
    let (tokens, at, held) = (u64::from(tbf.burst) * 8_000_000_000 / tbf.rate.0, 0, None);
    let mut interface = Interface { leaves, tbf, tokens, at, held };
    let mut woken: Option<u64> = None;
    let mut arrivals = arrivals.into_iter().peekable();
    loop {
        let next = arrivals.peek().map(|(now, ..)| *now);
        let now = match (next, woken) {
            (None, None) => break,
            (Some(now), None) | (None, Some(now)) => now,
            (Some(now), Some(timer)) => now.min(timer),
        };
        while let Some((_, at, length)) = arrivals.next_if(|(when, ..)| *when == now) {
            interface.leaves[at].enqueue(now, length);
        }
        // An arrival wakes the discipline as well, so lateness shows where none comes.
        let late = whim() as u64 * timer / u64::from(u16::MAX);
        woken = interface.run(now, &mut whim).map(|when| when.max(now) + late.max(1));
    }
    interface.leaves.iter().map(|leaf| leaf.longest).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    /// No packet of a class that keeps to its contract is later than its bound under Linux.
    #[test]
    fn no_packet_is_later_than_its_bound(
        classes in prop::collection::vec(drawn(), 1..5),
        times in prop::collection::vec(prop_oneof![1u32..50_000, 50_000u32..20_000_000], 4..24),
        whims in prop::collection::vec(any::<u16>(), 7..31),
        micros in 0u64..8_000,
    ) {
        let plan = plan(&classes);
        let linux = Linux { timer: Nanos(micros * 1_000), ..Linux::default() };
        let there = linux_plan(&plan, &linux).unwrap();
        let bounds = there.plan.bounds();
        prop_assume!(bounds[0].is_ok());
        let longest = longest(&plan, &there.setup, linux.timer.0, &times, &whims);
        for (bound, longest) in bounds.into_iter().zip(longest) {
            if let Ok(bound) = bound {
                prop_assert!(longest <= bound.0, "{longest} ns, and the bound is {bound}");
            }
        }
    }
}

/// A timer that is 4 ms late delays a packet by nearly as much, beyond the bound without it.
#[test]
fn the_timer_counts() {
    let voice = Drawn {
        m2: 1_000_000,
        steeper: 7_000_000,
        d: 500,
        convex: false,
        bucket: 500,
        packet: 250,
    };
    let plan = plan(&[voice]);
    let there = linux_plan(&plan, &Linux { timer: Nanos(4_000_000), ..Linux::default() }).unwrap();
    let punctual = linux_plan(&plan, &Linux { timer: Nanos(0), ..Linux::default() }).unwrap();
    // Backlog that empties the bucket; then a packet that wakes the link, and voice just behind it.
    let mut times = vec![1; 15];
    times.extend([5_000_000, 1]);
    let late = longest(&plan, &there.setup, 4_000_000, &times, &[u16::MAX])[0];
    let (with, without) = (there.plan.bounds()[0].unwrap(), punctual.plan.bounds()[0].unwrap());
    assert!(without.0 < late && late <= with.0, "{without} < {late} ns <= {with}");
}
