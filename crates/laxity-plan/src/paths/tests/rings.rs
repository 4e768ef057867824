//! Outputs that feed one another.

use super::*;

/// Four nodes in a ring. A class from each node goes over three links at `rate` kbit/s.
fn ring(scheduler: &str, rate: u64) -> String {
    let mut text = format!("{LINK}scheduler.kind = \"{scheduler}\"\n");
    let node = |at: usize| ["n", "e", "s", "w"][at % 4];
    for at in 0..4 {
        text += &format!(
            "network.link{at}.between = [\"{}\", \"{}\"]\n\
             class.from-{} = {{ arrival = {{ bucket = \"2000b\", rate = \"{rate}kbit\" }}, weight = 1 }}\n",
            node(at),
            node(at + 1),
            node(at),
        );
    }
    for at in 0..4 {
        let path: Vec<_> = (at..at + 4).map(node).collect();
        text += &source(&format!("from-{}", node(at)), &path);
    }
    text
}

#[test]
fn fifo_rings_have_bounds_that_follow_from_themselves() {
    let plan = plan(&ring("fifo", 1_000));
    let on = plan.network_plan().unwrap();
    let found = on.paths();
    assert_eq!(found.cyclic.len(), 4);
    let bounds: Vec<_> = found.routes.iter().map(|route| route.bound().unwrap()).collect();
    // All alike, and no less than three bursts at once at the first link and propagation.
    assert!(bounds.iter().all(|bound| *bound == bounds[0]), "{bounds:?}");
    assert!(bounds[0] > Nanos(6 * MS + 3 * 2 * MS), "{bounds:?}");

    // Looked at once more, nothing changes: it is no limit that is approached.
    let mut analysis = Analysis::new(on, Goal::Shortest);
    for output in 0..found.outputs.len() {
        assert!(!analysis.output(OutputId::from_index(output)));
        assert_eq!(analysis.paths.outputs[output].classes, found.outputs[output].classes);
    }
}

#[test]
fn what_needs_no_neighbours_has_bounds_in_any_ring() {
    let waits = |kind: &Kind| {
        let plan = plan(&ring(kind.word(), 1));
        let waits_behind = (kind.room().proof.waits_behind)(&plan);
        waits_behind(ClassId(0), ClassId(1))
    };
    // Of the last three nothing is proved.
    let proves =
        |kind: &Kind| !matches!(kind, Kind::FqCodel | Kind::DualPi2 | Kind::Cake | Kind::Dwcs);
    // EDF bounds what has a deadline, and H-FSC what has a curve.
    let is_asked = |kind: &Kind| !matches!(kind, Kind::Edf | Kind::Hfsc);
    let others = of_links().filter(|kind| !waits(kind) && proves(kind) && is_asked(kind));
    for scheduler in others.map(Kind::word) {
        // Three classes at every link, whose shares are a quarter each: 2 of 8 Mbit/s.
        let paths = paths(&ring(scheduler, 1_990));
        assert!(!paths.cyclic.is_empty());
        for route in &paths.routes {
            assert!(route.bound().is_ok(), "{scheduler}: {route:?}");
        }
    }
}

#[test]
fn where_more_comes_than_a_ring_sends_there_are_no_bounds() {
    let unstable = plan(&ring("fifo", 3_000));
    let found = unstable.network_plan().unwrap().paths();
    assert!(found.routes.iter().all(|route| route.bound().is_err()), "{:?}", found.routes);

    // At what load is as said, to a percent.
    let plan = plan(&ring("fifo", 1_000));
    let percent = plan.network_plan().unwrap().bounded_up_to().unwrap();
    assert!((110..=266).contains(&percent), "{percent}");
    let is_bounded = |percent: u64| {
        let text = ring("fifo", 1_000).replace("1000kbit", &format!("{}kbit", 10 * percent));
        let text = text.replace("2000b", &format!("{}b", 20 * percent));
        paths(&text).routes.iter().all(|route| route.bound().is_ok())
    };
    assert!(is_bounded(percent) && !is_bounded(percent + 1), "{percent}");
}

/// Where wires are much faster than what their nodes are sure of, nothing holds bursts back that
/// grow from node to node: five flows of an eighth of each rate all the way round a ring of six
/// leave room at every output, and have no bounds.
#[test]
fn bounds_are_lost_where_every_output_has_room() {
    let text = |kilobits: u64| {
        let mut text = format!("{LINK}scheduler.kind = \"fifo\"\n");
        for at in 0..6 {
            text += &format!(
                "network.l{at} = {{ between = [\"n{at}\", \"n{}\"], peak = \"1gbit\" }}\n\
                 class.c{at}.arrival = {{ bucket = \"2000b\", rate = \"{kilobits}kbit\" }}\n",
                (at + 1) % 6
            );
        }
        for at in 0..6 {
            let path: Vec<String> = (at..at + 6).map(|node| format!("n{}", node % 6)).collect();
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            text += &source(&format!("c{at}"), &path);
        }
        text
    };
    // A burst grows with the traffic that arrives during the delays so far. At half of the link's
    // rate, a fifth of that for each flow, it grows by more at every turn.
    let found = paths(&text(700));
    assert!(found.routes.iter().all(|route| route.bound().is_ok()), "{:?}", found.routes);
    let found = paths(&text(1_000));
    for &output in &found.cyclic {
        let output = &found.outputs[output.index()];
        assert!(output.classes.iter().all(|of| of.bound == Err(BoundError::CyclicDependency)));
    }
    assert_eq!(found.cyclic.len(), 6);
    assert!(found.routes.iter().all(|route| route.bound() == Err(BoundError::CyclicDependency)));
}

/// At the edge of what deadlines allow, and with packets that pass an output twice, whatever comes
/// first in the plan.
#[test]
fn the_order_of_sources_decides_nothing() {
    let link = |name: &str, between: [&str; 2], rate: u64, delay: u64| {
        format!(
            "network.{name} = {{ between = {between:?}, rate = \"{rate}bit\", delay = \"{delay}ns\" }}\n"
        )
    };
    let sources = [
        source("b", &["b", "c"]),
        source("b", &["a", "b"]),
        source("a", &["b", "c", "a"]),
        source("a", &["b", "c", "a", "b", "c", "a", "b"]),
        source("c", &["a", "b", "c", "a", "b", "c", "a", "b"]),
    ];
    let bounds = |order: [usize; 5]| {
        let text = format!(
            "link = {{ rate = \"10mbit\", max-packet = \"1500b\", min-packet = \"40b\" }}
            scheduler.kind = \"edf\"
            class.a.deadline = \"9763050ns\"
            class.a.arrival = {{ bucket = \"11133b\", rate = \"120795bit\", packet = \"1237b\" }}
            class.b.deadline = \"16590250ns\"
            class.b.arrival = {{ bucket = \"6000b\", rate = \"169366bit\", packet = \"1500b\" }}
            class.c = {{}}\n{}{}{}{}",
            link("one", ["a", "b"], 9_400_000, 2_349_740),
            link("two", ["b", "c"], 13_500_000, 1_531_519),
            link("three", ["c", "a"], 8_700_000, 348_737),
            order.map(|number| sources[number].as_str()).concat(),
        );
        let found = paths(&text);
        let bound = |number| {
            let place = order.iter().position(|one| *one == number).unwrap();
            found.routes[place].bound().unwrap()
        };
        [0, 1, 2, 3].map(bound)
    };
    let first = bounds([0, 1, 2, 4, 3]);
    for order in [[3, 2, 1, 0, 4], [2, 3, 0, 1, 4], [1, 0, 4, 3, 2]] {
        assert_eq!(bounds(order), first, "{order:?}");
    }
}

/// A plan near the load at which bounds are lost, with its sources in every rotation.
#[test]
fn bounds_of_rings_do_not_depend_on_the_order_of_sources() {
    let (head, sources) = include_str!("near_the_edge.toml").split_once("[[source]]").unwrap();
    let mut sources: Vec<&str> = sources.split("[[source]]").collect();
    let mut bounds = |by: usize| {
        sources.rotate_left(by);
        let plan = plan(&format!("{head}[[source]]{}", sources.join("[[source]]")));
        let found = plan.network_plan().unwrap().paths();
        let routes = found.routes.iter();
        let mut bounds: Vec<_> =
            routes.map(|route| (route.class, route.path.clone(), route.bound().ok())).collect();
        bounds.sort();
        bounds
    };
    let expected = bounds(0);
    assert!(expected.iter().any(|(.., bound)| bound.is_some()), "nothing is compared");
    for _ in 1..8 {
        assert_eq!(bounds(1), expected);
    }
}
