//! Congestion controls over a bottleneck.

use laxity::units::Nanos;

use super::{MS, plan, run};
use crate::summary::Summary;

/// Two connections over 10 Mbit/s and 20 ms there and back, with room for a product of both.
fn over_a_bottleneck(keys: &str, seed: u64) -> Summary {
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
        "congestion = \"bbr\"",
        "loss-detection = \"rack-tlp\", pacing = true, slow-start = \"hystart++\"",
    ] {
        for seed in 1..=3 {
            let summary = over_a_bottleneck(keys, seed);
            let used =
                summary.hops.iter().find(|hop| hop.link == "bottleneck").unwrap().utilization;
            let fairness = summary.ends().classes[0].fairness.unwrap();
            assert!(used > 0.95 && fairness > 0.9, "{keys}, seed {seed}: {used} {fairness}");
        }
    }
}

/// 100 Mbit/s and 1 ms there and back hold 8 packets, and K is 20: far above a seventh of that, so
/// the link never runs empty. Of N flows in step the queue is at most K + N long and falls by
/// sqrt(2 N (C RTT + K)) / 2 from there, here from 22 by 5 (Alizadeh et al. 2010, section 3.3);
/// hosts take a random time before they send.
#[test]
fn dctcp_keeps_the_queue_where_marks_begin() {
    for seed in 1..=3 {
        let plan = plan(
            r#"
            link = { rate = "1gbit", max-packet = "1500b" }
            scheduler.kind = "fifo"
            network.access = { between = ["s", "r"], private = true }
            network.bottleneck = { between = ["r", "d"], rate = "100mbit", delay = "500us" }
            run.warm-up = "500ms"
            class.a.queue = { kind = "droptail", limit = 400, mark = 20 }
            source = [{ class = "a", model = "tcp", count = 2, packet = "1500b", stagger = "10ms",
                congestion = "dctcp", path = ["s", "r", "d"] }]
            "#,
        );
        let (summary, _) = run(&plan, Nanos(3_000 * MS), seed);
        let class = &summary.ends().classes[0];
        let hop = summary.hops.iter().find(|hop| hop.link == "bottleneck").unwrap();
        let delay = hop.classes[0].delay_ns.unwrap();
        assert_eq!((class.dropped, class.tcp.unwrap().timeouts), (0, 0));
        assert!(hop.utilization > 0.99 && class.fairness.unwrap() > 0.95, "{:?}", class.fairness);
        // A packet takes 120 µs.
        let queued = |delay: f64| delay / 120_000.0;
        assert!((17.0..21.0).contains(&queued(delay.mean)), "{}", queued(delay.mean));
        assert!(queued(delay.max as f64) < 28.0, "{}", queued(delay.max as f64));
    }
}

/// One flow of BBR over 10 Mbit/s and 40 ms, a product of 50 packets: whatever the room in the
/// queue, the link is used, and less than half a product waits on average. Hosts take their random
/// time before they send.
#[test]
fn bbr_keeps_the_queue_short() {
    for limit in [25, 100, 1_000] {
        let plan = plan(&format!(
            r#"
            link = {{ rate = "1gbit", max-packet = "1000b" }}
            scheduler.kind = "fifo"
            network.access = {{ between = ["s", "r"], private = true }}
            network.bottleneck = {{ between = ["r", "d"], rate = "10mbit", delay = "20ms" }}
            run.warm-up = "3s"
            class.a.queue = {{ kind = "droptail", limit = {limit} }}
            source = [{{ class = "a", model = "tcp", packet = "1000b", congestion = "bbr",
                path = ["s", "r", "d"] }}]
            "#
        ));
        for seed in 1..=5 {
            let (summary, _) = run(&plan, Nanos(20_000 * MS), seed);
            let hop = summary.hops.iter().find(|hop| hop.link == "bottleneck").unwrap();
            let delay = hop.classes[0].delay_ns.unwrap();
            // In products of rate and round trip, 800 µs for a packet.
            let [mean, most] = [delay.mean, delay.max as f64].map(|delay| delay / 40e6);
            let told = format!("limit {limit}, seed {seed}: {} {mean} {most}", hop.utilization);
            assert!(hop.utilization > 0.9 && mean < 0.5 && most < 1.5, "{told}");
        }
    }
}

/// Flows of ten segments are in one window: nothing queues before them on an empty link, and the
/// last segment is there after a round trip less what its acknowledgement takes.
#[test]
fn flows_that_are_asked_for_by_time() {
    let plan = |every: &str, count: u32| {
        plan(&format!(
            r#"
            link = {{ rate = "1gbit", delay = "10ms", max-packet = "1500b" }}
            scheduler.kind = "fifo"
            class.a = {{}}
            network.one.between = ["a", "b"]
            source = [{{ class = "a", model = "tcp", packet = "1500b", transfer = "15kB", jitter = "0s",
                count = {count}, every = {every}, path = ["a", "b"] }}]
            "#
        ))
    };
    let (summary, _) = run(&plan("\"50ms\"", 1), Nanos(10_000 * MS), 1);
    let tcp = summary.ends().classes[0].tcp.unwrap();
    let took = tcp.completion_ns.unwrap();
    // Ten segments of 12 µs and 10 ms; the delayed acknowledgement of none is waited for.
    assert_eq!((tcp.completed, took.min, took.max), (199, 10_120_000, 10_120_000));
    assert_eq!((tcp.on_demand.unwrap().waited, tcp.on_demand.unwrap().unfinished), (0, 0));
    for seed in 1..=4 {
        // 50 connections, each asked for a flow every 500 ms: Poisson, 100 flows a second.
        let (summary, _) = run(&plan("{ exponential = \"500ms\" }", 50), Nanos(20_000 * MS), seed);
        let tcp = summary.ends().classes[0].tcp.unwrap();
        assert!(tcp.completed.abs_diff(2_000) < 180, "{}", tcp.completed);
        let waited = tcp.on_demand.unwrap().waited;
        // The share that comes before the one before is acknowledged: 1 - exp(-20.12 / 500), about
        // 4 %.
        assert!((40..=125).contains(&waited), "{waited}");
        assert!(tcp.completion_ns.unwrap().min >= 10_120_000);
    }
    // Twice what one connection can do: it falls behind, and what waited counts.
    let (summary, _) = run(&plan("\"10060us\"", 1), Nanos(2_000 * MS), 1);
    let tcp = summary.ends().classes[0].tcp.unwrap();
    let took = tcp.completion_ns.unwrap();
    assert_eq!(
        tcp.on_demand.unwrap().waited,
        tcp.completed - 1 + tcp.on_demand.unwrap().unfinished
    );
    assert!(took.max > 950 * MS, "half of two seconds behind: {took:?}");
}

/// Where a path has no propagation, round trips are what senders themselves keep queued. BBR never
/// goes below BBR.MinPipeCwnd of 4 segments, not even to see the shortest round trip; twice of what
/// it sees then, and what acknowledgements of two segments add, is what it keeps in flight
/// otherwise. That is up to some 12 segments of each flow, here of 0.8 ms.
#[test]
fn bbr_without_propagation_queues_its_least_windows() {
    for flows in [1, 2, 4, 16] {
        for seed in 1..=2 {
            let plan = plan(&format!(
                r#"
                link = {{ rate = "100mbit", max-packet = "1000b" }}
                scheduler.kind = "fifo"
                class.a = {{}}
                network.access = {{ between = ["s", "r"], private = true }}
                network.bottleneck = {{ between = ["r", "d"], rate = "10mbit" }}
                run.warm-up = "12s"
                source = [{{ class = "a", model = "tcp", count = {flows}, packet = "1000b", stagger = "100ms",
                            path = ["s", "r", "d"], congestion = "bbr" }}]
                "#
            ));
            let (summary, _) = run(&plan, Nanos(40_000 * MS), seed);
            let hop = summary.hops.iter().find(|hop| hop.link == "bottleneck").unwrap();
            let segments = hop.classes[0].delay_ns.unwrap().mean / 0.8e6 / f64::from(flows);
            assert!((4.0..12.5).contains(&segments), "{flows}: {segments}");
        }
    }
}

/// Nothing is made of connections before they begin, and yet the class has them.
#[test]
fn connections_that_never_begin() {
    for (every, is_asked) in [("", false), ("every = \"1s\",", true)] {
        let plan = plan(&format!(
            r#"
            link = {{ rate = "1gbit", max-packet = "1500b" }}
            scheduler.kind = "fifo"
            class.a = {{}}
            network.one.between = ["a", "b"]
            source = [{{ class = "a", model = "tcp", packet = "1500b", transfer = "15kB", {every}
                start = "5s", count = 3, path = ["a", "b"] }}]
            "#
        ));
        let class = run(&plan, Nanos(4_000 * MS), 1).0.ends().classes[0].clone();
        let tcp = class.tcp.unwrap();
        let done = [tcp.retransmitted, tcp.recoveries, tcp.timeouts, tcp.echoes, tcp.completed];
        assert_eq!((class.flows, class.sent, done), (3, 0, [0; 5]));
        let on_demand = tcp.on_demand.map(|asked| (asked.waited, asked.unfinished));
        assert_eq!(on_demand, is_asked.then_some((0, 0)));
    }
}

/// Acknowledgements are three times as long as segments, so that they fill the way back. COBALT
/// drops some of them there, late. A filter drops those that later ones make superfluous, at once,
/// and the way forth is full.
#[test]
fn a_filter_of_acknowledgements_clears_the_way_back() {
    let used = |filter: &str| {
        let plan = plan(&format!(
            r#"
            link = {{ rate = "100mbit", max-packet = "1500b" }}
            scheduler = {{ kind = "cake", ack-filter = "{filter}" }}
            class.a = {{}}
            network.access = {{ between = ["s", "r"], private = true }}
            network.bottleneck = {{ between = ["r", "d"], rate = "10mbit", delay = "10ms" }}
            run.warm-up = "2s"
            source = [{{ class = "a", model = "tcp", count = 2, packet = "500b", ack = "1500b",
                        stagger = "100ms", path = ["s", "r", "d"] }}]
            "#
        ));
        let summary = run(&plan, Nanos(10_000 * MS), 1).0;
        let hop = summary.hops.iter().find(|hop| hop.link == "bottleneck").unwrap();
        let filtered = summary.hops.iter().flat_map(|hop| &hop.classes);
        let filtered = filtered.filter_map(|class| class.dropped.get("ack-filter")).sum::<u64>();
        (hop.utilization, filtered)
    };
    let [off, on, aggressive] = ["off", "on", "aggressive"].map(used);
    assert!(off.0 < 0.95 && off.1 == 0, "{off:?}");
    for (used, filtered) in [on, aggressive] {
        assert!(used > 0.99 && filtered > 3_000, "{used} {filtered}");
    }
}
