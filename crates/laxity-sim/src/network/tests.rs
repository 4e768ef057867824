mod autorate;
mod bounds;
mod early_answers;
mod ending;
mod hosts;
pub(super) mod kinds;
mod l4s;
mod one_link;
mod phases;
mod police;
mod regulators;
mod sources;
mod tcp;
mod tdp;
mod varying;
mod windows;
mod wires;

use std::path::Path;

use laxity::packet::{ClassId, Ecn, FlowId, Packet};
use laxity::scheduler::DropReason;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::discipline::Kind;
use laxity_plan::model::Hop;
use proptest::prelude::*;

use super::ids::PartId;
use super::layout::partition::Here;
use super::{NetworkRun, Partition, Simulation};
use crate::record::{Fate, Observer, Record};
use crate::series::{Series, SeriesRecorder};
use crate::summary::Summary;

const MS: u64 = 1_000_000;

/// A plan whose classes may have keys of every discipline.
fn plan(text: &str) -> Plan {
    let text = format!("version = 1\n{text}");
    Plan::parse_for(&text, "plan.toml", Path::new(""), Kind::ALL).unwrap()
}

fn run(plan: &Plan, duration: Nanos, seed: u64) -> (Summary, Diary) {
    let mut diary = Diary::default();
    let on = plan.network_plan().unwrap().analysis();
    let run = NetworkRun::new(&on, Some(duration), seed);
    let summary = run.simulate(&mut diary, &mut crate::to_the_end).unwrap().summary;
    (summary, diary)
}

/// Everything that was watched.
#[derive(Debug, Default, PartialEq)]
struct Diary {
    /// (hop, class, flow, length, fate)
    hops: Vec<(Hop, ClassId, FlowId, u32, Fate)>,
    delivered: Vec<(ClassId, FlowId, u64, Nanos)>,
    /// Packets that a hop sent with a mark.
    marked: u64,
}

impl Observer for Diary {
    fn record(&mut self, record: &Record) {
        let (packet, hop) = (record.packet, record.hop.unwrap());
        self.hops.push((hop, packet.class, packet.flow, packet.length, record.fate));
        self.marked += u64::from(packet.ecn == Ecn::Experienced);
    }

    fn delivered(&mut self, packet: &Packet, bytes: u64, now: Nanos) {
        self.delivered.push((packet.class, packet.flow, bytes, now));
    }
}

impl Diary {
    /// Hops in an order that does not depend on when fates were told.
    fn sorted(mut self) -> Diary {
        let at = |fate: &Fate| match *fate {
            Fate::Sent { start, .. } => start,
            Fate::Dropped(_) | Fate::Queued => Nanos::MAX,
        };
        self.hops.sort_by_key(|(hop, class, flow, length, fate)| {
            (*hop, at(fate), *class, *flow, *length)
        });
        self
    }
}

#[test]
fn a_packet_takes_what_arithmetic_says() {
    let plan = plan(
        r#"
        link = { rate = "8mbit", delay = "3ms", max-packet = "1000b" }
        scheduler.kind = "fifo"
        class.a = {}
        network.first.between = ["a", "b"]
        network.second = { between = ["b", "c"], rate = "4mbit", delay = "5ms" }
        source = [{ class = "a", model = "constant", rate = "1mbit", packet = "1000b", path = ["a", "b", "c"] }]
        "#,
    );
    let (summary, diary) = run(&plan, Nanos(100 * MS), 1);
    // One packet each 8 ms; 1 + 3 ms over the first link, 2 + 5 ms over the second.
    let arrivals: Vec<_> = diary.delivered.iter().map(|(.., at)| at.0).collect();
    assert_eq!(
        arrivals,
        (0..12).map(|n| (8 * n + 11) * MS).take_while(|&t| t < 100 * MS).collect::<Vec<_>>()
    );
    let delay = summary.ends().classes[0].delay_ns.unwrap();
    assert_eq!((delay.min, delay.max), (11 * MS, 11 * MS));
    let (first, second) = (&summary.hops[0], &summary.hops[1]);
    assert_eq!((first.from.as_str(), first.to.as_str(), second.to.as_str()), ("a", "b", "c"));
    assert_eq!(first.classes[0].delay_ns.unwrap().max, MS);
    assert_eq!(second.classes[0].delay_ns.unwrap().max, 2 * MS);
    assert!((first.utilization - 13.0 / 100.0).abs() < 1e-9, "{}", first.utilization);
    assert_eq!(summary.hops.len(), 2, "nothing came back");
}

#[test]
fn what_breaks_a_contract_is_dropped_where_it_sets_out() {
    let plan = plan(
        r#"
        link = { rate = "8mbit", max-packet = "1000b" }
        scheduler.kind = "fifo"
        class.a = { arrival = { bucket = "1000b", rate = "400kbit" }, police = "drop" }
        network.first.between = ["a", "b"]
        network.second.between = ["b", "c"]
        source = [{ class = "a", model = "constant", rate = "800kbit", packet = "1000b", path = ["a", "b", "c"] }]
        "#,
    );
    let (summary, diary) = run(&plan, Nanos(99 * MS), 1);
    let dropped: Vec<_> = diary
        .hops
        .iter()
        .filter(|(.., fate)| *fate == Fate::Dropped(DropReason::Contract))
        .map(|(hop, ..)| hop.link.0)
        .collect();
    assert_eq!(dropped, [0; 5], "every second of ten, before the first link");
    assert_eq!((summary.ends().classes[0].sent, summary.ends().classes[0].dropped), (10, 5));
}

#[test]
fn paths_may_loop() {
    let plan = plan(
        r#"
        link = { rate = "8mbit", max-packet = "1000b" }
        scheduler.kind = "fifo"
        class.a = {}
        network.one.between = ["a", "b"]
        network.two.between = ["b", "c"]
        network.three.between = ["c", "a"]
        source = [{ class = "a", model = "constant", rate = "1mbit", packet = "1000b", stop = "1ms",
                    path = ["a", "b", "c", "a", "b", "a"] }]
        "#,
    );
    let (summary, diary) = run(&plan, Nanos(100 * MS), 1);
    assert_eq!(diary.delivered, [(ClassId(0), FlowId(0), 1000, Nanos(5 * MS))]);
    assert_eq!(summary.ends().hop_departures, 5);
    let sent: Vec<_> = summary
        .hops
        .iter()
        .map(|hop| (hop.from.as_str(), hop.to.as_str(), hop.classes[0].sent))
        .collect();
    assert_eq!(sent, [("a", "b", 2), ("b", "a", 1), ("b", "c", 1), ("c", "a", 1)]);
}

#[test]
fn a_transfer_takes_as_many_round_trips_as_slow_start() {
    let plan = plan(
        r#"
        link = { rate = "1gbit", delay = "50ms", max-packet = "1500b" }
        scheduler.kind = "fifo"
        class.a = {}
        network.one.between = ["a", "b"]
        source = [{ class = "a", model = "tcp", packet = "1500b", transfer = "105kB", pause = "1s",
                    delayed-acks = false, jitter = "0s", path = ["a", "b"] }]
        "#,
    );
    let (summary, _) = run(&plan, Nanos(10_000 * MS), 1);
    let tcp = summary.ends().classes[0].tcp.unwrap();
    // 70 segments in rounds of 10, 20 and 40: three round trips of 100 ms, and transmissions.
    let took = tcp.completion_ns.unwrap();
    assert!((300 * MS..302 * MS).contains(&took.min), "{took:?}");
    assert_eq!((took.min, tcp.completed), (took.max, 8), "one begins each 1.3 s");
    assert_eq!((tcp.retransmitted, tcp.timeouts), (0, 0));
    assert_eq!(summary.ends().flows[0].goodput_bps, 8.0 * 105_000.0 * 8.0 / 10.0);
}

/// A dumbbell whose ends are private; `%` stands for more keys of the plan.
const DUMBBELL: &str = r#"
    link = { rate = "10mbit", delay = "1ms", max-packet = "1000b" }
    scheduler.kind = "fifo"
    network.access = { between = ["s", "r"], private = true }
    network.bottleneck = { between = ["r", "t"], rate = "2mbit", delay = "7ms" }
    network.exit = { between = ["t", "d"], private = true }
    run.warm-up = "300ms"
    %
    [[source]]
    class = "tcp"
    model = "tcp"
    count = 4
    packet = "1000b"
    transfer = { uniform = ["1kB", "200kB"] }
    pause = { exponential = "50ms" }
    stagger = "100ms"
    path = ["s", "r", "t", "d"]
    [[source]]
    class = "udp"
    model = "on-off"
    rate = "3mbit"
    on = { exponential = "20ms" }
    off = { exponential = "40ms" }
    packet = { uniform = ["40b", "1000b"] }
    path = ["s", "r", "t", "d"]
"#;

fn dumbbell(classes: &str) -> Plan {
    plan(&DUMBBELL.replace('%', classes))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Where departures are known on arrival, they are those that choosing one by one gives.
    #[test]
    fn fifo_without_limits_is_fifo(seed: u64) {
        let short = dumbbell("class.tcp = {}\nclass.udp = {}");
        let limit = "{ queue = { kind = \"droptail\", limit = 1000000 } }";
        let long = dumbbell(&format!("class.tcp = {limit}\nclass.udp = {limit}"));
        let ((a, short), (b, long)) = (run(&short, Nanos(2_000 * MS), seed), run(&long, Nanos(2_000 * MS), seed));
        // One tells a departure when the packet arrives, the other when it is sent: only those told
        // of by both at the end can be compared.
        let told = |diary: Diary| {
            let mut diary = diary.sorted();
            diary.hops.retain(|(.., fate)| matches!(fate, Fate::Sent { start, .. } if start.0 < 2_000 * MS));
            diary
        };
        prop_assert_eq!(told(short), told(long));
        prop_assert_eq!(a.ends().classes[0].goodput_bps, b.ends().classes[0].goodput_bps);
    }

    /// What a packet carries counts when it comes, not when those before it have come, too: in no
    /// interval do receivers get more than the bottleneck carries.
    #[test]
    fn no_interval_has_more_goodput_than_the_link_carries(
        seed: u64, limit in 2u32..30, megabits in 1u64..8, variant in 0usize..3, seconds in 1u64..20,
    ) {
        let limit = format!("queue = {{ kind = \"droptail\", limit = {limit} }}");
        let variant = ["newreno", "sack", "cubic"][variant];
        let text = DUMBBELL
            .replace('%', &format!("class.tcp = {{ {limit} }}\nclass.udp = {{ {limit} }}"))
            .replace("2mbit", &format!("{megabits}mbit"))
            .replace("count = 4", &format!("count = 4\nvariant = \"{variant}\""));
        let plan = plan(&text);
        let mut series = SeriesRecorder::new(&plan);
        let duration = Nanos(seconds * 1_000 * MS);
        let on = plan.network_plan().unwrap().analysis();
        let run = NetworkRun::new(&on, Some(duration), seed);
        let summary = run.simulate(&mut series, &mut crate::to_the_end).unwrap().summary;
        let Series { bin_ns, classes } = series.finish();
        // What comes within an interval has left the bottleneck within as long, but for the 0.8 ms
        // that a packet takes over the exit; and one may have been under way before.
        let carried = |seconds: f64| megabits as f64 * 1e6 * (seconds + 0.8e-3) + 8_000.0;
        let bits_carried = carried(bin_ns as f64 / 1e9);
        for bin in 0..classes[0].bins.len() {
            let bytes: u64 = classes.iter().map(|class| class.bins[bin].bytes).sum();
            prop_assert!(bytes as f64 * 8.0 <= bits_carried, "{bytes} in bin {bin} of {bin_ns} ns");
        }
        let goodput: f64 = summary.ends().classes.iter().map(|class| class.goodput_bps).sum();
        let measured = (seconds * 1_000 - 300) as f64 / 1e3;
        prop_assert!(goodput * measured <= carried(measured), "{goodput}");
    }

    /// Every loss on the way is reported.
    #[test]
    fn packets_are_conserved(seed: u64, limit in 1u32..40, edf: bool) {
        let limit = format!("queue = {{ kind = \"droptail\", limit = {limit} }}");
        let classes = format!("class.tcp = {{ {limit} }}\nclass.udp = {{ deadline = \"30ms\", {limit} }}");
        let kind = if edf { "edf" } else { "drr" };
        let plan = plan(&DUMBBELL.replace('%', &classes).replace("fifo", kind));
        let (summary, diary) = run(&plan, Nanos(2_000 * MS), seed);
        let dropped = |flow: (ClassId, FlowId), back: bool| diary.hops.iter().filter(|(hop, class, id, _, fate)| {
            (*class, *id) == flow && hop.backward == back && matches!(fate, Fate::Dropped(_))
        }).count();
        for (class, flow) in [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0)] {
            let flow = (ClassId(class), FlowId(flow));
            let passed = |link: u32| diary.hops.iter().filter(|(hop, class, id, _, fate)| {
                (*class, *id) == flow && *hop == Hop { link: laxity_plan::model::LinkId(link), backward: false } && matches!(fate, Fate::Sent { .. })
            }).count();
            let arrived = diary.delivered.iter().filter(|(class, id, ..)| (*class, *id) == flow).count();
            // Packets that are queued at the bottleneck at the end, or on the way to it, are at
            // most as many as fit.
            prop_assert!(passed(0) >= passed(1) + dropped(flow, false));
            prop_assert!(passed(0) <= passed(1) + dropped(flow, false) + 45, "{}", passed(0) - passed(1));
            prop_assert!(passed(1) >= passed(2) && passed(2) >= arrived && passed(1) <= arrived + 20);
        }
        let (again, same) = run(&plan, Nanos(2_000 * MS), seed);
        prop_assert_eq!(&diary, &same, "the same seed gives the same run");
        prop_assert_eq!(summary.ends().hop_departures, again.ends().hop_departures);
    }
}

/// Two connections that are capable of ECN, over a queue that marks.
#[test]
fn what_is_marked_is_not_dropped() {
    let text = |ecn: bool| {
        format!(
            r#"
            link = {{ rate = "100mbit", delay = "5ms", max-packet = "1000b" }}
            scheduler.kind = "fifo"
            class.a = {{}}
            network.access = {{ between = ["s", "r"], private = true }}
            run.warm-up = "2s"
            [network.bottleneck]
            between = ["r", "d"]
            rate = "5mbit"
            scheduler = {{ kind = "fifo", queue = {{ kind = "red", min = 10, max = 40, limit = 200,
                weight = 0.02, ecn = {ecn} }} }}
            [[source]]
            class = "a"
            model = "tcp"
            count = 2
            packet = "1000b"
            ecn = true
            stagger = "100ms"
            path = ["s", "r", "d"]
            "#
        )
    };
    for seed in 1..=3 {
        let [marking, dropping] =
            [true, false].map(|ecn| run(&plan(&text(ecn)), Nanos(20_000 * MS), seed).0);
        let of = |summary: &Summary| {
            let class = &summary.ends().classes[0];
            (class.dropped, class.tcp.unwrap().echoes, summary.hops[2].utilization)
        };
        let (dropped, echoes, used) = of(&marking);
        assert_eq!(dropped, 0);
        assert!(echoes > 20 && used > 0.98, "{echoes} {used}");
        let marked = |summary: &Summary| {
            let at_hops =
                summary.hops.iter().flat_map(|hop| &hop.classes).map(|class| class.marked);
            (summary.ends().classes[0].marked, at_hops.sum::<u64>())
        };
        let (on_the_way, at_hops) = marked(&marking);
        // Each of the two may hear after the warm-up of a mark from before.
        assert!(
            on_the_way + 2 >= echoes && on_the_way == at_hops,
            "{on_the_way} {at_hops} {echoes}"
        );
        let (dropped, echoes, used) = of(&dropping);
        assert!(dropped > 20 && echoes == 0 && used > 0.9, "{dropped} {echoes} {used}");
        assert_eq!(marked(&dropping), (0, 0));
    }
}

/// Every management and discipline that marks tells of what it marked: it comes to receivers, or
/// was under way.
#[test]
fn marks_are_counted_wherever_they_are_made() {
    let queue = |of: &str| format!("{{ kind = \"fifo\", queue = {{ {of} }} }}");
    for scheduler in [
        queue("kind = \"red\", min = 5, max = 20, limit = 100, weight = 0.02, ecn = true"),
        queue("kind = \"codel\", limit = 100, ecn = true"),
        queue("kind = \"pie\", limit = 100, ecn = true"),
        queue("kind = \"droptail\", limit = 100, mark = 10"),
        "{ kind = \"fq-codel\" }".to_owned(),
        "{ kind = \"dualpi2\" }".to_owned(),
    ] {
        let text = format!(
            r#"
            link = {{ rate = "100mbit", delay = "5ms", max-packet = "1000b" }}
            scheduler.kind = "fifo"
            class.a = {{}}
            network.access = {{ between = ["s", "r"], private = true }}
            network.bottleneck = {{ between = ["r", "d"], rate = "5mbit", scheduler = {scheduler} }}
            [[source]]
            class = "a"
            model = "tcp"
            count = 2
            packet = "1000b"
            ecn = true
            path = ["s", "r", "d"]
            "#
        );
        let (summary, diary) = run(&plan(&text), Nanos(20_000 * MS), 1);
        let told = summary.ends().classes[0].marked;
        let lost = summary.ends().classes[0].dropped + summary.ends().under_way as u64;
        assert!(told > 10, "{scheduler}: {told}");
        assert!(
            (diary.marked..=diary.marked + lost).contains(&told),
            "{scheduler}: {told} of {}",
            diary.marked
        );
    }
}

/// Memory does not grow with time: a flow or an output holds only packets on their way.
#[test]
fn slots_are_used_again() {
    let plan = dumbbell("class.tcp = {}\nclass.udp = {}");
    let held = |seconds: u64| {
        let duration = Nanos(1_000 * seconds * MS);
        let on = plan.network_plan().unwrap().analysis();
        let run = NetworkRun::new(&on, Some(duration), 1);
        let mut nobody = ();
        let partition = Partition::whole(run.on);
        let here = Here { partition: &partition, part: PartId(0), is_observed: false };
        let mut simulation = Simulation::new(run, here, Default::default(), &mut nobody).unwrap();
        simulation.run(&mut crate::to_the_end, |_, _| {}).unwrap();
        (simulation.plane.transits.most(), simulation.plane.books.departures())
    };
    let ((short, few), (long, many)) = (held(20), held(200));
    assert!(many > 9 * few && long <= 2 * short, "{short} {long}");
}
