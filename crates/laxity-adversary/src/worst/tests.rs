//! Known worst cases are found, from several seeds, and nothing beyond what is proved.

use std::path::Path;

use laxity::packet::{FlowId, Packet};
use laxity::police::Policer;
use laxity_plan::Plan;
use laxity_plan::network::NetworkPlan;

use super::*;

fn plan(text: &str) -> Plan {
    Plan::parse(text, "worst.toml", Path::new(".")).expect("a plan")
}

/// The longest delay of each target in a plan.
fn found(plan: &Plan, packets: u64, seed: u64) -> Vec<(Target, Longest)> {
    let analysis = plan.network_plan().map(NetworkPlan::analysis);
    let place = analysis.as_ref().map_or(Place::Link(plan), Place::Network);
    let one = |target: Target| {
        let longest = longest(&place, &target, packets, seed).unwrap().expect("somebody sends");
        (target, longest)
    };
    place.targets().into_iter().map(one).collect()
}

/// Whether packets keep to the contracts of their classes, as the policer of a link sees it.
fn conforms(plan: &Plan, packets: &[Sent]) -> bool {
    let mut policer: Policer = plan.policer(Nanos::ZERO);
    for sent in packets {
        let mut packet = Packet {
            class: sent.class,
            flow: FlowId(sent.flow),
            length: sent.length,
            arrival: sent.time,
            ..Packet::default()
        };
        let _ = policer.police(sent.time, &mut packet);
    }
    policer.into_nonconforming().iter().all(|count| *count == 0)
}

const FIFO: &str = r#"
version = 1
link = { rate = "8mbit", max-packet = "1000b", min-packet = "1000b" }
scheduler = { kind = "fifo" }
class.a = { arrival = { bucket = "5000b", rate = "2mbit", packet = "1000b" } }
class.b = { arrival = { bucket = "3000b", rate = "2mbit", packet = "1000b" } }
network.l1 = { between = ["x", "y"] }
source = [{ class = "a", model = "constant", rate = "1mbit", packet = "1000b", path = ["x", "y"] },
          { class = "b", model = "constant", rate = "1mbit", packet = "1000b", path = ["x", "y"] }]
"#;

/// Both buckets at once are all that can come: 8000 bytes, 8 ms. Of two sources that send at one
/// instant the first one of the plan goes first, so that the other has to be a nanosecond earlier
/// to delay it.
#[test]
fn two_bursts_that_meet_take_their_sum() {
    let plan = plan(FIFO);
    for seed in 1..=5 {
        for (target, longest) in found(&plan, 200_000, seed) {
            assert_eq!(target.bound, Nanos(8_000_000));
            let found = longest.delay.0;
            assert!((7_999_999..=8_000_000).contains(&found), "seed {seed}: {found}");
            assert!(conforms(&plan, &longest.packets));
        }
    }
}

const STRICT: &str = r#"
version = 1
link = { rate = "8mbit", max-packet = "1000b" }
scheduler = { kind = "priority" }
class.high = { level = 1, arrival = { bucket = "2000b", rate = "1mbit", packet = "500b" } }
class.low = { level = 2, arrival = { bucket = "1000b", rate = "1mbit", packet = "1000b" } }
class.rest = { level = 3 }
"#;

/// The high class waits for the longest packet of the rest, just begun, and for its own burst.
#[test]
fn a_packet_just_begun_and_the_own_burst_are_found() {
    let plan = plan(STRICT);
    for seed in 1..=5 {
        let all = found(&plan, 400_000, seed);
        for (target, longest) in &all {
            assert!(longest.delay <= target.bound, "seed {seed}");
            assert!(conforms(&plan, &longest.packets));
        }
        // 1000 bytes that block but for a nanosecond, and 2000 of the class: 3 ms.
        let (high, longest) = &all[0];
        assert!(high.bound <= Nanos(3_000_001), "{}", high.bound);
        assert!(longest.delay >= Nanos(2_999_990), "seed {seed}: {}", longest.delay);
    }
}

/// The bursts of three classes meet a packet one after another.
#[test]
fn over_links_in_a_row_cross_traffic_meets_the_packet_at_each() {
    let mut text = String::from(
        r#"
version = 1
link = { rate = "8mbit", max-packet = "1000b", min-packet = "1000b" }
scheduler = { kind = "fifo" }
class.through = { arrival = { bucket = "1000b", rate = "1mbit", packet = "1000b" } }
class.c1 = { arrival = { bucket = "4000b", rate = "1mbit", packet = "1000b" } }
class.c2 = { arrival = { bucket = "4000b", rate = "1mbit", packet = "1000b" } }
class.c3 = { arrival = { bucket = "4000b", rate = "1mbit", packet = "1000b" } }
network.l1 = { between = ["a", "b"] }
network.l2 = { between = ["b", "c"] }
network.l3 = { between = ["c", "d"] }
source = [
    { class = "through", model = "constant", rate = "1mbit", packet = "1000b", path = ["a", "b", "c", "d"] },
"#,
    );
    for (class, path) in
        [("c1", "[\"a\", \"b\"]"), ("c2", "[\"b\", \"c\"]"), ("c3", "[\"c\", \"d\"]")]
    {
        text += &format!(
            "{{ class = \"{class}\", model = \"constant\", rate = \"1mbit\", packet = \"1000b\", path = {path} }},\n"
        );
    }
    text += "]\n";
    let plan = plan(&text);
    for seed in 1..=3 {
        let all = found(&plan, 400_000, seed);
        let (target, longest) = &all[0];
        // Its own millisecond and the four of a burst, at each link, are 15 ms.
        assert!(longest.delay > Nanos(14_990_000), "seed {seed}: {}", longest.delay);
        assert!(longest.delay <= Nanos(15_000_000), "seed {seed}: {}", longest.delay);
        assert!(longest.delay <= target.bound);
        assert!(conforms(&plan, &longest.packets));
    }
}

/// A flow over `links` links of 10 Mbit/s and one over each, with buckets of 10 kB, packets of 1000
/// bytes and a load in percent.
fn links_in_a_row(links: u32, load: u32) -> Plan {
    let rate = load * 50;
    let contract =
        format!("arrival = {{ bucket = \"10kB\", rate = \"{rate}kbit\", packet = \"1000b\" }}");
    let mut text = format!(
        "version = 1\nlink = {{ rate = \"10mbit\", max-packet = \"1000b\", min-packet = \"1000b\" }}\n\
         scheduler.kind = \"fifo\"\n[class.through]\n{contract}\n"
    );
    let mut sources = String::new();
    let mut source = |class: &str, path: Vec<String>| {
        sources += &format!(
            "[[source]]\nclass = \"{class}\"\nmodel = \"constant\"\nrate = \"{rate}kbit\"\npacket = \"1000b\"\n\
             path = [{}]\n",
            path.join(", ")
        );
    };
    let node = |number: u32| format!("\"n{number}\"");
    source("through", (0..=links).map(node).collect());
    for link in 0..links {
        let next = link + 1;
        text += &format!(
            "[class.c{link}]\n{contract}\n[network.l{link}]\nbetween = [\"n{link}\", \"n{next}\"]\n"
        );
        source(&format!("c{link}"), vec![node(link), node(next)]);
    }
    Plan::parse(&(text + &sources), "row.toml", Path::new(".")).expect("a plan")
}

/// Over ten links the burst of each of the others can meet the last packet of the flow's own burst:
/// that is 16 + 9 * 8.8 ms.
#[test]
fn over_ten_links_in_a_row_bursts_meet_the_packet_at_each() {
    for load in [40, 90] {
        let plan = links_in_a_row(10, load);
        let on = plan.network_plan().unwrap().analysis();
        let place = Place::Network(&on);
        let target = place.targets().swap_remove(0);
        for seed in 1..=3 {
            let found = longest(&place, &target, 100_000, seed).unwrap().unwrap();
            assert!(conforms(&plan, &found.packets));
            assert!(found.delay <= target.bound, "{load} %, seed {seed}: {}", found.delay);
            assert!(found.delay > Nanos(95_000_000), "{load} %, seed {seed}: {}", found.delay);
        }
    }
}
