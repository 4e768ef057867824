//! Slow start overshoots a queue of one product of bandwidth and delay.

use laxity::units::Nanos;

use super::pipe::{Fate, Pipe};
use crate::tcp::{Ack, Acknowledging, Config, Receiver, Segment, Sender, SlowStart, Variant};

/// A segment of 1500 bytes at 100 Mbit/s.
const TRANSMISSION: u64 = 120_000;

/// A flow over a queue of a product and a few segments more: one more lets others be lost.
struct Course {
    pipe: Pipe,
    /// Instants at which something was sent, and how many segments.
    sent: Vec<(Nanos, u64)>,
}

impl Course {
    fn new(config: Config, acknowledging: Acknowledging, round_trip_ms: u64, more: u64) -> Self {
        let receiver = Receiver::new(acknowledging, config.variant);
        let delay = Nanos(round_trip_ms * 500_000);
        let mut pipe = Pipe::new(Sender::new(config), receiver, Nanos(TRANSMISSION), delay);
        pipe.room = 2 * delay.0 / TRANSMISSION + more;
        pipe.send(&mut arrives);
        Course { pipe, sent: Vec::new() }
    }

    fn step(&mut self) {
        let before = self.pipe.sender.counts().sent;
        assert!(self.pipe.step(&mut arrives, &mut |_: u64, _: &Ack| Fate::Arrives));
        let sent = self.pipe.sender.counts().sent - before;
        if sent > 0 {
            self.sent.push((self.pipe.now, sent));
        }
    }

    fn run_until(&mut self, over: impl Fn(&Pipe) -> bool) {
        while !over(&self.pipe) {
            self.step();
        }
    }
}

fn arrives(_: u64, _: &Segment) -> Fate {
    Fate::Arrives
}

/// What was sent less than a least round trip ago cannot have been answered. Since recovery began,
/// all of it is in RFC 6675's pipe (section 4), which is kept to a window of half the FlightSize
/// (RFC 5681, equation 4) or 0.7 of it (RFC 9438 section 4.6). One segment more is the fast
/// retransmission, which does not look at the window.
///
/// The timer never expires, because the first retransmission arrives: RFC 6675 section 6. And the
/// link has work all the time, because half of the FlightSize is more than a product.
#[test]
fn recovery_sends_a_window_in_a_least_round_trip_and_needs_no_timeout() {
    for (variant, tenths) in [(Variant::SACK, 5), (Variant::CUBIC, 7)] {
        for acknowledging in [Acknowledging::Every, Acknowledging::Delayed] {
            for round_trip in [20, 50, 100, 200] {
                for more in 0..3 {
                    // What limited transmit sends is no part of the FlightSize.
                    let limited_transmit = false;
                    let config = Config { variant, limited_transmit, ..Config::modern(1_500) };
                    let case = format!("{variant:?}, {acknowledging:?}, {round_trip} ms, {more}");
                    one_recovery(
                        Course::new(config, acknowledging, round_trip, more),
                        tenths,
                        &case,
                    );
                }
            }
        }
    }
}

fn one_recovery(mut course: Course, tenths: u64, case: &str) {
    let least = 2 * course.pipe.delay.0 + TRANSMISSION;
    course.run_until(|pipe| pipe.sender.counts().recoveries == 1);
    let outstanding = course.pipe.sender.counts().sent - 1 - course.pipe.sender.acknowledged();
    let window = outstanding * tenths / 10;
    assert_eq!(course.pipe.sender.threshold() as u64, window, "{case}");
    let recovery_point = course.pipe.sender.acknowledged() + outstanding;
    let (began, received) = (course.pipe.now, course.pipe.receiver.received());
    course.sent.retain(|sent| sent.0 == began);
    course.run_until(|pipe| pipe.sender.acknowledged() >= recovery_point);
    course.sent.pop_if(|sent| sent.0 == course.pipe.now);
    for (index, (from, _)) in course.sent.iter().enumerate() {
        let near = course.sent[index..].iter().take_while(|(at, _)| at.0 - from.0 < least);
        let sent: u64 = near.map(|(_, sent)| sent).sum();
        assert!(sent <= window + 1, "{case}: {sent} for a window of {window} from {from:?}");
    }
    let over = began + Nanos(6 * least);
    course.run_until(|pipe| pipe.now >= over);
    assert_eq!(course.pipe.sender.counts().timeouts, 0, "{case}");
    let possible = (course.pipe.now.0 - began.0) / TRANSMISSION;
    let used = (course.pipe.receiver.received() - received) as f64 / possible as f64;
    // CUBIC's 0.7 of the FlightSize still overflow the queue: RFC 6675 sends what was lost in the
    // first recovery once more in the second one (section 5, step 4.3: HighRxt begins anew).
    let wasted = course.pipe.sender.counts().retransmitted.saturating_sub(course.pipe.dropped);
    let lost_work = wasted as f64 / possible as f64;
    assert!(used + lost_work > 0.98, "{case}: {used} of the link is used, {lost_work} is wasted");
}

/// Both double the window in a round if every segment is acknowledged. If every second one is, the
/// standard one grows by half, because an acknowledgement counts for one segment (RFC 5681,
/// equation 2); HyStart++ still doubles it, because it counts up to eight (RFC 9406 section 4.2).
#[test]
fn growth_by_acknowledgements_and_by_segments() {
    for (slow_start, acknowledging, factor) in [
        (SlowStart::Standard, Acknowledging::Every, 2.0_f64),
        (SlowStart::Hystart, Acknowledging::Every, 2.0),
        (SlowStart::Standard, Acknowledging::Delayed, 1.5),
        (SlowStart::Hystart, Acknowledging::Delayed, 2.0),
    ] {
        let config = Config { slow_start, ..Config::modern(1_500) };
        let mut course = Course::new(config, acknowledging, 200, 0);
        course.run_until(|pipe| pipe.now > Nanos(1_190_000_000));
        let (window, expected) = (course.pipe.sender.congestion_window(), 10.0 * factor.powi(5));
        assert!(
            (window / expected - 1.0).abs() < 0.1,
            "{slow_start:?}, {acknowledging:?}: {window}"
        );
    }
}

/// With an acknowledgement for every segment, both slow starts grow by one segment for each (RFC
/// 5681, equation 2; RFC 9406 section 4.2 with N of one segment), so HyStart++ can only be slower.
#[test]
fn hystart_drops_less_and_no_earlier_where_both_grow_alike() {
    for variant in [Variant::SACK, Variant::CUBIC] {
        for round_trip in [20, 50, 100, 200] {
            for more in 0..3 {
                let of = |slow_start| {
                    let config = Config { variant, slow_start, ..Config::modern(1_500) };
                    let mut course = Course::new(config, Acknowledging::Every, round_trip, more);
                    course.run_until(|pipe| pipe.dropped > 0 || pipe.now > Nanos(60_000_000_000));
                    let first = course.pipe.now;
                    course.run_until(|pipe| pipe.now > first + Nanos(1_000_000_000));
                    (first, course.pipe.dropped)
                };
                let (standard, hystart) = (of(SlowStart::Standard), of(SlowStart::Hystart));
                assert!(standard.0 <= hystart.0 && hystart.1 <= standard.1);
            }
        }
    }
}
