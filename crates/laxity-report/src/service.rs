//! What classes were served around the packets that waited longest, as figures.

use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_answers::why::service::{Service, ServicePeriod};
use laxity_plan::Plan;

use crate::chart::{Along, Axis, Chart, Dash, Figure, Mark, Marker, Series, Style, Unit};
use crate::html::NamedFigure;
use crate::quantity::time;

const NS: f64 = 1e-9;
/// Panels of virtual times: those of the classes that waited longest.
const MOST_PANELS: usize = 6;

/// The figures of the periods in which packets of each class waited longest: none where nothing has
/// virtual times.
pub fn figures(plan: &Plan, periods: &[ServicePeriod]) -> Vec<NamedFigure<'static>> {
    let mut longest: Vec<&ServicePeriod> = periods.iter().collect();
    longest.sort_by_key(|period| (period.class, std::cmp::Reverse(period.wait())));
    longest.dedup_by_key(|period| period.class);
    service(plan, &longest).into_iter().chain(virtual_times(plan, longest)).collect()
}

/// The service that each class received beside the service that its real-time curve owed it.
fn service(plan: &Plan, periods: &[&ServicePeriod]) -> Option<NamedFigure<'static>> {
    let is_owed = |period: &&&ServicePeriod| period.service.iter().any(|it| it.deadline.is_some());
    let panels: Vec<_> = periods.iter().filter(is_owed).map(|it| service_panel(plan, it)).collect();
    let figure = NamedFigure {
        name: "service",
        figure: Figure::panels("Service curves, and what was received", panels.clone(), 2),
        caption: "Of each class with a real-time curve the time around the packet that waited \
                  longest. Every packet is due where the deadline curve has its last byte. The \
                  curve is kept as long as the steps of the real-time criterion lie to the left of \
                  it, but for one packet that is on the link: always, if the plan is admitted. What link-sharing gives comes on top, \
                  and does not move the deadlines."
            .to_string(),
    };
    (!panels.is_empty()).then_some(figure)
}

fn service_panel(plan: &Plan, period: &ServicePeriod) -> Chart {
    let style = Style::new(period.class.index());
    let from_arrival = |at: Nanos| (at.0 as f64 - period.arrival.0 as f64) * NS;
    let steps = |name, style, amount: fn(&Service) -> u64| {
        let points = period.service.iter().map(|it| (from_arrival(it.end), amount(it) as f64));
        Series::new(name, Mark::Step, style, points.collect())
    };
    let due = period.service.iter().filter_map(|it| it.deadline);
    let due = due.map(|(due, amount)| (from_arrival(due), amount as f64)).collect();
    let neutral = Style::default().dashed(Dash::Dashed);
    Chart {
        title: heading(plan, period),
        x: Axis::linear("", Unit::Time),
        y: Axis::linear("", Unit::Size),
        series: vec![
            Series::new("deadline curve", Mark::Line, neutral, due),
            steps("received by the real-time criterion", Style { faint: true, ..style }, |it| {
                it.real_time
            }),
            steps("received in all", style, |it| it.received),
        ],
        markers: stay(period),
    }
}

/// The virtual times of the classes that compete with each other.
fn virtual_times(plan: &Plan, mut periods: Vec<&ServicePeriod>) -> Option<NamedFigure<'static>> {
    periods.retain(|period| period.virtual_times.len() > 1);
    periods.sort_by_key(|period| std::cmp::Reverse(period.wait()));
    periods.truncate(MOST_PANELS);
    let panels: Vec<_> = periods.iter().map(|it| virtual_time_panel(plan, it)).collect();
    let figure = NamedFigure {
        name: "virtual-times",
        figure: Figure::panels("Virtual times of siblings", panels.clone(), 2),
        caption:
            "Of the classes whose packets waited longest the time around that packet, with the \
                  classes that it competed with by link-sharing, which serves the one with the \
                  least virtual time. Lines that stay together are fair shares. A class far above \
                  the others waits until they have come up to it. No line is drawn where a class \
                  has no packets."
                .to_string(),
    };
    (!panels.is_empty()).then_some(figure)
}

fn virtual_time_panel(plan: &Plan, period: &ServicePeriod) -> Chart {
    let times = || period.virtual_times.iter().flat_map(|curve| &curve.points);
    let least = times().filter_map(|(_, time)| *time).min().unwrap_or_default();
    let line = |(class, points): (ClassId, &Vec<(Nanos, Option<u64>)>)| {
        let point = |(at, virtual_time): &(Nanos, Option<u64>)| {
            let x = (at.0 as f64 - period.arrival.0 as f64) * NS;
            (x, virtual_time.map_or(f64::NAN, |time| (time - least) as f64 * NS))
        };
        let name = &plan.classes[class.index()].name;
        let style = Style::new(class.index());
        Series::new(name, Mark::Line, style, points.iter().map(point).collect())
    };
    let lines = period.virtual_times.iter().map(|curve| (curve.class, &curve.points)).map(line);
    Chart {
        title: heading(plan, period),
        x: Axis::linear("", Unit::Time),
        y: Axis::linear("", Unit::Time),
        series: lines.collect(),
        markers: stay(period),
    }
}

/// Whose packet waited for how long, and where.
fn heading(plan: &Plan, period: &ServicePeriod) -> String {
    let name = &plan.classes[period.class.index()].name;
    let place = period.hop.map(|hop| format!(" at {}", crate::why::place(plan, hop)));
    let place = place.unwrap_or_default();
    format!("{name}{place}: waited {}", time(period.wait().0 as f64))
}

/// The lines at the packet's arrival and at the end of its wait.
fn stay(period: &ServicePeriod) -> Vec<Marker> {
    let style = Style::default().dashed(Dash::Dotted);
    let line = |at, label: &str| {
        Marker::new(Along::Y, at, "the packet that waited longest", style).labelled(label.into())
    };
    vec![line(0.0, "arrives"), line(period.wait().0 as f64 * NS, "is sent")]
}
