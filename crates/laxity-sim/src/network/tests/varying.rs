//! Links whose rates change: packets are sent at these rates, and bounds hold.

use std::sync::Arc;

use laxity::link::Trace;
use laxity_plan::rate_trace;

use super::bounds::{drawn, keeps_bounds};
use super::*;
use crate::link::Run;

/// The plan with this trace at every link for which `varies` holds, by number.
fn with_trace(
    mut plan: Plan,
    trace: impl Fn(u64) -> Trace,
    varies: impl Fn(usize) -> bool,
) -> Plan {
    let network = plan.network.as_mut().unwrap();
    for (number, link) in network.links.iter_mut().enumerate() {
        link.trace = varies(number).then(|| Arc::new(trace(link.rate.0)));
    }
    plan
}

/// No transmission for some tenths of a period, then at the rate that keeps the mean.
fn outage(rate: u64, period: u64, parts: u64) -> Trace {
    let rates = [(Nanos(0), 0), (Nanos(period / 10 * parts), rate * 10 / (10 - parts) + 1)];
    Trace::new(rates, Some(Nanos(period))).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// No packet is later than proved where rates change, be it by outages.
    #[test]
    fn no_packet_is_later_than_proved(
        drawn in drawn(),
        which: u16,
        period in 1_000_000u64..20_000_000,
        parts in 1u64..9,
    ) {
        let text = drawn.text();
        let varies = |number: usize| which >> number & 1 == 1;
        let plan = with_trace(plan(&text), |rate| outage(rate, period, parts), varies);
        keeps_bounds(&plan, &text, Nanos(250 * MS))?;
    }
}

/// A burst that comes when an outage begins takes nearly what is proved, in one queue and by
/// deadlines. The bounds of CAKE hold for queues of its own choice, and so are longer.
#[test]
fn bounds_of_outages_are_nearly_taken() {
    let bears_late_links = |kind: &Kind| kind.room().proof.bears_late_links;
    for kind in kinds::bounding().into_iter().filter(bears_late_links).map(Kind::word) {
        let text = format!(
            r#"
            link = {{ rate = "8mbit", max-packet = "1000b" }}
            scheduler.kind = "{kind}"
            class.a = {{ deadline = "40ms", arrival = {{ bucket = "9000b", rate = "1mbit" }} }}
            network.one.between = ["a", "b"]
            [[source]]
            class = "a"
            model = "greedy"
            packet = "1000b"
            burst = "30ms"
            spacing = "70ms"
            path = ["a", "b"]
            "#
        );
        let plan = with_trace(plan(&text), |rate| outage(rate, 20 * MS, 5), |_| true);
        let (summary, _) = run(&plan, Nanos(1_000 * MS), 1);
        let class = &summary.ends().classes[0];
        let [most, bound] = [class.delay_ns.unwrap().max, class.bound_ns.unwrap()];
        let tenths = if kind == Kind::Cake.word() { 6 } else { 7 };
        assert!(most <= bound && most > bound / 10 * tenths, "{kind}: {most} of {bound}");
    }
}

/// What an outage has held up comes to the next link faster than the rate that schedulers count on.
#[test]
fn bursts_behind_an_outage_are_known() {
    let text = r#"
        link = { rate = "4mbit", max-packet = "500b" }
        scheduler.kind = "fifo"
        class.a.arrival = { bucket = "500b", rate = "3mbit" }
        network.one.between = ["a", "b"]
        network.two.between = ["b", "c"]
        source = [{ class = "a", model = "constant", rate = "3mbit", packet = "500b", path = ["a", "b", "c"] }]
        "#;
    let plan = with_trace(plan(text), |rate| outage(rate, 20 * MS, 5), |number| number == 0);
    keeps_bounds(&plan, text, Nanos(500 * MS)).unwrap();
    let (summary, _) = run(&plan, Nanos(500 * MS), 1);
    let behind = &summary.hops[1].classes[0];
    let [most, bound] = [behind.delay_ns.unwrap().max, behind.bound_ns.unwrap()];
    assert!(most > bound / 2, "{most} of {bound}");
}

#[test]
fn others_have_no_bound_there() {
    let bears_late_links = |kind: &Kind| kind.room().proof.bears_late_links;
    for kind in kinds::any().into_iter().filter(|kind| !bears_late_links(kind)) {
        let text = format!(
            r#"
            link = {{ rate = "8mbit", max-packet = "1000b" }}
            scheduler.kind = "{}"
            class.a = {{ arrival = {{ bucket = "9000b", rate = "1mbit" }}, curve = "2mbit" }}
            network.one.between = ["a", "b"]
            network.two.between = ["b", "c"]
            source = [{{ class = "a", model = "constant", rate = "1mbit", packet = "500b", path = ["a", "b", "c"] }}]
            "#,
            kind.word()
        );
        let steady = plan(&text);
        let varying =
            with_trace(plan(&text), |rate| outage(rate, 20 * MS, 5), |number| number == 1);
        let bound = |plan: &Plan| {
            let paths = plan.network_plan().unwrap().paths();
            (paths.routes[0].bound().is_ok(), paths.outputs[0].classes[0].bound.is_ok())
        };
        let proves = kinds::bounding().contains(&kind);
        assert_eq!(
            (bound(&steady), bound(&varying)),
            ((proves, proves), (false, proves)),
            "{}",
            kind.word()
        );
    }
}

/// When packets left a single link.
#[derive(Default)]
struct Departures(Vec<u64>);

impl Observer for Departures {
    fn record(&mut self, record: &Record) {
        if let Fate::Sent { departure, .. } = record.fate {
            self.0.push(departure.0);
        }
    }
}

/// Opportunities of a file, by the millisecond: a packet of 1500 bytes leaves with each.
#[test]
fn packets_leave_with_opportunities() {
    let text = r#"
        link = { rate = "1mbit", max-packet = "1500b" }
        scheduler.kind = "fifo"
        class.a = {}
        network.one.between = ["a", "b"]
        source = [{ class = "a", model = "backlogged", packet = "1500b", path = ["a", "b"] }]
        "#;
    let trace = |_| rate_trace::parse("2\n2\n5\n9\n").unwrap();
    let network = with_trace(plan(text), trace, |_| true);
    let (_, diary) = run(&network, Nanos(30 * MS), 1);
    let at: Vec<_> = diary.delivered.iter().map(|(.., at)| at.0).collect();
    let half = MS / 2;
    let expected = [2 * MS - half, 2 * MS, 5 * MS, 9 * MS];
    let periods = [0, 9, 18].into_iter().flat_map(|period| expected.map(|at| period * MS + at));
    assert_eq!(at, periods.chain([28 * MS + half, 29 * MS]).collect::<Vec<_>>());
    // One link is one link.
    let lines = text.lines().filter(|line| !line.contains("network.one"));
    let text = lines.collect::<Vec<_>>().join("\n").replace(", path = [\"a\", \"b\"]", "");
    let mut single = plan(&text);
    single.link.trace = Some(Arc::new(trace(0)));
    let run = Run { plan: &single, duration: Some(Nanos(30 * MS)), seed: 1, feeds: Vec::new() };
    let mut departures = Departures::default();
    run.with_sources().unwrap().simulate(&mut departures, &mut crate::to_the_end).unwrap();
    assert_eq!(departures.0[..at.len()], at);
}
