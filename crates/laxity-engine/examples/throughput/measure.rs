//! How many packets an engine carries, and how long they take.

use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

use laxity::packet::{ClassId, FlowId, Packet};
use laxity::scheduler::{Dispatch, DropReason, Scheduler};
use laxity::units::Nanos;

use laxity_engine::{Engine, Settings, Sink, Statistics};

/// The packets sent through an engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// Threads that send.
    pub(crate) producers: u32,
    /// Packets that each of them sends.
    pub(crate) packets: u64,
    /// Classes; each producer's packets belong to them in turn.
    pub(crate) classes: u32,
    /// Flows of each class; its packets belong to them in turn.
    pub(crate) flows: u32,
    /// Packets per burst, and the time that a producer sleeps between bursts; `None` if producers
    /// send as fast as their rings have room.
    pub(crate) pause: Option<(u64, Duration)>,
}

/// The result of a measurement.
#[derive(Clone, Debug)]
pub(crate) struct Measurement {
    /// From the first packet to the end of the engine.
    pub(crate) elapsed: Duration,
    /// The engine's counts; `latency` is from ring to sink.
    pub(crate) statistics: Statistics,
}

impl Measurement {
    /// Packets that the engine took in, sent and dropped, a second.
    pub(crate) fn packets_per_second(&self) -> f64 {
        self.statistics.received as f64 / self.elapsed.as_secs_f64()
    }
}

/// Sends a load through an engine whose sink does nothing. Packets of 1,000 bytes carry 8 bytes.
///
/// # Errors
/// If the engine does not start or its scheduler panics.
///
/// # Panics
/// If the load has no classes or flows.
pub(crate) fn measure<S: Scheduler + Send + 'static>(
    scheduler: S,
    settings: Settings,
    load: Load,
) -> Result<Measurement, Box<dyn Error>> {
    assert!(load.classes > 0 && load.flows > 0, "packets belong to a flow of a class");
    let engine = Engine::start(scheduler, Ignore, settings)?;
    let mut producers: Vec<_> =
        (0..load.producers).filter_map(|_| engine.handle().producer().ok()).collect();
    let begin = Instant::now();
    thread::scope(|scope| {
        for mut producer in producers.drain(..) {
            scope.spawn(move || {
                for number in 0..load.packets {
                    if let Some((burst, pause)) = load.pause
                        && number % burst == 0
                    {
                        thread::sleep(pause);
                    }
                    if producer.send_or_wait(load.packet(number), number).is_err() {
                        return;
                    }
                }
            });
        }
    });
    let statistics = engine.shutdown()?.statistics;
    Ok(Measurement { elapsed: begin.elapsed(), statistics })
}

impl Load {
    fn packet(&self, number: u64) -> Packet {
        let (classes, flows) = (u64::from(self.classes), u64::from(self.flows));
        Packet {
            class: ClassId((number % classes) as u32),
            flow: FlowId((number / classes % flows) as u32),
            length: 1_000,
            handle: number,
            ..Packet::default()
        }
    }
}

struct Ignore;

impl Sink<u64> for Ignore {
    fn sent(&mut self, dispatch: Dispatch, _: Nanos, payload: u64) {
        std::hint::black_box((dispatch, payload));
    }

    fn dropped(&mut self, packet: Packet, _: DropReason, payload: u64) {
        std::hint::black_box((packet, payload));
    }
}
