//! What is found is the smallest, holds when it is run again, and comes again.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use laxity_answers::figure::figures;
use laxity_plan::Plan;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

use super::*;
use crate::Error;
use crate::sweep::{Space, Store, Study};
use crate::{CheckResult, Traffic, check, run};

/// What is sought in a plan's text.
fn tuning(plan: &str, text: &str) -> Result<Tuning, Error> {
    let study = |seeds, duration| {
        Study::new("plan.toml".into(), PathBuf::new(), plan, Space::default(), seeds, duration)
    };
    Tuning::from_text(text, study, Vec::new())
}

fn tuned(plan: &str, text: &str) -> TuneResult {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    tune(&tuning(plan, text).unwrap(), &store, &|_| ControlFlow::Continue(())).unwrap()
}

/// Whether a plan is one and admitted.
fn admits(plan: &str) -> bool {
    let plan = Plan::parse(plan, "plan.toml", Path::new(""));
    plan.is_ok_and(|plan| check(&plan).unwrap().admitted() == Some(true))
}

/// Three classes with deadlines on a link of 20 Mbit/s.
fn random_plan(seed: u64) -> String {
    let mut draw = Pcg32::seed_from_u64(seed);
    let mut plan = "version = 1\nlink.rate = '20mbit'\nscheduler.kind = 'edf'\n".to_owned();
    for class in ["a", "b", "c"] {
        let deadline = draw.random_range(8_000..60_000);
        let bucket = draw.random_range(1_500..9_000);
        let rate = draw.random_range(200..3_000);
        let packet = draw.random_range(100..1_500);
        plan += &format!(
            "[class.{class}]\ndeadline = '{deadline}us'\n\
             arrival = {{ bucket = '{bucket}b', rate = '{rate}kbit', packet = '{packet}b' }}\n"
        );
    }
    plan + "[class.rest]\n"
}

#[test]
fn the_smallest_link_is_the_smallest_that_is_admitted() {
    for seed in 0..8 {
        let plan = random_plan(seed);
        let found = tuned(
            &plan,
            "version = 1\nminimise = { \"link.rate\" = { from = '100kbit', to = '20mbit' } }",
        );
        let rate = found.best.numbers[0] as u64;
        let at = |rate: u64| admits(&plan.replace("20mbit", &format!("{}mbit", rate as f64 / 1e6)));
        assert!(!at(rate - 1), "{seed}: {rate}");
        for other in (100_000..20_000_000).step_by(99_991).chain(rate - 50..rate + 50) {
            assert_eq!(at(other), other >= rate, "{seed}: {other} of {rate}");
        }
        assert_eq!(found.minimised[0].bound, Bound::Admission);
        let below = found.minimised[0].below.as_ref().unwrap();
        assert!(below.why[0].starts_with("NOT ADMITTED. "), "{:?}", below.why);
        assert_eq!(found.proof.unwrap().admitted(), Some(true));
    }
}

#[test]
fn shortest_deadlines_are_those_that_check_tells() {
    let mut compared = 0;
    for seed in 0..8 {
        let plan = random_plan(seed);
        let parsed = Plan::parse(&plan, "plan.toml", Path::new("")).unwrap();
        let CheckResult::Link(answer) = check(&parsed).unwrap() else { unreachable!() };
        for class in answer.classes.iter().filter(|class| class.suggestions_sought) {
            let Some(shortest) = class.shortest_deadline_ns else { continue };
            let key = format!("\"class.{}.deadline\"", class.name);
            let ask =
                format!("version = 1\nminimise = {{ {key} = {{ from = '1us', to = '900ms' }} }}");
            let found = tuned(&plan, &ask);
            assert_eq!(found.best.numbers[0] as u64, shortest, "{seed}: {}", class.name);
            compared += 1;
        }
    }
    assert!(compared >= 16, "{compared}");
}

const SHARED: &str = "version = 1
link.rate = '8mbit'
scheduler.kind = 'wfq'
class.a = { weight = 1 }
class.b = { weight = 1 }
source = [
  { class = 'a', model = 'poisson', packet = '1000b', rate = '2mbit' },
  { class = 'b', model = 'poisson', packet = '1000b', rate = '4mbit' },
]
";

/// The largest of a figure of a class over seeds, run by itself.
fn worst(plan: &Plan, class: &str, figure: &str, seeds: u64) -> f64 {
    let one = |seed| {
        let duration = Some("1s".parse().unwrap());
        let traffic = Traffic { duration, seed: Some(seed), ..Traffic::default() };
        let ran = run(plan, &traffic, &mut (), &mut crate::to_the_end).unwrap();
        let figures = figures(&ran.judged.summary);
        let figure = figures.iter().find(|one| one.class == class && one.name == figure);
        figure.unwrap().value.unwrap()
    };
    (1..=seeds).map(one).fold(0.0, f64::max)
}

fn goals(draws: u64) -> String {
    format!(
        "version = 1\nseeds = 3\nduration = '1s'\nsearch.seed = {draws}\n\
         choose.\"class.a.weight\" = {{ from = 1, to = 60, log = true }}\n\
         minimise.\"link.rate\" = {{ from = '4mbit', to = '10mbit' }}\n\
         [[goal]]\nclass = 'a'\nfigure = 'delay_ns.p99'\nat_most = '5ms'\n\
         [[goal]]\nclass = 'b'\nfigure = 'delay_ns.p99'\nat_most = '25ms'\n"
    )
}

#[test]
fn measured_goals_hold_when_they_are_run_again() {
    for draws in 1..4 {
        let found = tuned(SHARED, &goals(draws));
        assert!(found.found, "{draws}: {:?}", found.best);
        for (class, limit) in [("a", 5e6), ("b", 25e6)] {
            let worst = worst(&found.plan.as_ref().unwrap().0, class, "delay_ns.p99", 3);
            assert!(worst <= limit, "{draws}: {class} {worst}");
            let told = found.best.goals.iter().find(|reached| reached.goal.class == class);
            assert_eq!(told.unwrap().worst, Some(worst));
        }
        let least = &found.minimised[0];
        assert_eq!(least.bound, Bound::Measured);
        let below = least.below.as_ref().unwrap();
        let rate = |text: &str| text.parse::<laxity::units::Rate>().unwrap().0 as f64;
        let step = 1.0 - rate(&below.value) / rate(&least.chosen.value);
        assert!(step > 0.0 && step <= 0.01, "{least:?}");
        assert!(!below.why.is_empty());
        // The first of the trials is the plan's own weight, with which the goals are in each
        // other's way.
        let smaller = |trial: &&Trial| trial.holds && trial.numbers[0] < found.best.numbers[0];
        assert_eq!(found.trials.iter().find(smaller), None);
    }
}

#[test]
fn the_same_seed_finds_the_same_and_runs_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let tuning = tuning(SHARED, &goals(1)).unwrap();
    let first = tune(&tuning, &store, &|_| ControlFlow::Continue(())).unwrap();
    let made = std::sync::atomic::AtomicUsize::new(0);
    let heard = |going: crate::sweep::StudyProgress| {
        if going.done < going.runs {
            made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        ControlFlow::Continue(())
    };
    let again = tune(&tuning, &store, &heard).unwrap();
    assert_eq!((made.into_inner(), &again.trials), (0, &first.trials));
    let stopped = tune(&tuning, &store, &|_| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(Error::Stopped)));
}

#[test]
fn what_comes_nearest_is_told() {
    let ask = goals(1).replace("'5ms'", "'1us'");
    let found = tuned(SHARED, &ask);
    assert!(!found.found && found.proof.is_none() && found.minimised.is_empty());
    assert!(found.trials.iter().all(|trial| trial.miss >= found.best.miss));
    let text = found.text();
    assert!(text.starts_with("NOT FOUND: none of "), "{text}");
    assert!(text.contains("a delay_ns.p99 is "), "{text}");
}

/// Where the largest value fails, others are tried.
#[test]
fn a_value_between_is_found_too() {
    let plan = SHARED.replace("b = { weight = 1 }", "b = { weight = 10 }");
    let plan = plan.replace("'2mbit'", "'3.5mbit'").replace("'4mbit'", "'3.8mbit'");
    let ask = "version = 1\nseeds = 2\nduration = '1s'\n\
               minimise.\"class.a.weight\" = { from = 1, to = 100 }\n\
               [[goal]]\nclass = 'a'\nfigure = 'delay_ns.p99'\nat_most = '20ms'\n\
               [[goal]]\nclass = 'b'\nfigure = 'delay_ns.p99'\nat_most = '24.5ms'\n";
    let found = tuned(&plan, ask);
    let [at_first_a, at_first_b] = &found.trials[0].goals[..] else { unreachable!() };
    assert!(at_first_a.holds() && !at_first_b.holds(), "{:?}", found.trials[0]);
    assert!(found.found, "{:?}", found.best);
    let weight = found.best.numbers[0];
    let least = (1..=100).find(|weight| {
        let plan = plan.replace("a = { weight = 1 }", &format!("a = {{ weight = {weight} }}"));
        let plan = Plan::parse(&plan, "plan.toml", Path::new("")).unwrap();
        worst(&plan, "a", "delay_ns.p99", 2) <= 20e6
            && worst(&plan, "b", "delay_ns.p99", 2) <= 24.5e6
    });
    assert_eq!(Some(weight as u64), least);
}

#[test]
fn a_discipline_without_a_test_is_measured() {
    let plan = SHARED.replace("'wfq'", "'fifo'").replace("{ weight = 1 }", "{}");
    let ask = "version = 1\nduration = '1s'\nminimise.\"link.rate\" = { from = '7mbit', to = '20mbit' }\n\
               [[goal]]\nclass = 'b'\nfigure = 'delay_ns.max'\nat_most = '8ms'\n";
    let found = tuned(&plan, ask);
    assert_eq!((found.best.admitted(), found.minimised[0].bound), (None, Bound::Measured));
    assert!(found.text().contains("is too small (measured): b delay_ns.max is "));
}
