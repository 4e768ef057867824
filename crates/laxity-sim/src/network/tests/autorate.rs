//! Shapers whose rate is found, before links whose rate changes.

use std::sync::Arc;

use laxity::link::Trace;
use laxity::units::Rate;
use laxity_plan::model::AutorateSpec;

use super::*;
use crate::link::Run;
use crate::summary::AutorateSummary;

const SECOND: u64 = 1_000 * MS;

/// A link with calls as greedy as they may be and a class that always has packets.
fn plan_of(kind: &str, by: &str, trace: Option<Trace>) -> Plan {
    let text = format!(
        r#"
        link.max-packet = "1500b"
        link.rate = {{ from = "2mbit", to = "20mbit", by = "{by}", behind = {{ round-trip = "20ms", jitter = {{ exponential = "1ms" }} }} }}
        scheduler.kind = "{kind}"
        class.calls = {{ deadline = "30ms", weight = 1, arrival = {{ bucket = "2kB", rate = "600kbit", packet = "250b" }} }}
        class.other = {{ weight = 1 }}
        [[source]]
        class = "calls"
        model = "greedy"
        packet = "250b"
        burst = "200ms"
        spacing = {{ uniform = ["10ms", "90ms"] }}
        [[source]]
        class = "other"
        model = "backlogged"
        packet = "1500b"
        "#
    );
    let mut plan = plan(&text);
    let spec = plan.link.autorate.as_deref().unwrap().clone();
    let behind = laxity_plan::model::BehindSpec { trace: trace.map(Arc::new), ..spec.behind };
    plan.link.autorate = Some(Arc::new(AutorateSpec { behind, ..spec }));
    plan
}

/// When calls left the shaper, and their delays until then.
#[derive(Default)]
struct Calls(Vec<(Nanos, Nanos)>);

impl Observer for Calls {
    fn record(&mut self, record: &Record) {
        if let (0, Fate::Sent { departure, .. }) = (record.packet.class.0, record.fate) {
            self.0.push((departure, departure - record.packet.arrival));
        }
    }
}

fn run_link(plan: &Plan, seconds: u64, seed: u64) -> (AutorateSummary, Calls, Summary) {
    let duration = Some(Nanos(seconds * SECOND));
    let run = Run { plan, duration, seed, feeds: Vec::new() }.with_sources().unwrap();
    let mut calls = Calls::default();
    let outcome = run.simulate(&mut calls, &mut crate::to_the_end).unwrap();
    let found = outcome.summary.hops[0].autorate.clone().unwrap();
    (found, calls, outcome.summary)
}

/// Rates of some hundred milliseconds each.
fn steps() -> impl Strategy<Value = Trace> {
    prop::collection::vec((1u64..20, 2_000_000u64..25_000_000), 1..12).prop_map(|steps| {
        let mut time = 0;
        let rates = steps.into_iter().map(|(tenths, rate)| {
            let begins = time;
            time += tenths * 100 * MS;
            (Nanos(begins), rate)
        });
        Trace::new(rates.collect::<Vec<_>>(), None).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Within each second no packet takes longer to the last bit out than is proved for the least
    /// rate of the second and the one before.
    #[test]
    fn bounds_hold_for_the_least_rate_of_each_second(
        trace in steps(),
        kind in prop::sample::select(vec!["edf", "wf2q", "priority", "drr"]),
        is_cake: bool,
        seed in 0u64..1000,
    ) {
        let by = if is_cake { "cake-autorate" } else { "delay" };
        let plan = plan_of(kind, by, Some(trace));
        let (found, calls, summary) = run_link(&plan, 8, seed);
        let bounds = plan.bounds_by_rate().unwrap();
        prop_assert_eq!(found.seconds.len(), 8);
        for second in &found.seconds {
            prop_assert!((Rate(2_000_000)..=Rate(20_000_000)).contains(&second.least));
            prop_assert!(second.least <= second.mean);
            let Some(bound) = bounds.at(second.least)[0] else { continue };
            let end = second.begins + Nanos(SECOND);
            let here = calls.0.iter().filter(|(at, _)| (second.begins..end).contains(at));
            for (at, delay) in here {
                prop_assert!(*delay <= bound, "{kind} at {at}: {delay} of {bound}, {second:?}");
            }
        }
        let calls = &summary.hops[0].classes[0];
        prop_assert_eq!(calls.bound_misses, 0);
        prop_assert!(found.used.unwrap() <= 1.0);
    }
}

/// On a link that stays as it is nearly all is used, and calls wait for little more than that.
#[test]
fn a_steady_link_is_used() {
    let steady = || Trace::new([(Nanos(0), 9_000_000)], None).unwrap();
    let (found, ..) = run_link(&plan_of("edf", "delay", Some(steady())), 20, 1);
    assert!(found.used.unwrap() > 0.93, "{:?}", found.used);
    let calls = found.classes[0].delay_ns.unwrap();
    assert!(calls.p50 < 20 * MS && calls.p99 < 60 * MS, "{calls:?}");
    assert!(found.seconds_kept >= 10, "{found:?}");
    // Without a trace the link behind sends at the highest rate.
    let (found, ..) = run_link(&plan_of("edf", "delay", None), 20, 1);
    assert!(found.used.unwrap() > 0.85, "{:?}", found.used);
}

#[test]
fn the_same_seed_finds_the_same_rates() {
    let trace = || Trace::new([(Nanos(0), 9_000_000), (Nanos(3 * SECOND), 4_000_000)], None);
    let plan = plan_of("edf", "delay", Some(trace().unwrap()));
    let [first, again, other] = [7, 7, 8].map(|seed| run_link(&plan, 6, seed).0.seconds);
    assert_eq!(first, again);
    assert_ne!(first, other);
}

/// In a network what is behind the shaper is part of the way, and a short queue there loses
/// packets, which TCP hears of.
#[test]
fn a_connection_passes_the_link_behind() {
    let text = |behind: &str| {
        format!(
            r#"
        link = {{ rate = "100mbit", max-packet = "1500b" }}
        scheduler.kind = "fifo"
        class.data = {{}}
        network.home.between = ["host", "router"]
        [network.uplink]
        between = ["router", "far"]
        rate = {{ from = "1mbit", to = "20mbit", behind = {behind} }}
        delay = "10ms"
        [[source]]
        class = "data"
        model = "tcp"
        packet = "1500b"
        path = ["host", "router", "far"]
        "#
        )
    };
    for (behind_keys, loses) in [("{ round-trip = '20ms' }", false), ("{ buffer = '5kB' }", true)] {
        let mut plan = plan(&text(behind_keys));
        let link = &mut plan.network.as_mut().unwrap().links[1];
        let spec = link.autorate.as_deref().unwrap().clone();
        let trace = Trace::new([(Nanos(0), 4_000_000)], None).unwrap();
        let behind = laxity_plan::model::BehindSpec { trace: Some(Arc::new(trace)), ..spec.behind };
        link.autorate = Some(Arc::new(AutorateSpec { behind, ..spec }));
        let (summary, _) = run(&plan, Nanos(20 * SECOND), 1);
        let shaped = summary.hops.iter().find(|hop| hop.from == "router" && hop.to == "far");
        let found = shaped.and_then(|hop| hop.autorate.as_ref()).unwrap();
        assert_eq!(found.lost > 0, loses, "{behind_keys}");
        let back = summary.hops.iter().find(|hop| hop.from == "far").unwrap();
        assert!(back.autorate.is_none());
        let class = &summary.network.as_ref().unwrap().classes[0];
        assert!(class.goodput_bps < 4_000_000.0, "{}", class.goodput_bps);
        let most = if loses { 1_000_000.0 } else { 3_000_000.0 };
        assert!(class.goodput_bps > most, "{}", class.goodput_bps);
    }
}
