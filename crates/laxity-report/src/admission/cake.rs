//! What tins, hosts and new flows are sure of under CAKE.

use laxity_answers::link::TinProof;

use super::column::Column;
use crate::quantity;

/// The tin of a class.
pub(super) fn tin<'a>() -> Column<'a> {
    Column::text("tin", |(class, _)| class.tin.map(str::to_owned))
}

/// What each tin is sure of, each a name and a value.
pub(super) fn details(tins: &[TinProof]) -> Vec<(String, String)> {
    tins.iter().flat_map(of_tin).collect()
}

fn of_tin(tin: &TinProof) -> Vec<(String, String)> {
    let name = |what: &str| format!("Tin {}{what}", tin.name);
    let time = |nanos: u64| quantity::time(nanos as f64);
    let rate = |bps: u64| quantity::megabits(bps as f64) + " Mbit/s";
    let (Some(bps), Some(latency)) = (tin.rate_bps, tin.latency_ns) else {
        let why = tin.unbounded.map_or(String::new(), |why| format!(": {why}"));
        return vec![(name(""), format!("sure of nothing{why}"))];
    };
    let mut details = vec![(
        name(" is sure of"),
        format!("{} after {}, whatever other tins send", rate(bps), time(latency)),
    )];
    details.extend(tin.host_bps.map(|bps| {
        let each = format!("{}, of what new flows leave", rate(bps));
        (name(&format!(", each of {} hosts that all send", tin.hosts)), each)
    }));
    details.extend(tin.new_flow_ns.zip(tin.another_flow_ns).map(|(alone, another)| {
        let within =
            format!("{}, and {} for each that began before it", time(alone), time(another));
        (name(", the first packet of a flow leaves within"), within)
    }));
    details.extend(tin.unknown.as_ref().map(|class| {
        let why = format!("nothing is known of what {class} sends");
        (name(", no class has a delay bound"), why)
    }));
    details
}
