//! Models of traffic and service, and worked examples.

use super::*;
use crate::units::{Bytes, Nanos, Rate};

/// A rate in bytes a second.
fn per_second(bytes: u64) -> Rate {
    Rate(bytes * 8)
}

fn ms(milliseconds: i64) -> Exact {
    int(milliseconds * 1_000_000)
}

/// Pieces given by start in ms, value in bytes and slope in bytes per ms.
fn curve_in_ms(pieces: &[(Exact, Exact, i64)]) -> Curve {
    let pieces = pieces.iter().map(|(start, value, slope)| Piece {
        start: start * ms(1),
        value: value.clone(),
        slope: ratio(*slope, 1_000_000),
    });
    Curve::from_pieces(pieces.collect()).unwrap()
}

/// The residual capacity of the link of Chakraborty, Gries & Thiele (2002): what is left of
/// 10 Mbit/s by voice, video and transactions and one packet that is being sent.
fn residual_capacity() -> Curve {
    let demand = |bucket, rate, packet, peak, deadline| {
        Curve::tspec(Bytes(packet), per_second(peak), Bytes(bucket), per_second(rate))
            .shift(&ms(deadline))
    };
    let demands = [
        demand(300, 150_000, 100, 250_000, 5),
        demand(15_000, 600_000, 1_536, 800_000, 30),
        demand(45_000, 50_000, 700, 150_000, 20),
        Curve::constant(Bytes(1_536)),
    ];
    Curve::line(per_second(1_250_000)).sub(&Curve::sum(&demands))
}

#[test]
fn the_residual_capacity_of_an_access_link() {
    // The buckets of voice, video and transactions empty 2, 67.32 and 443 ms after the deadline.
    let expected = curve_in_ms(&[
        (int(0), int(-1_536), 1_250),
        (int(5), int(4_614), 1_000),
        (int(7), int(6_614), 1_100),
        (int(20), int(20_214), 950),
        (int(30), int(28_178), 150),
        (ratio(9_732, 100), int(38_276), 350),
        (int(463), int(166_264), 450),
    ]);
    assert_eq!(residual_capacity(), expected);
}

#[test]
fn the_effective_residual_capacity_of_an_access_link() {
    let envelope = residual_capacity().nondecreasing_lower_closure().unwrap();
    let expected = curve_in_ms(&[
        (int(0), int(-1_536), 1_250),
        (ratio(492, 100), int(4_614), 0),
        (int(5), int(4_614), 1_000),
        (int(7), int(6_614), 1_100),
        (int(7) + ratio(13_600, 1_100), int(20_214), 0),
        (int(20), int(20_214), 950),
        (int(20) + ratio(7_964, 950), int(28_178), 0),
        (int(30), int(28_178), 150),
        (ratio(9_732, 100), int(38_276), 350),
        (int(463), int(166_264), 450),
    ]);
    assert_eq!(envelope, expected);
    assert_eq!(envelope.value(&ms(5)), int(4_614));
    assert_eq!(envelope.value(&ms(20)), int(20_214));
    assert_eq!(envelope.value(&ms(30)), int(28_178));
    let minimum = residual_capacity().minimum_from(&ms(6)).unwrap();
    assert_eq!(minimum, Minimum { value: int(5_614), at: ms(6) });
    let minimum = residual_capacity().minimum_from(&(ms(59) / int(2))).unwrap();
    assert_eq!(minimum, Minimum { value: int(28_178), at: ms(30) });
    assert_eq!(envelope.clamp_at_zero().value(&ms(1)), int(0));
}

#[test]
fn a_token_bucket_through_a_rate_latency_server() {
    // Delay T + b / R and backlog b + r T (Le Boudec & Thiran 2001, section 1.4.1).
    let arrival = Curve::token_bucket(Bytes(3_000), per_second(100_000));
    let service = Curve::rate_latency(per_second(500_000), Nanos(2_000_000));
    assert_eq!(Curve::horizontal_distance(&arrival, &service), Some(ms(8)));
    assert_eq!(Curve::vertical_distance(&arrival, &service), Some(int(3_200)));
    let output = Curve::token_bucket(Bytes(3_200), per_second(100_000));
    assert_eq!(arrival.deconvolve(&service), Some(output));
    assert_eq!(Curve::horizontal_distance(&service, &arrival), None);
    assert_eq!(service.deconvolve(&arrival), None);
}

#[test]
fn rate_latency_servers_in_a_row_are_one() {
    let first = Curve::rate_latency(Rate(8_000), Nanos(5));
    let second = Curve::rate_latency(Rate(3_000), Nanos(11));
    assert_eq!(first.convolve(&second), Curve::rate_latency(Rate(3_000), Nanos(16)));
}

#[test]
fn a_tspec_is_a_minimum_whatever_its_parameters() {
    let peak_first = Curve::tspec(Bytes(100), Rate(16), Bytes(300), Rate(8));
    let pieces = peak_first.pieces();
    assert_eq!(pieces.len(), 2);
    assert_eq!((&pieces[1].start, &pieces[1].value), (&exact(200_000_000_000), &exact(500)));
    let never_peaks = Curve::tspec(Bytes(300), Rate(16), Bytes(100), Rate(8));
    assert_eq!(never_peaks, Curve::token_bucket(Bytes(100), Rate(8)));
    let slow_peak = Curve::tspec(Bytes(100), Rate(8), Bytes(300), Rate(16));
    assert_eq!(slow_peak, Curve::token_bucket(Bytes(100), Rate(8)));
    let bucket_first = Curve::tspec(Bytes(300), Rate(8), Bytes(100), Rate(16));
    assert_eq!(bucket_first.value(&int(0)), int(100));
    assert_eq!(bucket_first.final_slope(), &bytes_per_nano(Rate(8)));
}

#[test]
fn two_pieces_are_what_hfsc_takes() {
    let burst_first = Curve::two_piece(Rate(16), Nanos(8), Rate(8));
    assert_eq!(burst_first.value(&int(8)), bytes_per_nano(Rate(16)) * int(8));
    assert_eq!(burst_first.value(&int(9)), bytes_per_nano(Rate(8 * 17)));
    assert_eq!(Curve::two_piece(Rate(16), Nanos(0), Rate(8)), Curve::line(Rate(8)));
    assert_eq!(Curve::two_piece(Rate(8), Nanos(5), Rate(8)), Curve::line(Rate(8)));
    assert_eq!(Curve::two_piece(Rate(0), Nanos(5), Rate(0)), Curve::zero());
}

#[test]
fn conversions_round_to_the_safe_side() {
    let half = ratio(1, 2);
    assert_eq!(ceil_nanos(&half), Some(Nanos(1)));
    assert_eq!(floor_nanos(&half), Some(Nanos(0)));
    assert_eq!(ceil_bytes(&int(7)), Some(Bytes(7)));
    assert_eq!(floor_bytes(&int(7)), Some(Bytes(7)));
    assert_eq!(ceil_nanos(&-half.clone()), Some(Nanos(0)));
    assert_eq!(floor_nanos(&-half.clone()), None);
    let beyond = exact(u64::MAX) + half;
    assert_eq!(ceil_bytes(&beyond), None);
    assert_eq!(floor_bytes(&beyond), Some(Bytes(u64::MAX)));
    assert_eq!(bytes_per_nano(Rate(8_000_000_000)), exact_nanos(Nanos(1)));
}

proptest! {
    #[test]
    fn a_staircase_is_exact_then_safe(
        step in 1..50u64,
        period in 1..50u64,
        steps in 0..6usize,
        t in 0..900u64,
    ) {
        let staircase = Curve::staircase(Bytes(step), Nanos(period), steps);
        let arrived = exact(step * (t / period + 1));
        let value = staircase.value(&exact(t));
        if t < steps as u64 * period {
            prop_assert_eq!(value, arrived);
        } else {
            prop_assert!(value >= arrived);
            if t % period == 0 {
                prop_assert_eq!(value, arrived);
            }
        }
    }
}

#[test]
fn ten_thousand_contracts_sum_up() {
    let contract = |n: u64| {
        let (packet, bucket) = (40 + n % 1_461, 1_501 + n * 7 % 30_011);
        let (rate, above) = (1_000 + n * 31 % 1_000_003, 1 + n * 101 % 2_000_003);
        let deadline = exact(1 + n * 1_009 % 100_003);
        Curve::tspec(Bytes(packet), Rate(rate + above), Bytes(bucket), Rate(rate)).shift(&deadline)
    };
    let curves: Vec<Curve> = (0..10_000).map(contract).collect();
    let sum = Curve::sum(&curves);
    for t in [int(0), int(50_000), ms(1), ms(10_000_000)] {
        assert_eq!(sum.value(&t), curves.iter().map(|curve| curve.value(&t)).sum());
    }
    assert!(sum.pieces().len() > 10_000);
}
