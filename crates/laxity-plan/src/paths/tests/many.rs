//! Networks of many routes.

use std::fmt::Write;

use super::super::end_to_end::EndToEnd;
use super::*;

/// More classes than are looked at closely, along three links. Each may burst a packet of its own,
/// so that the sum of hops pays all bursts three times.
fn many(promised: impl Fn(usize) -> Option<&'static str>) -> String {
    let mut text = "link = { rate = \"8gbit\", max-packet = \"1000b\" }\n".to_string();
    text += "scheduler.kind = \"fifo\"\n";
    for (at, [from, to]) in [["a", "b"], ["b", "c"], ["c", "d"]].iter().enumerate() {
        writeln!(text, "network.l{at}.between = [\"{from}\", \"{to}\"]").unwrap();
    }
    for class in 0..1001 {
        let promised = promised(class).map(|time| format!(", end-to-end = \"{time}\""));
        let promised = promised.unwrap_or_default();
        writeln!(
            text,
            "class.c{class} = {{ arrival = {{ bucket = \"1000b\", rate = \"2mbit\" }}{promised} }}"
        )
        .unwrap();
    }
    for class in 0..1001 {
        let paths = [&["a", "b", "c", "d"][..], &["a", "b"], &["b", "c"], &["c", "d"]];
        text += &source(&format!("c{class}"), paths[if class < 5 { 0 } else { class % 4 }]);
    }
    text
}

#[test]
fn routes_are_looked_at_as_closely_as_their_promises_need() {
    let promised =
        |class| [Some("10ms"), Some("1030us"), Some("10us")].get(class).copied().flatten();
    let plan = plan(&many(promised));
    let on = plan.network_plan().unwrap();
    let (paths, analysis) = (on.paths(), Analysis::new(on, Goal::Shortest));
    let methods = |class: u32| {
        let route = paths.route_ids().find(|id| paths.routes[id.index()].class == ClassId(class));
        let route = route.unwrap();
        let close = EndToEnd::new(&analysis, route).bounds().unwrap();
        let found = paths.routes[route.index()].bounds.clone().unwrap();
        let hops = Nanos(paths.routes[route.index()].by(Method::Hops).unwrap().0);
        assert_eq!(close[0], Bound { method: Method::Hops, delay: hops });
        (
            found.len() > 1,
            found == close,
            hops,
            close.iter().map(|bound| bound.delay).min().unwrap(),
        )
    };
    // The sum of hops is enough, not enough, and nothing is.
    let (is_close, _, hops, least) = methods(0);
    assert!(!is_close && hops <= Nanos(10_000_000), "{hops} {least}");
    for (class, promised) in [(1, 1_030_000), (2, 10_000)] {
        let (_, is_whole, hops, least) = methods(class);
        assert!(is_whole && hops > Nanos(promised), "{hops} {least}");
        assert_eq!(least <= Nanos(promised), class == 1, "{hops} {least}");
    }
    // Nothing is promised.
    assert!(!methods(3).0);
}
