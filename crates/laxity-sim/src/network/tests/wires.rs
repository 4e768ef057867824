//! Links that delay by chance, hold up and double packets.

use std::collections::BTreeMap;

use laxity_plan::model::{Dist, Reorder};

use super::bounds::{drawn, keeps_bounds};
use super::*;

/// Two links, the first of them with these keys, and a queue with a limit behind it.
fn two_links(keys: &str, source: &str) -> Plan {
    plan(&format!(
        r#"
        link = {{ rate = "8mbit", delay = "3ms", max-packet = "1000b" }}
        scheduler.kind = "fifo"
        class.a.queue = {{ kind = "droptail", limit = 6 }}
        network.first = {{ between = ["a", "b"], {keys} }}
        network.second = {{ between = ["b", "c"], rate = "4mbit", delay = "1ms" }}
        source = [{{ class = "a", {source}, packet = "1000b", path = ["a", "b", "c"] }}]
        "#
    ))
}

/// What comes to the second link is what left the first, less what is lost, and with copies; what
/// is dropped there and under way makes up the rest. From end to end copies do not count.
#[test]
fn books_balance_with_copies() {
    for seed in 0..10 {
        let plan = two_links(
            r#"loss = { share = 0.1 }, duplicate = { share = 0.2 },
               reorder = { share = 0.3, by = { exponential = "4ms" } }"#,
            r#"model = "poisson", rate = "4mbit", stop = "4s""#,
        );
        let (summary, diary) = run(&plan, Nanos(5_000 * MS), seed);
        let [first, second] = [0, 1].map(|hop| &summary.hops[hop]);
        let (left, came) = (first.classes[0].sent, second.classes[0].arrived);
        assert!(first.lost > 100 && first.duplicated > 200, "{} {}", first.lost, first.duplicated);
        assert_eq!(came, left - first.lost + first.duplicated, "seed {seed}");
        let dropped: u64 = second.classes[0].dropped.values().sum();
        assert!(dropped > 0);
        assert_eq!(came, second.classes[0].sent + dropped);
        assert_eq!((summary.ends().under_way, second.duplicated), (0, 0));
        let all = &summary.ends().classes[0];
        let arrived = diary.delivered.len() as u64;
        assert_eq!(all.sent, all.dropped + arrived, "copies are not there from end to end");
        // What arrived counts once.
        let bytes: u64 = diary.delivered.iter().map(|(_, _, bytes, _)| bytes).sum();
        assert_eq!(bytes, arrived * 1000);
        assert!((all.goodput_bps - bytes as f64 * 8.0 / 5.0).abs() < 1.0);
    }
}

/// Arrivals at the second link from departures at the first, by a model of its own: every packet at
/// its own time, the sooner first, and of those at one time the one that left first.
#[test]
fn packets_arrive_in_the_order_of_their_times() {
    for keys in [
        r#"jitter = { uniform = ["0s", "9ms"] }"#,
        r#"reorder = { share = 0.3, by = { uniform = ["1ms", "9ms"] } }"#,
        r#"jitter = { exponential = "2ms" }, reorder = { share = 1, by = { exponential = "5ms" } }"#,
        r#"reorder = { share = 0.5, by = "2ms" }"#,
    ] {
        let source = r#"model = "poisson", rate = "3mbit""#;
        let plain = run(&two_links("", source), Nanos(3_000 * MS), 3).1;
        let (summary, diary) = run(&two_links(keys, source), Nanos(3_000 * MS), 3);
        let sent = |diary: &Diary, of: u32| -> Vec<Nanos> {
            let fates = diary.hops.iter().filter(|(hop, ..)| hop.link.0 == of);
            let sent = fates.filter_map(|(.., fate)| match fate {
                Fate::Sent { departure, .. } => Some(*departure),
                _ => None,
            });
            sent.collect()
        };
        // The wire changes nothing in the packets sent over it.
        let before = sent(&diary, 0);
        assert_eq!(before, sent(&plain, 0), "{keys}");
        // No packet arrives before the propagation delay, and all arrive.
        let after: Vec<_> = diary.delivered.iter().map(|(.., at)| *at).collect();
        let second = &summary.hops[1].classes[0];
        let lost = second.dropped.values().sum::<u64>() as usize;
        let there = after.len() + lost + summary.ends().under_way + second.queued as usize;
        assert_eq!(there, before.len(), "{keys}");
        for (first, last) in before.iter().zip(&after) {
            // A packet spends at least 3 ms under way, 2 ms being sent again and 1 ms under way
            // again. So the nth arrival is at least 6 ms after the nth departure, whatever the
            // order of packets.
            assert!(first.0 + 6 * MS <= last.0, "{keys}");
        }
        assert!(after.is_sorted());
    }
}

/// A wire that holds every second packet up for longer than the gap between two turns pairs around;
/// what the receiver acknowledges says so.
#[test]
fn packets_pass_one_another() {
    let plan = two_links(
        r#"reorder = { share = 0.5, by = "20ms" }"#,
        r#"model = "constant", rate = "800kbit""#,
    );
    let mut delays = BTreeMap::<u64, usize>::new();
    let (summary, diary) = run(&plan, Nanos(10_000 * MS), 1);
    for (.., at) in &diary.delivered {
        // One packet each 10 ms, 7 ms when alone.
        *delays.entry((at.0 - 7 * MS) % (10 * MS)).or_default() += 1;
    }
    let delay = summary.ends().classes[0].delay_ns.unwrap();
    assert_eq!(delay.min, 7 * MS);
    assert!(delay.max >= 27 * MS && delay.max <= 29 * MS, "{}", delay.max);
    assert!(delays.keys().all(|late| *late == 0 || *late == 2 * MS), "{delays:?}");
}

/// Reordering is no loss to RACK-TLP, whose window for it widens; what counts duplicate
/// acknowledgements takes it for losses, again and again, and sends much for nothing (RFC 8985,
/// section 1).
#[test]
fn rack_bears_reordering() {
    let summary = |keys: &str, seed| {
        let plan = plan(&format!(
            r#"
            link = {{ rate = "100mbit", delay = "1ms", max-packet = "1000b" }}
            scheduler.kind = "fifo"
            class.a.queue = {{ kind = "droptail", limit = 200 }}
            network.access = {{ between = ["s", "r"], private = true }}
            network.bottleneck = {{ between = ["r", "d"], rate = "10mbit", delay = "10ms",
                                    reorder = {{ share = 0.02, by = "6ms" }} }}
            run.warm-up = "2s"
            source = [{{ class = "a", model = "tcp", packet = "1000b", window = 60, path = ["s", "r", "d"], {keys} }}]
            "#
        ));
        run(&plan, Nanos(20_000 * MS), seed).0
    };
    for seed in 0..10 {
        let [counted, timed] = [r#"loss-detection = "sack""#, r#"loss-detection = "rack-tlp""#]
            .map(|keys| summary(keys, seed).ends().classes[0].clone());
        let again = |of: &crate::summary::EndToEnd| of.tcp.unwrap().retransmitted;
        assert_eq!(
            counted.dropped + timed.dropped,
            0,
            "all that is sent again is sent for nothing"
        );
        assert!(again(&timed) * 2 < again(&counted), "{} {}", again(&counted), again(&timed));
        assert!(timed.goodput_bps > counted.goodput_bps);
    }
}

/// Transfers arrive whole and once through a wire with all disturbances, from any sender.
#[test]
fn transfers_arrive_whole() {
    for keys in [
        r#"variant = "newreno""#,
        r#"variant = "sack""#,
        r#"loss-detection = "rack-tlp""#,
        r#"congestion = "bbr""#,
        r#"congestion = "dctcp""#,
    ] {
        let plan = two_links(
            r#"loss = { share = 0.02 }, jitter = { exponential = "1ms" }, duplicate = { share = 0.1 },
               reorder = { share = 0.1, by = { exponential = "5ms" } }"#,
            &format!(r#"model = "tcp", transfer = "40kB", pause = "10ms", {keys}"#),
        );
        for seed in 0..3 {
            let (summary, diary) = run(&plan, Nanos(30_000 * MS), seed);
            let tcp = summary.ends().classes[0].tcp.unwrap();
            assert!(tcp.completed > 20, "{keys}, seed {seed}: {}", tcp.completed);
            let bytes: u64 = diary.delivered.iter().map(|(_, _, bytes, _)| bytes).sum();
            let whole = tcp.completed * 40_000;
            assert!((whole..=whole + 40_000).contains(&bytes), "{keys}: {bytes} of {whole}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// No packet is later than proved where wires delay packets, by no more than a limit, and
    /// double some.
    #[test]
    fn no_packet_is_later_than_proved(
        drawn in drawn(),
        jitters: u16,
        reorders: u16,
        doubles in prop_oneof![3 => Just(0u16), 1 => any::<u16>()],
        by in 1..6_000_000u64,
    ) {
        let text = drawn.text();
        let mut plan = plan(&text);
        for (number, link) in plan.network.as_mut().unwrap().links.iter_mut().enumerate() {
            let has = |which: u16| which >> number & 1 == 1;
            let dist = Dist::Uniform(Nanos(0), Nanos(by));
            link.jitter = has(jitters).then_some(dist);
            link.reorder = has(reorders).then_some(Reorder { share: 0.4, by: dist });
            link.duplicate = has(doubles).then_some(0.3);
        }
        keeps_bounds(&plan, &text, Nanos(250 * MS))?;
    }
}

/// A limit to what a wire adds is in the bound, and without one, or behind copies, there is none.
#[test]
fn bounds_know_what_wires_add() {
    let bound = |keys: &str| {
        let plan = plan(&format!(
            r#"
            link = {{ rate = "8mbit", delay = "3ms", max-packet = "1000b" }}
            scheduler.kind = "fifo"
            class.a.arrival = {{ bucket = "1000b", rate = "400kbit" }}
            network.first = {{ between = ["a", "b"], {keys} }}
            network.second.between = ["b", "c"]
            source = [{{ class = "a", model = "greedy", burst = "10ms", spacing = "10ms", packet = "1000b",
                         path = ["a", "b", "c"] }}]
            "#
        ));
        plan.network_plan().unwrap().paths().routes[0].bound().map_err(|why| why.to_string())
    };
    let plain = bound("").unwrap();
    let jitter = bound(r#"jitter = { uniform = ["0s", "5ms"] }"#).unwrap();
    // The addition, and what may come together behind it: 400 kbit/s for 5 ms are 250 bytes.
    assert!(jitter >= plain + Nanos(5 * MS) && jitter <= plain + Nanos(6 * MS), "{plain} {jitter}");
    let reorder = bound(r#"reorder = { share = 0.1, by = "5ms" }"#);
    assert!(reorder.unwrap() >= plain + Nanos(5 * MS));
    let why = "a link on the way delays packets without limit, or sends some twice";
    for keys in [
        r#"jitter = { exponential = "1ms" }"#,
        r#"reorder = { share = 0.1, by = { normal = ["5ms", "1ms"] } }"#,
        "duplicate = { share = 0.1 }",
    ] {
        assert_eq!(bound(keys), Err(why.to_string()));
    }
    assert_eq!(bound("loss = { share = 0.1 }"), Ok(plain));
}
