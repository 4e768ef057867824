//! Producers that send all they can, beside one whose packets are promised a delay.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use laxity::histogram::Delays;
use laxity::packet::{ClassId, FlowId, Packet};
use laxity::sched::edf::{Assign, BestEffort};
use laxity::sched::{Edf, Priority, Wfq};
use laxity::scheduler::{Dispatch, DropReason, Scheduler};
use laxity::units::{Bytes, Nanos, Rate};
use proptest::prelude::*;

use crate::{Engine, Pace, Settings, Sink};

const PROMISED: ClassId = ClassId(0);
const BULK: ClassId = ClassId(1);
const RATE: Rate = Rate(80_000_000);
/// 20 µs on the link.
const PROMISED_LENGTH: u32 = 200;
/// 150 µs on the link.
const BULK_LENGTH: u32 = 1_500;
const PAUSE: Duration = Duration::from_millis(1);
const PACKETS: u64 = 150;

/// How long promised packets wait in their ring, and in the scheduler. The payload is when a packet
/// was sent.
#[derive(Default)]
struct Waits {
    ring: Delays,
    scheduler: Delays,
    dropped: u64,
}

impl Sink<Nanos> for Waits {
    fn sent(&mut self, dispatch: Dispatch, starts_at: Nanos, sent_at: Nanos) {
        if dispatch.packet.class == PROMISED {
            self.ring.record(dispatch.packet.arrival.saturating_sub(sent_at));
            self.scheduler.record(starts_at.saturating_sub(dispatch.packet.arrival));
        }
    }

    fn dropped(&mut self, packet: Packet, _: DropReason, _: Nanos) {
        self.dropped += u64::from(packet.class == PROMISED);
    }
}

fn packet(class: ClassId, length: u32) -> Packet {
    Packet { class, flow: FlowId(class.0), length, ..Packet::default() }
}

/// How a producer treats others.
#[derive(Clone, Copy, Debug)]
enum Flood {
    Waits,
    Drops,
    TriesForEver,
}

/// Floods until told to end.
fn flood(
    engine: &crate::Handle<impl Scheduler, Nanos>,
    how: Flood,
    end: &Arc<AtomicBool>,
) -> thread::JoinHandle<()> {
    let (mut producer, end) = (engine.producer().unwrap(), end.clone());
    thread::spawn(move || {
        while !end.load(Ordering::Relaxed) {
            let packet = packet(BULK, BULK_LENGTH);
            match how {
                Flood::Waits => producer.send_or_wait(packet, Nanos::ZERO).unwrap(),
                Flood::Drops => drop(producer.send_or_drop(packet, Nanos::ZERO)),
                Flood::TriesForEver => drop(producer.try_send(packet, Nanos::ZERO)),
            }
            if !matches!(how, Flood::Waits) {
                // It leaves the processor to others, for this is not about that.
                thread::yield_now();
            }
        }
    })
}

/// Promised packets beside floods: none finds its ring full, none is dropped, and in the scheduler
/// none waits longer than one bulk packet takes and than the thread was late.
fn promised_beside(
    scheduler: impl Scheduler + Send + 'static,
    settings: Settings,
    floods: &[Flood],
) -> Result<(), TestCaseError> {
    let engine = Engine::start(scheduler, Waits::default(), settings).unwrap();
    let end = Arc::new(AtomicBool::new(false));
    let threads: Vec<_> = floods.iter().map(|&how| flood(engine.handle(), how, &end)).collect();
    let mut promised = engine.handle().producer().unwrap();
    thread::sleep(Duration::from_millis(20));
    for _ in 0..PACKETS {
        let sent_at = Nanos(engine.handle().started().elapsed().as_nanos() as u64);
        let is_sent = promised.try_send(packet(PROMISED, PROMISED_LENGTH), sent_at).is_ok();
        prop_assert!(is_sent, "a promised packet finds its ring full");
        thread::sleep(PAUSE);
    }
    drop(promised);
    end.store(true, Ordering::Relaxed);
    // What waits is sent at once.
    engine.handle().set_pace(Pace::Sink).unwrap();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let finished = engine.shutdown().unwrap();
    let waits = finished.sink;
    prop_assert_eq!((waits.scheduler.count(), waits.dropped), (PACKETS, 0));
    let in_the_way = RATE.time_for(Bytes(u64::from(BULK_LENGTH)));
    // Two promised packets may come together where the thread that sends them was held up.
    let together = RATE.time_for(Bytes(10 * u64::from(PROMISED_LENGTH)));
    let most = in_the_way + together + finished.statistics.late.max();
    let most_waited = waits.scheduler.quantile(95, 100);
    prop_assert!(most_waited <= most, "{most_waited} above {most}");
    // A thread waits for a processor; a packet that waited for the room of others would wait for
    // what they have in the scheduler, which takes longer than this.
    let median = waits.ring.quantile(50, 100);
    prop_assert!(median <= Nanos(20_000_000), "{median}");
    Ok(())
}

fn edf() -> Edf {
    let best_effort = BestEffort::by_arrival(Assign::Background);
    Edf::new(&[Some(Nanos(1_000_000)), None], best_effort)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn floods_keep_nobody_elses_packets_in_their_rings(
        floods in prop::collection::vec(
            prop_oneof![Just(Flood::Waits), Just(Flood::Drops), Just(Flood::TriesForEver)], 1..4,
        ),
        ring in 16usize..2048,
        backlog in 1024usize..8192,
        burst in 1u32..64,
    ) {
        let settings = Settings {
            pace: Pace::Link(RATE),
            ring,
            backlog,
            burst,
            time_one_in: 1,
            ..Settings::default()
        };
        promised_beside(edf(), settings, &floods)?;
        promised_beside(Priority::new(&[0, 1]), settings, &floods)?;
        promised_beside(Wfq::new(RATE, &[100, 1]).unwrap(), settings, &floods)?;
    }
}
