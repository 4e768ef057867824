//! What bounds are made of, as text and as JSON.

use laxity::admit::network::Method;
use laxity::units::Nanos;
use laxity_answers::breakdown::{BoundSum, BoundTerm, ClassBound, SlowestPacket};
use laxity_answers::network::nodes;
use laxity_answers::why::Part;
use laxity_plan::Plan;
use serde::Serialize;

use crate::quantity::{NOTHING, TimeUnit, count, time};
use crate::table::table;
use crate::words;

/// A table for each bound, with the terms and how much of each the slowest packet used.
pub fn text(plan: &Plan, bounds: &[ClassBound]) -> String {
    let bound = |bound: &ClassBound| match &bound.sum {
        Ok(sum) => sum_text(plan, bound, sum),
        Err(why) => format!("No bound of {}: {why}", subject(plan, bound)),
    };
    bounds.iter().map(bound).collect::<Vec<_>>().join("\n\n") + "\n"
}

/// The class, and its path in a network.
fn subject(plan: &Plan, bound: &ClassBound) -> String {
    let name = &plan.classes[bound.class.index()].name;
    match path(plan, bound) {
        Some(nodes) => format!("{name} over {}", nodes.join(" → ")),
        None => name.clone(),
    }
}

fn path(plan: &Plan, bound: &ClassBound) -> Option<Vec<String>> {
    let network = plan.network.as_ref().filter(|_| !bound.path.is_empty())?;
    Some(nodes(network, &bound.path))
}

/// The link of a place on the path.
fn link(plan: &Plan, bound: &ClassBound, place: Option<usize>) -> Option<String> {
    Some(plan.network.as_ref()?.output(*bound.path.get(place?)?))
}

fn sum_text(plan: &Plan, bound: &ClassBound, sum: &BoundSum) -> String {
    let of_packet = match &bound.slowest {
        Some(SlowestPacket { packet, of, .. }) => {
            let packets = count(*of);
            format!("; the slowest of {packets} packets took {}", time(packet.delay().0 as f64))
        }
        None => String::new(),
    };
    let method = sum.method.map_or(String::new(), |method| format!(" by {}", method.name()));
    let total = time(sum.bound.0 as f64);
    let head = format!("Bound of {}: {total}{method}{of_packet}\n", subject(plan, bound));
    head + &terms_text(plan, bound, sum)
}

fn terms_text(plan: &Plan, bound: &ClassBound, sum: &BoundSum) -> String {
    let slowest = bound.slowest.as_ref();
    let delay = slowest.map(|slowest| slowest.packet.delay());
    let unit = TimeUnit::new([Some(sum.bound.0 as f64), delay.map(|delay| delay.0 as f64)]);
    let used = |term: usize| {
        let used = slowest?.used[term];
        // A packet uses nothing of what shortens a bound.
        (sum.terms[term].nanos > 0).then_some(used)
    };
    let cell = |used: Option<Nanos>| unit.cell(used.map(|used| used.0 as f64));
    let has_links = sum.terms.iter().any(|term| term.place.is_some());
    let cells = |link: Option<String>, cells: [String; 3], used: String| {
        let link = has_links.then(|| link.unwrap_or_default());
        let used = slowest.is_some().then_some(used);
        link.into_iter().chain(cells).chain(used).collect::<Vec<_>>()
    };
    let term = |(place, term): (usize, &BoundTerm)| {
        let bytes = term.bytes.map_or(NOTHING.to_string(), |bytes| count(bytes.0));
        let terms = [words::term(plan, term.source), bytes, unit.cell(term.nanos as f64)];
        cells(link(plan, bound, term.place), terms, cell(used(place)))
    };
    let beside = |(place, part): &(Option<usize>, Part)| {
        let cause = words::cause(plan, bound.class, part.cause);
        let terms = [cause, NOTHING.to_string(), NOTHING.to_string()];
        cells(link(plan, bound, *place), terms, cell(Some(part.time)))
    };
    let beside = slowest.iter().flat_map(|slowest| &slowest.beside).map(beside);
    let mut rows: Vec<_> = sum.terms.iter().enumerate().map(term).chain(beside).collect();
    let exceeds = delay.is_some_and(|delay| delay > sum.bound);
    let alarm = if exceeds { "!" } else { "" };
    let all = ["in all".to_string(), NOTHING.to_string(), unit.cell(sum.bound.0 as f64)];
    rows.push(cells(None, all, cell(delay) + alarm));
    let names = ["term".to_string(), "bytes".to_string(), unit.head("bound")];
    table(&cells(Some("link".to_string()), names, unit.head("used")), &rows)
}

/// The bound of a class in JSON.
#[derive(Serialize)]
pub struct BoundJson {
    class: String,
    /// The nodes of its path; absent on one link.
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<Vec<String>>,
    bound_ns: Option<u64>,
    /// Why there is no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    unbounded: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'static str>,
    terms: Vec<TermJson>,
    /// The slowest packet of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    slowest: Option<SlowestJson>,
}

#[derive(Serialize)]
struct TermJson {
    /// A code that stays, such as `own`, `before`, `blocking`, `share`.
    term: &'static str,
    /// The link that it is about; absent on one link, and where it is about all.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    /// The class whose packets take the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    /// Negative where it shortens the bound.
    time_ns: i128,
    /// How much of it the slowest packet used.
    #[serde(skip_serializing_if = "Option::is_none")]
    used_ns: Option<u64>,
    /// The term as the table says it.
    sentence: String,
}

#[derive(Serialize)]
struct SlowestJson {
    /// The number of packets that it is the slowest of.
    packets: u64,
    bytes: u32,
    arrival_ns: u64,
    delay_ns: u64,
    /// What delayed it beside all terms.
    beside: Vec<BesideJson>,
}

#[derive(Serialize)]
struct BesideJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    time_ns: u64,
    sentence: String,
}

/// Each bound in JSON.
pub fn json<'a>(
    plan: &'a Plan,
    bounds: &'a [ClassBound],
) -> impl Iterator<Item = BoundJson> + use<'a> {
    bounds.iter().map(|bound| BoundJson::new(plan, bound))
}

impl BoundJson {
    fn new(plan: &Plan, bound: &ClassBound) -> BoundJson {
        let sum = bound.sum.as_ref().ok();
        let used = |term: usize| Some(bound.slowest.as_ref()?.used.get(term)?.0);
        let term = |(place, term): (usize, &BoundTerm)| TermJson {
            term: term.source.name(),
            output: link(plan, bound, term.place),
            of: term.source.class().map(|class| plan.classes[class.index()].name.clone()),
            bytes: term.bytes.map(|bytes| bytes.0),
            time_ns: term.nanos,
            used_ns: used(place).filter(|_| term.nanos > 0),
            sentence: words::term(plan, term.source),
        };
        BoundJson {
            class: plan.classes[bound.class.index()].name.clone(),
            nodes: path(plan, bound),
            bound_ns: sum.map(|sum| sum.bound.0),
            unbounded: bound.sum.as_ref().err().map(ToString::to_string),
            method: sum.and_then(|sum| sum.method).map(Method::name),
            terms: sum.map_or(Vec::new(), |sum| sum.terms.iter().enumerate().map(term).collect()),
            slowest: bound.slowest.as_ref().map(|slowest| slowest_json(plan, bound, slowest)),
        }
    }
}

fn slowest_json(plan: &Plan, bound: &ClassBound, slowest: &SlowestPacket) -> SlowestJson {
    let beside = |(place, part): &(Option<usize>, Part)| BesideJson {
        output: link(plan, bound, *place),
        time_ns: part.time.0,
        sentence: words::cause(plan, bound.class, part.cause),
    };
    SlowestJson {
        packets: slowest.of,
        bytes: slowest.packet.packet.length,
        arrival_ns: slowest.packet.packet.arrival.0,
        delay_ns: slowest.packet.delay().0,
        beside: slowest.beside.iter().map(beside).collect(),
    }
}
