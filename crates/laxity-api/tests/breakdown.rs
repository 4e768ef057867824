//! What bounds are made of: the terms add up to what `check` proves, and what packets use adds up
//! to their delays.

use std::path::{Path, PathBuf};

use laxity::admit::Source;
use laxity::units::Nanos;
use laxity_answers::breakdown::{ClassBound, SlowestPacket};
use laxity_answers::network::nodes;
use laxity_api::breakdown::breakdown;
use laxity_api::{CheckResult, Plan, Traffic, check, to_the_end};
use laxity_plan::discipline::Kind;

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// The plans of a folder of examples.
fn examples(folder: &str) -> impl Iterator<Item = (String, Plan)> {
    let files = std::fs::read_dir(repository(folder)).unwrap();
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    let plan = |path: PathBuf| {
        let is_plan = path.extension().is_some_and(|extension| extension == "toml");
        let name = path.file_name()?.to_str()?.to_string();
        // A second of it has more packets than a test has time for.
        let is_small = name != "backbone.toml";
        Some((name, is_plan.then(|| Plan::read(&path).ok()).flatten().filter(|_| is_small)?))
    };
    paths.into_iter().filter_map(plan)
}

/// All packets count, also those of the time in which a run warms up.
fn explained(plan: &Plan, duration: Nanos) -> Vec<ClassBound> {
    let mut plan = plan.clone();
    plan.run.warm_up = Nanos::ZERO;
    let traffic = Traffic { duration: Some(duration), ..Traffic::default() };
    breakdown(&plan, &["all".into()], &traffic, &mut to_the_end).unwrap().bounds
}

/// The bounds that `check` proves of leaves, in the order of explanations.
fn proved(plan: &Plan) -> Vec<(String, Vec<String>, Option<u64>)> {
    match check(plan).unwrap() {
        CheckResult::Link(proof) => {
            let leaves = proof.classes.iter().filter(|of| plan.classes[of.id.index()].is_leaf());
            leaves.map(|of| (of.name.clone(), Vec::new(), of.bound_ns)).collect()
        }
        CheckResult::Network(proof) => {
            let path = |of: &laxity_answers::network::PathProof| {
                (of.class.clone(), of.nodes.clone(), of.bound_ns)
            };
            proof.paths.iter().map(path).collect()
        }
        CheckResult::Frames(proof) => {
            let class = |of: &laxity_answers::network::ReservedClass| {
                (of.class.clone(), of.nodes.clone(), of.bound_ns)
            };
            proof.classes.iter().map(class).collect()
        }
    }
}

/// # Panics
/// If anything does not add up.
fn add_up(name: &str, plan: &Plan, bounds: &[ClassBound]) {
    let mut known: Vec<_> = bounds
        .iter()
        .map(|bound| {
            let class = plan.classes[bound.class.index()].name.clone();
            let network = plan.network.as_ref();
            let nodes = network.map_or(Vec::new(), |network| nodes(network, &bound.path));
            (class, nodes, bound.sum.as_ref().ok().map(|sum| sum.bound.0))
        })
        .collect();
    let mut proved = proved(plan);
    if plan.framed_network().is_some() {
        // Classes without frames are no part of the proof.
        known.retain(|(class, ..)| proved.iter().any(|(other, ..)| other == class));
    }
    known.sort();
    proved.sort();
    assert_eq!(known, proved, "{name}");
    for bound in bounds {
        let Ok(sum) = &bound.sum else { continue };
        let total: i128 = sum.terms.iter().map(|term| term.nanos).sum();
        assert_eq!(total, i128::from(sum.bound.0), "{name}: {sum:?}");
        let Some(SlowestPacket { packet, used, beside, .. }) = &bound.slowest else { continue };
        let used = used.iter().map(|used| used.0).sum::<u64>();
        let beside = beside.iter().map(|(_, part)| part.time.0).sum::<u64>();
        assert_eq!(used + beside, packet.delay().0, "{name}: {bound:?}");
        assert!(packet.delay() <= sum.bound, "{name}: {bound:?}");
    }
}

#[test]
fn the_terms_of_examples_add_up_and_so_does_what_packets_use() {
    let mut explained_bounds = 0;
    for folder in ["examples", "examples/why", "papers/tdp", "papers/hfsc"] {
        for (name, plan) in examples(folder).filter(|(_, plan)| !plan.sources.is_empty()) {
            let bounds = explained(&plan, Nanos(300_000_000));
            add_up(&name, &plan, &bounds);
            explained_bounds += bounds.iter().filter(|bound| bound.slowest.is_some()).count();
        }
    }
    assert!(explained_bounds > 20, "{explained_bounds}");
}

/// The plan of the home uplink, whose excess is dropped, so that every discipline has bounds.
fn uplink(kind: Kind) -> Option<Plan> {
    let path = repository("examples/home-uplink.toml");
    let text = std::fs::read_to_string(&path).unwrap().replace("\"demote\"", "\"drop\"");
    let folder = path.parent().unwrap();
    Plan::parse_for(&text, "plan.toml", folder, &[kind]).ok()?.under(kind.word()).ok()
}

#[test]
fn the_terms_of_every_discipline_add_up() {
    for kind in Kind::ALL {
        let Some(plan) = uplink(*kind) else { continue };
        let bounds = explained(&plan, Nanos(1_000_000_000));
        add_up(kind.word(), &plan, &bounds);
    }
}

/// No packet finds more of the classes behind on the link than the longest packet of them.
#[test]
fn a_packet_is_blocked_for_no_longer_than_the_bound_says() {
    let plan = uplink(Kind::Priority).unwrap();
    let bounds = explained(&plan, Nanos(5_000_000_000));
    let mut compared = 0;
    for bound in &bounds {
        let (Ok(sum), Some(slowest)) = (&bound.sum, &bound.slowest) else { continue };
        for (term, used) in sum.terms.iter().zip(&slowest.used) {
            if let Source::Blocking(_) = term.source {
                assert!(i128::from(used.0) <= term.nanos, "{bound:?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 0);
}

#[test]
fn all_classes_of_a_plan_with_very_many_are_refused() {
    let classes: String = (0..300).map(|number| format!("[class.c{number}]\n")).collect();
    let text = format!(
        "version = 1\nlink = {{ rate = \"1mbit\" }}\nscheduler = {{ kind = \"wfq\" }}\n{classes}"
    );
    let plan = Plan::parse(&text, "plan.toml", Path::new(".")).unwrap();
    let ask = |name: &str| {
        breakdown(&plan, &[name.into()], &Traffic::default(), &mut to_the_end).map(|_| ())
    };
    let refusal = ask("all").unwrap_err().to_string();
    assert!(refusal.contains("300 classes"), "{refusal}");
    assert!(ask("c299").is_ok());
    assert!(ask("c300").unwrap_err().to_string().contains("no class `c300`"));
}
