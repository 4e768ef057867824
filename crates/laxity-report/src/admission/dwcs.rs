//! What the admission test of DWCS says about a plan.

use laxity::admit::dwcs::{Admission as Answer, Proof, Shed, Unproved, holds_for_sliding_windows};
use laxity::curve::Exact;
use laxity::packet::ClassId;
use laxity::sched::dwcs::{DwcsSettings, Streams};
use laxity_plan::Plan;
use laxity_plan::model::{Class, SchedulerSpec};
use num_traits::ToPrimitive;
use serde::Serialize;

use super::cells::{cell, times};
use super::class::{ClassAnswer, StreamsAnswer};
use super::outcome::{Admission, Test};
use super::room::{Room, Tested};
use super::sentences::listed;
use crate::quantity;

pub(super) const ROOM: Room = Room {
    test: |plan| match plan.scheduler {
        SchedulerSpec::Dwcs(settings) => Some(admission(plan, settings)),
        _ => None,
    },
    tested: Tested::ByBounds,
    classes: |plan, answers| {
        let streams = plan.dwcs_streams();
        for answer in answers {
            let Streams { stream, count } = streams[answer.id.index()];
            let gap_ns = stream.gap.map(|gap| gap.0);
            answer.streams = Some(StreamsAnswer { count, gap_ns, loss: stream.loss.to_string() });
        }
    },
    columns: |_, unit| {
        let gap = |class: &ClassAnswer| class.streams.as_ref()?.gap_ns;
        vec![
            (
                "streams".to_owned(),
                cell(|class| Some(class.streams.as_ref()?.count.into()), quantity::count),
            ),
            times("gap", unit, gap),
            (
                "may lose".to_owned(),
                cell(|class| Some(class.streams.as_ref()?.loss.clone()), |loss| loss),
            ),
        ]
    },
    mends: "",
};

/// The answer of the test.
fn admission(plan: &Plan, settings: DwcsSettings) -> Admission {
    let test = plan.dwcs_admission(settings);
    let exceptions = exceptions(plan);
    let statement = statement(plan, &test) + &exceptions;
    let admitted = match test.proof {
        Ok(_) => exceptions.is_empty().then_some(true),
        Err(Unproved::Overloaded | Unproved::TooFewServices { .. }) => Some(false),
        Err(_) => None,
    };
    let bounds = plan.bounds();
    Admission { admitted, statement, bounds, test: Test::Dwcs(test) }
}

/// What a plan asks for that the proof is not about.
fn exceptions(plan: &Plan) -> String {
    let mut exceptions = String::new();
    if let Some(class) = plan.classes.iter().find(|class| class.deadline.is_some()) {
        let name = &class.name;
        exceptions += &format!(" It proves no delay, so the deadline of {name} is no promise.");
    }
    let is_due = |class: &&Class| class.relative_deadline().is_some() && plan.drops_in_time(class);
    if let Some(Class { name, .. }) = plan.classes.iter().find(is_due) {
        exceptions += &format!(
            " What {name} drops before it is late, by its `queue` or `police`, is lost beside that, \
             so its windows are no promise."
        );
    }
    exceptions
}

fn statement(plan: &Plan, test: &Answer) -> String {
    let utilization = quantity::percent(test.utilization.to_f64().unwrap_or(f64::INFINITY));
    let needed = decimal(&test.needed);
    match test.proof {
        Ok(Proof { services: 0 }) => "No class has a gap, so no window is promised.".to_string(),
        Ok(Proof { services }) => format!(
            "Consecutive windows are kept: in a gap the streams need {needed} services on average, and the \
             link begins at least {}; they cannot do without {utilization} of it. That holds while \
             all streams are in step, their first packets whole gaps apart and every other there \
             before the last one is due.{}",
            quantity::count(services),
            sliding(plan)
        ),
        Err(Unproved::Overloaded) => format!(
            "No scheduler keeps all windows if packets are as long as they may be: the streams cannot \
             do without {utilization} of the link.{}",
            shed(plan, &test.shed, "It would not be overloaded")
        ),
        Err(Unproved::TooFewServices { services }) => format!(
            "Windows may be violated: in a gap the streams need {needed} services on average, but the \
             link is sure to begin only {}{}.{}",
            quantity::count(services),
            lengths(plan),
            shed(plan, &test.shed, "The rest fits")
        ),
        Err(why) => format!(
            "Not proved: {why}{}. The streams cannot do without {utilization} of the link.",
            culprit(plan, why)
        ),
    }
}

/// What sliding windows may lose where consecutive ones are kept.
fn sliding(plan: &Plan) -> &'static str {
    let mut tolerances = plan.classes.iter().filter_map(|class| class.loss);
    match tolerances.all(holds_for_sliding_windows) {
        true => "",
        false => " A window that slides over two of them may lose up to twice its tolerance.",
    }
}

/// Why fewer services are sure than there may be, where packets differ in length.
fn lengths(plan: &Plan) -> &'static str {
    let mut lengths = plan.leaves().map(|(_, class)| plan.max_packet(class));
    let first = lengths.next();
    match lengths.all(|length| Some(length) == first) {
        true => "",
        false => ", counting every packet as long as the longest",
    }
}

/// What to leave out.
fn shed(plan: &Plan, shed: &[Shed], then: &str) -> String {
    if shed.is_empty() {
        return String::new();
    }
    let parts = shed.iter().map(|Shed { class, streams }| {
        let Some(class) = plan.classes.get(class.index()) else { return String::new() };
        let count = quantity::count((*streams).into());
        format!("{count} of the {} streams of {}", quantity::count(class.count.into()), class.name)
    });
    format!(" {then} without {}.", listed(&parts.collect::<Vec<_>>()))
}

/// The class that stands in the way of the proof, if it is one.
fn culprit(plan: &Plan, why: Unproved) -> String {
    let class: Option<ClassId> = match why {
        Unproved::SendsLate(class) | Unproved::UnequalGaps { class, .. } => Some(class),
        _ => None,
    };
    let named = class.and_then(|class| plan.classes.get(class.index()));
    named.map_or(String::new(), |class| format!(" (class {})", class.name))
}

/// What streams cannot do without, and what there is.
#[derive(Clone, Debug, Serialize)]
pub struct WindowsView {
    /// The share of the link.
    pub utilization: f64,
    /// Services between two deadlines, on average.
    pub services_needed: f64,
    /// How many can be begun at least, where that decides.
    pub services: Option<u64>,
    /// What to leave out for the rest to fit.
    pub shed: Vec<ShedView>,
}

/// So many streams of a class.
#[derive(Clone, Debug, Serialize)]
pub struct ShedView {
    /// The class.
    pub class: String,
    /// How many of its streams.
    pub streams: u32,
}

impl WindowsView {
    /// The answer for a plan.
    pub fn of(plan: &Plan, test: &Answer) -> Self {
        let shed = |shed: &Shed| {
            let class = plan.classes.get(shed.class.index())?.name.clone();
            Some(ShedView { class, streams: shed.streams })
        };
        WindowsView {
            utilization: test.utilization.to_f64().unwrap_or(f64::MAX),
            services_needed: test.needed.to_f64().unwrap_or(f64::MAX),
            services: match test.proof {
                Ok(Proof { services }) | Err(Unproved::TooFewServices { services }) => {
                    Some(services)
                }
                Err(_) => None,
            },
            shed: test.shed.iter().filter_map(shed).collect(),
        }
    }

    /// The same in words, each a name and a value.
    pub fn details(&self) -> Vec<(String, String)> {
        let needed = (self.services_needed * 10.0).ceil() / 10.0;
        let mut details = vec![
            (
                "Streams cannot do without".to_string(),
                quantity::percent(self.utilization) + " of the link",
            ),
            ("Services needed in a gap".to_string(), format!("{needed}")),
        ];
        details.extend(self.services.map(|services| {
            ("Services sure to begin in a gap".to_string(), quantity::count(services))
        }));
        details
    }
}

/// To a tenth, rounded up.
fn decimal(number: &Exact) -> String {
    let ten = Exact::from_integer(10.into());
    let tenths = (number * &ten).ceil().to_integer().to_u64().unwrap_or(u64::MAX);
    match tenths % 10 {
        0 => quantity::count(tenths / 10),
        tenth => format!("{}.{tenth}", quantity::count(tenths / 10)),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// On a link where a packet of 1000 bytes takes 1 ms.
    fn plan(options: &str, classes: &str) -> Plan {
        let text = format!(
            "version = 1\nlink = {{ rate = '8mbit', max-packet = '1000b' }}\n\
             [scheduler]\nkind = 'dwcs'\n{options}\n{classes}"
        );
        let plan = Plan::parse(&text, "test.toml", Path::new("."));
        plan.unwrap_or_else(|error| panic!("{error:?}"))
    }

    fn answer(options: &str, classes: &str) -> Admission {
        let plan = plan(options, classes);
        Admission::of(&plan).expect("DWCS has a test")
    }

    const DEADLINE_FIRST: &str = "precedence = 'deadline-first'";

    fn streams(name: &str, count: u32, gap: u32, loss: &str) -> String {
        format!("[class.{name}]\ncount = {count}\ngap = '{gap}ms'\nloss = '{loss}'\n")
    }

    fn two(count: u32) -> String {
        streams("strict", 10, 40, "1/20") + &streams("loose", count, 40, "1/2")
    }

    #[test]
    fn what_fits_is_admitted() {
        // 9.5 services and 30.
        let admission = answer(DEADLINE_FIRST, &two(60));
        assert_eq!(admission.admitted, Some(true));
        let said = admission.statement;
        assert!(
            said.contains("need 39.5 services on average") && said.contains("at least 40"),
            "{said}"
        );
        assert!(said.contains("twice its tolerance"), "{said}");
        let all = answer(DEADLINE_FIRST, &streams("all", 40, 40, "0/9"));
        assert_eq!(all.admitted, Some(true));
        assert!(!all.statement.contains("twice"), "{}", all.statement);
    }

    #[test]
    fn what_does_not_fit_is_told_what_to_shed() {
        let admission = answer(DEADLINE_FIRST, &two(70));
        assert_eq!(admission.admitted, Some(false));
        let said = admission.statement;
        assert!(said.contains("No scheduler keeps all windows"), "{said}");
        // 44.5 of 40: five of 0.95.
        assert!(said.contains("without 5 of the 10 streams of strict."), "{said}");
        // It does not matter what comes first.
        assert_eq!(answer("", &two(70)).admitted, Some(false));
    }

    #[test]
    fn long_packets_of_others_cost_services() {
        let short = "arrival = { bucket = '3kB', rate = '1mbit', packet = '500b' }\n";
        let classes = streams("short", 80, 40, "0/9") + short;
        assert_eq!(answer(DEADLINE_FIRST, &classes).admitted, Some(true));
        let admission = answer(DEADLINE_FIRST, &(classes + "[class.rest]"));
        assert_eq!(admission.admitted, Some(false));
        let said = admission.statement;
        assert!(said.contains("counting every packet as long as the longest"), "{said}");
        assert!(said.contains("without 1 of the 80 streams of short."), "{said}");
    }

    #[test]
    fn what_has_no_proof_is_neither_admitted_nor_refused() {
        let not_proved = |options: &str, classes: &str, says: &str| {
            let admission = answer(options, classes);
            assert_eq!(admission.admitted, None);
            let said = admission.statement;
            assert!(said.contains("Not proved") && said.contains(says), "{said}");
        };
        not_proved("", &two(6), "deadline-first has a proof");
        not_proved("precedence = 'deadline-first'\ncheck-every = 3", &two(6), "every 3 services");
        let unequal = two(6) + &streams("other", 1, 50, "1/2");
        not_proved(DEADLINE_FIRST, &unequal, "(class other)");
        not_proved(DEADLINE_FIRST, &(two(6) + "late = 'send'"), "(class loose)");
    }

    #[test]
    fn a_deadline_is_no_promise_under_dwcs() {
        let due = "deadline = '40ms'\narrival = { bucket = '3kB', rate = '1mbit' }\nlate = 'drop'";
        let admission = answer(DEADLINE_FIRST, &(two(6) + "[class.due]\n" + due));
        assert_eq!(admission.admitted, None);
        assert!(admission.statement.contains("the deadline of due is no promise"));
    }

    #[test]
    fn packets_dropped_in_time_are_not_the_proofs() {
        let policed = "arrival = { bucket = '9kB', rate = '1mbit' }\npolice = 'drop'";
        for limit in ["queue = { kind = 'droptail', limit = 3 }", policed] {
            let classes = two(6) + limit;
            let admission = answer(DEADLINE_FIRST, &classes);
            assert_eq!(admission.admitted, None);
            let said = &admission.statement;
            assert!(said.contains("What loose drops before it is late"), "{said}");
            let plan = plan(DEADLINE_FIRST, &classes);
            assert!(!plan.keeps_windows());
        }
        let plan = plan(DEADLINE_FIRST, &two(6));
        assert!(plan.keeps_windows());
    }
}
