//! What became of calls: two tables, and a page with how many there were at once.

use std::borrow::Cow;

use laxity::units::Nanos;
use laxity_answers::reservations::calls::{
    AskedCall, CallsSummary, GrantedCall, RequestSummary, SentSummary,
};
use laxity_plan::Plan;
use maud::html;

use crate::chart::{Axis, Chart, Figure, Mark, Series, Style, Unit};
use crate::figures::NS;
use crate::html::{facts, figure, grid, listed, page as whole};
use crate::quantity::{NOTHING, TimeUnit, count, number, percent, rate, time};
use crate::table::{table, table_led};
use crate::visible::line;
use crate::words;

const REQUESTS: [&str; 8] = [
    "calls of",
    "asked",
    "granted",
    "refused",
    "by Erlang B",
    "fit alone",
    "at once, mean",
    "most",
];

fn request(of: &RequestSummary) -> [String; 8] {
    let part = |part: Option<f64>| part.map_or_else(|| NOTHING.to_owned(), percent);
    [
        line(&of.sent.class).into_owned(),
        count(of.offered),
        count(of.granted),
        part(of.blocking),
        part(of.erlang_b),
        count(of.alone.into()),
        number(of.mean),
        count(of.most.into()),
    ]
}

fn sent_header(unit: TimeUnit) -> [String; 7] {
    let [promised, longest] = ["promised", "longest"].map(|of| unit.head(of));
    let [class, packets, throughput, late, dropped] =
        ["class", "packets", "sent", "late", "dropped"].map(str::to_owned);
    [class, packets, throughput, promised, longest, late, dropped]
}

fn sent(of: &SentSummary, unit: TimeUnit) -> Vec<String> {
    let late = match (of.promised_ns, of.late) {
        (None, _) => NOTHING.to_owned(),
        (Some(_), 0) => count(0),
        (Some(_), late) => format!("{}!", count(late)),
    };
    vec![
        line(&of.class).into_owned(),
        count(of.packets),
        rate(of.throughput_bps),
        unit.whole(of.promised_ns),
        unit.whole(of.longest_ns),
        late,
        count(of.dropped),
    ]
}

/// The rows of both tables; none of what was sent if nothing was simulated.
struct Tables {
    requests: Vec<Vec<String>>,
    header: [String; 7],
    sent: Vec<Vec<String>>,
}

impl Tables {
    fn new(calls: &CallsSummary) -> Tables {
        let all = || calls.requests.iter().map(|of| &of.sent).chain(&calls.classes);
        let unit = TimeUnit::from_whole(all().flat_map(|of| [of.promised_ns, of.longest_ns]));
        let rows = all().map(|of| sent(of, unit)).collect();
        Tables {
            requests: calls.requests.iter().map(|of| request(of).to_vec()).collect(),
            header: sent_header(unit),
            sent: if calls.used.is_some() { rows } else { Vec::new() },
        }
    }
}

/// What is said below the tables.
fn sentences(calls: &CallsSummary) -> Vec<String> {
    let promised = percent(calls.promised);
    let mut said = vec![match calls.used {
        Some(used) => {
            format!("Calls were promised {promised} of the link, and sent {} of it.", percent(used))
        }
        None => format!("Calls were promised {promised} of the link."),
    }];
    for of in calls.requests.iter().filter(|of| !of.refused.is_empty()) {
        let why = words::statement(&of.refused);
        said.push(format!("The first `{}` that was refused: {why}", line(&of.sent.class)));
    }
    let all = calls.requests.iter().map(|of| &of.sent).chain(&calls.classes);
    let excused = all.map(|sent| sent.excused).sum::<u64>();
    if excused > 0 {
        said.push(format!(
            "{} took longer than promised, but no longer than that and the time by which the link counts as \
             late while a plan is handed over with packets queued.",
            if excused == 1 { "A packet".to_owned() } else { format!("{} packets", count(excused)) }
        ));
    }
    if !calls.settles {
        said.push(format!(
            "Under {} it is not known for how long others feel what has ended, so it is not promised again \
             before the link is started again.",
            calls.scheduler
        ));
    }
    if !calls.kept {
        said.push("Some packets were later than promised, or dropped.".to_owned());
    }
    said
}

/// The tables for people.
pub fn text(calls: &CallsSummary) -> String {
    let Tables { requests, header, sent } = Tables::new(calls);
    let mut text = table(&REQUESTS, &requests) + "\n\n";
    if !sent.is_empty() {
        text += &(table(&header, &sent) + "\n\n");
    }
    text + &sentences(calls).join("\n") + "\n"
}

/// How many calls of each request there were at once.
fn at_once(calls: &CallsSummary) -> Figure<'static> {
    let end = calls.duration_ns as f64 * NS;
    let series = calls.requests.iter().enumerate().map(|(place, of)| {
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (at, counts) in &calls.at_once {
            let next = (at.0 as f64 * NS, f64::from(counts[place]));
            if points.last().is_none_or(|last| last.1 != next.1) {
                points.push(next);
            }
        }
        points.push((end, points.last().map_or(0.0, |last| last.1)));
        Series::new(of.sent.class.clone(), Mark::Step, Style::new(place), points)
    });
    Figure::from(Chart {
        title: "Calls at once".to_owned(),
        x: Axis::linear("Time", Unit::Time).within(Some((0.0, end))),
        y: Axis::linear("Calls", Unit::Number),
        series: series.collect(),
        markers: Vec::new(),
    })
}

/// The schedulable regions of several disciplines, if they have any: below a line calls fit.
fn regions(compared: &[CallsSummary]) -> Option<Figure<'static>> {
    let [first, second] = &compared.first()?.requests[..] else { return None };
    let drawn = compared.iter().enumerate().filter(|(_, calls)| !calls.region.is_empty());
    let series = drawn.map(|(place, calls)| {
        let point = |(first, second): (usize, &u32)| (first as f64, f64::from(*second));
        let beyond = (calls.region.len() as f64, 0.0);
        let points = calls.region.iter().enumerate().map(point).chain([beyond]).collect();
        Series::new(calls.scheduler.clone(), Mark::Step, Style::new(place), points)
    });
    let series: Vec<_> = series.collect();
    let (right, up) = (first.sent.class.clone(), second.sent.class.clone());
    (!series.is_empty()).then(|| {
        Figure::from(Chart {
            title: "Schedulable region".to_owned(),
            x: Axis::linear(&format!("Calls of {right}"), Unit::Number),
            y: Axis::linear(&format!("Calls of {up}"), Unit::Number),
            series,
            markers: Vec::new(),
        })
    })
}

const COMPARED: [&str; 8] =
    ["under", "calls of", "asked", "granted", "refused", "fit alone", "most", "late"];

fn compared_rows(compared: &[CallsSummary]) -> Vec<Vec<String>> {
    let row = |calls: &CallsSummary, of: &RequestSummary| {
        let [class, offered, granted, refused, _, alone, _, most] = request(of);
        let late = if of.sent.late == 0 { count(0) } else { format!("{}!", count(of.sent.late)) };
        vec![calls.scheduler.clone(), class, offered, granted, refused, alone, most, late]
    };
    let rows = compared.iter().flat_map(|calls| calls.requests.iter().map(|of| row(calls, of)));
    rows.collect()
}

/// The same calls under several disciplines, for people.
pub fn compared_text(compared: &[CallsSummary]) -> String {
    table_led(2, &COMPARED, &compared_rows(compared)) + "\n"
}

/// The same as one HTML file.
pub fn compared_page(plan: &Plan, compared: &[CallsSummary]) -> String {
    let duration = compared.first().map_or(0, |calls| calls.duration_ns);
    whole(
        plan.title.as_deref().unwrap_or("Calls that come and go"),
        &html! {
            (facts(&[("Duration", time(duration as f64))]))
            (grid(&COMPARED.map(str::to_owned), &compared_rows(compared), 1))
            @if let Some(drawn) = regions(compared) {
                section { (figure(&drawn, "Numbers of calls on a line and below it fit together.")) }
            }
        },
    )
}

/// All calls that asked and what they were answered, as CSV that a plan may name as recorded calls.
pub fn csv(calls: &CallsSummary) -> String {
    let mut text = String::from("at_ns,holding_ns,class,answer,begins_ns,ends_ns,bound_ns\n");
    for AskedCall { request, times, granted } in &calls.asked {
        let class = quoted(&calls.requests[*request].sent.class);
        text += &format!("{},{},{class},", times.at.0, times.holding.0);
        text += &match granted {
            None => "refused,,,\n".to_owned(),
            Some(GrantedCall { call, bound }) => {
                let bound = bound.map_or_else(String::new, |Nanos(bound)| bound.to_string());
                format!("granted,{},{},{bound}\n", call.from.0, call.until.0)
            }
        };
    }
    text
}

/// A field of CSV (RFC 4180).
fn quoted(field: &str) -> Cow<'_, str> {
    if field.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\"")).into()
    } else {
        field.into()
    }
}

/// The same as one HTML file.
pub fn page(plan: &Plan, calls: &CallsSummary) -> String {
    let Tables { requests, header, sent } = Tables::new(calls);
    let about = [
        ("Scheduler", calls.scheduler.clone()),
        ("Duration", time(calls.duration_ns as f64)),
        ("Seed", count(calls.seed)),
        ("Promises", if calls.kept { "kept" } else { "broken" }.to_owned()),
    ];
    whole(
        plan.title.as_deref().unwrap_or("Calls that come and go"),
        &html! {
            (facts(&about))
            (listed(&sentences(calls).iter().map(|said| said.replace('`', "")).collect::<Vec<_>>()))
            (grid(&REQUESTS.map(str::to_owned), &requests, 0))
            section { (figure(&at_once(calls), "How many calls there were. A call that has ended is not counted, though it is felt for some milliseconds.")) }
            @if let Some(drawn) = regions(std::slice::from_ref(calls)) {
                section { (figure(&drawn, "Numbers of calls on the line and below it fit together.")) }
            }
            @if !sent.is_empty() { (grid(&header, &sent, 0)) }
        },
    )
}
