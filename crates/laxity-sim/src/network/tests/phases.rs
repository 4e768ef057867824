//! What happens at one instant, and that nothing but chance hangs on it (Floyd, Jacobson 1992, *On
//! traffic phase effects in packet-switched gateways*).

use proptest::prelude::*;

use super::*;

/// Fifty connections of five lengths of path over 20 Mbit/s; `more` ns on each access link.
fn access_delays(variant: &str, more: [u64; 5]) -> Plan {
    let paths = [2, 5, 11, 23, 47].iter().zip(more).enumerate().map(|(number, (ms, more))| {
        format!(
            r#"
            [network.access{number}]
            between = ["h{number}", "r"]
            private = true
            delay = "{}ns"
            [[source]]
            class = "tcp"
            model = "tcp"
            variant = "{variant}"
            packet = "1500b"
            count = 10
            delayed-acks = false
            stagger = "1s"
            path = ["h{number}", "r", "d"]
            "#,
            ms * MS + more
        )
    });
    plan(&format!(
        r#"
        link = {{ rate = "1gbit", max-packet = "1500b" }}
        scheduler.kind = "fifo"
        class.tcp.queue = {{ kind = "droptail", limit = 100 }}
        network.bottleneck = {{ between = ["r", "d"], rate = "20mbit" }}
        run.warm-up = "3s"
        {}"#,
        paths.collect::<String>()
    ))
}

/// Mean, and squared standard error of the mean, of Jain's index over eight seeds.
fn fairness(plan: &Plan) -> (f64, f64) {
    let indices: Vec<f64> = (1..=8)
        .map(|seed| run(plan, Nanos(15_000 * MS), seed).0.ends().classes[0].fairness.unwrap())
        .collect();
    let n = indices.len() as f64;
    let mean = indices.iter().sum::<f64>() / n;
    let squares: f64 = indices.iter().map(|index| (index - mean).powi(2)).sum();
    (mean, squares / (n - 1.0) / n)
}

/// Round delays give the fairness of odd ones: the means over seeds differ by no more than the
/// seeds make them differ, at 99.9 % by Welch's test with at least seven degrees of freedom.
/// Senders in step differ by 0.3, ten times of what would be seen.
#[test]
fn round_delays_are_as_fair_as_odd_ones() {
    for variant in ["newreno", "cubic"] {
        let (round, round_error) = fairness(&access_delays(variant, [0; 5]));
        let (odd, odd_error) = fairness(&access_delays(variant, [130, 310, 470, 660, 830]));
        let seen = 5.408 * (round_error + odd_error).sqrt();
        assert!((round - odd).abs() <= seen, "{variant}: {round} and {odd}, not within {seen}");
        assert!(seen < 0.1, "{variant}: the seeds differ too much to tell, by {seen}");
    }
}

/// Streams of the link's rate each, the second later by half a packet's time.
fn streams(count: u32, second: u32) -> Plan {
    let source = |class: &str, count, start| {
        format!(
            r#"[[source]]
            class = "{class}"
            model = "constant"
            rate = "1mbit"
            packet = "1000b"
            count = {count}
            start = "{start}ms"
            path = ["h", "r", "d"]
            "#
        )
    };
    let second = if second > 0 { source("second", second, 4) } else { String::new() };
    plan(&format!(
        r#"
        link = {{ rate = "100mbit", max-packet = "1000b" }}
        scheduler = {{ kind = "fifo", queue = {{ kind = "droptail", limit = 10 }} }}
        class.first = {{}}
        class.second = {{}}
        network.access = {{ between = ["h", "r"], private = true }}
        network.bottleneck = {{ between = ["r", "d"], rate = "1mbit" }}
        run.warm-up = "1s"
        {}{second}"#,
        source("first", count, 0),
    ))
}

/// Packets that come together to a queue with one place: each stream has its turn. Of n draws among
/// k streams a share deviates by sqrt((1/k) (1 - 1/k) / n); five of these fail for one in two
/// million.
#[test]
fn who_of_those_that_come_together_gets_in_is_drawn() {
    for (count, seed) in [(2, 1), (2, 2), (5, 1), (5, 2), (5, 3)] {
        let (summary, _) = run(&streams(count, 0), Nanos(41_000 * MS), seed);
        let (places, streams) = (5_000.0, f64::from(count));
        let deviation = (places * (1.0 - 1.0 / streams) / streams).sqrt();
        for flow in &summary.ends().flows {
            let arrived = flow.goodput_bps * 40.0 / 8_000.0;
            let off = (arrived - places / streams).abs();
            assert!(off < 5.0 * deviation + 10.0, "{count} streams, seed {seed}: {arrived}");
        }
        let lost = u64::from(count - 1) * 5_000;
        let ties = summary.ends().ties_at_full_queues;
        assert!(ties >= lost, "{ties} ties for {lost} lost");
    }
}

/// Where one stream always comes as the link takes a packet, and the other always between, a draw
/// gives each of them half of the places.
#[test]
fn whether_the_link_or_a_packet_is_first_is_drawn() {
    for seed in 1..=5 {
        let (summary, _) = run(&streams(1, 1), Nanos(41_000 * MS), seed);
        let [first, second] = [0, 1].map(|flow| summary.ends().flows[flow].goodput_bps / 1e6);
        let deviation = (0.25f64 / 5_000.0).sqrt();
        assert!((first - 0.5).abs() < 5.0 * deviation, "seed {seed}: {first} and {second}");
        assert!((first + second - 1.0).abs() < 0.01);
    }
}

/// A draw decides only where there is not room for all: the same packets leave at the same times
/// from a queue that they just fit as from one without limit.
#[test]
fn nothing_is_drawn_where_there_is_room() {
    let text = |limit: u32| {
        format!(
            r#"
            link = {{ rate = "100mbit", max-packet = "1000b" }}
            scheduler = {{ kind = "drr", queue = {{ kind = "droptail", limit = {limit} }} }}
            class.a = {{}}
            network.access = {{ between = ["h", "r"], private = true }}
            network.bottleneck = {{ between = ["r", "d"], rate = "10mbit" }}
            [[source]]
            class = "a"
            model = "constant"
            rate = "1mbit"
            packet = "1000b"
            count = 10
            path = ["h", "r", "d"]
            "#
        )
    };
    let [just, ample] = [10, 1_000].map(|limit| run(&plan(&text(limit)), Nanos(1_000 * MS), 1));
    assert_eq!(just.0.ends().ties_at_full_queues, 0);
    assert_eq!(just.1, ample.1);
}

/// One segment a transfer, one transfer after another: 50 ms there and back, 1.04 ms of
/// transmission and the jitter, uniform up to the 1 ms of the slowest link. Of n draws the mean
/// deviates by sqrt(1/12 n); five of these fail for one seed in two million.
#[test]
fn sends_are_late_by_up_to_a_packets_time_at_the_bottleneck() {
    let text = |jitter: &str| {
        format!(
            r#"
            link = {{ rate = "8mbit", max-packet = "1000b" }}
            scheduler.kind = "fifo"
            class.a = {{}}
            network.fast = {{ between = ["a", "b"], rate = "8gbit", delay = "10ms" }}
            network.slow = {{ between = ["b", "c"], delay = "15ms" }}
            [[source]]
            class = "a"
            model = "tcp"
            packet = "1000b"
            transfer = "1000b"
            delayed-acks = false
            {jitter}
            path = ["a", "b", "c"]
            "#
        )
    };
    let gaps = |jitter: &str, seed: u64| {
        let (_, diary) = run(&plan(&text(jitter)), Nanos(200_000 * MS), seed);
        let times: Vec<f64> = diary.delivered.iter().map(|(.., at)| at.0 as f64 / 1e6).collect();
        times.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<f64>>()
    };
    let bare = 51.041_04;
    for seed in 1..=5 {
        let late: Vec<f64> = gaps("", seed).iter().map(|gap| gap - bare).collect();
        let n = late.len() as f64;
        let mean = late.iter().sum::<f64>() / n;
        assert!(late.iter().all(|late| (-1e-3..=1.001).contains(late)), "seed {seed}");
        assert!((mean - 0.5).abs() < 5.0 * (1.0 / 12.0 / n).sqrt(), "seed {seed}: {mean}");
        assert!(gaps("jitter = \"0s\"", seed).iter().all(|gap| (gap - bare).abs() < 1e-3));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// However late sends are, a sender's segments leave in their order: where nothing is lost
    /// every one that arrives is the next, and nothing is sent again.
    #[test]
    fn jitter_keeps_the_order(
        seed: u64, micros in 1u64..20_000, exponential: bool, delayed: bool,
        variant in prop::sample::select(vec!["newreno", "sack", "cubic"]),
    ) {
        let jitter = if exponential { format!("{{ exponential = \"{}us\" }}", micros / 4 + 1) } else { format!("{{ uniform = [\"0s\", \"{micros}us\"] }}") };
        let plan = plan(&format!(
            r#"
            link = {{ rate = "10mbit", delay = "5ms", max-packet = "1000b" }}
            scheduler.kind = "fifo"
            class.a = {{}}
            network.one.between = ["a", "b"]
            network.two = {{ between = ["b", "c"], rate = "2mbit" }}
            [[source]]
            class = "a"
            model = "tcp"
            variant = "{variant}"
            count = 3
            window = 30
            packet = "1000b"
            delayed-acks = {delayed}
            min-timeout = "2s"
            jitter = {jitter}
            path = ["a", "b", "c"]
            "#
        ));
        let (summary, diary) = run(&plan, Nanos(5_000 * MS), seed);
        prop_assert!(diary.delivered.len() > 100);
        prop_assert!(diary.delivered.iter().all(|(.., bytes, _)| *bytes == 1_000));
        prop_assert_eq!(summary.ends().classes[0].tcp.unwrap().retransmitted, 0);
    }
}
