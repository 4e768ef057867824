//! Delays by cause: they add up, and belong to the run as it is without witnesses.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use laxity::explain;
use laxity::packet::ClassId;
use laxity::scheduler::Scheduler;
use laxity::units::Nanos;
use laxity_answers::why::{Cause, Gatherer, PacketDelay};
use laxity_api::{Plan, Traffic, run};
use laxity_plan::discipline::Kind;
use laxity_plan::model::Hop;
use laxity_plan::network::NetworkPlan;
use laxity_sim::link::Run;
use laxity_sim::network::NetworkRun;
use laxity_sim::record::{Fate, Observer, Record};

/// Everything that is observed.
#[derive(Default, PartialEq)]
struct Diary(Vec<Record>);

impl Observer for Diary {
    fn record(&mut self, record: &Record) {
        self.0.push(*record);
    }
}

/// Runs a plan with witnesses.
fn explained(plan: &Plan, duration: Nanos) -> (Diary, Vec<PacketDelay>) {
    let (mut diary, mut delays) = (Diary::default(), Vec::new());
    let mut gatherer = Gatherer::new(plan, |delay| delays.push(delay));
    let waits = gatherer.waits();
    let mut observer = (&mut diary, &mut gatherer);
    let progress = &mut |_| ControlFlow::Continue(());
    match plan.network_plan().map(NetworkPlan::analysis) {
        Some(on) => {
            let witness = |hop: Hop, scheduler: Box<dyn Scheduler + Send>| {
                waits.witness(plan, Some(hop), scheduler)
            };
            let run = NetworkRun {
                witness: Some(&witness),
                ..NetworkRun::new(&on, Some(duration), plan.run.seed)
            };
            run.simulate(&mut observer, progress).unwrap();
        }
        None => {
            let seed = plan.run.seed;
            let run = Run { plan, duration: Some(duration), seed, feeds: Vec::new() };
            let scheduler = waits.witness(plan, None, plan.build_scheduler(seed));
            run.with_sources().unwrap().simulate_on(scheduler, &mut observer, progress).unwrap();
        }
    }
    drop(gatherer);
    (diary, delays)
}

/// What stays the same: a plan that is simulated without witnesses has the same records.
fn is_the_same_run(name: &str, plan: &Plan, duration: Nanos, diary: &Diary) {
    let mut plain = Diary::default();
    let traffic = Traffic { duration: Some(duration), ..Traffic::default() };
    run(plan, &traffic, &mut plain, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(plain == *diary, "{name}");
}

fn add_up(name: &str, plan: &Plan, delays: &[PacketDelay]) {
    for delay in delays {
        let sum =
            |parts: &[laxity_answers::why::Part]| parts.iter().map(|part| part.time.0).sum::<u64>();
        let total: u64 = delay.hops.iter().map(|hop| sum(&hop.parts)).sum();
        assert_eq!(total, delay.delay().0, "{name}: {delay:?}");
        assert_eq!(delay.hops[0].arrival, delay.packet.arrival, "{name}: {delay:?}");
        for (hop, next) in delay.hops.iter().zip(&delay.hops[1..]) {
            assert_eq!(hop.arrival + Nanos(sum(&hop.parts)), next.arrival, "{name}: {delay:?}");
        }
        let Some(network) = &plan.network else { continue };
        let nodes = delay.hops.iter().filter_map(|hop| hop.hop).map(|hop| network.ends(hop));
        let nodes: Vec<_> = nodes.collect();
        assert!(nodes.windows(2).all(|two| two[0][1] == two[1][0]), "{name}: {delay:?}");
    }
}

/// The examples: links and networks, with regulators, wires, time frames and TCP.
#[test]
fn delays_of_the_examples_add_up() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut explained_plans = 0;
    for file in std::fs::read_dir(examples).unwrap() {
        let path = file.unwrap().path();
        let Ok(plan) = Plan::read(&path) else { continue };
        if plan.sources.is_empty() || plan.sources.len() > 100 {
            continue;
        }
        let name = path.display().to_string();
        let duration = plan.run.warm_up + Nanos(300_000_000);
        let (diary, delays) = explained(&plan, duration);
        assert!(!delays.is_empty(), "{name}");
        add_up(&name, &plan, &delays);
        is_the_same_run(&name, &plan, duration, &diary);
        explained_plans += 1;
    }
    assert!(explained_plans > 7);
}

/// A link with bursts of four classes that have every key that a discipline takes.
fn link(kind: Kind) -> Option<Plan> {
    let classes = ["a", "b", "c", "d"];
    let keys: String = (1u32..)
        .zip(classes)
        .map(|(number, class)| {
            let key = match kind {
                Kind::Edf if number < 3 => {
                    format!(
                        "deadline = \"{}ms\"\narrival = {{ bucket = \"9kB\", rate = \"1mbit\" }}",
                        number * 20
                    )
                }
                Kind::Dwcs => format!("gap = \"{}ms\"\nloss = \"{}/9\"", number * 3, number - 1),
                Kind::Priority => format!("level = {}", number % 3),
                Kind::Hfsc => format!(
                    "curve = {{ burst = \"3kB\", delay = \"9ms\", rate = \"{number}mbit\" }}"
                ),
                Kind::Wfq | Kind::Wf2q | Kind::Drr | Kind::Qfq => format!("weight = {number}"),
                _ => String::new(),
            };
            format!("[class.{class}]\n{key}\n")
        })
        .collect();
    let sources: String = classes
        .map(|class| {
            format!(
                "[[source]]\nclass = \"{class}\"\nmodel = \"on-off\"\nrate = \"6mbit\"\non = \"9ms\"\n\
                 off = \"20ms\"\npacket = {{ uniform = [\"64b\", \"1500b\"] }}\n"
            )
        })
        .concat();
    let text = format!(
        "version = 1\nlink = {{ rate = \"10mbit\", max-packet = \"1500b\" }}\n\
         scheduler = {{ kind = \"{}\" }}\n{keys}{sources}",
        kind.word()
    );
    Plan::parse(&text, "link.toml", Path::new("")).ok()
}

/// What a packet waited for, class by class, from the list of all that was sent.
fn naive(
    sent: &[[Nanos; 2]],
    classes: &[ClassId],
    arrival: Nanos,
    own: usize,
) -> HashMap<(bool, ClassId), u64> {
    let mut parts = HashMap::new();
    for number in (0..own).rev() {
        let [start, departure] = sent[number];
        if departure <= arrival {
            break;
        }
        let key = (start < arrival, classes[number]);
        *parts.entry(key).or_default() += (departure - start.max(arrival)).0;
    }
    parts
}

/// Of every discipline some 100 000 packets, 1.1 million in all.
#[test]
fn waits_are_what_was_sent_meanwhile() {
    let mut explained_packets = 0;
    for kind in Kind::ALL.iter().copied() {
        let Some(plan) = link(kind) else {
            assert_eq!(kind, Kind::Tdp, "it is of networks");
            continue;
        };
        let (diary, delays) = explained(&plan, Nanos(110_000_000_000));
        add_up(kind.word(), &plan, &delays);
        let sent = diary.0.iter().filter_map(|record| match record.fate {
            Fate::Sent { start, departure } => Some(([start, departure], record.packet.class)),
            Fate::Dropped(_) | Fate::Queued => None,
        });
        let (sent, classes): (Vec<_>, Vec<_>) = sent.unzip();
        assert_eq!(sent.len(), delays.len());
        for (own, delay) in delays.iter().enumerate() {
            let mut parts = HashMap::new();
            for part in &delay.hops[0].parts {
                let key = match part.cause {
                    Cause::Wait(explain::Cause::OnLink(class)) => (true, class),
                    Cause::Wait(explain::Cause::Before(class, _)) => (false, class),
                    Cause::Transmission => continue,
                    cause => panic!("{}: {cause:?}", kind.word()),
                };
                *parts.entry(key).or_default() += part.time.0;
            }
            assert_eq!(
                parts,
                naive(&sent, &classes, delay.packet.arrival, own),
                "{}: {delay:?}",
                kind.word()
            );
        }
        explained_packets += delays.len();
    }
    assert!(explained_packets > 1_000_000, "{explained_packets}");
}
