//! The measurements, shortened.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::laboratory::Laboratory;
use crate::{audio, cost, expiry, video};

/// They would take the processor from one another.
static ALONE: Mutex<()> = Mutex::new(());

/// Runs a measurement, where a laboratory can be built.
fn measure(measurement: impl FnOnce(&Laboratory)) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(laboratory) = Laboratory::build().expect("it is built") {
        measurement(&laboratory);
    }
}

#[test]
fn frames_lose_datagrams_as_bursts_and_none_through_the_sink() {
    measure(|laboratory| {
        laboratory.limit(video::BOTTLENECK, 30).expect("a limit");
        for seed in [10, 11] {
            // A key frame comes after a second and a half.
            let length = Duration::from_secs(3);
            let burst = video::send(laboratory, video::Way::Bursts, seed, length).expect("sent");
            let paced = video::send(laboratory, video::Way::Paced, seed, length).expect("sent");
            assert!(burst.percent() >= 0.4, "{} of {}", burst.lost, burst.sent);
            assert_eq!(paced.lost, 0, "of {}", paced.sent);
        }
    });
}

/// By at most a datagram's time, in the best of some turns: other programs take the processor, too.
#[test]
fn video_delays_audio_by_a_datagram_at_most() {
    measure(|laboratory| {
        laboratory.limit(100_000_000, 200).expect("a limit");
        let turn = || {
            let length = Duration::from_secs(2);
            let alone = audio::delay(laboratory, audio::Beside::Nothing, length).expect("sent");
            let beside = audio::delay(laboratory, audio::Beside::Video, length).expect("sent");
            eprintln!("p99 alone {alone:.0} µs, beside video {beside:.0} µs");
            beside - alone
        };
        assert!((0..5).any(|_| turn() < 164.0), "video delays audio by more than a datagram");
    });
}

#[test]
fn datagrams_come_back_when_they_expire() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let errors = expiry::errors().expect("measured");
    let lives: Vec<u64> = errors.iter().map(|(lives, _)| lives.0 / 1_000_000).collect();
    assert_eq!(lives, [10, 90]);
    assert!(errors.iter().all(|(_, late)| late.0 < 8_000_000), "{errors:?}");
}

/// Roughly: the figures of an optimized build are those of `main`.
#[test]
fn the_sink_costs_little_more_than_a_loop_that_sends() {
    measure(|laboratory| {
        let mut ratios = [(); 7].map(|()| {
            let cost::Cost { plain, sink, .. } = cost::measure(laboratory, 20_000).expect("sent");
            sink / plain
        });
        ratios.sort_by(f64::total_cmp);
        assert!(ratios[3] < 1.5, "{ratios:?}");
    });
}
