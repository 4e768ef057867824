//! A network that is looked at in part is the same as one that is looked at from the beginning.

use super::*;
use crate::model::LinkId;

/// Nodes in a row, all disciplines that say something of paths, and classes that pass some of them.
fn mixed() -> String {
    let mut text = format!("{LINK}scheduler.kind = \"fifo\"\n");
    // Without deadlines EDF says nothing, and these three nothing at all.
    let is_mute = |kind: &Kind| {
        matches!(kind, Kind::Edf | Kind::FqCodel | Kind::DualPi2 | Kind::Cake | Kind::Dwcs)
    };
    let kinds: Vec<_> = of_links().filter(|kind| !is_mute(kind)).chain([Kind::Fifo]).collect();
    for (at, kind) in kinds.iter().map(|kind| kind.word()).enumerate() {
        text += &format!(
            "network.l{at} = {{ between = [\"n{at}\", \"n{}\"], scheduler = {{ kind = \"{kind}\" }} }}\n",
            at + 1
        );
    }
    let ways = [(0, kinds.len()), (0, 3), (2, 5), (4, 6), (1, 2)];
    for (class, _) in ways.iter().enumerate() {
        text += &format!(
            "class.c{class} = {{ level = {class}, weight = 1, arrival = {{ bucket = \"3000b\", rate = \"800kbit\" }} }}\n"
        );
    }
    for (class, (from, to)) in ways.into_iter().enumerate() {
        let path: Vec<String> = (from..=to).map(|node| format!("n{node}")).collect();
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        text += &source(&format!("c{class}"), &path);
    }
    text
}

/// Four nodes in a ring, four more behind, and flows that pass both or one.
fn ring_and_row() -> String {
    let mut text = format!("{LINK}scheduler.kind = \"fifo\"\n");
    for at in 0..4 {
        text += &format!("network.r{at}.between = [\"n{at}\", \"n{}\"]\n", (at + 1) % 4);
        text += &format!(
            "network.b{at}.between = [\"{}\", \"b{at}\"]\n",
            if at == 0 { "n0".into() } else { format!("b{}", at - 1) }
        );
    }
    let ways = [
        vec!["n0", "n1", "n2", "n3"],
        vec!["n1", "n2", "n3", "n0", "b0", "b1"],
        vec!["n2", "n3", "n0", "n1"],
        vec!["n3", "n0", "n1", "n2"],
        vec!["b0", "b1", "b2", "b3"],
        vec!["b2", "b3"],
    ];
    for class in 0..ways.len() {
        text += &format!("class.c{class}.arrival = {{ bucket = \"2000b\", rate = \"600kbit\" }}\n");
    }
    for (class, way) in ways.iter().enumerate() {
        text += &source(&format!("c{class}"), way);
    }
    text
}

/// The same with packets that are held in the ring.
fn held() -> String {
    ring_and_row().replace("network.r0.", "network.r0.regulate = true\nnetwork.r0.")
}

/// Whether a part is what the whole says.
fn is_like(part: &IncrementalAnalysis<'_>, whole: &Paths, before: &IncrementalAnalysis<'_>) {
    for (at, (part_of, whole_of)) in part.paths().outputs.iter().zip(&whole.outputs).enumerate() {
        assert_eq!(part_of.classes, whole_of.classes);
        if !part.is_changed(OutputId::from_index(at)) {
            assert_eq!(part_of.classes, before.paths().outputs[at].classes);
        }
    }
    for (number, route) in (0..).map(RouteId).zip(&whole.routes) {
        assert_eq!(part.is_bounded(number), route.bound().is_ok());
        let Ok(bound) = route.bound() else { continue };
        assert!(part.is_within(number, bound), "{route:?}");
        assert!(!part.is_within(number, bound - Nanos(1)), "{route:?}");
    }
}

#[test]
fn another_rate_changes_what_is_behind() {
    for text in [mixed(), ring_and_row(), held()] {
        let today = plan(&text);
        let incremental = today.network_plan().unwrap().incremental_analysis();
        for link in 0..today.network.as_ref().unwrap().links.len() {
            for rate in [3_000_000, 7_999_999, 100_000_000] {
                let mut other = today.clone();
                other.network.as_mut().unwrap().links[link].rate = Rate(rate);
                let on = other.network_plan().unwrap();
                is_like(
                    &incremental.with_rate(&other, LinkId::from_index(link)).unwrap(),
                    &on.paths(),
                    &incremental,
                );
            }
        }
    }
}

#[test]
fn another_burst_changes_what_it_reaches() {
    for text in [mixed(), ring_and_row(), held()] {
        let today = plan(&text);
        let incremental = today.network_plan().unwrap().incremental_analysis();
        for class in 0..today.classes.len() {
            for bucket in [1_000, 2_999, 3_001, 40_000] {
                let mut other = today.clone();
                other.classes[class].arrival.as_mut().unwrap().buckets[0].bucket = Bytes(bucket);
                let on = other.network_plan().unwrap();
                let part = incremental.with_arrival(&other, ClassId(class as u32)).unwrap();
                is_like(&part, &on.paths(), &incremental);
            }
        }
    }
}
