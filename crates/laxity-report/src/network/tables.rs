//! Tables of networks: classes from end to end, what TCP did, flow completions, and every hop.

use laxity_sim::network::{EndToEnd, HopSummary, NetworkSummary, OnDemand, TcpSummary};
use laxity_sim::summary::ClassSummary;
use maud::{Markup, html};

use super::cells::fairness;
use super::time_frames;
use crate::classes::{Watched, windows_note, windows_of};
use crate::columns::{Column, Comparison, Results};
use crate::quantity::{megabits, percent, rate};

/// All tables, for a terminal.
pub fn text(summary: &NetworkSummary) -> String {
    let mut text = classes(summary).text("end to end");
    let tcp = tcp(summary);
    if !tcp.is_empty() {
        text += &format!("\n\n{}", tcp.text("tcp"));
    }
    let completions = completions(summary);
    if !completions.is_empty() {
        text += &format!("\n\n{}", completions.text("flow completion"));
    }
    if time_frames::are_shown(summary) {
        text += &format!("\n\n{}", time_frames::tables(summary));
    }
    let mut begins = Vec::new();
    for hop in &summary.hops {
        let name = format!("{} → {}", hop.from, hop.to);
        begins.extend((0..hop.classes.len()).map(|at| (at == 0).then(|| name.clone())));
    }
    let links = [
        HopColumn::text("scheduler", |at| Some(at.of_hop(at.hop.scheduler.clone()))),
        HopColumn::text("rate Mbit/s", |at| Some(at.of_hop(megabits(at.hop.rate_bps as f64)))),
        HopColumn::text("used", |at| Some(at.of_hop(percent(at.hop.utilization)))),
    ];
    let hops = hops(summary, links).grouped_text(["hop", "class"], |at| begins[at].clone());
    text += &format!("\n\n{hops}");
    let (watched, begins) = watched(summary);
    if !watched.is_empty() {
        let windows = windows_of(watched);
        let windows = windows.grouped_text(["windows at", "class"], |at| begins[at].clone());
        text += &format!("\n\n{windows}");
    }
    text
}

/// The windows of streams at every hop, for a page; `None` if no class tolerates losses.
pub(super) fn windows_page(summary: &NetworkSummary) -> Option<Markup> {
    let (watched, begins) = watched(summary);
    let starts: Vec<usize> = (0..begins.len()).filter(|at| begins[*at].is_some()).collect();
    let ends = starts.iter().copied().skip(1).chain([begins.len()]);
    let groups = starts.iter().zip(ends).map(|(start, end)| {
        let name = begins[*start].as_deref().unwrap_or_default();
        (end - start, html! { (name) })
    });
    let groups: Vec<_> = groups.collect();
    (!watched.is_empty()).then(|| {
        html! { (windows_of(watched).grouped_page("Class", &groups)) (windows_note()) }
    })
}

/// The windows at every hop, and by their rows the names of the hops that begin there.
fn watched(summary: &NetworkSummary) -> (Vec<Watched<'_>>, Vec<Option<String>>) {
    let (mut watched, mut begins) = (Vec::new(), Vec::new());
    for hop in &summary.hops {
        let classes = hop
            .classes
            .iter()
            .filter_map(|class| Some((class.name.as_str(), class.windows.as_deref()?, 0)));
        let first = watched.len();
        watched.extend(classes);
        let is_first = |at: usize| (at == first).then(|| format!("{} → {}", hop.from, hop.to));
        begins.extend((first..watched.len()).map(is_first));
    }
    (watched, begins)
}

/// The classes from end to end, for a page.
pub(super) fn classes_page(summary: &NetworkSummary) -> Markup {
    html! {
        (classes(summary).page("Class"))
        p.note { "Fairness is Jain's index of the flows' goodputs: 1 when all are alike, 1/n when one of n has everything. A bound is what is proved: no packet of a class that keeps to its arrival curve takes longer on any of its paths." }
    }
}

/// What the endpoints of TCP did, for a page; `None` if there are none.
pub(super) fn tcp_page(summary: &NetworkSummary) -> Option<Markup> {
    let tcp = tcp(summary);
    (!tcp.is_empty()).then(|| tcp.page("Class"))
}

/// How long flows took that were asked for by time, for a page; `None` if there are none.
pub(super) fn completions_page(summary: &NetworkSummary) -> Option<Markup> {
    let completions = completions(summary);
    (!completions.is_empty()).then(|| html! {
        (completions.page("Class"))
        p.note { "From when a flow is asked for to the arrival of its last byte. It waits while its connection is busy with another one. Those unfinished at the end are in no time." }
    })
}

/// The classes at every hop, for a page.
pub(super) fn hops_page(summary: &NetworkSummary) -> Markup {
    let head = |hop: &HopSummary| {
        html! {
            (hop.from) " → " (hop.to)
            small { " over " (hop.link) ": " (hop.scheduler) " at " (rate(hop.rate_bps as f64)) ", "
                (percent(hop.utilization)) " used" }
        }
    };
    let groups: Vec<_> = summary.hops.iter().map(|hop| (hop.classes.len(), head(hop))).collect();
    html! {
        (hops(summary, []).grouped_page("Class", &groups))
        p.note { "Delays at a hop last from a packet's arrival there to its last bit out; propagation comes on top. Private links of one name are taken together." }
    }
}

type Class<'a> = &'a EndToEnd;
type ClassColumn<'a> = Column<Class<'a>>;

fn classes(summary: &NetworkSummary) -> Results<Class<'_>> {
    let columns = [
        ClassColumn::count("flows", |class| Some(class.flows)),
        ClassColumn::count("sent", |class| Some(class.sent)),
        dropped(),
        marked(),
        missed(),
        goodput(),
        ClassColumn::text("fairness", |class| Some(fairness(class))),
        delay("min", |class| Some(class.delay_ns?.min as f64)),
        delay("mean", |class| Some(class.delay_ns?.mean)),
        delay("p50", |class| Some(class.delay_ns?.p50 as f64)),
        delay("p99", |class| Some(class.delay_ns?.p99 as f64)),
        delay("p99.9", |class| Some(class.delay_ns?.p99_9 as f64)),
        delay("max", |class| Some(class.delay_ns?.max as f64)).alarming(|class| class.is_late()),
        delay("bound", |class| Some(class.bound_ns? as f64)),
        delay("promised", promised),
    ];
    Results::new(columns, &summary.classes, |class| &class.name)
}

fn delay<'a>(head: &'static str, value: fn(&Class<'a>) -> Option<f64>) -> ClassColumn<'a> {
    ClassColumn::time(head, value).below("Delay")
}

fn promised(class: &Class<'_>) -> Option<f64> {
    Some(class.deadline_ns? as f64)
}

fn dropped<'a>() -> ClassColumn<'a> {
    ClassColumn::count("dropped", |class| Some(class.dropped))
}

fn marked<'a>() -> ClassColumn<'a> {
    ClassColumn::count("marked", |class| Some(class.marked)).if_any(|class| class.marked > 0)
}

fn missed<'a>() -> ClassColumn<'a> {
    ClassColumn::count("missed", |class| class.deadline_ns.map(|_| class.deadline_misses))
        .alarming(|class| class.deadline_ns.is_some() && class.deadline_misses > 0)
}

fn goodput<'a>() -> ClassColumn<'a> {
    ClassColumn::text("goodput Mbit/s", |class| Some(megabits(class.goodput_bps)))
}

/// A class with connections of TCP, what these did, and its place among all classes.
type Tcp<'a> = (Class<'a>, TcpSummary, usize);
type TcpColumn<'a> = Column<Tcp<'a>>;

fn tcp(summary: &NetworkSummary) -> Results<Tcp<'_>> {
    let columns = [
        TcpColumn::count("retransmitted", |(_, tcp, _)| Some(tcp.retransmitted)),
        TcpColumn::count("recoveries", |(_, tcp, _)| Some(tcp.recoveries)),
        TcpColumn::count("timeouts", |(_, tcp, _)| Some(tcp.timeouts)),
        TcpColumn::count("echoes", |(_, tcp, _)| Some(tcp.echoes)),
        TcpColumn::count("transfers", |(_, tcp, _)| Some(tcp.completed)),
        TcpColumn::time("mean", |(_, tcp, _)| Some(tcp.completion_ns?.mean)),
        TcpColumn::time("p50", |(_, tcp, _)| Some(tcp.completion_ns?.p50 as f64)),
        TcpColumn::time("p99", |(_, tcp, _)| Some(tcp.completion_ns?.p99 as f64)),
    ];
    Results::new(columns, with_tcp(summary), |(class, ..)| &class.name).placed(|(.., place)| *place)
}

fn with_tcp(summary: &NetworkSummary) -> impl Iterator<Item = Tcp<'_>> {
    let classes = summary.classes.iter().zip(0..);
    classes.filter_map(|(class, place)| Some((class, class.tcp?, place)))
}

/// A class whose transfers are asked for by time.
type OnDemandClass<'a> = (Tcp<'a>, OnDemand);
type OnDemandColumn<'a> = Column<OnDemandClass<'a>>;

fn completions(summary: &NetworkSummary) -> Results<OnDemandClass<'_>> {
    let columns = [
        OnDemandColumn::count("flows", |((_, tcp, _), _)| Some(tcp.completed)),
        OnDemandColumn::count("waited", |(_, asked)| Some(asked.waited)),
        OnDemandColumn::count("unfinished", |(_, asked)| Some(asked.unfinished)),
        OnDemandColumn::time("min", |((_, tcp, _), _)| Some(tcp.completion_ns?.min as f64)),
        OnDemandColumn::time("mean", |((_, tcp, _), _)| Some(tcp.completion_ns?.mean)),
        OnDemandColumn::time("p50", |((_, tcp, _), _)| Some(tcp.completion_ns?.p50 as f64)),
        OnDemandColumn::time("p99", |((_, tcp, _), _)| Some(tcp.completion_ns?.p99 as f64)),
        OnDemandColumn::time("max", |((_, tcp, _), _)| Some(tcp.completion_ns?.max as f64)),
    ];
    let asked = with_tcp(summary).filter_map(|tcp| Some((tcp, tcp.1.on_demand?)));
    Results::new(columns, asked, |((class, ..), _)| &class.name).placed(|((.., place), _)| *place)
}

/// A class at a hop.
struct AtHop<'a> {
    hop: &'a HopSummary,
    class: &'a ClassSummary,
    is_first: bool,
}

impl AtHop<'_> {
    /// What is said of a hop once.
    fn of_hop(&self, text: String) -> String {
        if self.is_first { text } else { String::new() }
    }
}

type HopColumn<'a> = Column<AtHop<'a>>;

fn hops<'a>(
    summary: &'a NetworkSummary,
    of_links: impl IntoIterator<Item = HopColumn<'a>>,
) -> Results<AtHop<'a>> {
    let columns = [
        HopColumn::count("arrived", |at| Some(at.class.arrived)),
        HopColumn::count("sent", |at| Some(at.class.sent)),
        HopColumn::reasons("dropped", |at| &at.class.dropped),
        HopColumn::count("marked", |at| Some(at.class.marked)).if_any(|at| at.class.marked > 0),
        HopColumn::count("missed", |at| at.class.deadline_ns.map(|_| at.class.deadline_misses)),
        HopColumn::time("mean", |at| Some(at.class.delay_ns?.mean)),
        HopColumn::time("p99", |at| Some(at.class.delay_ns?.p99 as f64)),
        HopColumn::time("max", |at| Some(at.class.delay_ns?.max as f64))
            .alarming(|at| at.class.bound_misses > 0),
        HopColumn::time("bound", |at| Some(at.class.bound_ns? as f64)),
        HopColumn::time("deadline", |at| Some(at.class.deadline_ns? as f64))
            .if_any(|at| at.class.deadline_ns.is_some()),
    ];
    let rows = summary.hops.iter().flat_map(|hop| {
        let classes = hop.classes.iter().enumerate();
        classes.map(move |(at, class)| AtHop { hop, class, is_first: at == 0 })
    });
    Results::new(of_links.into_iter().chain(columns), rows, |at| &at.class.name)
}

/// A class of one of several runs.
pub struct OfRun<'a> {
    run: &'a NetworkSummary,
    class: &'a EndToEnd,
}

type RunColumn<'a> = Column<OfRun<'a>>;

impl OfRun<'_> {
    /// The deadline of the class at every output, and how often it was missed at all of them.
    fn missed_at_hops(&self) -> Option<(u64, u64)> {
        missed_at_hops(self.run, &self.class.name)
    }
}

/// Several runs of the same network side by side.
pub fn compared<'a>(runs: &[&'a NetworkSummary]) -> Comparison<OfRun<'a>> {
    let measures = vec![
        RunColumn::text("goodput Mbit/s", |of| Some(megabits(of.class.goodput_bps))),
        RunColumn::text("fairness", |of| Some(fairness(of.class))),
        RunColumn::time("mean", |of| Some(of.class.delay_ns?.mean)),
        RunColumn::time("p99", |of| Some(of.class.delay_ns?.p99 as f64)),
        RunColumn::time("max", |of| Some(of.class.delay_ns?.max as f64))
            .alarming(|of| of.class.is_late())
            .within("promised", |of| Some(of.class.deadline_ns? as f64)),
        RunColumn::time("bound", |of| Some(of.class.bound_ns? as f64)),
        RunColumn::count("missed", |of| of.class.deadline_ns.map(|_| of.class.deadline_misses))
            .if_any(|of| of.class.deadline_ns.is_some())
            .alarming(|of| of.class.deadline_ns.is_some() && of.class.deadline_misses > 0),
        RunColumn::count("missed at hops", |of| Some(of.missed_at_hops()?.1))
            .if_any(|of| of.missed_at_hops().is_some())
            .within("deadline", |of| Some(of.missed_at_hops()?.0 as f64)),
        RunColumn::count("dropped", |of| Some(of.class.dropped)),
        RunColumn::count("marked", |of| Some(of.class.marked)).if_any(|of| of.class.marked > 0),
    ];
    let first = runs.first().map_or(&[][..], |run| &run.classes[..]);
    let like = |name: &str| -> Vec<_> {
        let of = |run: &&'a NetworkSummary| {
            let class = run.classes.iter().find(|class| class.name == name)?;
            Some(OfRun { run, class })
        };
        runs.iter().map(of).collect()
    };
    Comparison {
        measures,
        subjects: first.iter().map(|class| (class.name.clone(), like(&class.name))).collect(),
        runs: runs.iter().map(|run| run.scheduler.clone()).collect(),
    }
}

/// The deadline of a class at every output, and how often it was missed at all of them.
fn missed_at_hops(run: &NetworkSummary, class: &str) -> Option<(u64, u64)> {
    let at_hops = run.hops.iter().flat_map(|hop| &hop.classes).filter(|at| at.name == class);
    let missed = at_hops.filter_map(|at| Some((at.deadline_ns?, at.deadline_misses)));
    missed.reduce(|(limit, sum), (_, misses)| (limit, sum + misses))
}
