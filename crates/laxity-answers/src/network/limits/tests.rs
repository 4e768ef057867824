//! Limits of plans against their proofs.

use std::path::Path;

use laxity_plan::discipline::Kind;
use laxity_plan::model::SchedulerSpec;

use super::*;

fn check(plan: &Plan) -> Option<NetworkProof> {
    let on = plan.network_plan()?.analysis();
    on.framing.is_none().then(|| NetworkProof::new(&on))
}

fn limits(plan: &Plan, watch: Watch<'_>) -> Option<Limits> {
    Limits::new(plan, &check(plan).unwrap(), watch)
}

const LINK: &str = r#"
        version = 1
        link = { rate = "8mbit", max-packet = "1000b" }
        scheduler.kind = "fifo"
        class.a = { end-to-end = "8ms", arrival = { bucket = "4000b", rate = "1mbit" } }
        network.one.between = ["a", "b"]
        [[source]]
        class = "a"
        model = "constant"
        rate = "1mbit"
        packet = "1000b"
        path = ["a", "b"]
    "#;

#[test]
fn searches_end_within_a_percent() {
    for threshold in [1, 2, 7, 99, 12_345, 987_654_321] {
        let found = smallest(None, 1..=64_000_000_000, |value| value >= threshold).unwrap();
        assert!((threshold..=threshold + threshold / 99 + 1).contains(&found), "{found}");
        let found =
            largest(Hint::default(), 1, 64_000_000_000, |value| value <= threshold).unwrap();
        assert!((threshold - threshold / 99..=threshold).contains(&found), "{found}");
    }
    assert_eq!(smallest(None, 1..=10, |_| false), None);
    assert_eq!(smallest(None, 7..=1_000_000, |_| true), Some(7));
    assert_eq!(largest(Hint::default(), 10, 20, |_| false), None);
    assert_eq!(largest(Hint::default(), 10, 20, |_| true), Some(20));
    // What is likely is asked, and changes nothing.
    for likely in [1, 500, 12_344, 12_345, 12_400, 99_999] {
        let known = Hint { value: Some(7), likely: Some(likely) };
        let found = largest(known, 3, 64_000, |value| value <= 12_345);
        assert_eq!(found, largest(Hint::default(), 3, 64_000, |value| value <= 12_345));
    }
    // What is known is not asked again, and changes nothing.
    let asked = |value| {
        assert!(value < 70);
        value >= 50
    };
    assert_eq!(smallest(Some(70), 1..=640, asked), smallest(None, 1..=640, |value| value >= 50));
}

/// Who is asked often can say soon that nobody listens any more.
#[test]
fn a_search_ends_when_it_is_told_to() {
    let plan = Plan::parse(LINK, "plan.toml", Path::new("")).unwrap();
    let asked = |most: usize| {
        let questions = AtomicUsize::new(0);
        let found = limits(&plan, &|parts, done| {
            assert!(parts == 3 && done <= 3, "{done} of {parts}");
            if questions.fetch_add(1, Ordering::Relaxed) < most {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        (found, questions.into_inner())
    };
    let (whole, questions) = asked(usize::MAX);
    assert!(whole.is_some() && questions > 20, "{questions}");
    for most in [0, 1, 5, questions - 1] {
        let (ended, _) = asked(most);
        assert!(ended.is_none(), "{most}");
    }
}

/// A burst of 4 kB takes 4 ms over a link of 8 Mbit/s, and the promise allows 8 ms.
#[test]
fn a_link_is_as_slow_as_a_promise_lets_it_be() {
    let plan = Plan::parse(LINK, "plan.toml", Path::new("")).unwrap();
    let limits = limits(&plan, &|_, _| ControlFlow::Continue(())).unwrap();
    let smallest = limits.links[0].smallest_rate_bps.unwrap();
    assert!((4_000_000..=4_040_001).contains(&smallest), "{smallest}");
    let largest = limits.classes[0].largest_burst_bytes.unwrap();
    assert!((7_920..=8_000).contains(&largest), "{largest}");
    assert_eq!(limits.classes[0].shortest_end_to_end_ns, Some(4_000_000));
    let load = limits.load.unwrap();
    assert_eq!(load.percent, 200);
    let [beyond] = &load.breaks[..] else { panic!("{:?}", load.breaks) };
    assert_eq!(beyond.class.as_deref(), Some("a"));
    assert!(matches!(beyond.finding, Finding::Late { deadline_ns: 8_000_000, .. }));
}

/// Whatever it says mends a plan or keeps it whole, and can be written: under each discipline,
/// admitted or not.
#[test]
fn what_it_offers_holds_in_a_plan() {
    let text = r#"
            version = 1
            link = { rate = "8mbit", max-packet = "1000b" }
            scheduler.kind = "fifo"
            class.a = { level = 1, weight = 1, deadline = "6ms", end-to-end = "8ms", arrival = { bucket = "2000b", rate = "1mbit" } }
            class.b = { level = 2, weight = 2, end-to-end = "20ms", arrival = { bucket = "4000b", rate = "2mbit" } }
            [network]
            one.between = ["x", "y"]
            two.between = ["y", "z"]
            unused.between = ["z", "w"]
            [[source]]
            class = "a"
            model = "constant"
            rate = "1mbit"
            packet = "1000b"
            path = ["x", "y", "z"]
            [[source]]
            class = "b"
            model = "constant"
            rate = "1mbit"
            packet = "1000b"
            path = ["x", "y"]
        "#;
    let is_kept = |plan: &Plan| check(plan).unwrap().admitted() != Some(false);
    let plan = Plan::parse_for(text, "plan.toml", Path::new(""), Kind::ALL).unwrap();
    let (mut offered, mut admitted) = (0, [0, 0]);
    for scheduler in SchedulerSpec::defaults() {
        for percent in [50, 100, 150, 220, 300] {
            let plan = Plan { scheduler, ..plan.clone() }.with_traffic(percent);
            admitted[usize::from(is_kept(&plan))] += 1;
            let mut holds = |what: &str, change: &dyn Fn(&mut Plan)| {
                let mut plan = plan.clone();
                change(&mut plan);
                assert!(is_kept(&plan), "{scheduler} at {percent} %: {what}");
                offered += 1;
            };
            let limits = limits(&plan, &|_, _| ControlFlow::Continue(())).unwrap();
            for (at, link) in limits.links.iter().enumerate() {
                let Some(rate) = link.smallest_rate_bps.map(Rate) else { continue };
                assert!(rate >= plan.link.slowest());
                holds(&link.link, &|plan| plan.network.as_mut().unwrap().links[at].rate = rate);
            }
            for (at, class) in limits.classes.iter().enumerate() {
                if let Some(ns) = class.shortest_deadline_ns {
                    holds("deadline", &|plan| plan.classes[at].deadline = Some(Nanos(ns)));
                }
                if let Some(ns) = class.shortest_end_to_end_ns {
                    holds("end-to-end", &|plan| plan.classes[at].end_to_end = Some(Nanos(ns)));
                }
                if let Some(bytes) = class.largest_burst_bytes {
                    holds("burst", &|plan| {
                        let arrival = plan.classes[at].arrival.as_mut().unwrap();
                        arrival.buckets[0].bucket = Bytes(bytes);
                    });
                }
            }
        }
    }
    assert!(offered > 60 && admitted.iter().all(|count| *count >= 3), "{offered} {admitted:?}");
}

/// What is looked at no further than it needs says of every network what its whole proof says,
/// where all holds and where something breaks: with more and more traffic, by class and
/// together.
#[test]
fn the_verdict_is_that_of_the_whole_proof() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut verdicts = [0, 0];
    for file in std::fs::read_dir(&examples).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let Ok(plan) = Plan::read(&path) else { continue };
        let Some(today) = check(&plan) else { continue };
        if plan.sources.len() > 64 {
            continue;
        }
        let least = bounded(&today);
        for percent in [25, 50, 90, 100, 110, 150, 250, 600, 1_500, 3_000, 10_000] {
            let plan = plan.with_traffic(percent);
            let on = plan.network_plan().unwrap();
            let whole = check(&plan).unwrap();
            let expected = keeps(&whole, least);
            assert_eq!(Standing::new(on).holds(least), expected, "{path:?} at {percent} %");
            verdicts[usize::from(expected)] += 1;
        }
    }
    assert!(verdicts.iter().all(|count| *count >= 9), "{verdicts:?}");
}
