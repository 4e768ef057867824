//! What breaks its contract harms no promise: on one link and along a path, under every discipline.

use laxity_plan::model::SchedulerSpec;
use rand::RngExt;

use super::one_link::Recorded;
use super::*;
use crate::link::Run;
use crate::source::random;

/// How many packets within their contracts were dropped.
#[derive(Default)]
struct Dropped(usize);

impl Observer for Dropped {
    fn record(&mut self, record: &Record) {
        if let Fate::Dropped(reason) = record.fate {
            let broke = record.packet.demoted || reason == DropReason::Contract;
            self.0 += usize::from(!broke);
        }
    }
}

/// A recorded class `a` with these keys, beside `b`, which keeps to its contract: on one link, or
/// over two.
fn beside(recorded: &Recorded, keys: &str, is_link: bool) -> Plan {
    let contract = "arrival = { bucket = \"3000b\", rate = \"1mbit\", packet = \"1000b\" }";
    let (network, path, promise) = if is_link {
        ("", "", "deadline")
    } else {
        (
            "network.one.between = [\"p\", \"q\"]\nnetwork.two.between = [\"q\", \"r\"]",
            "path = [\"p\", \"q\", \"r\"]",
            "deadline = \"400ms\"\nend-to-end",
        )
    };
    plan(&format!(
        "link = {{ rate = \"10mbit\", max-packet = \"1000b\", min-packet = \"500b\" }}\n{network}\n\
         scheduler.kind = \"fifo\"\n\
         [class.a]\n{contract}\n{promise} = \"1s\"\nlevel = 0\n{keys}\n\
         [class.b]\n{contract}\n{promise} = \"1s\"\nlevel = 1\npolice = \"drop\"\n\
         [[source]]\nmodel = \"csv\"\nfile = '{}'\n{path}\n\
         [[source]]\nclass = \"b\"\nmodel = \"greedy\"\nburst = \"40ms\"\nspacing = \"50ms\"\npacket = \"1000b\"\n{path}\n",
        recorded.path().display(),
    ))
}

/// Far more packets than the contract allows, of lengths that it allows and others.
fn flood(seed: u64) -> Vec<(u64, char, u32, u32)> {
    let mut draws = random::generator(seed, 0, 0);
    let mut time = 0;
    let packet = |_| {
        time += draws.random_range(0..700_000);
        (time, 'a', 0, draws.random_range(40..=1_000))
    };
    (0..1_500).map(packet).collect()
}

/// What a run had: packets of the first class that broke its contract, and how many classes had a
/// bound.
#[derive(Debug, PartialEq)]
struct RunCounts {
    nonconforming: u64,
    bounds: usize,
}

/// Runs a plan; no bound that it has is broken, and no packet within its contract is dropped.
fn keeps_promises(plan: &Plan, case: &str) -> RunCounts {
    let mut dropped = Dropped::default();
    let found = match plan.network {
        Some(_) => {
            let analysis = plan.network_plan().unwrap().analysis();
            let run = NetworkRun::new(&analysis, Some(Nanos(2_000 * MS)), 1);
            let outcome = run.simulate(&mut dropped, &mut crate::to_the_end).unwrap();
            let classes = outcome.summary.ends().classes.iter();
            classes.map(|of| (of.nonconforming, of.bound_ns, of.bound_misses)).collect::<Vec<_>>()
        }
        None => {
            let run = Run { plan, duration: Some(Nanos(2_000 * MS)), seed: 1, feeds: Vec::new() };
            let run = run.with_sources().unwrap();
            let outcome = run.simulate(&mut dropped, &mut crate::to_the_end).unwrap();
            outcome.summary.hops[0]
                .classes
                .iter()
                .map(|of| (of.nonconforming, of.bound_ns, of.bound_misses))
                .collect()
        }
    };
    assert!(found.iter().all(|(.., misses)| *misses == 0), "{case}: {found:?}");
    let bounds = found.iter().filter(|(_, bound, _)| bound.is_some()).count();
    assert!(bounds == 0 || dropped.0 == 0, "{case}: {} dropped", dropped.0);
    RunCounts { nonconforming: found[0].0, bounds }
}

/// Demoted packets wait behind promised ones, or those that wait with them have no promise; dropped
/// packets do nothing. A queue has room for all promised packets beside demoted ones.
#[test]
fn what_breaks_its_contract_harms_no_promise() {
    let queue = "queue = { kind = \"droptail\", limit = \"6000b\" }";
    for seed in 0..3 {
        let recorded = Recorded::new(&flood(seed));
        for (police, queue) in [("drop", ""), ("demote", ""), ("demote", queue)] {
            for is_link in [true, false] {
                let keys = format!("police = \"{police}\"\n{queue}");
                let plan = beside(&recorded, &keys, is_link);
                let mut nonconforming = Vec::new();
                for scheduler in SchedulerSpec::defaults() {
                    let plan = Plan { scheduler, ..plan.clone() };
                    let case = format!("{scheduler}, {keys}, {is_link}, seed {seed}");
                    let kept = keeps_promises(&plan, &case);
                    nonconforming.push(kept.nonconforming);
                    if scheduler.room().proof.sets_demoted_behind
                        || (police == "drop" && !is_link && scheduler.room().proof.is_one_queue)
                    {
                        assert_eq!(kept.bounds, 2, "{case}");
                    }
                }
                assert!(nonconforming.iter().all(|of| *of > 1_000), "{nonconforming:?}");
            }
        }
    }
}

/// By `min-packet` bounds along paths know how close packets may come to one another.
#[test]
fn packets_that_are_too_short_do_not_conform() {
    let short =
        (0..50u64).map(|at| (at * 40_000_000, 'a', 0, 499 + at as u32 % 2)).collect::<Vec<_>>();
    let recorded = Recorded::new(&short);
    for is_link in [true, false] {
        let kept = keeps_promises(&beside(&recorded, "police = \"drop\"", is_link), "short");
        assert_eq!(kept.nonconforming, 25);
    }
}

/// A frame is reserved for a packet, however short it is, and for the gaps that a class says.
#[test]
fn no_more_packets_conform_than_frames_are_reserved_for() {
    let tdp = plan(
        "link.rate = \"10mbit\"\nscheduler = { kind = \"tdp\", frame = \"2ms\", frames = 10 }\n\
         network.one.between = [\"p\", \"q\"]\n[class.b]\n",
    );
    for seed in 0..5 {
        let mut draws = random::generator(seed, 0, 0);
        let mut time = 0;
        let packet = |_| {
            time += draws.random_range(4_000_000..6_000_000);
            (time, 'a', 0, draws.random_range(500..=505))
        };
        let recorded = Recorded::new(&(0..400).map(packet).collect::<Vec<_>>());
        for police in ["drop", "demote"] {
            // In bytes all of them conform.
            let keys = format!("police = \"{police}\"");
            let plan = beside(&recorded, &keys, false);
            assert!(keeps_promises(&plan, "fifo").nonconforming < 20);
            for gap in ["", "gap = \"7ms\""] {
                let keys = format!("{keys}\n{gap}");
                let framed = Plan { scheduler: tdp.scheduler, ..beside(&recorded, &keys, false) };
                let kept = keeps_promises(&framed, &format!("{keys}, seed {seed}"));
                assert_eq!(kept.bounds, 2, "{keys}, seed {seed}");
                assert!(kept.nonconforming > 100, "{keys}, seed {seed}: {kept:?}");
            }
        }
    }
}
