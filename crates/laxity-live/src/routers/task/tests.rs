use std::path::Path;

use super::super::measurement::Fate;
use super::super::passage::Passage;
use super::*;
use crate::worker::{Options, Teller};

/// Classes in this order, and the rest.
fn plan(classes: &[&str]) -> Plan {
    let classes: String = classes
        .iter()
        .map(|name| format!("[class.{name}]\nmatch = 'udp'\nend-to-end = '5ms'\n"))
        .collect();
    let text = format!(
        "version = 1\nlink.rate = '10mbit'\nscheduler.kind = 'fifo'\n{classes}[class.rest]\n\
         [network]\nleft = {{ between = ['a', 'r1'] }}\n"
    );
    Plan::parse(&text, "plan.toml", Path::new("")).expect("a plan")
}

/// The books under a plan, with a ring for this number of events.
fn task(plan: &Plan, events: usize) -> (RouterTask, Teller<HostEvent>) {
    let (teller, reports) = Teller::new(Options { events, ..Options::default() });
    let on = plan.network_plan().expect("a network").analysis();
    (RouterTask::new(&on, vec!["r1".to_string()], reports, None), teller)
}

fn period(plan: &Plan) -> Period {
    let on = plan.network_plan().expect("a network").analysis();
    Period::new(plan.clone(), NetworkMeasurement::new(&on))
}

fn left(class: u32, delay: u64) -> HostEvent {
    let passage = Passage { class: ClassId(class), length: 100, ..Passage::default() };
    HostEvent::Ended(passage, Fate::Left(Nanos(delay)))
}

/// What was counted, by name: packets that left, and those that were late.
fn counted(task: &RouterTask) -> Vec<(String, u64, u64)> {
    let way = task.period.way(&Counts::default());
    way.classes.into_iter().map(|class| (class.name, class.sent, class.deadline_misses)).collect()
}

fn named(expected: &[(&str, u64, u64)]) -> Vec<(String, u64, u64)> {
    expected.iter().map(|(name, sent, late)| (name.to_string(), *sent, *late)).collect()
}

#[test]
fn what_was_measured_goes_on_by_name() {
    let (mut task, mut teller) = task(&plan(&["x", "y"]), 64);
    [left(0, 1), left(1, 6_000_000), left(2, 1)].into_iter().for_each(|event| teller.tell(event));
    task.next = Some(period(&plan(&["new", "y"])));
    task.keeps_books = true;
    teller.tell(HostEvent::Reloaded);
    [left(0, 1), left(0, 1), left(1, 1)].into_iter().for_each(|event| teller.tell(event));
    let last = task.count().expect("a plan is followed");
    assert_eq!(counted(&task), named(&[("new", 2, 0), ("y", 2, 1), ("rest", 1, 0)]));
    let gone: Vec<ClassId> = Renumbering::new(&last.plan, &task.period.plan).leave().collect();
    assert_eq!(gone, [ClassId(0)]);
    // Without reservations books begin anew.
    task.next = Some(period(&plan(&["y"])));
    task.keeps_books = false;
    teller.tell(HostEvent::Reloaded);
    teller.tell(left(0, 1));
    assert!(task.count().is_some());
    assert_eq!(counted(&task), named(&[("y", 1, 0), ("rest", 0, 0)]));
}

/// Where it is not heard when another plan was followed, nothing counts for the wrong class.
#[test]
fn events_that_may_be_of_another_plan_are_left_out() {
    let (mut task, mut teller) = task(&plan(&["x", "y"]), 2);
    task.next = Some(period(&plan(&["y"])));
    task.keeps_books = true;
    [left(0, 1), left(1, 1), HostEvent::Reloaded, left(0, 1)]
        .into_iter()
        .for_each(|event| teller.tell(event));
    assert!(task.count().is_none());
    [left(0, 1), left(0, 1)].into_iter().for_each(|event| teller.tell(event));
    assert!(task.count().is_none());
    assert_eq!(counted(&task), named(&[("x", 1, 0), ("y", 1, 0), ("rest", 0, 0)]));
    assert_eq!(task.lost(), 2);
}
