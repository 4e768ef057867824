//! Classes that share a queue of a discipline, and those that share nothing.

use super::*;

/// The route of `a` over three links in a row. Another class passes each of them.
fn row(scheduler: &str, long: &str, short: &str, more: &str) -> Route {
    let arrival = "arrival = { bucket = \"4000b\", rate = \"3mbit\" }";
    let link = |name: &str, from: &str, to: &str| {
        format!("network.{name}.between = [\"{from}\", \"{to}\"]\n")
    };
    let class = |name: &str, keys: &str| format!("class.{name} = {{ {arrival}{keys} }}\n");
    let paths = paths(&format!(
        "{LINK}scheduler = {{ {scheduler} }}\n{}{}{}{}{}{}{}{more}{}{}{}{}",
        class("a", long),
        class("x", short),
        class("y", short),
        class("z", short),
        link("one", "a", "b"),
        link("two", "b", "c"),
        link("three", "c", "d"),
        source("a", &["a", "b", "c", "d"]),
        source("x", &["a", "b"]),
        source("y", &["b", "c"]),
        source("z", &["c", "d"]),
    ));
    paths.routes.into_iter().find(|route| route.class == ClassId(0)).unwrap()
}

const BACKGROUND: &str = "kind = \"edf\", best-effort = \"background\"";

/// The bound of a method, but for some bytes of 1 us.
fn is_alike(one: Option<Nanos>, other: Option<Nanos>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one.0.abs_diff(other.0) < 10_000)
}

#[test]
fn classes_of_one_deadline_or_level_are_first_in_first_out() {
    let fifo = row("kind = \"fifo\"", "", "", "");
    let due = ", deadline = \"90ms\"";
    let edf = row(BACKGROUND, due, due, "");
    let exact = row("kind = \"edf\"", due, due, "");
    let priority = row("kind = \"priority\"", ", level = 0", ", level = 0", "");
    for route in [&edf, &exact, &priority] {
        for method in [Method::Sfa, Method::Ludb, Method::Plp] {
            let [fifo, other] = [&fifo, route].map(|route| route.by(method));
            assert!(is_alike(fifo, other), "{method:?}: {fifo:?} {other:?}");
        }
        assert!(route.bound().unwrap() < route.by(Method::Hops).unwrap(), "{route:?}");
        assert!(route.bound().unwrap() < route.by(Method::Matching).unwrap(), "{route:?}");
    }
}

/// One more packet of 1 ms at every output, but for best effort with deadlines: that may take all
/// that is left.
#[test]
fn best_effort_blocks_once_an_output_and_without_deadlines_no_more() {
    let due = ", deadline = \"90ms\"";
    let beside = format!("class.rest = {{}}\n{}", source("rest", &["a", "b", "c", "d"]));
    let [alone, blocked] =
        ["", &beside].map(|more| row(BACKGROUND, due, due, more).by(Method::Sfa));
    let added = blocked.unwrap().0 - alone.unwrap().0;
    // What comes meanwhile of the others takes a part of the rate.
    assert!((3 * MS..3 * MS * 8 / 5).contains(&added), "{alone:?} {blocked:?}");
    let elsewhere = format!(
        "class.rest = {{}}\nnetwork.four.between = [\"d\", \"e\"]\n{}",
        source("rest", &["d", "e"])
    );
    for scheduler in [BACKGROUND, "kind = \"edf\""] {
        let away = row(scheduler, due, due, &elsewhere).by(Method::Sfa);
        assert!(is_alike(away, alone), "{away:?}");
    }
    let exact = row("kind = \"edf\"", due, due, &beside);
    let hops = exact.by(Method::Hops);
    assert_eq!((exact.by(Method::Sfa), exact.bound().ok()), (None, hops));
    assert!(hops.is_some());
}

/// With other deadlines the burst of those that are due before is paid once, and those that are due
/// long after count as little as classes of a level behind.
#[test]
fn deadlines_that_differ_leave_a_service_to_each() {
    let (soon, late) = (", deadline = \"20ms\"", ", deadline = \"200ms\"");
    let edf = row(BACKGROUND, late, soon, "");
    let priority = row("kind = \"priority\"", ", level = 1", ", level = 0", "");
    for method in [Method::Once, Method::Matching] {
        let [one, other] = [&edf, &priority].map(|route| route.by(method));
        let is_less = one.zip(other).is_some_and(|(one, other)| one <= other + Nanos(10_000));
        assert!(is_less, "{method:?}: {one:?} {other:?}");
    }
    assert!(edf.bound().unwrap() < edf.by(Method::Hops).unwrap());
    let edf = row(BACKGROUND, soon, late, "");
    let priority = row("kind = \"priority\"", ", level = 0", ", level = 1", "");
    let [one, other] = [&edf, &priority].map(|route| route.by(Method::Once));
    assert!(is_alike(one, other), "{one:?} {other:?}");
}

/// Shares, quanta and curves are those of the classes that pass, however many there are elsewhere.
#[test]
fn classes_elsewhere_have_no_share() {
    for (kind, keys) in [
        ("wfq", ""),
        ("wf2q", ""),
        ("qfq", ""),
        ("drr", ""),
        ("drr", ", weight = 3"),
        ("hfsc", ", curve = \"4mbit\""),
    ] {
        let bound = |elsewhere: u32| {
            let names = |number: u32| (format!("n{number}"), format!("n{}", number + 1));
            let table = |number| {
                let (from, to) = names(number);
                let keys = if kind == "hfsc" { keys } else { ", weight = 0.5" };
                format!(
                    "class.e{number} = {{ arrival = {{ bucket = \"4000b\", rate = \"3mbit\" }}{keys} }}
                    network.e{number}.between = [\"{from}\", \"{to}\"]\n"
                )
            };
            let source = |number| {
                let (from, to) = names(number);
                source(&format!("e{number}"), &[&from, &to])
            };
            let tables = (0..elsewhere).map(table);
            let more: String = tables.chain((0..elsewhere).map(source)).collect();
            row(&format!("kind = \"{kind}\""), keys, keys, &more).bound().ok()
        };
        let [few, many] = [0, 9].map(bound);
        // Virtual times count what those elsewhere might have: a billionth, or a bit a second.
        assert!(
            few.zip(many).is_some_and(|(few, many)| few.0.abs_diff(many.0) < 100),
            "{kind}{keys}: {few:?} {many:?}"
        );
    }
}

/// The plan at a link that class `a` passes, where another class passes a link elsewhere.
fn beside_elsewhere(scheduler: &str, classes: &str) -> Plan {
    let text = format!(
        "{LINK}scheduler.kind = \"{scheduler}\"
        class.a = {{ arrival = {{ bucket = \"4000b\", rate = \"1mbit\" }}, weight = 1 }}
        {classes}
        network.one.between = [\"a\", \"b\"]
        network.two.between = [\"b\", \"c\"]\n{}{}",
        source("a", &["a", "b"]),
        source("elsewhere", &["b", "c"])
    );
    let plan = plan(&text);
    let on = plan.network_plan().unwrap();
    let paths = on.paths();
    paths.plan_at(on, paths.routes[0].outputs[0])
}

/// Frames of it that are forwarded live may come anywhere. Those of a class with a path elsewhere
/// do not come.
#[test]
fn a_class_without_paths_keeps_its_share() {
    let classes = "class.elsewhere.weight = 4\nclass.anywhere.weight = 3";
    let rates = beside_elsewhere("wf2q", classes).guaranteed_rates();
    // Of 8 Mbit/s, less the one.
    assert_eq!(rates, [1_999_999, 1, 5_999_999].map(Rate));
}

/// However little a class elsewhere weighs, a turn of the lightest class that passes is a packet.
#[test]
fn quanta_are_those_of_classes_that_pass() {
    let quanta = beside_elsewhere("drr", "class.elsewhere.weight = 0.001").drr_quanta();
    assert_eq!(quanta, [1_000, 1]);
}
