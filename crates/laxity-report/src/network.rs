//! Results of networks: tables, figures and the HTML report.

mod cells;
pub mod drawing;
mod figures;
pub mod frames;
mod html;
pub mod limits;
mod profile;
pub mod proof;
mod time_frames;

pub use figures::{delays, flows, goodput};
pub use html::{compare_html, drawings, html};
pub use profile::text as profile;

use std::collections::BTreeMap;

use laxity_sim::network::{EndToEnd, HopSummary, NetworkSummary, OnDemand, TcpSummary};
use laxity_sim::summary::{ClassSummary, DelaySummary};

use crate::gone;
use crate::quantity::{NOTHING, TimeUnit, megabits, percent, shortened, time};
use crate::table::{self, MARKED, table, table_led, with_marks};
use cells::{NAME_LIMIT, fairness};

/// The classes from end to end, what TCP did, and every hop. Delays are in ms.
pub fn tables(summary: &NetworkSummary) -> String {
    let whole = unit(&summary.classes);
    let transfers = transfer_unit(summary);
    let rows = |row: fn(&EndToEnd, TimeUnit) -> Option<Vec<String>>, unit| -> Vec<_> {
        summary.classes.iter().filter_map(|class| row(class, unit)).collect()
    };
    let is_marked = summary.classes.iter().any(|class| class.marked > 0);
    let head = || is_marked.then(|| MARKED.to_owned());
    let row = |class: &EndToEnd| {
        let marks = is_marked.then(|| class.marked.to_string());
        with_marks(end_to_end_row(class, whole), END_TO_END_DROPPED, marks)
    };
    let classes: Vec<_> = summary.classes.iter().map(row).collect();
    let tcp = rows(tcp_row, transfers);
    let header = with_marks(headed(&END_TO_END_HEADER, whole), END_TO_END_DROPPED, head());
    let mut text = table(&header, &classes);
    if !tcp.is_empty() {
        text += &format!("\n\n{}", table(&headed(&TCP_HEADER, transfers), &tcp));
    }
    let completions = rows(completion_row, transfers);
    if !completions.is_empty() {
        text += &format!("\n\n{}", table(&headed(&COMPLETION_HEADER, transfers), &completions));
    }
    if time_frames::are_shown(summary) {
        text += &format!("\n\n{}", time_frames::tables(summary));
    }
    let at_hops = hop_unit(&summary.hops);
    let rows = |hop: &HopSummary| {
        let marks = hop.classes.iter().map(|class| is_marked.then(|| class.marked.to_string()));
        let rows = hop_rows(hop, at_hops).into_iter().zip(marks.collect::<Vec<_>>());
        rows.map(|(row, marks)| with_marks(row, HOP_DROPPED, marks)).collect::<Vec<_>>()
    };
    let hops: Vec<_> = summary.hops.iter().flat_map(rows).collect();
    let header = with_marks(headed(&HOP_HEADER, at_hops), HOP_DROPPED, head());
    text + &format!("\n\n{}", table_led(2, &header, &hops))
}

/// Why packets were dropped, of each class at all outputs.
pub fn dropped(summary: &NetworkSummary) -> Vec<String> {
    let classes = summary.classes.iter().filter_map(|class| {
        let at_hops = summary.hops.iter().flat_map(|hop| &hop.classes);
        let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
        for (reason, packets) in
            at_hops.filter(|at| at.name == class.name).flat_map(|at| &at.dropped)
        {
            *reasons.entry(*reason).or_default() += packets;
        }
        gone::dropped(&class.name, &reasons)
    });
    gone::sentences(classes)
}

/// The unit of what is told of classes from end to end.
fn unit<'a>(classes: impl IntoIterator<Item = &'a EndToEnd>) -> TimeUnit {
    let times = |class: &EndToEnd| {
        let delay = class.delay_ns.map(|delay| [delay.min, delay.max]);
        let delay = delay.map_or([None; 2], |delay| delay.map(Some));
        delay.into_iter().chain([class.bound_ns, class.deadline_ns])
    };
    TimeUnit::of_whole(classes.into_iter().flat_map(times))
}

/// The unit of how long transfers took.
fn transfer_unit(summary: &NetworkSummary) -> TimeUnit {
    let took = summary.classes.iter().filter_map(|class| class.tcp);
    TimeUnit::of(took.flat_map(|tcp| completion_times(&tcp)))
}

/// The unit of what is told of hops.
fn hop_unit(hops: &[HopSummary]) -> TimeUnit {
    table::unit(hops.iter().flat_map(|hop| &hop.classes))
}

/// Column heads with the unit of times where it is to be.
fn headed(header: &[&str], unit: TimeUnit) -> Vec<String> {
    header.iter().map(|head| head.replace(" {}", &format!(" {}", unit.name))).collect()
}

/// Several runs of the same network side by side: a group of rows a class, a column a scheduler.
pub fn compare_table(runs: &[&NetworkSummary]) -> String {
    let Some(first) = runs.first() else { return String::new() };
    let columns = runs.iter().map(|run| run.scheduler.clone());
    let header: Vec<String> =
        ["class".to_owned(), "measure".to_owned()].into_iter().chain(columns).collect();
    let rows: Vec<_> = first.classes.iter().flat_map(|class| compare_rows(class, runs)).collect();
    table_led(2, &header, &rows)
}

const END_TO_END_HEADER: [&str; 14] = [
    "end to end",
    "flows",
    "sent",
    "dropped",
    "missed",
    "goodput Mbit/s",
    "fairness",
    "min {}",
    "mean",
    "p50",
    "p99",
    "max",
    "bound",
    "promised",
];

/// The place of drops in it.
const END_TO_END_DROPPED: usize = 3;

fn end_to_end_row(class: &EndToEnd, unit: TimeUnit) -> Vec<String> {
    let delay = |value: fn(&DelaySummary) -> f64| unit.cell(class.delay_ns.as_ref().map(value));
    vec![
        shortened(&class.name, NAME_LIMIT),
        class.flows.to_string(),
        class.sent.to_string(),
        class.dropped.to_string(),
        missed(class.deadline_ns, class.deadline_misses),
        megabits(class.goodput_bps),
        fairness(class),
        delay(|d| d.min as f64),
        delay(|d| d.mean),
        delay(|d| d.p50 as f64),
        delay(|d| d.p99 as f64),
        largest(class, unit),
        unit.whole(class.bound_ns),
        unit.whole(class.deadline_ns),
    ]
}

const TCP_HEADER: [&str; 9] = [
    "tcp",
    "retransmitted",
    "recoveries",
    "timeouts",
    "echoes",
    "transfers",
    "mean {}",
    "p50",
    "p99",
];

fn tcp_row(class: &EndToEnd, unit: TimeUnit) -> Option<Vec<String>> {
    let tcp = class.tcp?;
    let took = |value: fn(&DelaySummary) -> f64| unit.cell(tcp.completion_ns.as_ref().map(value));
    Some(vec![
        shortened(&class.name, NAME_LIMIT),
        tcp.retransmitted.to_string(),
        tcp.recoveries.to_string(),
        tcp.timeouts.to_string(),
        tcp.echoes.to_string(),
        tcp.completed.to_string(),
        took(|d| d.mean),
        took(|d| d.p50 as f64),
        took(|d| d.p99 as f64),
    ])
}

const COMPLETION_HEADER: [&str; 9] =
    ["flow completion", "flows", "waited", "unfinished", "min {}", "mean", "p50", "p99", "max"];

/// Of classes whose transfers are asked for by time.
fn completion_row(class: &EndToEnd, unit: TimeUnit) -> Option<Vec<String>> {
    let tcp = class.tcp?;
    let OnDemand { waited, unfinished } = tcp.on_demand?;
    let counts = [tcp.completed, waited, unfinished].map(|count| count.to_string());
    let times = completion_times(&tcp).map(|time| unit.cell(time));
    Some([shortened(&class.name, NAME_LIMIT)].into_iter().chain(counts).chain(times).collect())
}

/// How long transfers took: the shortest, the mean, the median, the 99th percentile, the longest, in ns.
fn completion_times(tcp: &TcpSummary) -> [Option<f64>; 5] {
    tcp.completion_ns.map_or([None; 5], |took| {
        [took.min as f64, took.mean, took.p50 as f64, took.p99 as f64, took.max as f64].map(Some)
    })
}

const HOP_HEADER: [&str; 13] = [
    "hop",
    "class",
    "scheduler",
    "rate Mbit/s",
    "used",
    "arrived",
    "sent",
    "dropped",
    "missed",
    "mean {}",
    "p99",
    "max",
    "bound",
];

/// The place of drops in it.
const HOP_DROPPED: usize = 7;

/// A row a class; the first names the hop.
fn hop_rows(hop: &HopSummary, unit: TimeUnit) -> Vec<Vec<String>> {
    let name = shortened(&format!("{} → {}", hop.from, hop.to), NAME_LIMIT);
    let head =
        [name, hop.scheduler.clone(), megabits(hop.rate_bps as f64), percent(hop.utilization)];
    let heads = std::iter::once(head).chain(std::iter::repeat_with(Default::default));
    let row = |(head, class): ([String; 4], &ClassSummary)| {
        let [hop, scheduler, rate, used] = head;
        let delay = |value: fn(&DelaySummary) -> f64| unit.cell(class.delay_ns.as_ref().map(value));
        vec![
            hop,
            shortened(&class.name, NAME_LIMIT),
            scheduler,
            rate,
            used,
            class.arrived.to_string(),
            class.sent.to_string(),
            class.dropped.values().sum::<u64>().to_string(),
            class.deadline_ns.map_or(NOTHING.to_owned(), |_| class.deadline_misses.to_string()),
            delay(|d| d.mean),
            delay(|d| d.p99 as f64),
            alarmed(delay(|d| d.max as f64), class.bound_misses),
            unit.whole(class.bound_ns),
        ]
    };
    heads.zip(&hop.classes).map(row).collect()
}

/// What a cell says about a class of a run.
type Show = fn(&NetworkSummary, &EndToEnd, TimeUnit) -> String;

fn compare_rows(class: &EndToEnd, runs: &[&NetworkSummary]) -> Vec<Vec<String>> {
    let like =
        |run: &&NetworkSummary| run.classes.iter().find(|other| other.name == class.name).cloned();
    let unit = unit(&runs.iter().filter_map(like).collect::<Vec<_>>());
    let promised =
        class.deadline_ns.map(|_| format!(" (promised {})", unit.whole(class.deadline_ns)));
    let at_hops = runs.iter().find_map(|run| missed_at_hops(run, &class.name));
    let at_hops = at_hops.map(|(limit, _)| format!(" (deadline {})", time(limit as f64)));
    let is_marked = runs.iter().filter_map(like).any(|class| class.marked > 0);
    let measures: [(bool, String, Show); 10] = [
        (true, "goodput Mbit/s".to_owned(), |_, class, _| megabits(class.goodput_bps)),
        (true, "fairness".to_owned(), |_, class, _| fairness(class)),
        (true, unit.head("mean"), |_, class, unit| unit.cell(class.delay_ns.map(|d| d.mean))),
        (true, unit.head("p99"), |_, class, unit| unit.whole(class.delay_ns.map(|d| d.p99))),
        (true, unit.head("max") + promised.as_deref().unwrap_or_default(), |_, class, unit| {
            largest(class, unit)
        }),
        (true, unit.head("bound"), |_, class, unit| unit.whole(class.bound_ns)),
        (promised.is_some(), "missed".to_owned(), |_, class, _| {
            missed(class.deadline_ns, class.deadline_misses)
        }),
        (
            at_hops.is_some(),
            format!("missed at hops{}", at_hops.as_deref().unwrap_or_default()),
            |run, class, _| {
                let at_hops = missed_at_hops(run, &class.name);
                at_hops.map_or(NOTHING.to_owned(), |(_, misses)| misses.to_string())
            },
        ),
        (true, "dropped".to_owned(), |_, class, _| class.dropped.to_string()),
        (is_marked, MARKED.to_owned(), |_, class, _| class.marked.to_string()),
    ];
    let of = |run: &NetworkSummary, show: Show| {
        let same = run.classes.iter().find(|other| other.name == class.name);
        same.map_or(NOTHING.to_owned(), |same| show(run, same, unit))
    };
    let mut rows = Vec::new();
    for (_, measure, show) in measures.into_iter().filter(|(applies, ..)| *applies) {
        let name = if rows.is_empty() { shortened(&class.name, NAME_LIMIT) } else { String::new() };
        let values = runs.iter().map(|run| of(run, show));
        rows.push([name, measure].into_iter().chain(values).collect());
    }
    rows
}

/// The deadline of a class at every output, and how often it was missed at all of them.
pub(crate) fn missed_at_hops(run: &NetworkSummary, class: &str) -> Option<(u64, u64)> {
    let at_hops = run.hops.iter().flat_map(|hop| &hop.classes).filter(|at| at.name == class);
    let missed = at_hops.filter_map(|at| Some((at.deadline_ns?, at.deadline_misses)));
    missed.reduce(|(limit, sum), (_, misses)| (limit, sum + misses))
}

fn largest(class: &EndToEnd, unit: TimeUnit) -> String {
    let misses = class.bound_misses + class.deadline_misses;
    alarmed(unit.whole(class.delay_ns.map(|d| d.max)), misses)
}

/// How many packets were later than promised, marked if there are any.
fn missed(deadline: Option<u64>, misses: u64) -> String {
    deadline.map_or(NOTHING.to_owned(), |_| alarmed(misses.to_string(), misses))
}

/// A cell that is marked if packets were later than they may be.
fn alarmed(cell: String, misses: u64) -> String {
    if misses > 0 { cell + "!" } else { cell }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use laxity::units::Nanos;
    use laxity_plan::Plan;
    use laxity_sim::network::NetworkRun;
    use laxity_sim::series::{Series, SeriesRecorder};

    use super::*;
    use laxity_answers::Proof;
    use laxity_answers::verdict::{HeldTo, Judged, Measured};

    use crate::admission::AdmissionView;

    /// Two connections and a constant stream over one link.
    const ONE_LINK: &str = r#"
        version = 1
        link = { rate = "10mbit", delay = "5ms", max-packet = "1000b" }
        scheduler.kind = "edf"
        class."<tcp>" = {}
        class.voice.deadline = "20ms"
        network.only.between = ["a", "b"]
        [[source]]
        class = "<tcp>"
        model = "tcp"
        count = 2
        packet = "1000b"
        transfer = "50kB"
        window = 20
        path = ["a", "b"]
        [[source]]
        class = "voice"
        model = "constant"
        rate = "64kbit"
        packet = "160b"
        path = ["a", "b"]
    "#;

    /// A flow in reserved frames over two links that lose packets now and then.
    const FRAMES: &str = r#"
        version = 1
        link = { rate = "10mbit", max-packet = "500b" }
        scheduler = { kind = "tdp", frame = "1ms", frames = 10 }
        class."<cam>" = { gap = "2ms" }
        class.rest = {}
        network.one = { between = ["a", "b"], loss = { share = 0.01 } }
        network.two = { between = ["b", "c"] }
        [[source]]
        class = "<cam>"
        model = "constant"
        rate = "2mbit"
        packet = "500b"
        path = ["a", "b", "c"]
        [[source]]
        class = "rest"
        model = "poisson"
        rate = "2mbit"
        packet = "200b"
        path = ["a", "b"]
    "#;

    fn plan(text: &str) -> Plan {
        Plan::parse(text, "plan.toml", Path::new("")).unwrap()
    }

    fn run(plan: &Plan) -> (NetworkSummary, Series) {
        let mut series = SeriesRecorder::new(plan);
        let duration = Nanos(2_000_000_000);
        let run = NetworkRun {
            on: &plan.networked().unwrap().assigned(),
            duration: Some(duration),
            seed: 1,
            arrivals: None,
        };
        (run.simulate(&mut series, &mut laxity_sim::to_the_end).unwrap().summary, series.finish())
    }

    #[test]
    fn frames_and_losses_are_shown_where_there_are_any() {
        let (summary, _) = run(&plan(FRAMES));
        let text = tables(&summary);
        for wanted in ["padding sent", "out of step", "lost", "from the first link on"] {
            assert!(text.contains(wanted), "{wanted} in\n{text}");
        }
        assert!(summary.hops[0].lost > 10 && summary.hops[1].lost == 0);
        assert!(!tables(&run(&plan(ONE_LINK)).0).contains("padding"));
    }

    #[test]
    fn tables_show_ends_and_hops() {
        let (summary, _) = run(&plan(ONE_LINK));
        let text = tables(&summary);
        for wanted in ["end to end", "a → b", "b → a", "voice", "edf/exact", "transfers"] {
            assert!(text.contains(wanted), "{wanted} in\n{text}");
        }
        let text = compare_table(&[&summary, &summary]);
        assert_eq!(text.matches("edf/exact").count(), 2);
        assert_eq!(compare_table(&[]), "");
    }

    #[test]
    fn completion_times_are_shown_of_flows_that_are_asked_for_by_time() {
        let on_demand = ONE_LINK.replace("window = 20", "every = { exponential = \"500ms\" }");
        let plan = plan(&on_demand);
        let (summary, series) = run(&plan);
        let text = tables(&summary);
        for wanted in ["flow completion", "waited", "unfinished"] {
            assert!(text.contains(wanted), "{wanted} in\n{text}");
        }
        let on = plan.networked().unwrap().assigned();
        let proof = Proof::network(&on);
        let admission = AdmissionView::new(&plan, &proof);
        let judged = Judged::new(&plan, HeldTo::Plan, Some(&proof), summary);
        assert!(html(&on, &admission, &judged, &series).contains("Flow completion times"));
        assert!(!tables(&run(&self::plan(ONE_LINK)).0).contains("flow completion"));
    }

    #[test]
    fn what_exceeds_its_bound_is_a_broken_promise() {
        let plan = plan(ONE_LINK);
        let (mut summary, _) = run(&plan);
        assert!(summary.broken(&plan).is_empty() && !summary.promised(&plan));
        let voice = &mut summary.classes[1];
        (voice.bound_ns, voice.bound_misses) = (Some(1_000_000), 2);
        let said = |summary: &NetworkSummary| -> Vec<String> {
            let broken = summary.broken(&plan);
            broken
                .iter()
                .map(|broken| crate::words::broken(broken).replace('\u{a0}', " "))
                .collect()
        };
        assert_eq!(said(&summary), ["voice: 2 packets exceeded the proved bound of 1 ms"]);
        assert!(tables(&summary).contains('!'));
        summary.classes[1].nonconforming = 1;
        assert!(summary.broken(&plan).is_empty(), "it is owed nothing");
        (summary.classes[1].deadline_ns, summary.classes[1].deadline_misses) = (Some(500_000), 3);
        let broken = summary.broken(&plan);
        assert_eq!(broken.iter().map(|broken| broken.proved).collect::<Vec<_>>(), [false, true]);
        let hop = &mut summary.hops[0];
        let voice = hop.classes.iter_mut().find(|class| class.name == "voice").unwrap();
        (voice.bound_ns, voice.bound_misses) = (Some(1_000_000), 1);
        assert!(said(&summary)[2].starts_with("voice at a → b: 1 packet exceeded"));
    }

    #[test]
    fn reports_escape_names_and_load_nothing() {
        for (text, name) in [(ONE_LINK, "tcp"), (FRAMES, "cam")] {
            let plan = plan(text);
            let (summary, series) = run(&plan);
            let on = plan.networked().unwrap().assigned();
            let proof = Proof::network(&on);
            let admission = AdmissionView::new(&plan, &proof);
            let judged = Judged::new(&plan, HeldTo::Plan, Some(&proof), summary);
            let one = html(&on, &admission, &judged, &series);
            let both = compare_html(&[judged.clone(), judged], &[series.clone(), series]);
            for text in [one, both] {
                assert!(text.contains(&format!("&lt;{name}&gt;")));
                assert!(!text.contains(&format!("<{name}>")));
                let text = text.replace("http://www.w3.org/2000/svg", "");
                let outside =
                    ["http:", "https:", "url(", "@import", "src=", "<link", "<script", "NaN"];
                assert_eq!(outside.into_iter().find(|outside| text.contains(outside)), None);
            }
        }
        compare_html(&[], &[]);
    }
}
