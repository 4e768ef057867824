//! What a segment costs, and that nothing grows.

use std::time::Instant;

use laxity::units::Nanos;

use crate::tcp::{Acknowledging, Config, Congestion, Receiver, Recovery, Sender, Variant};

/// Ten million segments of one flow without a loss, 300 to a round trip. Run with
/// `cargo test --release -p laxity-sim tcp::tests::speed -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement: prints ns a segment"]
fn one_flow_without_loss() {
    const SEGMENTS: u64 = 10_000_000;
    for variant in [
        Variant::NEWRENO,
        Variant::SACK,
        Variant::CUBIC,
        Variant::new(Recovery::RackTlp, Congestion::Cubic),
        Variant::new(Recovery::RackTlp, Congestion::Bbr),
    ] {
        for acknowledging in [Acknowledging::Every, Acknowledging::Delayed] {
            let config =
                Config { variant, transfer: Some(SEGMENTS), ..Config::classic(1_000, 300) };
            let mut sender = Sender::new(config);
            let mut receiver = Receiver::new(acknowledging, variant);
            let (mut flight, mut acks) = (Vec::with_capacity(300), Vec::with_capacity(300));
            let mut now = Nanos::ZERO;
            let start = Instant::now();
            while !sender.is_finished() {
                now += Nanos(50_000_000);
                for ack in &acks {
                    sender.on_ack(now, ack);
                    while let Some(segment) = sender.poll_send(now) {
                        flight.push(segment);
                    }
                }
                acks.clear();
                while let Some(segment) = sender.poll_send(now) {
                    flight.push(segment);
                }
                now += Nanos(50_000_000);
                for segment in &flight {
                    if let Some(ack) = receiver.on_segment(now, segment) {
                        acks.push(ack);
                    }
                }
                flight.clear();
                acks.extend(receiver.on_timer(receiver.next_timer().unwrap_or(now)));
            }
            let cost = start.elapsed().as_nanos() as f64 / SEGMENTS as f64;
            println!("{variant:?}, {acknowledging:?}: {cost:.1} ns a segment");
        }
    }
}
