//! Tables of networks: classes from end to end, what TCP did, flow completions, and every hop.

use laxity_sim::summary::{
    ClassSummary, EndToEnd, HopSummary, Measures, NetworkSummary, OnDemand, Summary, TcpSummary,
};
use maud::{Markup, html};

use super::cells::fairness;
use super::time_frames;
use crate::classes::{Watched, windows_note, windows_of};
use crate::columns::{Column, Comparison, Results};
use crate::measures::{
    MeasuredRow, bound, deadline, delays, fates, has_deadline, marked, max, mean, missed, p99,
};
use crate::quantity::{megabits, percent, rate};

/// All tables, for a terminal.
pub(crate) fn text(summary: &Summary, network: &NetworkSummary) -> String {
    let mut text = classes(network).text("end to end");
    let tcp = tcp(network);
    if !tcp.is_empty() {
        text += &format!("\n\n{}", tcp.text("tcp"));
    }
    let completions = completions(network);
    if !completions.is_empty() {
        text += &format!("\n\n{}", completions.text("flow completion"));
    }
    if time_frames::are_shown(summary) {
        text += &format!("\n\n{}", time_frames::tables(summary, network));
    }
    let mut begins = Vec::new();
    for hop in &summary.hops {
        let name = hop.output();
        begins.extend((0..hop.classes.len()).map(|at| (at == 0).then(|| name.clone())));
    }
    let links = [
        HopColumn::text("scheduler", |at| Some(at.hop_text(at.hop.scheduler.clone()))),
        HopColumn::text("rate Mbit/s", |at| Some(at.hop_text(megabits(at.hop.rate_bps as f64)))),
        HopColumn::text("used", |at| Some(at.hop_text(percent(at.hop.utilization)))),
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
pub(super) fn windows_page(summary: &Summary) -> Option<Markup> {
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
fn watched(summary: &Summary) -> (Vec<Watched<'_>>, Vec<Option<String>>) {
    let (mut watched, mut begins) = (Vec::new(), Vec::new());
    for hop in &summary.hops {
        let classes = hop
            .classes
            .iter()
            .filter_map(|class| Some((class.name.as_str(), class.windows.as_deref()?, 0)));
        let first = watched.len();
        watched.extend(classes);
        let is_first = |at: usize| (at == first).then(|| hop.output());
        begins.extend((first..watched.len()).map(is_first));
    }
    (watched, begins)
}

/// The classes from end to end, for a page.
pub(super) fn classes_page(network: &NetworkSummary) -> Markup {
    html! {
        (classes(network).page("Class"))
        p.note { "Fairness is Jain's index of the flows' goodputs: 1 when all are alike, 1/n when one of n has everything. A bound is what is proved: no packet of a class that keeps to its arrival curve takes longer on any of its paths." }
    }
}

/// What the endpoints of TCP did, for a page; `None` if there are none.
pub(super) fn tcp_page(network: &NetworkSummary) -> Option<Markup> {
    let tcp = tcp(network);
    (!tcp.is_empty()).then(|| tcp.page("Class"))
}

/// How long flows took that were asked for by time, for a page; `None` if there are none.
pub(super) fn completions_page(network: &NetworkSummary) -> Option<Markup> {
    let completions = completions(network);
    (!completions.is_empty()).then(|| html! {
        (completions.page("Class"))
        p.note { "From when a flow is asked for to the arrival of its last byte. It waits while its connection is busy with another one. Those unfinished at the end are in no time." }
    })
}

/// The classes at every hop, for a page.
pub(super) fn hops_page(summary: &Summary) -> Markup {
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

fn classes(network: &NetworkSummary) -> Results<Class<'_>> {
    let counts = [
        ClassColumn::count("flows", |class| Some(class.flows)),
        ClassColumn::count("sent", |class| Some(class.sent)),
        ClassColumn::count("dropped", |class| Some(class.dropped)),
    ];
    let rates = [
        ClassColumn::text("goodput Mbit/s", |class| Some(megabits(class.goodput_bps))),
        ClassColumn::text("fairness", |class| Some(fairness(class))),
    ];
    let columns = counts.into_iter().chain(fates()).chain(rates).chain(delays("promised"));
    Results::new(columns, &network.classes, |class| &class.name)
}

/// A class with connections of TCP, what these did, and its place among all classes.
type Tcp<'a> = (Class<'a>, TcpSummary, usize);
type TcpColumn<'a> = Column<Tcp<'a>>;

fn tcp(network: &NetworkSummary) -> Results<Tcp<'_>> {
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
    Results::new(columns, with_tcp(network), |(class, ..)| &class.name).placed(|(.., place)| *place)
}

fn with_tcp(network: &NetworkSummary) -> impl Iterator<Item = Tcp<'_>> {
    let classes = network.classes.iter().zip(0..);
    classes.filter_map(|(class, place)| Some((class, class.tcp?, place)))
}

/// A class whose transfers are asked for by time.
type OnDemandClass<'a> = (Tcp<'a>, OnDemand);
type OnDemandColumn<'a> = Column<OnDemandClass<'a>>;

fn completions(network: &NetworkSummary) -> Results<OnDemandClass<'_>> {
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
    let asked = with_tcp(network).filter_map(|tcp| Some((tcp, tcp.1.on_demand?)));
    Results::new(columns, asked, |((class, ..), _)| &class.name).placed(|((.., place), _)| *place)
}

/// A class at a hop.
struct AtHop<'a> {
    hop: &'a HopSummary,
    class: &'a ClassSummary,
    is_first: bool,
}

impl AtHop<'_> {
    /// The text of a hop, in its first row only.
    fn hop_text(&self, text: String) -> String {
        if self.is_first { text } else { String::new() }
    }
}

type HopColumn<'a> = Column<AtHop<'a>>;

impl MeasuredRow for AtHop<'_> {
    fn measures(&self) -> Measures<'_> {
        self.class.into()
    }
}

fn hops<'a>(
    summary: &'a Summary,
    of_links: impl IntoIterator<Item = HopColumn<'a>>,
) -> Results<AtHop<'a>> {
    let columns = [
        HopColumn::count("arrived", |at| Some(at.class.arrived)),
        HopColumn::count("sent", |at| Some(at.class.sent)),
        HopColumn::reasons("dropped", |at| &at.class.dropped),
        marked(),
        // The deadline of a hop orders packets, and need not be promised.
        missed().alarming(|_| false),
        mean(),
        p99(),
        max().alarming(|at| at.class.bound_misses > 0),
        bound(),
        HopColumn::time("deadline", deadline).if_any(has_deadline),
    ];
    let rows = summary.hops.iter().flat_map(|hop| {
        let classes = hop.classes.iter().enumerate();
        classes.map(move |(at, class)| AtHop { hop, class, is_first: at == 0 })
    });
    Results::new(of_links.into_iter().chain(columns), rows, |at| &at.class.name)
}

/// A class of one of several runs.
pub(crate) struct RunClass<'a> {
    run: &'a Summary,
    class: &'a EndToEnd,
}

type RunColumn<'a> = Column<RunClass<'a>>;

impl MeasuredRow for RunClass<'_> {
    fn measures(&self) -> Measures<'_> {
        self.class.into()
    }
}

impl RunClass<'_> {
    /// The deadline of the class at every output, and how often it was missed at all of them.
    fn missed_at_hops(&self) -> Option<(u64, u64)> {
        let at_hops = self.run.hops.iter().flat_map(|hop| &hop.classes);
        let missed = at_hops
            .filter(|at| at.name == self.class.name)
            .filter_map(|at| Some((at.deadline_ns?, at.deadline_misses)));
        missed.reduce(|(limit, sum), (_, misses)| (limit, sum + misses))
    }
}

/// Several runs of the same network side by side.
pub(crate) fn compared<'a>(runs: &[&'a Summary]) -> Comparison<RunClass<'a>> {
    let measures = vec![
        RunColumn::text("goodput Mbit/s", |of| Some(megabits(of.class.goodput_bps))),
        RunColumn::text("fairness", |of| Some(fairness(of.class))),
        mean(),
        p99(),
        max().within("promised", deadline),
        bound(),
        missed().if_any(has_deadline),
        RunColumn::count("missed at hops", |of| Some(of.missed_at_hops()?.1))
            .if_any(|of| of.missed_at_hops().is_some())
            .within("deadline", |of| Some(of.missed_at_hops()?.0 as f64)),
        RunColumn::count("dropped", |of| Some(of.class.dropped)),
        marked(),
    ];
    let classes = |run: &'a Summary| {
        let classes = run.network.iter().flat_map(|network| &network.classes);
        classes.map(move |class| RunClass { run, class })
    };
    Comparison::new(measures, runs, classes, |of| &of.class.name)
}
