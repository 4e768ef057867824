//! Calls and video beside a flood and bulk transfers, over a link that is too small for them.

use std::thread;
use std::time::Duration;

use laxity::units::Nanos;
use laxity_live::Way;
use laxity_live::demo::{self, Listener, Stream, Traffic};
use laxity_live::status::DelayStatus;

use crate::hosts::Hosts;
use crate::traffic::{scheduled, start};

const STREAMS: [Stream; 3] = [Stream::AUDIO, Stream::VIDEO, Stream::FLOOD];
const FLOWS: usize = 16;

/// The delays of audio and video under a discipline. None where there is no laboratory.
fn delays(kind: &str) -> Option<[DelayStatus; 2]> {
    let hosts = Hosts::new()?;
    let ring = hosts.ring();
    let laboratory = hosts.laboratory();
    let plan = demo::plan().under(kind).expect("a discipline");
    let (forwarding, _recorder) = start(ring, [scheduled(&plan), Way::Plain]);
    let traffic = Traffic::start(&laboratory, &STREAMS, FLOWS).expect("it is sent");
    // Queues fill.
    thread::sleep(Duration::from_secs(1));
    let listener = Listener::open(&laboratory, &STREAMS).expect("it listens");
    thread::sleep(Duration::from_secs(3));
    let heard = listener.finish(&STREAMS).expect("it listened");
    drop(traffic);
    forwarding.drain(Nanos(5_000_000_000)).expect("it forwarded to the end");
    let [audio, video, flood] = [0, 1, 2].map(|of| heard[of].delay.clone().expect("some came"));
    for (name, of) in [("audio", &audio), ("video", &video), ("flood", &flood)] {
        let millis = [of.p50, of.p99, of.p99_9, of.max].map(|nanos| nanos as f64 / 1e6);
        let count = of.count;
        eprintln!("{kind}: {name}: {count}, p50, p99, p99.9, max {millis:.2?} ms");
    }
    Some([audio, video])
}

/// How late a thread without priority is on a busy machine is much less than how long the queue is.
#[test]
fn audio_and_video_are_on_time_under_edf_and_not_under_fifo() {
    let (Some(fifo), Some(edf)) = (delays("fifo"), delays("edf")) else { return };
    for (fifo, edf) in fifo.iter().zip(&edf) {
        assert!(edf.count >= 300 && fifo.count >= 30, "{} and {}", edf.count, fifo.count);
        assert!(edf.p50 * 5 < fifo.p50, "{} and {}", edf.p50, fifo.p50);
    }
    assert!(edf[0].p50 <= 5_000_000 && edf[1].p50 <= 30_000_000);
}

#[test]
fn the_plan_of_the_demonstration_is_admitted() {
    assert!(demo::plan().promises().take(2).all(|promise| promise.bound.is_some()));
}
