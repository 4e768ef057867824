//! Bounds of networks, compared with delays in them.

use std::fmt::Write;

use super::*;

/// A network whose paths lead from lower nodes to higher ones.
#[derive(Clone, Debug)]
pub(super) struct Drawn {
    classes: Vec<DrawnClass>,
    links: Vec<DrawnLink>,
    sources: Vec<DrawnSource>,
}

#[derive(Clone, Debug)]
struct DrawnClass {
    bucket: u64,
    rate: u64,
    peak: bool,
    shortest: u64,
    deadline: Option<u64>,
    told: bool,
    weight: u8,
}

#[derive(Clone, Debug)]
struct DrawnLink {
    megabits: u64,
    delay: u64,
    private: bool,
    regulate: bool,
    scheduler: String,
}

#[derive(Clone, Debug)]
struct DrawnSource {
    class: usize,
    count: u64,
    from: usize,
    /// Whether each next node is passed by.
    skips: Vec<bool>,
    burst: u64,
    start: u64,
    packet: (u64, u64),
}

/// Every node has links to the next two.
const NODES: usize = 5;

impl Drawn {
    pub(super) fn text(&self) -> String {
        let mut text = String::from(
            "link = { rate = \"10mbit\", max-packet = \"1000b\" }\nscheduler.kind = \"fifo\"\n",
        );
        for (number, class) in self.classes.iter().enumerate() {
            let DrawnClass { bucket, rate, peak, shortest, deadline, told, weight } = class;
            let most = if *peak { ", at-most = \"1000b\" }, peak = \"4mbit\"" } else { " }" };
            writeln!(text, "[class.c{number}]\nweight = {weight}").unwrap();
            if *told {
                let arrival = format!(
                    "bucket = \"{bucket}b\", rate = \"{rate}kbit\", packet = {{ at-least = \"{shortest}b\"{most}"
                );
                writeln!(text, "arrival = {{ {arrival} }}\npolice = \"drop\"").unwrap();
            }
            if let Some(deadline) = deadline.filter(|_| *told) {
                writeln!(text, "deadline = \"{deadline}ms\"").unwrap();
            }
        }
        for (number, link) in self.links.iter().enumerate() {
            let (from, to) = (number / 2, number / 2 + 1 + number % 2);
            let DrawnLink { megabits, delay, private, regulate, scheduler } = link;
            writeln!(
                text,
                "[network.l{number}]\nbetween = [\"n{from}\", \"n{to}\"]\nrate = \"{megabits}mbit\"\n\
                 delay = \"{delay}us\"\nprivate = {private}\nregulate = {regulate}\nscheduler = {scheduler}"
            )
            .unwrap();
        }
        for source in &self.sources {
            let DrawnSource { class, count, burst, start, packet: (low, high), .. } = source;
            let path: Vec<_> = source.nodes().iter().map(|node| format!("n{node}")).collect();
            let model = if self.classes[*class].told {
                format!("model = \"greedy\"\nburst = \"{burst}ms\"\nspacing = \"40ms\"")
            } else {
                String::from("model = \"poisson\"\nrate = \"3mbit\"")
            };
            writeln!(
                text,
                "[[source]]\nclass = \"c{class}\"\ncount = {count}\n{model}\nstart = \"{start}ms\"\n\
                 packet = {{ uniform = [\"{low}b\", \"{high}b\"] }}\npath = {path:?}"
            )
            .unwrap();
        }
        text
    }
}

impl DrawnSource {
    fn nodes(&self) -> Vec<usize> {
        let mut nodes = vec![self.from];
        for skip in &self.skips {
            let last = nodes[nodes.len() - 1];
            if last < NODES - 1 {
                nodes.push((last + 1 + usize::from(*skip)).min(NODES - 1));
            }
        }
        nodes
    }
}

fn class() -> impl Strategy<Value = DrawnClass> {
    let deadline = prop_oneof![3 => (4..30u64).prop_map(Some), 1 => Just(None)];
    let shortest = prop_oneof![Just(40), 40..1_000u64];
    (1_000..6_000u64, 100..500u64, any::<bool>(), shortest, deadline, 0..8u8, 1..4u8).prop_map(
        |(bucket, rate, peak, shortest, deadline, told, weight)| DrawnClass {
            bucket,
            rate,
            peak,
            shortest,
            deadline,
            told: told > 0,
            weight,
        },
    )
}

/// One that may be regulated, or not.
fn link(regulate: impl Strategy<Value = bool>) -> impl Strategy<Value = DrawnLink> {
    (4..12u64, 0..2_000u64, 0..6u8, regulate, kinds::schedulers()).prop_map(
        |(megabits, delay, private, regulate, scheduler)| DrawnLink {
            megabits,
            delay,
            private: private == 0,
            regulate,
            scheduler,
        },
    )
}

fn source(classes: usize) -> impl Strategy<Value = DrawnSource> {
    let packet = prop_oneof![(100..1_000u64).prop_map(|low| (low, low + 1)), Just((40, 1_000))];
    let skips = proptest::collection::vec(any::<bool>(), 1..NODES);
    (0..classes, 1..3u64, 0..NODES - 1, skips, 5..60u64, 0..10u64, packet).prop_map(
        |(class, count, from, skips, burst, start, packet)| DrawnSource {
            class,
            count,
            from,
            skips,
            burst,
            start,
            packet,
        },
    )
}

pub(super) fn drawn() -> impl Strategy<Value = Drawn> {
    drawn_with(Just(false))
}

/// The same with regulators at some of the links.
pub(super) fn drawn_regulated() -> impl Strategy<Value = Drawn> {
    drawn_with(any::<bool>())
}

fn drawn_with(regulate: impl Strategy<Value = bool> + Clone) -> impl Strategy<Value = Drawn> {
    let classes = proptest::collection::vec(class(), 1..5);
    classes.prop_flat_map(move |classes| {
        let links = proptest::collection::vec(link(regulate.clone()), 2 * NODES);
        let sources = proptest::collection::vec(source(classes.len()), 1..7);
        (Just(classes), links, sources).prop_map(|(classes, links, sources)| Drawn {
            classes,
            links,
            sources,
        })
    })
}

/// How many of a run's classes have a bound from end to end, and how many do not.
fn keeps_its_bounds(text: &str, duration: Nanos) -> Result<[usize; 2], TestCaseError> {
    keeps_bounds(&plan(text), text, duration)
}

/// The same of a plan that was made of a text.
pub(super) fn keeps_bounds(
    plan: &Plan,
    text: &str,
    duration: Nanos,
) -> Result<[usize; 2], TestCaseError> {
    let (summary, _) = run(plan, duration, 1);
    for hop in &summary.hops {
        for class in &hop.classes {
            let what = (&hop.from, &hop.to, &hop.scheduler, &class.name, class.bound_ns);
            prop_assert_eq!(class.bound_misses, 0, "{:?} {:?}\n{}", what, class.delay_ns, text);
        }
    }
    for class in &summary.ends().classes {
        let (name, bound) = (&class.name, class.bound_ns);
        prop_assert_eq!(
            class.bound_misses,
            0,
            "{} {:?} {:?}\n{}",
            name,
            bound,
            class.delay_ns,
            text
        );
    }
    let bounded = summary.ends().classes.iter().filter(|class| class.bound_ns.is_some()).count();
    Ok([bounded, summary.ends().classes.len() - bounded])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// No packet takes longer than proved, at any hop or from end to end.
    #[test]
    fn no_packet_is_later_than_proved(drawn in drawn()) {
        keeps_its_bounds(&drawn.text(), Nanos(250 * MS))?;
    }
}

/// The networks that are drawn are not all without bounds.
#[test]
fn many_networks_are_proved() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut bounded, mut unbounded) = (0, 0);
    for _ in 0..40 {
        let drawn = drawn().new_tree(&mut runner).unwrap().current();
        let [with, without] = keeps_its_bounds(&drawn.text(), Nanos(MS)).unwrap();
        bounded += with;
        unbounded += without;
    }
    assert!(bounded >= 30 && unbounded >= 10, "{bounded} {unbounded}");
}

/// Where packets of a class pass one another, its last ones are later than its curve and its
/// service alone would say.
#[test]
fn packets_of_a_class_pass_one_another_under_cake() {
    let source = |packet: &str| {
        format!(
            r#"
            [[source]]
            class = "a"
            model = "greedy"
            burst = "5ms"
            spacing = "40ms"
            packet = {packet}
            path = ["a", "b", "c"]
            "#
        )
    };
    let text = |isolation: &str| {
        format!(
            r#"
            link = {{ rate = "4mbit", max-packet = "1000b" }}
            scheduler.kind = "fifo"
            class.a.arrival = {{ bucket = "1211b", rate = "475kbit", packet = {{ at-most = "1000b" }}, peak = "4mbit" }}
            class.a.police = "drop"
            network.one = {{ between = ["a", "b"], scheduler = {{ kind = "cake", isolation = "{isolation}" }} }}
            network.two.between = ["b", "c"]
            {}{}
            "#,
            source(r#"{ uniform = ["40b", "1000b"] }"#),
            source(r#""100b""#),
        )
    };
    let bounds = ["flowblind", "flows"].map(|isolation| {
        let (summary, _) = run(&plan(&text(isolation)), Nanos(2_000 * MS), 1);
        let class = &summary.ends().classes[0];
        assert_eq!(class.bound_misses, 0, "{class:?}");
        (class.bound_ns.unwrap(), class.delay_ns.unwrap().max)
    });
    let [(in_order, _), (_, longest)] = bounds;
    assert!(longest > in_order, "{bounds:?}");
}

/// What share of its bound the first class's longest delay comes to.
fn taken(text: &str) -> f64 {
    let (summary, _) = run(&plan(text), Nanos(2_000 * MS), 1);
    let class = &summary.ends().classes[0];
    assert_eq!(class.bound_misses, 0, "{class:?}");
    class.delay_ns.unwrap().max as f64 / class.bound_ns.unwrap() as f64
}

/// A burst over two links without other traffic waits at the slower one, and takes the bound to the
/// nanosecond, without those that are added at every hop.
#[test]
fn the_bound_of_a_burst_that_is_alone_is_taken() {
    for (first, second) in [("8mbit", "3mbit"), ("3mbit", "8mbit"), ("5mbit", "5mbit")] {
        let taken = taken(&format!(
            r#"
            link = {{ rate = "{first}", delay = "1ms", max-packet = "1000b" }}
            scheduler.kind = "fifo"
            class.a.arrival = {{ bucket = "9000b", rate = "1mbit" }}
            network.one.between = ["a", "b"]
            network.two = {{ between = ["b", "c"], rate = "{second}" }}
            [[source]]
            class = "a"
            model = "greedy"
            packet = "1000b"
            burst = "100ms"
            spacing = "100ms"
            path = ["a", "b", "c"]
            "#
        ));
        assert!((1.0 - 1e-6..=1.0).contains(&taken), "{first} {second}: {taken}");
    }
}

/// Two bursts that meet in one queue wait for each other.
#[test]
fn the_bound_of_bursts_that_meet_is_taken() {
    let taken = taken(
        r#"
        link = { rate = "8mbit", max-packet = "1000b" }
        scheduler.kind = "fifo"
        class.a.arrival = { bucket = "8000b", rate = "500kbit" }
        class.b.arrival = { bucket = "8000b", rate = "500kbit" }
        network.one.between = ["a", "c"]
        network.two.between = ["b", "c"]
        network.both.between = ["c", "d"]
        [[source]]
        class = "a"
        model = "greedy"
        packet = "1000b"
        burst = "100ms"
        spacing = "100ms"
        path = ["a", "c", "d"]
        [[source]]
        class = "b"
        model = "greedy"
        packet = "1000b"
        burst = "100ms"
        spacing = "100ms"
        path = ["b", "c", "d"]
        "#,
    );
    assert!(taken > 0.9, "{taken}");
}

/// Service curves are nearly taken where others always have packets, over two hops.
#[test]
fn bounds_of_service_curves_are_nearly_taken() {
    for (kind, at_least) in [("hfsc", 0.8), ("wf2q", 0.8), ("wfq", 0.95), ("drr", 0.75)] {
        let taken = taken(&format!(
            r#"
            link = {{ rate = "10mbit", max-packet = "1000b" }}
            scheduler.kind = "{kind}"
            class.a = {{ arrival = {{ bucket = "10kB", rate = "1mbit" }}, curve = "2mbit" }}
            class.b = {{ link-share = "8mbit" }}
            network.one.between = ["a", "b"]
            network.two.between = ["b", "c"]
            [[source]]
            class = "a"
            model = "greedy"
            packet = "1000b"
            burst = "200ms"
            spacing = "200ms"
            path = ["a", "b", "c"]
            [[source]]
            class = "b"
            model = "constant"
            rate = "12mbit"
            packet = "1000b"
            path = ["a", "b"]
            [[source]]
            class = "b"
            model = "constant"
            rate = "12mbit"
            packet = "1000b"
            path = ["b", "c"]
            "#
        ));
        assert!(taken > at_least, "{kind}: {taken}");
    }
}

#[test]
fn bounds_of_deadlines_are_nearly_taken() {
    let taken = taken(
        r#"
        link = { rate = "10mbit", max-packet = "1000b" }
        scheduler = { kind = "edf", best-effort = "exact" }
        class.a = { arrival = { bucket = "8kB", rate = "1mbit" }, deadline = "15ms" }
        class.b = { arrival = { bucket = "8kB", rate = "1mbit" }, deadline = "12ms" }
        class.c = {}
        network.one.between = ["a", "b"]
        network.two.between = ["b", "c"]
        source = [
            { class = "a", model = "greedy", packet = "1000b", burst = "200ms", spacing = "200ms", path = ["a", "b", "c"] },
            { class = "b", model = "greedy", packet = "1000b", burst = "200ms", spacing = "200ms", path = ["a", "b"] },
            { class = "b", model = "greedy", packet = "1000b", burst = "200ms", spacing = "200ms", start = "13ms", path = ["b", "c"] },
            { class = "c", model = "constant", rate = "12mbit", packet = "1000b", path = ["a", "b"] },
            { class = "c", model = "constant", rate = "12mbit", packet = "1000b", path = ["b", "c"] },
        ]
        "#,
    );
    assert!(taken > 0.75, "{taken}");
}
