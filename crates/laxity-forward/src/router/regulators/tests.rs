use std::path::Path;

use laxity::units::NANOBITS_PER_BYTE;
use proptest::prelude::*;

use super::*;

/// Bucket in bytes and rate in bits a second, by class.
type Curves = Vec<(u64, u64)>;

/// A plan with these classes of all, in this order.
fn plan_with(curves: &Curves, classes: &[usize]) -> Plan {
    let class = |class: &usize| {
        let (bucket, rate) = curves[*class];
        format!("[class.c{class}]\narrival = {{ bucket = '{bucket}b', rate = '{rate}bit' }}\n")
    };
    let classes: String = classes.iter().map(class).collect();
    let text = format!(
        "version = 1\nlink = {{ rate = '1gbit', max-packet = '1500b', min-packet = '1b' }}\nscheduler.kind = 'fifo'\n\
         {classes}[class.rest]\n"
    );
    Plan::parse(&text, "plan.toml", Path::new("")).expect("a plan")
}

fn plan(curves: &Curves) -> Plan {
    plan_with(curves, &(0..curves.len()).collect::<Vec<_>>())
}

/// Those of all classes of a plan but the last.
fn regulators_of(plan: &Plan) -> Regulators {
    let classes: Vec<_> = (0..plan.classes.len() as u32 - 1).map(ClassId).collect();
    Regulators::new(plan, &classes)
}

fn regulators(curves: &Curves) -> Regulators {
    regulators_of(&plan(curves))
}

/// Another plan takes over; packets whose class is gone are of the last one.
fn follow(regulators: &mut Regulators, before: &Plan, next: &Plan) {
    let numbers = Renumbering::new(before, next);
    let rest = ClassId::from_index(next.classes.len() - 1);
    regulators.follow(regulators_of(next), &numbers, |waiting| {
        waiting.packet.class = numbers.get(waiting.packet.class).unwrap_or(rest);
    });
}

/// Packets as they come: class, arrival, length, by their numbers.
type Came = Vec<(usize, u64, u32)>;

/// Release times by definition, in nanoseconds and by number. Each is the earliest time, from the
/// arrival on and in order, at which the packets of the class still conform to its curve.
fn releases(curves: &Curves, came: &Came) -> Vec<u64> {
    let mut times: Vec<u64> = Vec::new();
    for (number, &(class, arrival, length)) in came.iter().enumerate() {
        let (bucket, rate) = curves[class];
        let (mut time, mut bytes) = (arrival, u64::from(length));
        for before in (0..number).rev().filter(|before| came[*before].0 == class) {
            bytes += u64::from(came[before].2);
            let more = u128::from(bytes.saturating_sub(bucket)) * u128::from(NANOBITS_PER_BYTE);
            time = time.max(times[before] + more.div_ceil(rate.into()) as u64);
        }
        times.push(time);
    }
    times
}

fn waiting(class: usize, arrival: u64, length: u32, handle: u64) -> Waiting {
    let (class, arrival) = (ClassId(class as u32), Nanos(arrival));
    Waiting {
        packet: Packet { class, arrival, length, handle, ..Packet::default() },
        ..Waiting::default()
    }
}

/// What goes on by a time: number, port and arrival there.
fn go_on(regulators: &mut Regulators, until: u64) -> Vec<(u64, usize, u64)> {
    let next = || regulators.next(Nanos(until));
    let told =
        |(port, waiting): (usize, Waiting)| (waiting.packet.handle, port, waiting.packet.arrival.0);
    std::iter::from_fn(next).map(told).collect()
}

proptest! {
    /// Each packet goes on at its release time, in the order of these times, at any polling times.
    #[test]
    fn packets_go_on_as_the_definition_says(
        curves in prop::collection::vec((1_500u64..4_000, 1_000_000u64..1_000_000_000), 1..5),
        steps in prop::collection::vec(
            (0usize..5, prop_oneof![Just(0u64), 0..3u64, 0..50_000u64], 1..=1_500u32, any::<bool>()), 1..200,
        ),
    ) {
        let mut regulators = regulators(&curves);
        let (mut now, mut came, mut out) = (0, Came::new(), Vec::new());
        for (number, (class, gap, length, asks)) in steps.into_iter().enumerate() {
            now += gap;
            let class = class % curves.len();
            came.push((class, now, length));
            if asks {
                out.extend(go_on(&mut regulators, now));
            }
            regulators.hold(class, 10 + class, waiting(class, now, length, number as u64));
            let times = releases(&curves, &came);
            let due = (0..=number).filter(|of| out.iter().all(|(gone, ..)| *gone != *of as u64));
            prop_assert_eq!(regulators.due().map(|due| due.0), due.map(|of| times[of]).min());
        }
        out.extend(go_on(&mut regulators, u64::MAX));
        prop_assert_eq!(regulators.due(), None);
        let times = releases(&curves, &came);
        let mut expected: Vec<_> =
            (0u64..).zip(&came).zip(times).map(|((number, of), time)| (number, 10 + of.0, time)).collect();
        expected.sort_by_key(|(number, _, time)| (*time, *number));
        prop_assert_eq!(out, expected);
    }

    /// The same while classes come and go, and change places. One that comes back begins anew, and
    /// what was held of it goes on when it was to.
    #[test]
    fn packets_go_on_while_classes_come_and_go(
        curves in prop::collection::vec((1_500u64..4_000, 1_000_000u64..1_000_000_000), 5),
        steps in prop::collection::vec(
            (
                0usize..5,
                prop_oneof![Just(0u64), 0..3u64, 0..50_000u64],
                1..=1_500u32,
                prop::option::weighted(0.2, prop::sample::subsequence(vec![0, 1, 2, 3, 4], 0..=5).prop_shuffle()),
            ),
            1..200,
        ),
    ) {
        let mut present: Vec<usize> = (0..5).collect();
        let mut regulators = regulators(&curves);
        let (mut now, mut out) = (0, Vec::new());
        // How often each class has come; curves and packets by coming.
        let mut comings: Vec<usize> = present.clone();
        let (mut of_comings, mut came, mut names) = (curves.clone(), Came::new(), Vec::new());
        for (class, gap, length, change) in steps {
            now += gap;
            out.extend(labelled(&mut regulators, now, &present));
            if let Some(next) = change {
                let [before, plan] = [&present, &next].map(|classes| plan_with(&curves, classes));
                follow(&mut regulators, &before, &plan);
                for class in next.iter().filter(|class| !present.contains(class)) {
                    comings[*class] = of_comings.len();
                    of_comings.push(curves[*class]);
                }
                let left = present.iter().filter(|class| !next.contains(class));
                for (number, time) in releases(&of_comings, &came).into_iter().enumerate() {
                    if time > now && left.clone().any(|class| names[number] == Some(*class)) {
                        names[number] = None;
                    }
                }
                present = next;
            }
            let Some(place) = present.iter().position(|present| *present == class) else { continue };
            regulators.hold(place, class, waiting(place, now, length, came.len() as u64));
            came.push((comings[class], now, length));
            names.push(Some(class));
        }
        out.extend(labelled(&mut regulators, u64::MAX, &present));
        let times = releases(&of_comings, &came);
        let mut expected: Vec<_> =
            (0u64..).zip(times).zip(names).map(|((number, time), name)| (number, time, name)).collect();
        expected.sort_by_key(|(number, time, _)| (*time, *number));
        prop_assert_eq!(out, expected);
    }
}

/// What goes on by a time: number, arrival there, and its class if it has not lost it.
fn labelled(
    regulators: &mut Regulators,
    until: u64,
    present: &[usize],
) -> Vec<(u64, u64, Option<usize>)> {
    let next = || regulators.next(Nanos(until));
    let told = |(_, Waiting { packet, .. }): (usize, Waiting)| {
        (packet.handle, packet.arrival.0, present.get(packet.class.index()).copied())
    };
    std::iter::from_fn(next).map(told).collect()
}

/// Ten bytes take 10 µs.
const CURVES: (u64, u64) = (100, 8_000_000);

#[test]
fn the_same_curve_of_another_plan_starts_no_new_burst() {
    let curves = vec![CURVES, CURVES];
    let mut regulators = regulators(&curves);
    for class in [0, 1] {
        regulators.hold(class, 0, waiting(class, 5, 100, 0));
        regulators.hold(class, 0, waiting(class, 5, 10, 1));
    }
    follow(&mut regulators, &plan(&curves), &plan(&vec![CURVES, (50, 80_000_000)]));
    regulators.hold(0, 0, waiting(0, 6, 10, 2));
    regulators.hold(1, 0, waiting(1, 6, 50, 2));
    regulators.hold(1, 0, waiting(1, 6, 10, 3));
    let out = go_on(&mut regulators, u64::MAX);
    let times: Vec<_> = out.iter().map(|(number, _, time)| (*number, *time)).collect();
    let expected =
        [(0, 5), (0, 5), (1, 10_005), (1, 10_005), (2, 10_005), (3, 11_005), (2, 20_005)];
    assert_eq!(times, expected);
}
