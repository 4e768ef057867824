//! Windows of streams at every hop.

use super::*;
use crate::link::Run;
use crate::summary::WindowSummary;

/// A plan whose classes tolerate losses, with these sources along a path or on a link.
fn text(network: &str, path: &str, rates: [u32; 2], losses: [u32; 2]) -> String {
    format!(
        "link = {{ rate = \"1mbit\", max-packet = \"500b\" }}\n{network}\n\
         scheduler.kind = \"dwcs\"\n\
         class.a = {{ gap = \"20ms\", count = 3, loss = \"{}/20\", queue = {{ kind = \"droptail\", limit = 9 }} }}\n\
         class.b = {{ gap = \"15ms\", loss = \"{}/7\" }}\n\
         source = [{{ class = \"a\", model = \"poisson\", packet = \"500b\", count = 3, rate = \"{}kbit\"{path} }},\n\
         {{ class = \"b\", model = \"poisson\", packet = {{ uniform = [\"60b\", \"500b\"] }}, rate = \"{}kbit\"{path} }}]",
        losses[0], losses[1], rates[0], rates[1],
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// At the only hop of a network they are those of the link, whatever orders packets.
    #[test]
    fn windows_of_one_hop_are_those_of_the_link(
        seed: u64,
        kind in prop::sample::select(vec!["dwcs", "fifo", "drr", "priority"]),
        rates in [50u32..300, 50u32..400],
        losses in [1u32..19, 1u32..6],
    ) {
        let on_path = text("network.only.between = [\"x\", \"y\"]", ", path = [\"x\", \"y\"]", rates, losses);
        let network = plan(&on_path).under(kind).unwrap();
        let duration = Some(Nanos(20_000 * MS));
        let on = network.network_plan().unwrap().analysis();
        let run = NetworkRun::new(&on, duration, seed);
        let of_network = run.simulate(&mut (), &mut crate::to_the_end).unwrap().summary;
        let single = plan(&text("", "", rates, losses)).under(kind).unwrap();
        let run = Run { plan: &single, duration, seed, feeds: Vec::new() };
        let of_link = run.with_sources().unwrap().simulate(&mut (), &mut crate::to_the_end).unwrap();
        // What still waits at the end of a network's run has no outcome.
        prop_assume!(of_network.ends().ties_at_full_queues == 0);
        let hop = &of_network.hops[0];
        prop_assume!(hop.classes.iter().all(|class| class.queued == 0));
        for (ours, theirs) in hop.classes.iter().zip(&of_link.summary.hops[0].classes) {
            let (ours, theirs) = (ours.windows.as_deref().unwrap(), theirs.windows.as_deref().unwrap());
            prop_assert!(ours.packets > 20 && !ours.proved);
            prop_assert_eq!(ours, &WindowSummary { proved: false, ..theirs.clone() });
        }
    }
}

/// Behind a bottleneck nothing is late any more.
#[test]
fn windows_are_watched_at_every_hop() {
    let network = "network = { one.between = [\"x\", \"y\"], two = { between = [\"y\", \"z\"], rate = \"10mbit\" } }";
    let plan = plan(&text(network, ", path = [\"x\", \"y\", \"z\"]", [500, 500], [1, 1]));
    let (summary, _) = run(&plan, Nanos(5_000 * MS), 1);
    let lost = |hop: usize| -> u64 {
        let classes = summary.hops[hop].classes.iter();
        classes.map(|class| class.windows.as_ref().unwrap().lost).sum()
    };
    assert!(lost(0) > 100 && lost(1) == 0, "{} and {}", lost(0), lost(1));
}
