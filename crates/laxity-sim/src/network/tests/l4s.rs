//! Flows of DCTCP that say ECT(1) beside flows of CUBIC, under DualPI2.

use laxity::packet::Ecn;
use laxity::units::Nanos;

use super::{MS, NetworkRun, Summary, plan, run};
use crate::record::{Fate, Observer, Record};
use crate::source::testing::{pcap, udp};
use crate::summary::HopSummary;

/// Flows of both kinds over 40 Mbit/s and 10 ms there and back.
fn beside(classic: u32, l4s: u32, seed: u64) -> Summary {
    let plan = plan(&format!(
        r#"
        link = {{ rate = "1gbit", max-packet = "1500b" }}
        scheduler.kind = "dualpi2"
        network.access = {{ between = ["s", "r"], private = true }}
        network.bottleneck = {{ between = ["r", "d"], rate = "40mbit", delay = "5ms" }}
        run.warm-up = "5s"
        class.classic = {{}}
        class.l4s = {{}}
        source = [
            {{ class = "classic", model = "tcp", count = {classic}, packet = "1500b", stagger = "100ms",
                path = ["s", "r", "d"] }},
            {{ class = "l4s", model = "tcp", congestion = "dctcp", l4s = true, count = {l4s}, packet = "1500b",
                stagger = "100ms", path = ["s", "r", "d"] }},
        ]
        "#
    ));
    run(&plan, Nanos(35_000 * MS), seed).0
}

/// What a flow of a class gets in Mbit/s, and how long its packets wait at the bottleneck in ms.
fn at_the_bottleneck(summary: &Summary, class: &str) -> (f64, f64) {
    let there = bottleneck(summary).classes.iter().find(|of| of.name == class).unwrap();
    // Without what a packet takes to be sent.
    let waited = there.delay_ns.unwrap().mean / 1e6 - 0.3;
    let of = summary.ends().classes.iter().find(|of| of.name == class).unwrap();
    (of.goodput_bps / of.flows as f64 / 1e6, waited)
}

fn bottleneck(summary: &Summary) -> &HopSummary {
    summary.hops.iter().find(|hop| hop.from == "r" && hop.to == "d").unwrap()
}

/// L4S and classic flows share a link at rates of one order (De Schepper et al. 2016, section 6).
///
/// The number of flows of either kind makes no difference. L4S packets wait for less than the
/// threshold and classic packets for about the target, and the link is full. In equilibrium windows
/// are 2 / (k p') and 1.68 / p' segments, and round trips are 10 ms and 25 ms. The expected ratio
/// of rates is therefore 1.5; marks at the threshold reduce it.
#[test]
fn rates_are_of_one_order() {
    for (classic, l4s) in [(1, 1), (2, 2), (1, 4), (4, 1)] {
        for seed in 0..10 {
            let summary = beside(classic, l4s, seed);
            let [(of_classic, long), (of_l4s, short)] =
                ["classic", "l4s"].map(|class| at_the_bottleneck(&summary, class));
            let used = bottleneck(&summary).utilization;
            let ratio = of_l4s / of_classic;
            let said = format!("{classic} and {l4s}, seed {seed}: {ratio} {long} {short} {used}");
            assert!((0.5..2.0).contains(&ratio), "{said}");
            assert!((14.0..16.0).contains(&long) && short < 1.0, "{said}");
            assert!(used > 0.95, "{said}");
        }
    }
}

/// What was sent over a hop, and whether with a mark.
#[derive(Default)]
struct Marks(Vec<bool>);

impl Observer for Marks {
    fn record(&mut self, record: &Record) {
        if matches!(record.fate, Fate::Sent { .. }) {
            self.0.push(record.packet.ecn == Ecn::Experienced);
        }
    }
}

/// Recorded datagrams that say so are marked at a bottleneck along their path, others are not.
#[test]
fn recorded_datagrams_are_marked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("in.pcap");
    let plan = plan(&format!(
        r#"
        link = {{ rate = "100mbit", max-packet = "1500b" }}
        scheduler.kind = "dualpi2"
        network.access = {{ between = ["s", "r"] }}
        network.bottleneck = {{ between = ["r", "d"], rate = "8mbit" }}
        class.calls = {{ match = "any" }}
        source = [{{ model = "capture", file = "{}", path = ["s", "r", "d"] }}]
        "#,
        file.display()
    ));
    for (ds, is_marked) in [(0b01, true), (0b10, true), (0b00, false)] {
        let mut frame = udp(1, 5001);
        frame[15] = ds;
        let frames: Vec<(u64, u32, &[u8])> =
            (0..4000).map(|number| (number * MS / 2, 1000, &frame[..])).collect();
        std::fs::write(&file, pcap(1, &frames)).unwrap();
        let on = plan.network_plan().unwrap().analysis();
        let run = NetworkRun::new(&on, Some(Nanos(2_000 * MS)), 1);
        let mut marks = Marks::default();
        run.simulate(&mut marks, &mut crate::to_the_end).unwrap();
        let marked = marks.0.iter().filter(|is_marked| **is_marked).count();
        assert_eq!(marked > 0, is_marked, "{ds}: {marked} of {}", marks.0.len());
    }
}
