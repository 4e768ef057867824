//! Congestion controls over a bottleneck.

use laxity::units::Nanos;

use super::{MS, plan, run};
use crate::network::NetworkSummary;

/// Two connections over 10 Mbit/s and 20 ms there and back, with room for a product of both.
fn over_a_bottleneck(keys: &str, seed: u64) -> NetworkSummary {
    let plan = plan(&format!(
        r#"
        link = {{ rate = "100mbit", max-packet = "1000b" }}
        scheduler.kind = "fifo"
        class.a.queue = {{ kind = "droptail", limit = 25 }}
        network.access = {{ between = ["s", "r"], private = true }}
        network.bottleneck = {{ between = ["r", "d"], rate = "10mbit", delay = "10ms" }}
        run.warm-up = "2s"
        source = [{{ class = "a", model = "tcp", count = 2, packet = "1000b", stagger = "100ms",
                    path = ["s", "r", "d"], {keys} }}]
        "#
    ));
    run(&plan, Nanos(20_000 * MS), seed).0
}

#[test]
fn every_choice_fills_the_link() {
    for keys in [
        "variant = \"sack\", pacing = true",
        "variant = \"sack\", slow-start = \"hystart++\"",
        "loss-detection = \"rack-tlp\"",
        "loss-detection = \"rack-tlp\", pacing = true, slow-start = \"hystart++\"",
    ] {
        for seed in 1..=3 {
            let summary = over_a_bottleneck(keys, seed);
            let used =
                summary.hops.iter().find(|hop| hop.link == "bottleneck").unwrap().utilization;
            let fairness = summary.classes[0].fairness.unwrap();
            assert!(used > 0.95 && fairness > 0.9, "{keys}, seed {seed}: {used} {fairness}");
        }
    }
}
