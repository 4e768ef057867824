//! Verdicts in sentences.

use laxity_answers::verdict::{BrokenPromise, Promise, Verdict};

use super::reason::{answer, statement};
use crate::quantity::{count, time};

/// What is said before the list of broken promises, if anything: that the plan is not admitted, or
/// that nothing was broken.
pub fn headline(verdict: &Verdict) -> Option<String> {
    let refusal = verdict.is_refused().then(|| {
        let reasons = verdict.reasons.as_deref().unwrap_or_default();
        answer(verdict.admitted, &statement(reasons))
    });
    let unbroken = match (verdict.is_refused(), verdict.promised) {
        _ if !verdict.broken.is_empty() => None,
        (true, true) => Some("This time nothing was missed."),
        (true, false) => None,
        (false, true) => Some("Every promise was kept."),
        (false, false) => Some("No class was promised a delay."),
    };
    let parts: Vec<_> = refusal.into_iter().chain(unbroken.map(str::to_owned)).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// Everything that a verdict says, line by line.
pub fn lines(verdict: &Verdict) -> impl Iterator<Item = String> {
    headline(verdict).into_iter().chain(verdict.broken.iter().map(broken_line))
}

/// The verdicts of a comparison, line by line, each under its scheduler's name.
pub fn compared(runs: &[(&str, &Verdict)]) -> Vec<String> {
    let lines = runs.iter().flat_map(|(scheduler, verdict)| {
        lines(verdict).map(move |line| format!("{scheduler}: {line}"))
    });
    lines.chain(excused(runs)).collect()
}

/// The schedulers of a comparison that are not held to all that is found against them, in a
/// sentence.
pub fn excused(runs: &[(&str, &Verdict)]) -> Option<String> {
    let excused = runs.iter().filter(|(_, verdict)| verdict.is_excused());
    let names: Vec<_> = excused.map(|(scheduler, _)| *scheduler).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Compared as references, held only to what is proved under them: {}.",
            names.join(", ")
        )
    })
}

/// What was broken, behind a word that says whether the promise had been proved.
pub fn broken_line(one: &BrokenPromise) -> String {
    format!("{}: {}", if one.proved { "BROKEN" } else { "LATE" }, broken(one))
}

/// What a class was promised and did not get, in one line.
pub fn broken(broken: &BrokenPromise) -> String {
    let (number, noun, what) = match broken.promise {
        Promise::Deadline { deadline_ns, misses } => {
            (misses, "packet", format!("missed the deadline of {}", time(deadline_ns as f64)))
        }
        Promise::Bound { bound_ns, misses } => {
            (misses, "packet", format!("exceeded the proved bound of {}", time(bound_ns as f64)))
        }
        Promise::Room { dropped } => (dropped, "packet", "found the queue full".into()),
        Promise::Management { dropped } => {
            (dropped, "packet", format!("{} dropped to keep the queue short", were(dropped)))
        }
        Promise::Late { dropped } => {
            (dropped, "packet", format!("{} dropped for being late", were(dropped)))
        }
        Promise::Frame { dropped } => {
            (dropped, "packet", format!("had no frame and {} dropped", were(dropped)))
        }
        Promise::Windows { violations, windows } => {
            (violations, "window", format!("of {} lost more than tolerated", count(windows)))
        }
        Promise::Consecutive { violations, windows } => {
            let what = format!("of {} lost more than was proved", count(windows));
            (violations, "consecutive window", what)
        }
    };
    let plural = if number == 1 { "" } else { "s" };
    let at = broken.at.as_ref().map_or(String::new(), |at| format!(" at {at}"));
    let nonconforming = match broken.nonconforming {
        0 => String::new(),
        1 => " (1 of its packets broke its arrival curve)".to_owned(),
        n => format!(" ({} of its packets broke its arrival curve)", count(n)),
    };
    let seeds = match &broken.seeds[..] {
        [] => String::new(),
        [one] => format!(", with seed {one}"),
        more => format!(", with {} seeds", more.len()),
    };
    format!("{}{at}: {} {noun}{plural} {what}{nonconforming}{seeds}", broken.class, count(number))
}

fn were(number: u64) -> &'static str {
    if number == 1 { "was" } else { "were" }
}

#[cfg(test)]
mod tests {
    use laxity_sim::summary::WindowSummary;

    use laxity_answers::seeds::Seeds;
    use laxity_answers::verdict::{HeldTo, broken as broken_in};
    use laxity_sim::summary::Summary;

    use super::*;
    use crate::seeds::figures_table;
    use crate::testing::sample;

    fn broken_by_all(summary: &Summary) -> Vec<BrokenPromise> {
        broken_in(&sample::plan(), summary)
    }

    #[test]
    fn misses_of_the_deadline_and_of_the_bound_are_broken_promises() {
        let (mut summary, _) = sample::run(1, 1);
        assert!(broken_by_all(&summary).is_empty());
        let class = &mut summary.hops[0].classes[0];
        class.deadline_misses = 2;
        (class.bound_ns, class.bound_misses) = (Some(1_000), 1);
        assert!(broken_by_all(&summary).iter().all(|broken| broken.proved));
        let said: Vec<String> =
            broken_by_all(&summary).iter().map(|b| broken(b).replace('\u{a0}', " ")).collect();
        assert_eq!(said[0], "rt-0: 2 packets missed the deadline of 10 ms");
        assert_eq!(said[1], "rt-0: 1 packet exceeded the proved bound of 1 µs");
    }

    #[test]
    fn a_deadline_below_the_bound_was_not_proved() {
        let (mut summary, _) = sample::run(1, 1);
        let class = &mut summary.hops[0].classes[0];
        class.deadline_misses = 2;
        class.bound_ns = class.deadline_ns.map(|deadline| deadline + 1);
        assert!(broken_by_all(&summary).iter().all(|broken| !broken.proved));
    }

    #[test]
    fn a_class_that_tolerates_losses_is_owed_its_windows() {
        let (mut summary, _) = sample::run(1, 1);
        let class = &mut summary.hops[0].classes[0];
        (class.deadline_misses, class.windows) = (2, Some(sample::windows(0)));
        class.dropped = [("queue-full", 2)].into();
        assert!(broken_by_all(&summary).is_empty());
        summary.hops[0].classes[0].windows = Some(sample::windows(3));
        let [sliding] = &broken_by_all(&summary)[..] else { panic!("sliding windows alone") };
        assert!(!sliding.proved);
        assert_eq!(broken(sliding), "rt-0: 3 windows of 19 lost more than tolerated");
        let violated = WindowSummary { consecutive_violations: 1, ..*sample::windows(1) };
        summary.hops[0].classes[0].windows = Some(Box::new(violated.clone()));
        let [consecutive, sliding] = &broken_by_all(&summary)[..] else { panic!("both") };
        assert!(consecutive.proved && !sliding.proved);
        assert_eq!(
            broken(consecutive),
            "rt-0: 1 consecutive window of 1 lost more than was proved"
        );
        assert_eq!(broken(sliding), "rt-0: 1 window of 19 lost more than tolerated");
        summary.hops[0].classes[0].windows =
            Some(Box::new(WindowSummary { proved: false, ..violated }));
        assert_eq!(broken_by_all(&summary), std::slice::from_ref(sliding));
        summary.hops[0].classes[0].deadline_ns = None;
        summary.hops[0].classes[0].bound_ns = None;
        assert!(sample::judged(&summary).verdict.promised);
    }

    #[test]
    fn a_class_without_a_deadline_is_owed_its_bound_for_what_conforms() {
        let (mut summary, _) = sample::run(1, 1);
        let class = &mut summary.hops[0].classes[1];
        (class.bound_ns, class.bound_misses) = (Some(1_000), 1);
        assert_eq!(broken_by_all(&summary).len(), 1);
        summary.hops[0].classes[1].nonconforming = 1;
        assert!(broken_by_all(&summary).is_empty());
    }

    #[test]
    fn what_one_seed_breaks_is_broken() {
        let (kept, _) = sample::run(1, 1);
        let mut late = kept.clone();
        (late.seed, late.hops[0].classes[0].deadline_misses) = (2, 3);
        let mut later = late.clone();
        (later.seed, later.hops[0].classes[0].deadline_misses) = (4, 5);
        let seeds = Seeds::new(&sample::plan(), HeldTo::Plan, None, vec![kept, late, later]);
        assert!(!seeds.verdict.kept && seeds.runs[0].verdict.kept);
        let [late] = &seeds.verdict.broken[..] else { panic!("{:?}", seeds.verdict) };
        assert_eq!(late.seeds, [2, 4]);
        let said = broken(late).replace('\u{a0}', " ");
        assert_eq!(said, "rt-0: 8 packets missed the deadline of 10 ms, with 2 seeds");
        let of = |name| seeds.figures.iter().find(|figure| figure.figure == name).unwrap();
        assert_eq!((of("deadline_misses").mean, of("deadline_misses").max), (8.0 / 3.0, 5.0));
        assert_eq!(of("sent").half_width, Some(0.0));
        assert!(figures_table(&seeds).contains("missed"));
    }
}
