//! Tables of classes at a link: what each sent, what became of it, and how long it took.

use laxity_sim::summary::{ClassSummary, HopSummary, Summary, WindowSummary};
use maud::{Markup, html};

use crate::columns::{Column, Comparison, Results, swatch};
use crate::measures::{
    MeasuredRow, deadline, delays, fates, has_deadline, marked, max, mean, missed, p99,
};
use crate::quantity::{NOTHING, TimeUnit, count, megabits, percent};

type Class<'a> = &'a ClassSummary;
type ClassColumn<'a> = Column<Class<'a>>;

fn columns<'a>() -> Vec<ClassColumn<'a>> {
    let counts = [
        ClassColumn::count("arrived", |class| Some(class.arrived)).below("Packets"),
        ClassColumn::count("sent", |class| Some(class.sent)).below("Packets"),
        dropped().below("Packets"),
    ];
    let fates = fates().map(|column| column.below("Packets"));
    let throughput = ClassColumn::text("Mbit/s", |class| Some(megabits(class.throughput_bps)));
    counts.into_iter().chain(fates).chain([throughput]).chain(delays("deadline")).collect()
}

fn dropped<'a>() -> ClassColumn<'a> {
    ClassColumn::reasons("dropped", |class| &class.dropped)
}

/// The classes of a link, for a terminal. Those that tolerate losses follow with their windows in a
/// table of their own.
pub(crate) fn text(link: &HopSummary) -> String {
    let windows = windows(link);
    let mut text = classes(link).text("class");
    if !windows.is_empty() {
        text += &format!("\n\n{}", windows.text("class"));
    }
    text
}

/// Counts, throughput and delays of every class, for a page.
pub(crate) fn page(link: &HopSummary) -> Markup {
    html! {
        (classes(link).page("Class"))
        p.note { "A delay lasts from a packet's last bit in to its last bit out. Percentiles are at most 0.8 % too high, all else is exact." }
    }
}

/// The windows of the classes that tolerate losses, for a page.
pub(crate) fn windows_page(link: &HopSummary) -> Markup {
    html! {
        (windows(link).page("Class"))
        (windows_note())
    }
}

/// What windows are, below their table.
pub(crate) fn windows_note() -> Markup {
    html! { p.note { "A window is a row of consecutive packets of one stream; every packet completes one. It is violated if more of them were dropped or late than may be." } }
}

fn classes(link: &HopSummary) -> Results<Class<'_>> {
    Results::new(columns(), &link.classes, |class| &class.name)
}

/// The name of a class that tolerates losses, its windows, and its place among all classes.
pub(crate) type Watched<'a> = (&'a str, &'a WindowSummary, usize);
type WindowColumn<'a> = Column<Watched<'a>>;

fn windows(link: &HopSummary) -> Results<Watched<'_>> {
    let classes = link.classes.iter().zip(0..);
    windows_of(
        classes.filter_map(|(class, place)| {
            Some((class.name.as_str(), class.windows.as_deref()?, place))
        }),
    )
}

/// A table of windows.
pub(crate) fn windows_of<'a>(
    watched: impl IntoIterator<Item = Watched<'a>>,
) -> Results<Watched<'a>> {
    let columns = [
        WindowColumn::count("streams", |(_, windows, _)| Some(windows.streams.into())),
        WindowColumn::text("may lose", |(_, windows, _)| Some(windows.loss.clone())),
        WindowColumn::count("packets", |(_, windows, _)| Some(windows.packets)),
        WindowColumn::count("lost", |(_, windows, _)| Some(windows.lost)),
        WindowColumn::count("windows", |(_, windows, _)| Some(windows.windows)),
        WindowColumn::count("violated", |(_, windows, _)| Some(windows.violations))
            .alarming(|(_, windows, _)| windows.violations > 0),
        WindowColumn::count("longest run", |(_, windows, _)| Some(windows.longest_run)),
        WindowColumn::count("deadlines missed", |(_, windows, _)| Some(windows.deadline_misses)),
    ];
    Results::new(columns, watched, |(name, ..)| name).placed(|(.., place)| *place)
}

/// Several runs of the same classes side by side.
pub(crate) fn compared<'a>(runs: &[&'a Summary]) -> Comparison<Class<'a>> {
    let measures = vec![
        mean(),
        p99(),
        max().within("deadline", deadline),
        missed().if_any(has_deadline),
        dropped(),
        marked(),
        ClassColumn::count("late or lost", |class| Some(class.windows.as_ref()?.lost))
            .if_any(is_lossy),
        ClassColumn::count("windows violated", |class| Some(class.windows.as_ref()?.violations))
            .if_any(is_lossy)
            .alarming(|class| class.windows.as_ref().is_some_and(|windows| windows.violations > 0))
            .held_to("may lose", |class| Some(class.windows.as_ref()?.loss.clone())),
        ClassColumn::count("longest run of losses", |class| {
            Some(class.windows.as_ref()?.longest_run)
        })
        .if_any(is_lossy),
    ];
    let classes = |run: &'a Summary| run.link().into_iter().flat_map(|link| &link.classes);
    Comparison::new(measures, runs, classes, |class| &class.name)
}

fn is_lossy(class: &Class<'_>) -> bool {
    class.windows.is_some()
}

/// What each class was promised beside the worst that was measured.
pub(crate) fn promises(link: &HopSummary) -> Markup {
    let promised = |class: &&ClassSummary| class.deadline_ns.or(class.bound_ns).is_some();
    let times = link.classes.iter().filter(promised);
    let times = times.flat_map(|class| [class.deadline_ns, class.bound_ns, class.promised_max_ns]);
    let unit = TimeUnit::from_whole(times);
    let classes = link.classes.iter().enumerate().filter(|(_, class)| promised(class));
    html! {
        div.wide { table {
            thead { tr {
                th { "Class" } th.number { "Deadline, " (unit.name) } th.number { "Proved bound, " (unit.name) }
                th.number { "Largest delay, " (unit.name) } th { "Used" } th.number { "Missed" }
            } }
            tbody { @for (at, class) in classes {
                tr.alarm[class.measures().is_late()] {
                    th scope="row" { (swatch(at)) (class.name) }
                    td.number { (unit.whole(class.deadline_ns)) }
                    td.number { (unit.whole(class.bound_ns)) }
                    td.number { (unit.whole(class.promised_max_ns)) }
                    td { (used(class)) }
                    td.number { (class.deadline_ns.map_or(NOTHING.to_owned(), |_| count(class.deadline_misses))) }
                }
            } }
        } }
    }
}

/// How much of a class's bound, or else its deadline, the largest delay took.
fn used(class: &ClassSummary) -> Markup {
    let limit =
        class.bound_ns.map(|ns| (ns, "bound")).or(class.deadline_ns.map(|ns| (ns, "deadline")));
    let share =
        class.promised_max_ns.zip(limit).map(|(max, (ns, name))| (max as f64 / ns as f64, name));
    match share.filter(|(share, _)| share.is_finite()) {
        None => html! { (NOTHING) },
        Some((share, name)) => html! {
            span.bar { span.over[share > 1.0] style=(format!("width:{:.1}%", share.min(1.0) * 100.0)) {} }
            (percent((share * 100.0).round() / 100.0)) " of " (name)
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sample;

    #[test]
    fn a_usual_plan_fits_120_columns() {
        let (mut summary, _) = sample::run(3, 3);
        for class in &mut summary.hops[0].classes {
            (class.arrived, class.sent) = (250_000, 250_000);
        }
        summary.hops[0].classes[0].name = "transactions".into();
        let text = text(&summary.hops[0]);
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    }

    #[test]
    fn a_delay_above_its_bound_is_marked() {
        let (mut summary, _) = sample::run(1, 0);
        assert!(!text(&summary.hops[0]).contains('!'));
        (summary.hops[0].classes[0].bound_ns, summary.hops[0].classes[0].bound_misses) =
            (Some(7_999_999), 1);
        summary.hops[0].classes[0].deadline_misses = 3;
        let text = text(&summary.hops[0]);
        assert!(text.contains(" 3! ") && text.contains(" 8.000! "), "{text}");
    }

    #[test]
    fn schedulers_stand_side_by_side() {
        let (edf, _) = sample::run(1, 1);
        let mut fifo = edf.clone();
        fifo.scheduler = "fifo".into();
        fifo.hops[0].classes[1].delay_ns = None;
        let text = compared(&[&edf, &fifo]).text();
        let mean = text.lines().find(|line| line.starts_with("be-0")).unwrap();
        assert_eq!(
            mean.split_whitespace().collect::<Vec<_>>(),
            ["be-0", "mean", "ms", "2.500", "—"]
        );
        assert_eq!(compared(&[]).text(), "");
    }

    #[test]
    fn windows_have_a_table_of_their_own() {
        let (mut summary, _) = sample::run(1, 1);
        assert!(!text(&summary.hops[0]).contains("may lose"));
        summary.hops[0].classes[0].windows = Some(sample::windows(3));
        let text = text(&summary.hops[0]);
        let [header, row] = ["may lose", "1/80"]
            .map(|of| text.lines().find(|line| line.contains(of)).unwrap().split_whitespace());
        let expected = ["rt-0", "60", "1/80", "98", "7", "19", "3!", "2", "9"];
        assert_eq!(row.collect::<Vec<_>>(), expected);
        assert_eq!(header.last(), Some("missed"));
        assert_eq!(text.matches("be-0").count(), 1, "that class has no tolerance: {text}");
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    }

    #[test]
    fn windows_stand_side_by_side() {
        let (mut dwcs, _) = sample::run(1, 1);
        dwcs.hops[0].classes[0].windows = Some(sample::windows(0));
        let mut fifo = dwcs.clone();
        fifo.hops[0].classes[0].windows = Some(sample::windows(3));
        let text = compared(&[&fifo, &dwcs]).text();
        let rows = |of: &str| text.lines().filter(|line| line.contains(of)).collect::<Vec<_>>();
        let violated = rows("windows violated");
        assert_eq!(violated.len(), 1, "the other class has no tolerance: {text}");
        let cells: Vec<_> = violated[0].split_whitespace().rev().take(2).collect();
        assert_eq!(cells, ["0", "3!"]);
        assert_eq!(rows("longest run of losses").len(), 1);
        assert_eq!(rows("late or lost").len(), 1);
    }

    #[test]
    fn marks_have_a_column_where_there_are_any() {
        let (mut summary, series) = sample::run(1, 1);
        let page = |summary: &Summary| {
            let runs = [sample::judged(summary)];
            crate::comparison::html(&runs, std::slice::from_ref(&series))
        };
        assert!(!text(&summary.hops[0]).contains("marked"));
        assert!(!compared(&[&summary]).text().contains("marked"));
        assert!(!page(&summary).contains("Marked"));
        summary.hops[0].classes[1].marked = 17;
        let text = text(&summary.hops[0]);
        let of = |name: &str| {
            let line = text.lines().find(|line| line.starts_with(name)).unwrap();
            line.split(' ').filter(|word| !word.is_empty()).nth(5).unwrap().to_owned()
        };
        assert_eq!(["class", "rt-0", "be-0"].map(of), ["marked", "0", "17"], "{text}");
        let compared = compared(&[&summary]).text();
        assert_eq!(compared.matches("marked").count(), 1, "{compared}");
        assert!(page(&summary).contains("Marked"));
    }
}
