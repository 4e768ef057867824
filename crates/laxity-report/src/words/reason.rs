//! Why a plan is admitted, refused or left open, in sentences.

use laxity::units::Rate;
use laxity_answers::reason::{
    ClockBinding, Clocks, Excess, Finding, Place, Reason, Span, SurplusClasses, SurplusStreams,
};

use crate::quantity::{self, count, time};

/// The answer of an admission test, as everything prints it.
pub fn answer(admitted: Option<bool>, statement: &str) -> String {
    let word = match admitted {
        Some(true) => "Admitted. ",
        Some(false) => "NOT ADMITTED. ",
        None => "",
    };
    format!("{word}{statement}")
}

/// Reasons in a few sentences. Those that say the same of different classes or places share a
/// sentence.
pub fn statement(reasons: &[Reason]) -> String {
    let sentences = reasons.chunk_by(|a, b| Sentence::new(a) == Sentence::new(b));
    sentences.flat_map(|alike| Sentence::new(&alike[0]).text(alike)).collect::<Vec<_>>().join(" ")
}

/// Joins all parts of a sentence: the author who mends a plan needs every one.
pub fn listed(parts: &[String]) -> String {
    parts.join("; ")
}

/// A sentence that reasons share, or several of their own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sentence {
    Deadlines,
    Curves,
    Rates,
    Queues,
    Promises,
    Own,
}

impl Sentence {
    fn new(reason: &Reason) -> Sentence {
        let is_somewhere = !matches!(reason.place, Place::Whole {});
        match &reason.finding {
            _ if reason.refuses() && is_somewhere => Sentence::Promises,
            Finding::ClockError(_) | Finding::Unbounded { deadline_ns: None, .. } => {
                Sentence::Promises
            }
            Finding::Late { .. } | Finding::Unbounded { .. } => Sentence::Deadlines,
            Finding::Interval(_) | Finding::EndlessInterval if reason.class.is_none() => {
                Sentence::Deadlines
            }
            Finding::CurvesOverbooked(_) => Sentence::Curves,
            Finding::RatesOverbooked { .. } => Sentence::Rates,
            Finding::QueueTooSmall { .. } => Sentence::Queues,
            _ => Sentence::Own,
        }
    }

    fn text(self, reasons: &[Reason]) -> Vec<String> {
        let clauses = || listed(&reasons.iter().map(clause).collect::<Vec<_>>());
        vec![match self {
            Sentence::Deadlines => format!("Not every deadline holds: {}.", clauses()),
            Sentence::Curves => format!("Not every real-time curve can be kept: {}.", clauses()),
            Sentence::Rates => format!(
                "More is promised than there is; {}. There a class that is always busy may lock others out.",
                clauses()
            ),
            Sentence::Queues => format!("Not every queue holds what may wait: {}.", clauses()),
            Sentence::Promises => {
                let places = reasons.chunk_by(|a, b| a.place == b.place);
                let places: Vec<_> = places.flat_map(at_place).collect();
                format!("Not every promise holds: {}.", listed(&places))
            }
            Sentence::Own => return reasons.iter().map(clause).collect(),
        }]
    }
}

/// What stands against promises at one place of a network.
fn at_place(reasons: &[Reason]) -> impl Iterator<Item = String> {
    let parts = reasons.chunk_by(|a, b| is_test(a) && is_test(b));
    parts.map(|alike| match (&alike[0].place, &alike[0].finding) {
        (Place::Output { at }, Finding::QueueTooSmall { .. }) => {
            format!("at {at}: {}", clause(&alike[0]))
        }
        (Place::Output { at }, _) if is_test(&alike[0]) => {
            let whole = |one: &Reason| Reason { place: Place::Whole {}, ..one.clone() };
            let test: Vec<_> = alike.iter().map(whole).collect();
            format!("at {at}: {}", statement(&test).trim_end_matches('.'))
        }
        _ => clause(&alike[0]),
    })
}

/// Whether it is the answer of an output's own admission test.
fn is_test(reason: &Reason) -> bool {
    !matches!(
        reason.finding,
        Finding::Late { .. } | Finding::Unbounded { .. } | Finding::QueueTooSmall { .. }
    )
}

/// A reason in a clause of a shared sentence, or in a sentence of its own.
fn clause(reason: &Reason) -> String {
    let class = reason.class.as_deref();
    let name = class.unwrap_or("the link");
    match &reason.finding {
        Finding::DeadlinesHold => "Every deadline holds.".to_owned(),
        Finding::NoDeadline => {
            "No class has a deadline. A class that keeps to its arrival curve is delayed no \
                                longer than its bound."
                .to_owned()
        }
        Finding::NoRealTimeClass => {
            "There is no real-time class, so nothing is promised.".to_owned()
        }
        Finding::NoRealTimeCurve => {
            "There is no real-time curve, so nothing is promised.".to_owned()
        }
        Finding::NoGap => "No class has a gap, so no window is promised.".to_owned(),
        Finding::NoPromise { .. } => {
            "No class that tells what it sends has a deadline. One that keeps to its \
                                      arrival curve is delayed no longer than its bound."
                .to_owned()
        }
        Finding::PromisesHold => {
            "Every promise holds, at every output and from end to end.".to_owned()
        }
        Finding::FramesHold => {
            "Every class has its frames, and no frame is reserved beyond its capacity.".to_owned()
        }
        Finding::Tightest(span) => tightest(class, span),
        Finding::Interval(span) if class.is_some() => tightest(class, span),
        Finding::RatesFit => "The rates fit at every level.".to_owned(),
        Finding::CurvesFit { long_run_bps, link_bps, fullest } => {
            curves_fit(*long_run_bps, *link_bps, fullest.as_ref())
        }
        Finding::WindowsHold { needed_tenths, services, utilization, covers_sliding } => format!(
            "Consecutive windows are kept: in a gap the streams need {} services on average, and the \
             link begins at least {}; they cannot do without {} of it. That holds while \
             all streams are in step, their first packets whole gaps apart and every other there \
             before the last one is due.{}",
            tenths(*needed_tenths),
            count(*services),
            quantity::percent(*utilization),
            if *covers_sliding {
                ""
            } else {
                " A window that slides over two of them may lose up to twice its tolerance."
            },
        ),
        Finding::LeaveOut(out) => leave_out(out),
        Finding::NoTest { scheduler } => format!(
            "{scheduler} has no admission test here: it promises no delay. Check the plan with \
             --scheduler edf to see what deadlines can be promised."
        ),
        Finding::VaryingRate => {
            "Nothing is proved: the rate of the link changes over time, or it may be late, \
                                 and of the disciplines EDF alone has a test for that."
                .to_owned()
        }
        Finding::WindowsUnproved { why, utilization } => {
            let culprit = class.map_or(String::new(), |class| format!(" (class {class})"));
            let utilization = quantity::percent(*utilization);
            format!(
                "Not proved: {why}{culprit}. The streams cannot do without {utilization} of the link."
            )
        }
        Finding::DeadlineUnproved => {
            format!("It proves no delay, so the deadline of {name} is no promise.")
        }
        Finding::DropsUncounted => format!(
            "What {name} drops before it is late, by its `queue` or `police`, is lost beside that, \
             so its windows are no promise."
        ),
        Finding::Late { deadline_ns, bound_ns } => format!(
            "{} is to take no more than {}, but may take {}",
            subject(reason),
            time(*deadline_ns as f64),
            time(*bound_ns as f64)
        ),
        Finding::Unbounded { deadline_ns: Some(_), why } => {
            format!("{} may take any time: {why}", subject(reason))
        }
        Finding::Unbounded { deadline_ns: None, why } => {
            format!("{} has no bound: {why}", subject(reason))
        }
        Finding::Interval(span) => {
            let [length, demand, capacity] = span_words(span);
            format!(
                "in an interval of {length} up to {demand} bytes may be due, but the link sends only {capacity}"
            )
        }
        Finding::EndlessInterval => {
            format!("in some interval more may be due than {name} sends, longer than can be told")
        }
        Finding::CurvesOverbooked(excess) => curves_overbooked(class, *excess),
        Finding::RatesOverbooked { asked_bps, given_bps } => {
            let (asked, given) = two_rates(Rate(*asked_bps), Rate(*given_bps));
            match class {
                Some(name) => {
                    format!(
                        "in class {name}: its classes' rates sum to {asked}, {name} has {given}"
                    )
                }
                None => format!("the rates at the top sum to {asked}, the link has {given}"),
            }
        }
        Finding::Overloaded { utilization, shed } => format!(
            "No scheduler keeps all windows if packets are as long as they may be: the streams cannot \
             do without {} of the link.{}",
            quantity::percent(*utilization),
            without(shed, "It would not be overloaded")
        ),
        Finding::TooFewServices { needed_tenths, services, lengths_differ, shed } => format!(
            "Windows may be violated: in a gap the streams need {} services on average, but the \
             link is sure to begin only {}{}.{}",
            tenths(*needed_tenths),
            count(*services),
            if *lengths_differ { ", counting every packet as long as the longest" } else { "" },
            without(shed, "The rest fits")
        ),
        Finding::QueueTooSmall { needed_bytes } => format!(
            "up to {} bytes of {name} may wait, more than its queue holds: raise its `limit`",
            count(*needed_bytes)
        ),
        Finding::ClockError(Clocks { error_ns, borne_ns, binding }) => format!(
            "clocks may be wrong by {}, and no more than {} is borne, as {}",
            time(*error_ns as f64),
            time(*borne_ns as f64),
            clock_binding(binding)
        ),
    }
}

/// A class and, in a network, where it is late.
fn subject(reason: &Reason) -> String {
    let class = reason.class.as_deref().unwrap_or("the link");
    match &reason.place {
        Place::Whole {} => class.to_owned(),
        Place::Output { at } => format!("{class} at {at},"),
        Place::Path { path } => format!("{class} from end to end, {},", path.join(" → ")),
    }
}

fn tightest(class: Option<&str>, span: &Span) -> String {
    let [length, demand, capacity] = span_words(span);
    match class {
        None => format!(
            "It is tightest in an interval of {length}: up to {demand} bytes may be due in it, and the \
             link sends {capacity}."
        ),
        Some(name) => format!(
            "Inside {name} an interval of {length} is the tightest: up to {demand} bytes may be due in it, \
             and {name} can be sure of {capacity}."
        ),
    }
}

fn curves_fit(long_run_bps: u64, link_bps: u64, fullest: Option<&Span>) -> String {
    let (promised, link) = two_rates(Rate(long_run_bps), Rate(link_bps));
    let fullest = fullest.map_or(String::new(), |span| {
        let [length, demand, capacity] = span_words(span);
        format!(", and at first up to {demand} bytes within {length}, in which the link sends {capacity}")
    });
    format!(
        "Every real-time curve is kept: they sum to {promised} of the link's {link} in the long run{fullest}."
    )
}

fn curves_overbooked(class: Option<&str>, excess: Excess) -> String {
    let (asked, given) = sums(excess);
    match (class, excess) {
        (Some(name), _) => {
            format!("in class {name}: its classes' curves sum to {asked}, {name} has {given}")
        }
        (None, Excess::Lasting { .. }) => {
            format!("in the long run they sum to {asked}, but the link has only {given}")
        }
        (None, Excess::Passing(span)) => {
            let [length, demand, capacity] = span_words(&span);
            format!(
                "within {length} they sum to {demand} bytes, but the link sends only {capacity}"
            )
        }
    }
}

/// The larger and the smaller sum of an excess, with units.
pub(super) fn sums(excess: Excess) -> (String, String) {
    match excess {
        Excess::Lasting { asked_bps, given_bps } => two_rates(Rate(asked_bps), Rate(given_bps)),
        Excess::Passing(span) => {
            let [length, demand, capacity] = span_words(&span);
            (format!("{demand} bytes within {length}"), capacity)
        }
    }
}

/// Length, demand and capacity.
fn span_words(span: &Span) -> [String; 3] {
    [time(span.length_ns as f64), count(span.demand_bytes), count(span.capacity_bytes)]
}

fn without(shed: &[SurplusStreams], then: &str) -> String {
    if shed.is_empty() {
        return String::new();
    }
    let part = |SurplusStreams { class, streams, count: of }: &SurplusStreams| {
        format!("{} of the {} streams of {class}", count((*streams).into()), count((*of).into()))
    };
    format!(" {then} without {}.", listed(&shed.iter().map(part).collect::<Vec<_>>()))
}

fn leave_out(out: &SurplusClasses) -> String {
    let names = listed(&out.classes);
    match out.fewest {
        Some(fewest) if fewest == out.classes.len() => {
            format!("Without {names} the others fit, and no fewer can be left out.")
        }
        Some(0) => {
            format!("Without {names} the others fit; whether all do was too hard to decide.")
        }
        Some(fewest) => format!(
            "Without {names} the others fit; at least {fewest} must be left out, and whether so few \
             are enough was too hard to decide."
        ),
        None => {
            format!(
                "Without {names} the others fit; whether fewer would do, `assignment = \"exact\"` tells."
            )
        }
    }
}

/// What a larger error of clocks breaks first.
pub fn clock_binding(binding: &ClockBinding) -> String {
    match binding {
        ClockBinding::Late { at } => {
            format!("packets would come over {at} when their frame has begun")
        }
        ClockBinding::Full { at } => format!("the fullest frame of {at} would outlast it"),
        ClockBinding::Marks => "marks would be taken for those of other frames".to_owned(),
    }
}

fn tenths(tenths: u64) -> String {
    match tenths % 10 {
        0 => count(tenths / 10),
        tenth => format!("{}.{tenth}", count(tenths / 10)),
    }
}

/// Two rates as people read them, in full where that would not tell them apart.
pub(super) fn two_rates(a: Rate, b: Rate) -> (String, String) {
    let short = |rate: Rate| quantity::rate(rate.0 as f64);
    let long = |rate: Rate| format!("{}\u{a0}bit/s", count(rate.0));
    if a != b && short(a) == short(b) { (long(a), long(b)) } else { (short(a), short(b)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_that_differ_look_different() {
        let (asked, given) = two_rates(Rate(10_064_000), Rate(10_000_000));
        assert_eq!((asked.as_str(), given.as_str()), ("10.06\u{a0}Mbit/s", "10\u{a0}Mbit/s"));
        let (asked, given) = two_rates(Rate(10_000_001), Rate(10_000_000));
        assert_ne!(asked, given);
    }

    #[test]
    fn reasons_of_a_kind_share_a_sentence() {
        let late = |name: &str| {
            Reason::class(name, Finding::Late { deadline_ns: 5_000_000, bound_ns: 6_000_000 })
        };
        let small = Reason::class("a", Finding::QueueTooSmall { needed_bytes: 2_000 });
        let link =
            statement(&[late("a"), late("b"), small.clone()]).replace(['\u{a0}', '\u{202f}'], " ");
        assert_eq!(
            link,
            "Not every deadline holds: a is to take no more than 5 ms, but may take 6 ms; b is to take no \
             more than 5 ms, but may take 6 ms. Not every queue holds what may wait: up to 2 000 bytes of a \
             may wait, more than its queue holds: raise its `limit`."
        );
        let at = |reason: Reason| reason.at("x → y".to_owned());
        let rates = Finding::RatesOverbooked { asked_bps: 2_000, given_bps: 1_000 };
        let network = statement(&[
            late("a").over(vec!["x".into(), "y".into()]),
            at(Reason::whole(rates)),
            at(late("a")),
            at(small),
        ]);
        assert_eq!(
            network.replace(['\u{a0}', '\u{202f}'], " "),
            "Not every promise holds: a from end to end, x → y, is to take no more than 5 ms, but may take \
             6 ms; at x → y: More is promised than there is; the rates at the top sum to 2 kbit/s, the link \
             has 1 kbit/s. There a class that is always busy may lock others out; a at x → y, is to take no \
             more than 5 ms, but may take 6 ms; at x → y: up to 2 000 bytes of a may wait, more than its \
             queue holds: raise its `limit`."
        );
    }
}
