//! Hops that take as long as they may, against the bounds.

use num_traits::Zero;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::curve::Exact;
use crate::police::Meter;
use crate::service::ServiceCurve;

const US: u64 = 1_000;

/// A hop of a path, and over what link packets leave it.
#[derive(Clone, Debug)]
struct Server {
    service: Option<Service>,
    /// Of a hop without a service curve.
    delay: Nanos,
    link: Rate,
}

/// A packet: when it comes, and how long it is.
type Packet = (Nanos, u32);

impl Server {
    /// The last moments at which packets may leave.
    ///
    /// By the definition: the maximum over all packets that a period may have begun with.
    fn latest(&self, packets: &[Packet], early: &[u64]) -> Vec<Packet> {
        let mut leaves: Vec<Packet> = Vec::new();
        for (n, &(comes, length)) in packets.iter().enumerate() {
            let leave = match &self.service {
                None => {
                    let before = leaves.last().map_or(Nanos::ZERO, |last| last.0);
                    before.max(comes + Nanos(self.delay.0 - early[n % early.len()] % self.delay.0))
                }
                Some(Service { curve, late }) => {
                    let mut work = 0;
                    let from = |&(begins, length): &Packet| {
                        work += u64::from(length);
                        let served =
                            curve.lower_pseudo_inverse(&exact(work)).expect("no curve ends");
                        begins + ceil_nanos(&served).unwrap() + *late
                    };
                    packets[..=n].iter().rev().map(from).max().unwrap()
                }
            };
            leaves.push((leave, length));
        }
        leaves
    }
}

fn service() -> impl Strategy<Value = Service> {
    let rate = 2_000_000..20_000_000u64;
    (rate, 0..4u8, 0..3_000 * US, 0..500 * US).prop_map(|(rate, shape, d, late)| {
        let curve = match shape {
            0 => ServiceCurve::linear(Rate(rate)),
            1 => ServiceCurve::two_piece(0, Nanos(d), Rate(rate)).unwrap(),
            2 => ServiceCurve::two_piece(2 * rate, Nanos(d), Rate(rate)).unwrap(),
            _ => ServiceCurve::two_piece(9 * rate, Nanos(d), Rate(rate)).unwrap(),
        };
        Service { curve: curve.curve(), late: Nanos(late) }
    })
}

fn server() -> impl Strategy<Value = Server> {
    let delays = (1..2_000 * US).prop_map(Nanos);
    let fast = Rate(180_000_000);
    prop_oneof![
        3 => service().prop_map(move |service| Server {
            service: Some(service), delay: Nanos::ZERO, link: fast
        }),
        1 => delays.prop_map(|delay| Server { service: None, delay, link: Rate(u64::MAX) }),
    ]
}

const LONGEST: u32 = 1_500;

/// Packets as early as two token buckets let them, but for some pauses.
fn traffic() -> impl Strategy<Value = (Vec<TokenBucket>, Vec<Packet>)> {
    let lines =
        (1_500..20_000u64, 100_000..1_900_000u64, 1_500..4_000u64, 2_000_000..90_000_000u64);
    (lines, vec((40..=LONGEST, 0..20u64), 1..40)).prop_map(
        |((bucket, rate, packet, peak), sizes)| {
            let line = |(bucket, rate)| TokenBucket { bucket: Bytes(bucket), rate: Rate(rate) };
            let lines = [(bucket, rate), (packet, peak)].map(line).to_vec();
            let mut meter = Meter::new(lines.iter().copied());
            let mut now = Nanos::ZERO;
            let mut packets = Vec::new();
            for (length, pause) in sizes {
                now = now.saturating_add(Nanos(pause.saturating_sub(15) * 1_000 * US));
                now = meter.earliest(now, length).unwrap();
                assert!(meter.consume(now, length));
                packets.push((now, length));
            }
            (lines, packets)
        },
    )
}

fn longest(from: &[Packet], to: &[Packet]) -> Nanos {
    from.iter().zip(to).map(|(from, to)| to.0 - from.0).max().unwrap()
}

fn shortest(from: &[Packet], to: &[Packet]) -> Nanos {
    from.iter().zip(to).map(|(from, to)| to.0 - from.0).min().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whatever servers do within their guarantees: at every hop packets keep to the arrival curve
    /// that is worked out for it, and are not delayed for longer than the bound of that hop, of all
    /// hops up to there, and of all of them at once.
    #[test]
    fn nothing_is_later_than_its_bounds(
        servers in vec(server(), 1..6),
        (mut arrival, entered) in traffic(),
        early in vec(any::<u64>(), 40),
    ) {
        let packet = Bytes(LONGEST.into());
        let (first, mut packets) = (arrival.clone(), entered.clone());
        let mut hops = Vec::new();
        for server in &servers {
            let mut meter = Meter::new(arrival.iter().copied());
            prop_assert!(packets.iter().all(|(now, length)| meter.consume(*now, *length)));
            let delay = match &server.service {
                Some(service) => service.delay(&arrival).unwrap(),
                None => server.delay,
            };
            let hop = Hop { delay, service: server.service.clone() };
            let left = server.latest(&packets, &early);
            prop_assert!(longest(&packets, &left) <= delay);
            arrival = hop.leaving(&arrival, shortest(&packets, &left), packet, server.link);
            packets = left;
            hops.push(hop);
            let once = pay_bursts_once(&first, packet, &hops).unwrap();
            prop_assert!(longest(&entered, &packets) <= once);
        }
    }

    /// Where rates are served after a latency, a burst that waits once is never worse: but for
    /// rounding, by two nanoseconds a hop.
    #[test]
    fn once_is_not_more_than_all_together(
        servers in vec((2_000_000..20_000_000u64, 0..500 * US), 1..6),
        (mut arrival, _) in traffic(),
    ) {
        let packet = Bytes(LONGEST.into());
        let first = arrival.clone();
        let (mut hops, mut sum) = (Vec::new(), Nanos::ZERO);
        for (rate, late) in servers {
            let service = Service { curve: Curve::line(Rate(rate)), late: Nanos(late) };
            let delay = service.delay(&arrival).unwrap();
            let hop = Hop { delay, service: Some(service) };
            arrival = hop.leaving(&arrival, Nanos::ZERO, packet, Rate(180_000_000));
            sum += delay;
            hops.push(hop);
        }
        let rounding = Nanos(2 * hops.len() as u64);
        prop_assert!(pay_bursts_once(&first, packet, &hops).unwrap() <= sum + rounding);
    }

    /// The concatenation is the worst that any way to split the bytes among the hops makes of them.
    #[test]
    fn once_is_the_worst_of_all_ways_to_split_the_burst(
        rates in vec(1..20u64, 1..4),
        bucket in 1..12u64,
    ) {
        // A byte takes 80 / rate us. The burst is `bucket` packets of one byte, and nothing comes
        // later.
        let packet = Bytes(1);
        let rate = |rate: &u64| Curve::line(Rate(rate * 100_000));
        let hops: Vec<Hop> = rates.iter().map(|of| Hop {
            delay: Nanos::ZERO,
            service: Some(Service { curve: rate(of), late: Nanos::ZERO }),
        }).collect();
        let arrival = [TokenBucket { bucket: Bytes(bucket), rate: Rate(0) }];
        // Packets come at time 0 and leave each hop one after another.
        let mut leaves = vec![Exact::zero(); bucket as usize];
        for of in &rates {
            let mut free = Exact::zero();
            for leave in &mut leaves {
                free = leave.clone().max(free) + exact(80_000) / exact(*of);
                *leave = free.clone();
            }
        }
        let exactly = ceil_nanos(leaves.last().unwrap()).unwrap();
        let bound = pay_bursts_once(&arrival, packet, &hops).unwrap();
        prop_assert!(exactly <= bound);
        // The bound takes a whole packet for every hop but the slowest, as packets do; what differs
        // is rounding.
        prop_assert!(bound <= exactly + Nanos(hops.len() as u64 + 1), "{bound} for {exactly}");
    }

    #[test]
    fn hops_come_behind_those_that_feed_them(
        hops in 1..9usize,
        feeds in vec((0..9usize, 0..9usize), 0..14),
    ) {
        let feeds: Vec<_> = feeds.into_iter().map(|(a, b)| (a % hops, b % hops)).collect();
        let Order { mut forward, cyclic, behind } = Order::new(hops, &feeds);
        let mut leads = vec![vec![false; hops]; hops];
        for &(from, to) in &feeds {
            leads[from][to] = true;
        }
        for over in 0..hops {
            for from in 0..hops {
                for to in 0..hops {
                    leads[from][to] |= leads[from][over] && leads[over][to];
                }
            }
        }
        let round = |hop: usize| leads[hop][hop];
        let at = |hop: usize| round(hop)
            || (0..hops).any(|a| round(a) && leads[a][hop])
                && (0..hops).any(|b| round(b) && leads[hop][b]);
        let expected: Vec<_> = (0..hops).filter(|hop| at(*hop)).collect();
        prop_assert_eq!(&cyclic, &expected);
        let after = |hop: usize| (0..hops).any(|a| round(a) && leads[a][hop]);
        let expected: Vec<_> = (0..hops).filter(|hop| after(*hop) && !at(*hop)).collect();
        let mut found = behind.clone();
        found.sort_unstable();
        prop_assert_eq!(found, expected);
        forward.extend(behind);
        prop_assert_eq!(forward.len() + cyclic.len(), hops);
        for &(from, to) in &feeds {
            let place = |hop| forward.iter().position(|other| *other == hop);
            if let (Some(from), Some(to)) = (place(from), place(to)) {
                prop_assert!(from < to);
            }
        }
    }

    /// A sum in lines is the sum of curves: between bends it is a sum of lines, which are whole.
    #[test]
    fn sums_of_lines_are_those_of_curves(
        arrivals in vec(vec((0..20_000u64, 1..90_000_000u64), 1..4), 1..4),
    ) {
        let lines = |lines: &Vec<(u64, u64)>| -> Vec<TokenBucket> {
            lines.iter().map(|&(bucket, rate)| TokenBucket { bucket: Bytes(bucket), rate: Rate(rate) })
                .collect()
        };
        let arrivals: Vec<_> = arrivals.iter().map(lines).collect();
        let sum = aggregate(arrivals.iter().map(Vec::as_slice));
        let curves: Vec<_> = arrivals.iter().map(|lines| arrival_curve(lines)).collect();
        prop_assert_eq!(&sum, &concave(&Curve::sum(&curves)));
        prop_assert_eq!(arrival_curve(&sum), Curve::sum(&curves));
    }
}

#[test]
fn jitter_is_paid_at_the_rate() {
    let line = |bucket, rate| TokenBucket { bucket: Bytes(bucket), rate: Rate(rate) };
    let worse = with_jitter(&[line(100, 8_000_000), line(1_000, 8)], Nanos(1_500));
    assert_eq!(worse, [line(102, 8_000_000), line(1_001, 8)]);
}

#[test]
fn no_hop_takes_no_time_and_a_slow_one_for_ever() {
    let arrival = [TokenBucket { bucket: Bytes(10), rate: Rate(100) }];
    assert_eq!(pay_bursts_once(&arrival, Bytes(1), []), Ok(Nanos::ZERO));
    let slow = Service { curve: Curve::line(Rate(99)), late: Nanos::ZERO };
    let hop = Hop { delay: Nanos::ZERO, service: Some(slow) };
    assert_eq!(pay_bursts_once(&arrival, Bytes(1), [&hop]), Err(Unbounded::Unstable));
}

proptest! {
    /// Coarsening keeps some of the lines, the first and the last among them. It changes nothing if
    /// there are no more than `most` lines.
    #[test]
    fn few_lines_hold_where_many_do(
        lines in vec((1..100_000u64, 1..100_000_000u64), 1..40), most in 2..12usize,
    ) {
        let line = |(bucket, rate)| TokenBucket { bucket: Bytes(bucket), rate: Rate(rate) };
        let all = undominated(lines.into_iter().map(line).collect());
        let few = coarsened(all.clone(), most);
        prop_assert_eq!(few.len(), all.len().min(most));
        prop_assert_eq!([few.first(), few.last()], [all.first(), all.last()]);
        prop_assert!(few.iter().all(|line| all.contains(line)));
        let (many, few) = (arrival_curve(&all), arrival_curve(&few));
        for time in (0..50).map(|step| exact_nanos(Nanos(step * step * 1_000_000))) {
            prop_assert!(few.value(&time) >= many.value(&time));
        }
    }
}
