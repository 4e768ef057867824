//! Figure 5(b): handing packets over through rings without locks, and through the same rings behind
//! POSIX semaphores.

use std::hint::black_box;
use std::pin::Pin;
use std::time::Instant;

use laxity::packet::Packet;
use rtrb::{Consumer, Producer, RingBuffer};
use sem_safe::SemaphoreRef;
use sem_safe::unnamed::Semaphore;

use super::pairs::{self, Pair, Presentation};
use crate::claims::Measurements;
use crate::experiment::{Part, Runs, median};
use laxity_report::chart::{Axis, Unit};

const RATIO: &str = "handing over through semaphores in % of rings (Fig. 5b)";

const STREAMS: [u32; 4] = [80, 240, 480, 760];
const PACKETS: usize = 200_000;
/// Room for each stream: no more than is ever used, lest the machine's memory be what is timed.
const ROOM: usize = 1;

/// Number of runs.
pub(super) const RUNS: u64 = STREAMS.len() as u64;

/// Times it all.
pub(super) fn repeat(runs: Runs<'_>, measured: &mut Measurements) -> Part {
    let rounds = pairs::rounds(runs);
    let costs = STREAMS.map(|streams| {
        let semaphores: Vec<_> = (0..streams).map(|_| Box::pin(Semaphore::uninit())).collect();
        let locks: Vec<_> = semaphores.iter().map(|semaphore| open(semaphore.as_ref())).collect();
        let pair = Pair::time(streams, rounds, || {
            [&[], &locks[..]].map(|locks| nanos(streams as usize, locks))
        });
        (runs.step)();
        pair
    });
    costs.iter().for_each(|cost| cost.measure(RATIO, measured));
    let shown = Presentation {
        figure: "figure-5b",
        title: "A packet put in and taken out, nobody waited for",
        axes: [Axis::linear("Streams", Unit::Count), Axis::linear("", Unit::Time)],
        heading: format!("Figure 5(b): ns a packet, median of {rounds} rounds"),
        ways: ["rings", "rings behind semaphores"],
    };
    shown.part(&costs)
}

fn open(semaphore: Pin<&Semaphore>) -> SemaphoreRef<'_> {
    semaphore.init_with(false, 1).expect("a semaphore that nobody has opened")
}

/// Puts a packet into every stream's ring and takes them out again, over and over, on one thread,
/// so that nothing ever waits. With locks, the stream's semaphore is held meanwhile. Each round is
/// timed, and the median counts, since short disturbances of the machine fall on few.
fn nanos(streams: usize, locks: &[SemaphoreRef<'_>]) -> f64 {
    let (mut producers, mut consumers): (Vec<_>, Vec<_>) =
        (0..streams).map(|_| RingBuffer::new(ROOM)).unzip();
    let times = (0..PACKETS / streams).map(|round| {
        let begin = Instant::now();
        for (stream, ring) in producers.iter_mut().enumerate() {
            locked(locks.get(stream), || put(ring, round));
        }
        for (stream, ring) in consumers.iter_mut().enumerate() {
            locked(locks.get(stream), || take(ring, round));
        }
        begin.elapsed().as_nanos() as f64 / streams as f64
    });
    median(times.collect())
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
