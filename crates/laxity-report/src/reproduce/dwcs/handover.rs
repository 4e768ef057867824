//! Figure 5(b): handing packets over through rings without locks, and through the same rings behind
//! POSIX semaphores.

use std::hint::black_box;
use std::pin::Pin;
use std::time::Instant;

use laxity::packet::Packet;
use rtrb::{Consumer, Producer, RingBuffer};
use sem_safe::SemaphoreRef;
use sem_safe::unnamed::Semaphore;

use super::{Part, Step, median};
use crate::chart::{Axis, Chart, Mark, Series, Style, Unit};
use crate::reproduce::claims::Measured;
use crate::table;

const RATIO: &str = "handing over through semaphores in % of rings (Fig. 5b)";

const STREAMS: [usize; 4] = [80, 240, 480, 760];
const PACKETS: usize = 200_000;
/// Room for each stream.
const ROOM: usize = 64;
const ROUNDS: usize = 9;
const ROUNDS_IF_SHORTENED: usize = 5;

/// How many runs there are.
pub fn runs() -> u64 {
    STREAMS.len() as u64
}

/// ns a packet, round by round.
struct Cost {
    streams: usize,
    rings: Vec<f64>,
    semaphores: Vec<f64>,
}

/// Times it all.
pub fn repeat(shortened: bool, step: Step<'_>, measured: &mut Measured) -> Part {
    let rounds = if shortened { ROUNDS_IF_SHORTENED } else { ROUNDS };
    let costs = STREAMS.map(|streams| {
        let semaphores: Vec<_> = (0..streams).map(|_| Box::pin(Semaphore::uninit())).collect();
        let locks: Vec<_> = semaphores.iter().map(|semaphore| open(semaphore.as_ref())).collect();
        let mut cost = Cost { streams, rings: Vec::new(), semaphores: Vec::new() };
        for _ in 0..rounds {
            cost.rings.push(nanos(streams, &[]));
            cost.semaphores.push(nanos(streams, &locks));
        }
        step();
        cost
    });
    for cost in &costs {
        let ratios = cost.semaphores.iter().zip(&cost.rings);
        let ratio = median(ratios.map(|(semaphores, rings)| semaphores / rings * 100.0).collect());
        measured.add(RATIO, &format!("{} streams", cost.streams), ratio);
    }
    Part {
        figures: vec![("figure-5b".to_string(), figure(&costs))],
        tables: vec![(
            format!("Figure 5(b): ns a packet, median of {rounds} rounds"),
            cost_table(&costs),
        )],
    }
}

fn open(semaphore: Pin<&Semaphore>) -> SemaphoreRef<'_> {
    semaphore.init_with(false, 1).expect("a semaphore that nobody has opened")
}

/// Puts a packet into every stream's ring and takes them out again, over and over, on one thread: the
/// least that either costs, for nobody is ever waited for. The stream's semaphore is held meanwhile,
/// if there is one.
fn nanos(streams: usize, locks: &[SemaphoreRef<'_>]) -> f64 {
    let (mut producers, mut consumers): (Vec<_>, Vec<_>) =
        (0..streams).map(|_| RingBuffer::new(ROOM)).unzip();
    let rounds = PACKETS / streams;
    let begin = Instant::now();
    for round in 0..rounds {
        for (stream, ring) in producers.iter_mut().enumerate() {
            locked(locks.get(stream), || put(ring, round));
        }
        for (stream, ring) in consumers.iter_mut().enumerate() {
            locked(locks.get(stream), || take(ring, round));
        }
    }
    begin.elapsed().as_nanos() as f64 / (rounds * streams) as f64
}

fn put(ring: &mut Producer<Packet>, number: usize) {
    let packet = Packet { handle: number as u64, ..Packet::default() };
    ring.push(packet).expect("the ring was emptied");
}

fn take(ring: &mut Consumer<Packet>, number: usize) {
    let packet = ring.pop().expect("the ring was filled");
    assert_eq!(black_box(packet).handle, number as u64);
}

fn locked(lock: Option<&SemaphoreRef<'_>>, act: impl FnOnce()) {
    let Some(lock) = lock else { return act() };
    // A signal may interrupt the wait.
    while lock.wait().is_err() {}
    act();
    lock.post().expect("the semaphore is held once");
}

fn figure(costs: &[Cost]) -> String {
    let line = |at: usize, name: &str, times: fn(&Cost) -> &Vec<f64>| Series {
        name: name.to_string(),
        mark: Mark::Line,
        style: Style::of(at),
        points: costs
            .iter()
            .map(|cost| (cost.streams as f64, median(times(cost).clone()) * 1e-9))
            .collect(),
    };
    Chart {
        title: "A packet put in and taken out, nobody waited for".to_string(),
        x: Axis::linear("Streams", Unit::Count),
        y: Axis::linear("", Unit::Time),
        series: vec![
            line(0, "rings", |cost| &cost.rings),
            line(1, "rings behind semaphores", |cost| &cost.semaphores),
        ],
        markers: Vec::new(),
    }
    .svg()
}

fn cost_table(costs: &[Cost]) -> String {
    let row = |cost: &Cost| {
        let times =
            [&cost.rings, &cost.semaphores].map(|times| format!("{:.0}", median(times.clone())));
        [cost.streams.to_string()].into_iter().chain(times).collect()
    };
    let header = ["streams", "rings", "rings behind semaphores"];
    table::table(&header, &costs.iter().map(row).collect::<Vec<_>>())
}
