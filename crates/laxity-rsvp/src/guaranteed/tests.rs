use laxity::admit::edf::RealTime;
use laxity::reserve::edf::EdfBook;
use proptest::prelude::*;

use super::*;

const NANO: u128 = 1_000_000_000;

/// Whole numbers that floats of 24 bits have exactly.
fn tspec() -> impl Strategy<Value = Tspec> {
    (1_000u32..2_000_000, 0u32..200_000, 0u32..4_000_000, 20u32..1_500, 0u32..1_480).prop_map(
        |(rate, above, faster, most, less)| Tspec {
            rate: rate as f32,
            bucket: (most + above) as f32,
            peak: if faster > 3_900_000 { f32::INFINITY } else { (rate + faster) as f32 },
            least: most.saturating_sub(less).max(1),
            most,
        },
    )
}

fn rspec(tspec: &Tspec, faster: f32) -> Rspec {
    Rspec { rate: (tspec.rate * (1.0 + faster)).ceil(), slack: 0 }
}

/// Packets of a greedy sender: as early as its curve lets them. Times in ns, rounded up.
fn greedy(tspec: &Tspec, lengths: &[u32]) -> Vec<(u128, u128)> {
    let (mut sent, mut packets) = (0u128, Vec::new());
    for length in lengths {
        let length = u128::from((*length).clamp(tspec.least, tspec.most));
        sent += length;
        let after = |above: u128, rate: f32| (above * NANO).div_ceil(rate as u128);
        let bucket = after(sent.saturating_sub(tspec.bucket as u128), tspec.rate);
        let peak = if tspec.peak.is_finite() {
            after(sent.saturating_sub(u128::from(tspec.most)), tspec.peak)
        } else {
            0
        };
        packets.push((bucket.max(peak), length));
    }
    packets
}

/// Departures from a node that offers a rate and a latency and is as bad as it may: up to a packet
/// each leaves when it must, and behind it all that has come leaves at once.
fn held(packets: &[(u128, u128)], rate: u128, latency: u128, until: usize) -> Vec<(u128, u128)> {
    let (mut fluid, mut last) = (0u128, 0);
    let mut departures = Vec::new();
    for (number, (arrival, length)) in packets.iter().enumerate() {
        fluid = fluid.max(*arrival) + length * NANO / rate;
        let must = fluid + latency - length * NANO / rate;
        last = last.max(if number <= until { must } else { *arrival });
        departures.push((last, *length));
    }
    departures
}

/// Whether packets keep to a bucket. Times were rounded, so a byte is given to each packet.
fn conforms(packets: &[(u128, u128)], bucket: TokenBucket) -> bool {
    (0..packets.len()).all(|first| {
        let mut sum = 0;
        packets[first..].iter().all(|(time, length)| {
            sum += length;
            let earned = u128::from(bucket.rate.0) * (time - packets[first].0 + 2);
            sum * 8 * NANO <= u128::from(bucket.bucket.0) * 8 * NANO + earned
        })
    })
}

proptest! {
    /// The arrival curve behind nodes with C and D holds for what comes from them.
    #[test]
    fn what_comes_through_nodes_keeps_to_the_contract(
        tspec in tspec(),
        faster in 0.0f32..4.0,
        c in 0u32..20_000,
        d in 0u32..20_000,
        until in 0usize..60,
        lengths in proptest::collection::vec(20u32..1_500, 60),
    ) {
        let rspec = rspec(&tspec, faster);
        let upstream = Terms { c, d };
        let contract = Contract::new(&tspec, &rspec, Terms::default(), Some(upstream), |it| it);
        let contract = contract.unwrap();
        let rate = rspec.rate as u128;
        let latency = u128::from(c) * NANO / rate + u128::from(d) * 1_000;
        let packets = held(&greedy(&tspec, &lengths), rate, latency, until);
        for bucket in contract.buckets {
            prop_assert!(conforms(&packets, bucket), "{bucket:?}");
        }
    }

    #[test]
    fn what_comes_from_the_sender_keeps_to_the_contract(
        tspec in tspec(),
        lengths in proptest::collection::vec(20u32..1_500, 60),
    ) {
        let rspec = rspec(&tspec, 0.5);
        let contract = Contract::new(&tspec, &rspec, Terms::default(), None, |it| it).unwrap();
        for bucket in contract.buckets {
            prop_assert!(conforms(&greedy(&tspec, &lengths), bucket), "{bucket:?}");
        }
    }

    /// Nodes that keep their deadlines keep RFC 2212's bound from end to end, whatever each does
    /// before them.
    #[test]
    fn deadlines_keep_the_bound_of_the_path(
        tspec in tspec(),
        faster in 0.0f32..4.0,
        delays in proptest::collection::vec(0u32..30_000, 1..5),
        lengths in proptest::collection::vec(20u32..1_500, 40),
    ) {
        let rspec = rspec(&tspec, faster);
        let (mut packets, mut total) = (greedy(&tspec, &lengths), Terms::default());
        let sent = packets.clone();
        for delay in delays {
            let terms = Terms::new(&tspec, Nanos(u64::from(delay) * 1_000));
            let contract = Contract::new(&tspec, &rspec, terms, Some(total), |it| it).unwrap();
            for packet in &mut packets {
                packet.0 += u128::from(contract.deadline.0);
            }
            total = Terms { c: total.c + terms.c, d: total.d + terms.d };
        }
        let bound = bound(&tspec, &rspec, total);
        for ((sent, _), (came, _)) in sent.iter().zip(packets) {
            prop_assert!((came - sent) as f64 <= bound * 1e9 + 1.0);
        }
    }

    /// With C = b, rates that fit into the link fit under EDF.
    #[test]
    fn rates_that_fit_are_admitted(
        flows in proptest::collection::vec((tspec(), 0.0f32..2.0), 1..12),
        spare in 0u64..3,
    ) {
        let asked: Vec<_> =
            flows.iter().map(|(tspec, faster)| (*tspec, rspec(tspec, *faster))).collect();
        let sum: u64 = asked.iter().map(|(_, rspec)| rspec.rate as u64 * 8).sum();
        let largest = Bytes(1_500);
        let link = Rate(sum + spare);
        let mut book = EdfBook::new(link, Nanos(0), Some(largest));
        // A microsecond for what is rounded.
        let d = Nanos(link.time_for(largest).0 + 1_000);
        for (tspec, rspec) in asked {
            let terms = Terms::new(&tspec, d);
            let contract = Contract::new(&tspec, &rspec, terms, None, |it| it).unwrap();
            let Contract { deadline, buckets: arrival, packet } = contract;
            let admitted = book.admit(&RealTime { deadline, arrival, packet });
            prop_assert!(admitted.is_ok(), "{admitted:?}");
        }
    }
}

/// RFC 2212's bound on the delay of a path, in seconds.
fn bound(tspec: &Tspec, rspec: &Rspec, Terms { c, d }: Terms) -> f64 {
    let [r, b, p, rate] = [tspec.rate, tspec.bucket, tspec.peak, rspec.rate].map(f64::from);
    let most = f64::from(tspec.most);
    let burst = match p {
        p if p <= rate => 0.0,
        f64::INFINITY => (b - most) / rate,
        p => (b - most) * (p - rate) / (rate * (p - r)),
    };
    burst + (most + f64::from(c)) / rate + f64::from(d) * 1e-6
}

#[test]
fn a_contract_by_hand() {
    let tspec = Tspec { rate: 1e5, bucket: 3e3, peak: 2e5, least: 100, most: 1000 };
    let rspec = Rspec { rate: 1.5e5, slack: 0 };
    let terms = Terms::new(&tspec, Nanos(1_000_001));
    assert_eq!(terms, Terms { c: 3000, d: 1001 });
    // Packets of 100 bytes have the most overhead: 114 for 100.
    let contract = Contract::new(&tspec, &rspec, terms, None, |it| it + 14).unwrap();
    assert_eq!(contract.deadline, Nanos(20_000_000 + 1_001_000));
    let bucket = |bucket, rate| TokenBucket { bucket: Bytes(bucket), rate: Rate(rate) };
    assert_eq!(contract.buckets, [bucket(3420, 912_000), bucket(1140, 1_824_000)]);
    assert_eq!(contract.packet, Bytes(1014));

    // It bends after 20 ms, and is delayed by 3000 / 150000 s - 10 ms before: at 5 ms.
    let upstream = Some(Terms { c: 1500, d: 0 });
    let contract = Contract::new(&tspec, &rspec, terms, upstream, |it| it).unwrap();
    // 3000 + 1e5 * 0.01, and 1000 + 2000 * 0.5e5 / 1e5 + 1.5e5 * 0.01.
    assert_eq!(contract.buckets, [bucket(4000, 800_000), bucket(3500, 1_200_000)]);
}

/// Whatever a sender says of its packets, none is shorter than its header, and each fits the
/// buckets.
#[test]
fn a_packet_fits_its_buckets() {
    let upstream = Terms { c: 1500, d: 100 };
    for (most, bucket) in [(1, 1.0), (18, 18.0), (18, 100_000.0), (20, 20.0), (1500, 1500.0)] {
        for peak in [1e5, 2e5, f32::INFINITY] {
            let tspec = Tspec { rate: 1e5, bucket, peak, least: 0, most };
            let rspec = Rspec { rate: 1e5, slack: 0 };
            for before in [None, Some(upstream)] {
                let contract = Contract::new(&tspec, &rspec, upstream, before, |ip| ip + 38);
                let Contract { buckets, packet, .. } = contract.unwrap();
                assert!(packet >= Bytes(58) && buckets.iter().all(|it| it.bucket >= packet));
            }
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let tspec = Tspec { rate: 1e5, bucket: 3e3, peak: 2e5, least: 100, most: 1000 };
    let refused = |tspec: &Tspec, rate: f32| {
        Contract::new(tspec, &Rspec { rate, slack: 0 }, Terms::default(), None, |it| it).err()
    };
    assert_eq!(refused(&tspec, 1e5), None);
    for rate in [0.99e5, f32::NAN, f32::INFINITY, -1.0, 0.0] {
        assert_eq!(refused(&tspec, rate), Some(ErrorCode::BadFlowspec), "{rate}");
    }
    let wrong = [
        Tspec { bucket: 999.0, ..tspec },
        Tspec { bucket: f32::INFINITY, ..tspec },
        Tspec { bucket: f32::NAN, ..tspec },
        Tspec { rate: f32::NAN, ..tspec },
        Tspec { rate: -1.0, ..tspec },
        Tspec { peak: 0.5e5, ..tspec },
        Tspec { peak: f32::NAN, ..tspec },
        Tspec { least: 1001, ..tspec },
        Tspec { most: 0, least: 0, ..tspec },
        Tspec { most: 70_000, bucket: 1e5, ..tspec },
    ];
    for tspec in wrong {
        assert_eq!(refused(&tspec, 1e6), Some(ErrorCode::BadTspec), "{tspec:?}");
    }
}
