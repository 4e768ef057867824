//! What classes get that the plan leaves open.

use std::path::Path;

use laxity::curve::{Curve, exact_nanos};
use laxity::link::Link;
use laxity::packet::Packet;
use laxity::sched::hfsc::Curves;
use laxity::scheduler::{DropReason, Scheduler};
use laxity::service::ServiceCurve;
use laxity::units::{Bytes, Nanos};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::discipline::Kind;
use crate::model::{SchedulerSpec, Weight};

/// A plan on a link of 10 Mbit/s with packets of up to 1250 bytes, which take 1 ms.
fn plan(classes: &str) -> Plan {
    let head = "version = 1\nlink = { rate = '10mbit', max-packet = '1250b' }\n\
                scheduler.kind = 'hfsc'\n";
    let plan = Plan::parse(&format!("{head}{classes}"), "test.toml", Path::new("."));
    plan.unwrap_or_else(|error| panic!("{error:?}"))
}

fn rates(classes: &str) -> Vec<u64> {
    plan(classes).guaranteed_rates().into_iter().map(|rate| rate.0).collect()
}

const CAMPUS: &str = "
    [class.audio]
    parent = 'a'
    curve = { burst = '160b', delay = '5ms', rate = '64kbit' }
    [class.web]
    parent = 'a'
    weight = 3
    [class.video]
    parent = 'a'
    real-time = { burst = '8kB', delay = '10ms', rate = '2mbit' }
    [class.a]
    link-share = '4.5mbit'
    upper-limit = '9mbit'
    [class.mail]
    parent = 'a'
    [class.b]
";

#[test]
fn classes_without_curves_share_what_the_others_leave() {
    let left = 4_500_000 - 64_000 - 2_000_000;
    let web = left * 3 / 4;
    assert_eq!(rates(CAMPUS), [64_000, web, 2_000_000, 4_500_000, left / 4, 5_500_000]);
    assert_eq!(rates("class.a = {}\nclass.b.weight = 2"), [3_333_333, 6_666_666]);
    let full =
        "class.a.curve = '6mbit'\nclass.b.curve = '7mbit'\nclass.c = {}\nclass.d.parent = 'c'";
    assert_eq!(rates(full), [6_000_000, 7_000_000, 1, 1]);
}

#[test]
fn hfsc_gets_a_curve_for_every_class() {
    let plan = plan(CAMPUS);
    let classes = plan.hfsc_classes();
    let linear = |bits| Some(ServiceCurve::linear(Rate(bits)));
    for (class, spec) in plan.classes.iter().zip(&classes) {
        let rate = plan.guaranteed_rates()[plan.class(&class.name).unwrap().index()];
        assert_eq!(spec.parent, class.parent);
        let expected = match &*class.name {
            "audio" | "video" | "a" => class.curves,
            _ => Curves { link_share: linear(rate.0), ..Curves::default() },
        };
        assert_eq!(spec.curves, expected, "{}", class.name);
    }
}

#[test]
fn hfsc_keeps_the_deadline_of_the_slowest_bucket() {
    let contract = "deadline = '21ms'\narrival = { bucket = '5kB', rate = '1mbit', packet = '500b', peak = '4mbit' }";
    let spec = |rest: &str| plan(&format!("[class.a]\n{contract}\n{rest}")).hfsc_classes()[0];
    let promised = ServiceCurve::for_burst(Bytes(5_000), Nanos(20_000_000), Rate(1_000_000));
    let share = Some(ServiceCurve::linear(Rate(10_000_000)));
    let derived = Curves { real_time: Some(promised), link_share: share, upper_limit: None };
    assert_eq!(spec("").curves, derived);
    let written = Some(ServiceCurve::linear(Rate(3_000_000)));
    assert_eq!(spec("link-share = '3mbit'").curves, Curves { link_share: written, ..derived });
    let only = Curves { real_time: written, ..Curves::default() };
    assert_eq!(spec("real-time = '3mbit'").curves, only);
}

#[test]
fn a_deadline_that_nothing_can_keep_is_kept_as_well_as_the_link_can() {
    // The burst takes 2 ms on the link, and a packet of another class may be before it.
    for deadline in ["1ms", "2.5ms", "3ms"] {
        let contract = format!(
            "class.a = {{ deadline = '{deadline}', arrival = {{ bucket = '2500b', rate = '1mbit' }} }}"
        );
        let curve = plan(&contract).hfsc_classes()[0].curves.real_time;
        let at_link_rate = ServiceCurve::two_piece(10_000_000, Nanos(2_000_000), Rate(1_000_000));
        assert_eq!(curve, at_link_rate.ok());
    }
}

#[test]
fn leaves_weigh_their_rates_in_a_hierarchy_and_their_weights_without() {
    assert_eq!(plan("class.a.weight = 0.5\nclass.b = {}").flat_weights(), [500_000, 1_000_000]);
    let plan = plan(CAMPUS);
    let (weights, rates) = (plan.flat_weights(), plan.guaranteed_rates());
    assert!(weights.iter().all(|weight| *weight > 0));
    assert!(plan.leaves().all(|(id, _)| weights[id.index()] == rates[id.index()].0));
}

#[test]
fn every_turn_of_round_robin_sends() {
    assert_eq!(plan("class.a.weight = 2.5\nclass.b = {}").drr_quanta(), [3_125, 1_250]);
    let quanta = plan(CAMPUS).drr_quanta();
    let quantum = |bits: u64| (1_250 * bits).div_ceil(64_000) as u32;
    assert_eq!([quanta[0], quanta[2], quanta[5]], [1_250, quantum(2_000_000), quantum(5_500_000)]);
    // A packet for the least would be 5 TB for the greatest.
    let far_apart = "class.a.weight = 4000\nclass.b.weight = 0.000001";
    assert_eq!(plan(far_apart).drr_quanta(), [u32::MAX, 2]);
}

/// A hierarchy: by class its parent among the classes before it, weight, and rate if it has a
/// curve.
fn hierarchies() -> impl Strategy<Value = Plan> {
    let class =
        (any::<prop::sample::Index>(), 1..=4_000_000_000u32, prop::option::of(1..6_000_000u64));
    vec(class, 1..12).prop_map(|classes| {
        let text: String = (0..classes.len()).map(|at| format!("class.c{at} = {{}}\n")).collect();
        let mut plan = plan(&text);
        for (at, (parent, weight, rate)) in classes.into_iter().enumerate() {
            // One more than there are classes before it: the top.
            let parent = Some(parent.index(at + 1)).filter(|parent| *parent < at);
            if let Some(parent) = parent {
                plan.classes[parent].children.push(ClassId(at as u32));
            }
            let class = &mut plan.classes[at];
            class.parent = parent.map(|parent| ClassId(parent as u32));
            class.weight = Weight(weight);
            class.curves.link_share = rate.map(|rate| ServiceCurve::linear(Rate(rate)));
        }
        plan
    })
}

proptest! {
    /// From the definition: a class with a curve has its rate; of what is left the others have as
    /// many parts as they weigh, rounded down, and never nothing.
    #[test]
    fn rates_are_what_is_left_in_proportion_to_the_weights(plan in hierarchies()) {
        let rates = plan.guaranteed_rates();
        for (class, rate) in plan.classes.iter().zip(&rates) {
            let siblings = || plan.classes.iter().filter(|other| other.parent == class.parent);
            let whole = class.parent.map_or(plan.link.rate, |parent| rates[parent.index()]).0;
            let asked = |class: &Class| class.curves.link_share.map(|curve| curve.m2().0);
            let left = whole.saturating_sub(siblings().filter_map(asked).sum());
            let weight = |class: &Class| u128::from(class.weight.0);
            let weights: u128 = siblings().filter(|other| asked(other).is_none()).map(weight).sum();
            match asked(class) {
                Some(asked) => prop_assert_eq!(rate.0, asked),
                None => {
                    let part = u128::from(left) * weight(class) / weights;
                    prop_assert_eq!(u128::from(rate.0), part.max(1));
                }
            }
        }
    }

    /// Booked beyond the link or not, every packet is sent and the link never idles before.
    #[test]
    fn every_scheduler_serves_any_hierarchy(
        plan in hierarchies(), lengths in vec(40..=1_250u32, 1..6),
    ) {
        // CAKE drops the second packet that has waited for too long.
        let sends_all = |spec: &SchedulerSpec| spec.kind() != Kind::Cake;
        for spec in SchedulerSpec::defaults().filter(sends_all) {
            let mut scheduler = Plan { scheduler: spec, ..plan.clone() }.build_scheduler(1);
            let mut drops = |packet: Packet, _: DropReason| panic!("{spec} drops {packet:?}");
            let mut link = Link::new(plan.link.rate);
            let mut sent = 0;
            for round in 0..3 {
                for (class, _) in plan.leaves() {
                    for &length in &lengths {
                        let packet = Packet { class, length, arrival: link.free_at(), ..Packet::default() };
                        scheduler.enqueue(link.free_at(), packet, &mut drops);
                    }
                }
                // All but some that meet the next round's.
                let kept = if round == 2 { 0 } else { 3 };
                while scheduler.backlog().packets > kept {
                    let dispatch = scheduler.dequeue(link.free_at(), &mut drops);
                    prop_assert!(dispatch.is_some(), "{} holds packets back", spec);
                    dispatch.map(|dispatch| link.transmit(link.free_at(), dispatch.packet.length));
                    sent += 1;
                }
            }
            prop_assert_eq!(sent, 3 * lengths.len() * plan.leaves().count());
        }
    }

    /// Whatever conforms is due one packet's time before its deadline, if the link could send the
    /// burst by then at all.
    #[test]
    fn the_derived_curve_keeps_the_deadline(
        bucket in 1_250..100_000u64, rate in 1_000..10_000_000u64, slack in 0..200_000_000u64,
    ) {
        let deadline = Nanos(1_000_000 + bucket * 800 + slack);
        let contract = format!("arrival = {{ bucket = '{bucket}b', rate = '{rate}bit' }}");
        let plan = plan(&format!("[class.a]\ndeadline = '{deadline}'\n{contract}"));
        let curve = plan.hfsc_classes()[0].curves.real_time.unwrap().curve();
        let arrival = Curve::token_bucket(Bytes(bucket), Rate(rate));
        let delay = Curve::horizontal_distance(&arrival, &curve);
        prop_assert!(delay.is_some_and(|delay| delay <= exact_nanos(Nanos(deadline.0 - 1_000_000))));
    }
}
