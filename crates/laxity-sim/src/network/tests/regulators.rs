//! Packets that are held until they keep to their arrival curves again.

use std::fmt::Write;

use laxity_plan::model::Dist;

use super::bounds::{drawn_regulated, keeps_bounds};
use super::*;

/// When packets of the class `a` begin to be sent over the second link.
fn starts(diary: &Diary) -> Vec<u64> {
    let of_second = diary.hops.iter().filter(|(hop, class, ..)| (hop.link.0, class.0) == (1, 0));
    let start = of_second.filter_map(|(.., fate)| match fate {
        Fate::Sent { start, .. } => Some(start.0),
        _ => None,
    });
    start.collect()
}

/// Every 8 ms a packet of 1 ms, the first of them behind a burst of others of 8 ms, at a link to
/// which these do not go.
fn behind_a_burst(class: &str, regulate: bool) -> Plan {
    plan(&format!(
        r#"
        link = {{ rate = "8mbit", delay = "2ms", max-packet = "1000b" }}
        scheduler.kind = "fifo"
        [class.a]
        {class}
        [class.b]
        arrival = {{ bucket = "8000b", rate = "1kbit" }}
        [network.first]
        between = ["a", "b"]
        [network.second]
        between = ["b", "c"]
        regulate = {regulate}
        [[source]]
        class = "b"
        model = "greedy"
        burst = "100ms"
        spacing = "100ms"
        packet = "1000b"
        path = ["a", "b"]
        [[source]]
        class = "a"
        model = "constant"
        rate = "1mbit"
        packet = "1000b"
        path = ["a", "b", "c"]
        "#
    ))
}

/// A packet that waited is followed as closely as the contract has it: each by 8 ms, and not by
/// less.
#[test]
fn packets_are_held_until_they_conform() {
    let contract = r#"arrival = { bucket = "1000b", rate = "1mbit" }"#;
    let times = |plan: &Plan| {
        let (summary, diary) = run(plan, Nanos(40 * MS), 1);
        (starts(&diary), summary.ends().classes[0].delay_ns.unwrap().max)
    };
    let (free, latest) = times(&behind_a_burst(contract, false));
    // Behind eight packets, the second at once behind itself.
    assert_eq!(free[..3], [11 * MS, 12 * MS, 19 * MS]);
    let (held, as_late) = times(&behind_a_burst(contract, true));
    assert_eq!(held[..3], [11 * MS, 19 * MS, 27 * MS]);
    assert_eq!((latest, as_late), (14 * MS, 14 * MS), "none is later than the first was");
    // Without a contract there is nothing to hold them to.
    assert_eq!(times(&behind_a_burst("", true)).0[..3], free[..3]);
}

/// What breaks its contract where it enters, and may travel on, is held where it can conform, as
/// best effort not at all.
#[test]
fn what_breaks_its_contract_waits_unless_it_is_best_effort() {
    let contract = r#"arrival = { bucket = "1000b", rate = "500kbit" }"#;
    let starts = |police: &str| {
        let class = format!("{contract}\npolice = \"{police}\"");
        starts(&run(&behind_a_burst(&class, true), Nanos(60 * MS), 1).1)
    };
    let counted = starts("count");
    assert!(counted.windows(2).all(|pair| pair[1] - pair[0] == 16 * MS), "{counted:?}");
    let demoted = starts("demote");
    assert!(demoted.windows(2).any(|pair| pair[1] - pair[0] == MS), "{demoted:?}");
}

/// A ring of links, all in one direction, and classes that go round it.
#[derive(Clone, Debug)]
struct Ring {
    /// Megabits a second, propagation in microseconds, whether it is regulated, and its scheduler.
    links: Vec<(u64, u64, bool, String)>,
    classes: Vec<Round>,
}

#[derive(Clone, Debug)]
struct Round {
    bucket: u64,
    rate: u64,
    peak: bool,
    shortest: u64,
    deadline: u64,
    /// From where, over how many links, how many flows, bursts of how long and from when on, in
    /// milliseconds.
    sources: Vec<(usize, usize, u64, u64, u64)>,
}

impl Ring {
    fn text(&self) -> String {
        let mut text = String::from(
            "link = { rate = \"10mbit\", min-packet = \"1b\", max-packet = \"1000b\" }\nscheduler.kind = \"fifo\"\n",
        );
        let node = |at: usize| format!("n{}", at % self.links.len());
        for (number, (rate, delay, regulate, scheduler)) in self.links.iter().enumerate() {
            let between = [node(number), node(number + 1)];
            writeln!(
                text,
                "[network.l{number}]\nbetween = {between:?}\nrate = \"{rate}mbit\"\ndelay = \"{delay}us\"\n\
                 regulate = {regulate}\nscheduler = {scheduler}"
            )
            .unwrap();
        }
        for (number, class) in self.classes.iter().enumerate() {
            let Round { bucket, rate, peak, shortest, deadline, sources } = class;
            let peak = if *peak { ", at-most = \"1000b\" }, peak = \"4mbit\"" } else { " }" };
            writeln!(
                text,
                "[class.c{number}]\nweight = 1\ndeadline = \"{deadline}ms\"\npolice = \"drop\"\n\
                 arrival = {{ bucket = \"{bucket}b\", rate = \"{rate}kbit\", packet = {{ at-least = \"{shortest}b\"{peak} }}"
            )
            .unwrap();
            for (from, hops, count, burst, start) in sources {
                let path: Vec<_> = (*from..=from + hops).map(node).collect();
                writeln!(
                    text,
                    "[[source]]\nclass = \"c{number}\"\ncount = {count}\nmodel = \"greedy\"\nburst = \"{burst}ms\"\n\
                     spacing = \"40ms\"\nstart = \"{start}ms\"\n\
                     packet = {{ uniform = [\"{shortest}b\", \"1000b\"] }}\npath = {path:?}"
                )
                .unwrap();
            }
        }
        text
    }
}

fn ring() -> impl Strategy<Value = Ring> {
    let link = (4..12u64, 0..2_000u64, 0..4u8, kinds::schedulers())
        .prop_map(|(rate, delay, regulate, scheduler)| (rate, delay, regulate > 0, scheduler));
    proptest::collection::vec(link, 3..6).prop_flat_map(|links| {
        let nodes = links.len();
        let source = (0..nodes, 1..2 * nodes, 1..3u64, 5..60u64, 0..10u64);
        let sources = proptest::collection::vec(source, 1..3);
        let shortest = prop_oneof![Just(1), Just(40), 40..999u64];
        let class = (1_000..6_000u64, 100..1_500u64, any::<bool>(), shortest, 4..60u64, sources)
            .prop_map(|(bucket, rate, peak, shortest, deadline, sources)| Round {
                bucket,
                rate,
                peak,
                shortest,
                deadline,
                sources,
            });
        let classes = proptest::collection::vec(class, 1..5);
        classes.prop_map(move |classes| Ring { links: links.clone(), classes })
    })
}

/// Eight flows of `b` and a burst of `a` come to CAKE at once, later a packet of `a` that passes
/// the burst. Regulators behind it take that packet's part of the contract from the burst's last
/// packet.
fn passed_on_the_way(regulate: bool) -> Plan {
    plan(&format!(
        r#"
        link = {{ rate = "4mbit", max-packet = "500b" }}
        scheduler.kind = "fifo"
        class.a.arrival = {{ bucket = "4000b", rate = "200kbit" }}
        class.b.arrival = {{ bucket = "4000b", rate = "1kbit" }}
        network.first = {{ between = ["a", "b"], scheduler = {{ kind = "cake", rtt = "1s" }} }}
        network.second = {{ between = ["b", "c"], rate = "1gbit", regulate = {regulate} }}
        [[source]]
        class = "b"
        model = "constant"
        rate = "1kbit"
        count = 8
        stop = "1ms"
        packet = "500b"
        path = ["a", "b"]
        [[source]]
        class = "a"
        model = "greedy"
        burst = "1ms"
        spacing = "100s"
        packet = "500b"
        path = ["a", "b", "c"]
        [[source]]
        class = "a"
        model = "constant"
        rate = "1kbit"
        start = "12ms"
        stop = "13ms"
        packet = "300b"
        path = ["a", "b", "c"]
        "#
    ))
}

/// A packet that was passed by another is held for longer than packets take up to the regulator.
#[test]
fn regulators_cost_time_where_packets_pass_one_another() {
    for regulate in [false, true] {
        let (summary, _) = run(&passed_on_the_way(regulate), Nanos(40 * MS), 1);
        let hops: u64 = summary.hops.iter().map(|hop| hop.classes[0].bound_ns.unwrap_or(0)).sum();
        let class = &summary.ends().classes[0];
        let longest = class.delay_ns.unwrap().max;
        assert_eq!(longest > hops, regulate, "{longest} {hops}");
        assert!(longest <= class.bound_ns.unwrap(), "{class:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// No packet takes longer than proved where what goes round a ring is held here and there.
    #[test]
    fn no_packet_of_a_ring_is_later_than_proved(ring in ring()) {
        keeps_bounds(&plan(&ring.text()), &ring.text(), Nanos(250 * MS))?;
    }

    /// Nor where wires delay packets and keep their order.
    #[test]
    fn no_packet_is_later_than_proved(drawn in drawn_regulated(), jitters: u16, by in 1..6_000_000u64) {
        let text = drawn.text();
        let mut plan = plan(&text);
        for (number, link) in plan.network.as_mut().unwrap().links.iter_mut().enumerate() {
            let has = jitters >> number & 1 == 1;
            link.jitter = has.then_some(Dist::Uniform(Nanos(0), Nanos(by)));
        }
        keeps_bounds(&plan, &text, Nanos(250 * MS))?;
    }
}

/// The rings that are drawn have bounds, and most of them packets that are held.
#[test]
fn many_rings_are_proved() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut bounded, mut held) = (0, 0);
    for _ in 0..60 {
        let text = ring().new_tree(&mut runner).unwrap().current().text();
        let [with, _] = keeps_bounds(&plan(&text), &text, Nanos(MS)).unwrap();
        bounded += with;
        let free = run(&plan(&text.replace("regulate = true", "")), Nanos(100 * MS), 1).1;
        held += usize::from(run(&plan(&text), Nanos(100 * MS), 1).1 != free);
    }
    assert!(bounded >= 40 && held >= 30, "{bounded} {held}");
}

/// A burst that meets others behind a regulator takes nearly the proved bound, with its wait there.
#[test]
fn bounds_behind_regulators_are_nearly_taken() {
    let mut text = String::from(
        "link = { rate = \"8mbit\", max-packet = \"1000b\" }\nscheduler.kind = \"fifo\"\n",
    );
    for at in 0..3 {
        writeln!(
            text,
            "class.c{at}.arrival = {{ bucket = \"8000b\", rate = \"500kbit\" }}\n\
             network.l{at} = {{ between = [\"n{at}\", \"n{}\"], regulate = true }}",
            at + 1
        )
        .unwrap();
    }
    for (at, to, start) in [(0, 3, 0), (1, 2, 8), (2, 3, 16)] {
        let path: Vec<_> = (at..=to).map(|node| format!("n{node}")).collect();
        writeln!(
            text,
            "[[source]]\nclass = \"c{at}\"\nmodel = \"greedy\"\npacket = \"1000b\"\nburst = \"100ms\"\n\
             spacing = \"100ms\"\nstart = \"{start}ms\"\npath = {path:?}"
        )
        .unwrap();
    }
    let (summary, _) = run(&plan(&text), Nanos(2_000 * MS), 1);
    let class = &summary.ends().classes[0];
    assert_eq!(class.bound_misses, 0, "{class:?}");
    let taken = class.delay_ns.unwrap().max as f64 / class.bound_ns.unwrap() as f64;
    assert!(taken > 0.5, "{taken}");
}
