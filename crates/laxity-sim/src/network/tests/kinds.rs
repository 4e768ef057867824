//! Disciplines for the links of plans that are drawn.

use laxity_plan::discipline::Kind;
use laxity_plan::model::BestEffort;

use super::*;

/// Every discipline that a link may have of its own.
pub(in crate::network) fn any() -> Vec<Kind> {
    let of_links = Kind::ALL.iter().filter(|kind| !kind.room().is_of_networks);
    of_links.copied().collect()
}

/// Those that send all packets for which there is room.
pub(super) fn sending_all() -> Vec<Kind> {
    // These two drop packets because others have waited for long.
    let drops = |kind: &Kind| matches!(kind, Kind::FqCodel | Kind::DualPi2 | Kind::Cake);
    any().into_iter().filter(|kind| !drops(kind)).collect()
}

/// Those that bound what a class with a contract and a deadline takes along a path.
pub(super) fn bounding() -> Vec<Kind> {
    let bounds = |kind: &Kind| {
        let plan = plan(&format!(
            r#"
            link = {{ rate = "8mbit", max-packet = "1000b" }}
            scheduler.kind = "{}"
            class.a = {{ deadline = "20ms", arrival = {{ bucket = "2000b", rate = "1mbit" }} }}
            network.one.between = ["a", "b"]
            source = [{{ class = "a", model = "constant", rate = "1mbit", packet = "500b", path = ["a", "b"] }}]
            "#,
            kind.word()
        ));
        plan.network_plan().unwrap().paths().routes[0].bound().is_ok()
    };
    any().into_iter().filter(bounds).collect()
}

/// The scheduler of a link: half of the time first come, first served, where bounds of whole paths
/// are closest, and half of the time any other that bounds delays, EDF with any scheme for best
/// effort.
pub(super) fn schedulers() -> impl Strategy<Value = String> {
    let scheduler = |(kind, scheme): (Kind, BestEffort)| match kind {
        Kind::Edf => format!("{{ kind = \"edf\", best-effort = \"{}\" }}", scheme.name()),
        kind => format!("{{ kind = \"{}\" }}", kind.word()),
    };
    let others: Vec<_> = bounding().into_iter().filter(|kind| *kind != Kind::Fifo).collect();
    let kind = prop_oneof![Just(Kind::Fifo), prop::sample::select(others)];
    (kind, prop::sample::select(&BestEffort::ALL[..])).prop_map(scheduler)
}
