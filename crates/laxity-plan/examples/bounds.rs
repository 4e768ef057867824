//! Bounds of FIFO networks by every method and of ten links under every discipline: the tables of
//! `docs/networks.md`, or those of plans.
//!
//! `cargo run --release -p laxity-plan --features parallel --example bounds [PLAN …]`

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use laxity::admit::network::Method;
use laxity_plan::Plan;
use laxity_plan::parallel::on_all_cores;
use laxity_plan::paths::{Paths, Route};

/// Of a table, in its order.
const METHODS: [Method; 7] = [
    Method::Hops,
    Method::Sfa,
    Method::Ludb,
    Method::Plp,
    Method::Separate,
    Method::MultiplexingOnce,
    Method::Matching,
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plans: Vec<String> = std::env::args().skip(1).collect();
    for plan in &plans {
        let begin = Instant::now();
        let plan = Plan::read(Path::new(plan))?;
        let on = plan.network_plan().ok_or("a plan without a network")?;
        let paths = on_all_cores(|| on.paths());
        let proved = paths.routes.iter().filter(|route| route.bound().is_ok()).count();
        let all: u64 = paths.routes.iter().filter_map(|route| Some(route.bound().ok()?.0)).sum();
        println!(
            "{} paths, {proved} with bounds, {} outputs; the bounds together {all} ns, in {:?}",
            paths.routes.len(),
            paths.outputs.len(),
            begin.elapsed()
        );
    }
    if plans.is_empty() {
        table()?;
        disciplines()?;
    }
    Ok(())
}

/// The scheduler of all links, and what it needs of every class.
const DISCIPLINES: [(&str, &str); 8] = [
    ("fifo", ""),
    ("priority", ", level = 0"),
    ("edf", ", deadline = \"200ms\""),
    ("wfq", ""),
    ("wf2q", ""),
    ("drr", ""),
    ("qfq", ""),
    ("hfsc", ", curve = \"5mbit\""),
];

/// Ten links of 10 Mbit/s in a row, a flow over all of them and another over each, all with buckets
/// of 10 kB, packets of 1000 bytes and 45 % of the links: the bound of the first flow in ms, and
/// what it is where links delay packets by up to 4 ms.
fn disciplines() -> Result<(), Box<dyn std::error::Error>> {
    println!("\n| discipline | hops added | least | by | with jitter | by |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for (kind, keys) in DISCIPLINES {
        let found = |link: &'static str| {
            let paths = paths(&text(90, &tandem(10), kind, &Keys { class: keys, link, ..FIXED })?)?;
            Ok::<_, Box<dyn std::error::Error>>(paths.routes[0].clone())
        };
        let (plain, jitter) = (found("")?, found(", jitter = { uniform = [\"0s\", \"4ms\"] }")?);
        let least = |route: &Route| match route.least() {
            Ok(least) => format!("{:.1} | {}", least.delay.0 as f64 / 1e6, least.method.name()),
            Err(_) => "- | -".to_string(),
        };
        let hops = shown(plain.by(Method::Hops).map(|delay| delay.0));
        println!("| `{kind}` | {hops} | {} | {} |", least(&plain), least(&jitter));
    }
    Ok(())
}

/// What a plan says of its classes and links, besides their names and rates.
#[derive(Clone, Copy, Default)]
struct Keys {
    class: &'static str,
    link: &'static str,
    /// Of `arrival`.
    packet: &'static str,
}

/// Packets of one length.
const FIXED: Keys = Keys {
    class: "",
    link: "",
    packet: ", packet = { at-least = \"1000b\", at-most = \"1000b\" }",
};

/// Networks of 10 Mbit/s, buckets of 10 kB and packets of 1000 bytes, all flows alike; delays in ms
/// of the flow that has the longest way.
fn table() -> Result<(), Box<dyn std::error::Error>> {
    let names: Vec<&str> = METHODS.iter().map(|method| method.name()).collect();
    println!("| network | load | least | by | {} |", names.join(" | "));
    println!("| --- | --- | --- | --- |{}", " --- |".repeat(METHODS.len()));
    for links in [2, 3, 5, 10, 20] {
        for percent in [10, 40, 60, 90, 95] {
            row(&format!("tandem of {links}"), percent, &tandem(links))?;
        }
    }
    for links in [2, 3, 5, 10, 20] {
        row(&format!("sink tree of {links}"), 90, &sink_tree(links))?;
    }
    for links in [3, 5, 10] {
        row(&format!("interleaved tandem of {links}"), 60, &interleaved(links))?;
        row(&format!("interleaved tandem of {links}"), 90, &interleaved(links))?;
    }
    for nodes in [4, 8] {
        for percent in [30, 60, 90] {
            row(&format!("ring of {nodes}"), percent, &ring(nodes))?;
        }
    }
    for percent in [30, 60, 90] {
        row("fat tree of 16 hosts", percent, &fat_tree())?;
    }
    Ok(())
}

/// The nodes that each flow passes, by number; the first flow is looked at.
type Flows = Vec<Vec<usize>>;

/// A flow over all links, and another over each of them.
fn tandem(links: usize) -> Flows {
    let single = (0..links).map(|link| vec![link, link + 1]);
    std::iter::once((0..=links).collect()).chain(single).collect()
}

/// A flow over all links, and others that join it at one link after another and stay.
fn sink_tree(links: usize) -> Flows {
    (0..links).map(|first| (first..=links).collect()).collect()
}

/// A flow over all links, and others over two each that overlap.
fn interleaved(links: usize) -> Flows {
    let double = (0..links - 1).map(|link| vec![link, link + 1, link + 2]);
    std::iter::once((0..=links).collect()).chain(double).collect()
}

/// A flow from every node to the one before it, all the way round.
fn ring(nodes: usize) -> Flows {
    (0..nodes).map(|first| (first..first + nodes).map(|node| node % nodes).collect()).collect()
}

/// A fat tree of four pods (Al-Fares, Loukissas, Vahdat 2008), in which every host sends to the
/// like one of each other pod: over its edge switch, up to the core and down again.
fn fat_tree() -> Flows {
    const PODS: usize = 4;
    const HOSTS: usize = PODS * PODS;
    // Each kind of nodes has numbers of its own.
    let [host, edge, aggregation, core] = [0, HOSTS, HOSTS + 8, HOSTS + 16];
    let edge_of = |of: usize| edge + of / 2;
    let way = |from: usize, to: usize| {
        // Which of two switches it goes over follows from where it goes.
        let [up, over] = [to % 2, to / 2 % 2];
        let aggregation_of = |of: usize| aggregation + of / PODS * 2 + up;
        let core = core + 2 * up + over;
        let [begin, end] = [host + from, host + to];
        vec![begin, edge_of(from), aggregation_of(from), core, aggregation_of(to), edge_of(to), end]
    };
    let other_pods = |from: usize| (1..PODS).map(move |pod| (from, (from + pod * PODS) % HOSTS));
    (0..HOSTS).flat_map(other_pods).map(|(from, to)| way(from, to)).collect()
}

fn row(name: &str, percent: u64, flows: &Flows) -> Result<(), Box<dyn std::error::Error>> {
    let paths = paths(&text(percent, flows, "fifo", &Keys::default())?)?;
    let route = &paths.routes[0];
    let methods: Vec<String> =
        METHODS.iter().map(|method| shown(route.by(*method).map(|delay| delay.0))).collect();
    let least = route.least().ok();
    println!(
        "| {name} | {percent} % | {} | {} | {} |",
        shown(least.map(|least| least.delay.0)),
        least.map_or("-", |least| least.method.name()),
        methods.join(" | ")
    );
    Ok(())
}

/// In ms.
fn shown(delay: Option<u64>) -> String {
    delay.map_or("-".to_string(), |delay| format!("{:.1}", delay as f64 / 1e6))
}

fn paths(text: &str) -> Result<Paths, Box<dyn std::error::Error>> {
    let plan = Plan::parse(text, "plan", Path::new(""))?;
    Ok(plan.network_plan().ok_or("a plan without a network")?.paths())
}

/// The plan in which the link that most flows pass has this load.
fn text(
    percent: u64,
    flows: &Flows,
    scheduler: &str,
    keys: &Keys,
) -> Result<String, std::fmt::Error> {
    const RATE: u64 = 10_000_000;
    let mut links: BTreeMap<[usize; 2], u64> = BTreeMap::new();
    for pair in flows.iter().flat_map(|nodes| nodes.windows(2)) {
        *links.entry([pair[0], pair[1]]).or_default() += 1;
    }
    let most = links.values().max().copied().unwrap_or(1);
    let mut text = format!(
        "version = 1\nlink = {{ rate = \"{RATE}bit\", max-packet = \"1000b\" }}\nscheduler.kind = \"{scheduler}\"\n"
    );
    // A link works in both directions.
    let joined: BTreeSet<[usize; 2]> =
        links.keys().map(|[from, to]| [*from.min(to), *from.max(to)]).collect();
    for [from, to] in &joined {
        let link = keys.link;
        writeln!(text, "network.l{from}-{to} = {{ between = [\"n{from}\", \"n{to}\"]{link} }}")?;
    }
    for flow in 0..flows.len() {
        let rate = RATE * percent / 100 / most;
        let Keys { class, packet, .. } = keys;
        let arrival = format!("{{ bucket = \"10kB\", rate = \"{rate}bit\"{packet} }}");
        writeln!(text, "class.f{flow} = {{ arrival = {arrival}{class} }}")?;
    }
    for (flow, nodes) in flows.iter().enumerate() {
        let path: Vec<String> = nodes.iter().map(|node| format!("n{node}")).collect();
        writeln!(
            text,
            "[[source]]\nclass = \"f{flow}\"\nmodel = \"constant\"\nrate = \"1mbit\"\npacket = \"1000b\"\npath = {path:?}"
        )?;
    }
    Ok(text)
}
