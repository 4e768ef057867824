//! What the bounds promise, links keep; and traffic that takes as long.

use std::vec;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{PriorityClass, ROUNDING, priority, priority_queues, priority_services};
use crate::admit::Unbounded::{NoArrival, UnknownCrossTraffic, Unstable};
use crate::admit::{Traffic, Unbounded, delay_bound_of_all};
use crate::police::{Meter, TokenBucket};
use crate::sched::Priority;
use crate::testing::{Arrival, LARGEST, SentPacket, arrivals, drive, served_by};
use crate::units::{Bytes, Nanos, Rate};

const CLASSES: usize = 6;

type Bounds = Vec<Result<Nanos, Unbounded>>;

/// Links from slow ones to those where a byte takes less than a nanosecond.
fn rates() -> impl Strategy<Value = Rate> {
    let rate = prop_oneof![
        2 => Just(8_000_000u64),
        3 => 1_000_000..2_000_000_000u64,
        1 => 2_000_000_000..40_000_000_000u64,
    ];
    rate.prop_map(Rate)
}

/// Its level, packet, bucket beyond that, rate, peak, whether it is known and whether it demotes.
type Drawn = (u32, u64, u64, u64, Option<(u64, u64)>, bool, bool);

/// A class of a few levels: its rate in millionths of the link's, a peak rate for some, and nothing
/// known of a few.
fn any_class() -> impl Strategy<Value = Drawn> {
    let peak = prop::option::of((0..1500u64, 1..6u64));
    let packet = prop_oneof![1..=64u64, 64..=u64::from(LARGEST)];
    let known = prop::bool::weighted(0.95);
    (0..4u32, packet, 0..6000u64, 1..400_000u64, peak, known, any::<bool>())
}

fn systems() -> impl Strategy<Value = (Rate, Vec<PriorityClass>)> {
    (rates(), vec(any_class(), 1..=CLASSES)).prop_map(|(rate, classes)| {
        let part = |of: u64| Rate((u128::from(rate.0) * u128::from(of) / 1_000_000).max(1) as u64);
        let class = |(level, packet, more, millionths, peak, known, demotes): Drawn| {
            let line = |bytes, rate| TokenBucket { bucket: Bytes(packet + bytes), rate };
            let peak = peak.map(|(more, times)| line(more, part(millionths * times)));
            let lines = [line(more, part(millionths))].into_iter().chain(peak);
            let arrival = if known { lines.collect() } else { Vec::new() };
            PriorityClass { level, traffic: Traffic { arrival, packet: Bytes(packet) }, demotes }
        };
        (rate, classes.into_iter().map(class).collect())
    })
}

fn plans() -> impl Strategy<Value = (Rate, Vec<PriorityClass>, Vec<Arrival>)> {
    systems().prop_flat_map(|(rate, classes)| {
        let unit = rate.time_for(Bytes(LARGEST.into())).0;
        let wishes = arrivals(CLASSES as u32, 1..=LARGEST, 1, unit, 120);
        (Just(rate), Just(classes), wishes)
    })
}

fn scheduler(classes: &[PriorityClass]) -> Priority {
    Priority::new(&classes.iter().map(|class| class.level).collect::<Vec<_>>())
}

fn meter(class: &PriorityClass) -> Meter {
    Meter::new(class.traffic.arrival.iter().copied())
}

/// What arrives when classes with a bound keep to their arrival curves, but for packets that are
/// demoted, and the others flood the link.
fn conforming(classes: &[PriorityClass], bounds: &Bounds, wishes: &[Arrival]) -> Vec<Arrival> {
    let mut meters: Vec<_> = classes.iter().map(|class| (meter(class), Nanos::ZERO)).collect();
    let mut arrivals = Vec::new();
    for wish in wishes {
        let at = wish.class as usize % classes.len();
        let PriorityClass { traffic, demotes, .. } = &classes[at];
        let (class, length) = (at as u32, wish.length.min(traffic.packet.0 as u32));
        let demoted = wish.demoted && *demotes;
        let mut arrival = Arrival { class, length, demoted, ..*wish };
        if bounds[at].is_ok() && !demoted {
            let (meter, last) = &mut meters[at];
            let earliest = meter.earliest(arrival.time.max(*last), length);
            arrival.time = earliest.expect("a bucket holds the largest packet");
            assert!(meter.consume(arrival.time, length));
            *last = arrival.time;
        }
        arrivals.push(arrival);
    }
    arrivals.sort_by_key(|arrival| arrival.time);
    arrivals
}

/// The packets of a class that keep to its contract.
fn of_class(sent: &[SentPacket], class: usize) -> impl Iterator<Item = &SentPacket> {
    let is_own = move |sent: &&SentPacket| {
        sent.dispatch.packet.class.index() == class && !sent.dispatch.packet.demoted
    };
    sent.iter().filter(is_own)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn bounds_are_kept_beside_floods((rate, classes, wishes) in plans()) {
        let bounds = priority(rate, &classes);
        let arrivals = conforming(&classes, &bounds, &wishes);
        let sent = drive(&mut scheduler(&classes), rate, &arrivals).sent;
        for (class, bound) in bounds.iter().enumerate() {
            let Ok(bound) = bound else { continue };
            let late = of_class(&sent, class).map(SentPacket::delay).find(|delay| delay > bound);
            prop_assert_eq!(late, None, "class {} has {}", class, bound);
        }
    }

    /// Every packet leaves within the service of some packet of its class, before it or itself, and
    /// all between them.
    #[test]
    fn packets_are_served_by_the_curves((rate, classes, wishes) in plans()) {
        let (bounds, services) = (priority(rate, &classes), priority_services(rate, &classes));
        let arrivals = conforming(&classes, &bounds, &wishes);
        let sent = drive(&mut scheduler(&classes), rate, &arrivals).sent;
        for class in (0..classes.len()).filter(|class| bounds[*class].is_ok()) {
            let service = services[class].as_ref().expect("those before are known");
            served_by(service, &of_class(&sent, class).collect::<Vec<_>>())?;
        }
    }

    /// All packets of a level leave in the order of their arrival and within the joint service of
    /// the level, also where its own classes flood the link.
    #[test]
    fn packets_of_a_level_are_served_together((rate, classes, wishes) in plans()) {
        let (bounds, queues) = (priority(rate, &classes), priority_queues(rate, &classes));
        let arrivals = conforming(&classes, &bounds, &wishes);
        let sent = drive(&mut scheduler(&classes), rate, &arrivals).sent;
        for (class, queue) in queues.iter().enumerate() {
            let Ok(queue) = queue else { continue };
            let level: Vec<_> = sent
                .iter()
                .filter(|sent| {
                    let packet = &sent.dispatch.packet;
                    classes[packet.class.index()].level == classes[class].level && !packet.demoted
                })
                .collect();
            prop_assert!(level.iter().map(|sent| sent.dispatch.packet.handle).is_sorted());
            served_by(queue, &level)?;
        }
    }

    /// What the joint service of a level says of all that its classes send is their bound.
    #[test]
    fn the_curve_of_a_level_gives_the_bound_of_its_classes((rate, classes) in systems()) {
        let (bounds, queues) = (priority(rate, &classes), priority_queues(rate, &classes));
        for (at, class) in classes.iter().enumerate() {
            let (Ok(bound), Ok(queue)) = (bounds[at], &queues[at]) else { continue };
            let alike = classes.iter().filter(|other| other.level == class.level);
            let arrivals = alike.map(|class| &class.traffic.arrival[..]);
            prop_assert_eq!(delay_bound_of_all(arrivals, &queue.curve, queue.late), Ok(bound));
        }
    }

    /// A class that is alone on its level is served by a curve that says what its bound says; with
    /// others on the level it says no less.
    #[test]
    fn the_curve_of_a_class_gives_its_bound((rate, classes) in systems()) {
        let (bounds, services) = (priority(rate, &classes), priority_services(rate, &classes));
        for (at, class) in classes.iter().enumerate() {
            let (Ok(bound), Ok(service)) = (bounds[at], &services[at]) else { continue };
            let delay = service.delay(&class.traffic.arrival);
            let alike = classes.iter().filter(|other| other.level == class.level).count();
            if alike == 1 {
                prop_assert_eq!(delay, Ok(bound));
            } else {
                prop_assert!(delay.is_ok_and(|delay| delay >= bound));
            }
        }
    }
}

/// Everything before the last byte of a class's burst, which is the last of its level's, and then
/// what the classes before may send, byte by byte until `end`: just behind the longest packet of
/// all that may be in the way.
fn worst_case(classes: &[PriorityClass], last: usize, end: Nanos) -> Vec<Arrival> {
    let level = classes[last].level;
    let behind = (0..classes.len()).filter(|&class| classes[class].level > level);
    let blocking = behind.max_by_key(|&class| classes[class].traffic.packet);
    let packet = |class: usize, length: u64| Arrival {
        class: class as u32,
        length: length as u32,
        after_choice: true,
        ..Arrival::default()
    };
    let burst = |class: usize| classes[class].traffic.arrival[0].bucket.0;
    let mut arrivals: Vec<_> =
        blocking.map(|class| packet(class, classes[class].traffic.packet.0)).into_iter().collect();
    let alike = (0..classes.len()).filter(|&class| classes[class].level == level);
    for class in alike.filter(|&class| class != last) {
        arrivals.push(packet(class, burst(class)));
    }
    if burst(last) > 1 {
        arrivals.push(packet(last, burst(last) - 1));
    }
    arrivals.push(packet(last, 1));
    for class in (0..classes.len()).filter(|&class| classes[class].level < level) {
        let mut meter = meter(&classes[class]);
        let mut now = Nanos::ZERO;
        assert!(meter.consume(now, burst(class) as u32));
        arrivals.push(packet(class, burst(class)));
        while let Some(next) = meter.earliest(now, 1).filter(|next| *next <= end) {
            now = next;
            assert!(meter.consume(now, 1));
            arrivals.push(Arrival { time: now, after_choice: false, ..packet(class, 1) });
        }
    }
    arrivals.sort_by_key(|arrival| arrival.time);
    // The longest packet goes first, and behind it all of the instant are there before the next
    // choice.
    arrivals
}

/// One token bucket for each class, which the class may send as one packet. All rates together are
/// no more than four fifths of the link's. Every bucket holds more than the two bytes by which a
/// class may be behind its curve.
fn token_buckets() -> impl Strategy<Value = (Rate, Vec<PriorityClass>, usize)> {
    let rate = prop_oneof![Just(8_000_000u64), 1_000_000..4_000_000_000u64];
    let class = (0..4u32, 3..=300u64, 1..800u64, any::<bool>());
    (rate, vec(class, 1..=CLASSES), any::<usize>()).prop_map(|(rate, classes, last)| {
        let count = classes.len();
        let class = |(level, bucket, per_mille, is_long): (u32, u64, u64, bool)| {
            let packet = Bytes(if is_long { bucket + 1200 } else { bucket });
            let rate = Rate(rate / 1000 * per_mille / count as u64 + 1);
            let arrival = vec![TokenBucket { bucket: Bytes(bucket), rate }];
            PriorityClass { level, traffic: Traffic { arrival, packet }, demotes: false }
        };
        (Rate(rate), classes.into_iter().map(class).collect(), last % count)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// The worst case takes as long as the bound, but that whole bytes come at whole nanoseconds:
    /// each class before is behind its curve by less than one byte for each of the two.
    #[test]
    fn the_bound_is_reached((rate, classes, last) in token_buckets()) {
        let bound = priority(rate, &classes)[last].expect("four fifths of the link are enough");
        let sent = drive(&mut scheduler(&classes), rate, &worst_case(&classes, last, bound)).sent;
        let delay = of_class(&sent, last).last().expect("all are sent").delay();
        let mut less = classes.clone();
        for class in less.iter_mut().filter(|class| class.level < classes[last].level) {
            let bucket = &mut class.traffic.arrival[0].bucket.0;
            *bucket = bucket.saturating_sub(2);
        }
        let least = priority(rate, &less)[last].unwrap() - ROUNDING;
        prop_assert!(least <= delay && delay <= bound, "{least} {delay} {bound}");
    }
}

fn class(level: u32, bucket: u64, rate: u64, packet: u64) -> PriorityClass {
    let arrival = vec![TokenBucket { bucket: Bytes(bucket), rate: Rate(rate) }];
    PriorityClass { level, traffic: Traffic { arrival, packet: Bytes(packet) }, demotes: false }
}

/// At a byte a nanosecond: 500 bytes of its own, a packet of 1500, and of the class before 1000
/// bytes and then one every other nanosecond. They have begun at t = 1500 + 1000 + t / 2 + 500.
#[test]
fn an_example_takes_as_long_as_its_bound() {
    let rate = Rate(8_000_000_000);
    let classes =
        [class(0, 1_000, 4_000_000_000, 1_000), class(1, 501, 1, 501), class(2, 1_500, 1, 1_500)];
    let bound = Nanos(6_000) + Nanos(1) + ROUNDING;
    assert_eq!(priority(rate, &classes)[1], Ok(bound));
    let sent = drive(&mut scheduler(&classes), rate, &worst_case(&classes, 1, bound)).sent;
    let delay = of_class(&sent, 1).last().unwrap().delay();
    // The byte that comes at 6000 ns finds the link free since 5999.
    assert_eq!(delay, Nanos(5_999 + 1));
}

/// A class's own packets that are demoted may be in its way, and no others of its level.
#[test]
fn blocking_is_by_what_comes_behind() {
    let rate = Rate(8_000_000_000);
    let mut classes = [class(0, 100, 0, 100), class(0, 100, 0, 80), class(9, 700, 1, 700)];
    let bound = |classes: &[PriorityClass]| priority(rate, classes).into_iter().map(Result::unwrap);
    assert!(bound(&classes).eq([901, 901, 901].map(Nanos)));
    classes[1].demotes = true;
    assert!(bound(&classes).eq([901, 901, 981].map(Nanos)));
    classes[1].traffic.packet = Bytes(1_000);
    assert!(bound(&classes).eq([1_201, 1_201, 1_901].map(Nanos)));
}

#[test]
fn without_a_bound_there_is_a_reason() {
    let rate = Rate(8_000_000);
    let mut classes =
        [class(1, 100, 5_000_000, 100), class(2, 100, 1, 100), class(3, 100, 3_000_001, 100)];
    let reasons = |classes: &[PriorityClass]| {
        priority(rate, classes).into_iter().map(Result::err).collect::<Vec<_>>()
    };
    assert_eq!(reasons(&classes), [None, None, Some(Unstable)]);
    assert!(priority_services(rate, &classes).iter().all(Result::is_ok));
    classes[1].traffic.arrival.clear();
    assert_eq!(reasons(&classes), [None, Some(NoArrival), Some(UnknownCrossTraffic)]);
    let services = priority_services(rate, &classes).into_iter().map(Result::err);
    assert!(services.eq([None, None, Some(UnknownCrossTraffic)]));
    classes[2].level = 2;
    assert_eq!(reasons(&classes), [None, Some(NoArrival), Some(UnknownCrossTraffic)]);
    classes[0].level = 3;
    assert_eq!(
        reasons(&classes),
        [Some(UnknownCrossTraffic), Some(NoArrival), Some(UnknownCrossTraffic)]
    );
    assert_eq!(priority(rate, &[]), []);
}
