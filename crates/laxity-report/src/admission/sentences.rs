//! Sentences that the answers of several tests have in common.

use laxity::admit::Unbounded;
use laxity::units::{Nanos, Rate};
use laxity_plan::Plan;

use crate::quantity;

/// What an admission test answers, as everything prints it.
pub fn line(admitted: Option<bool>, statement: &str) -> String {
    let word = match admitted {
        Some(true) => "Admitted. ",
        Some(false) => "NOT ADMITTED. ",
        None => "",
    };
    format!("{word}{statement}")
}

/// Parts of a sentence, all of them: who mends a plan needs to know every one.
pub(crate) fn listed(parts: &[String]) -> String {
    parts.join("; ")
}

/// Whether all deadlines are within the classes' bounds, and a sentence that says so; `None` if no
/// class has one.
pub(super) fn deadlines(
    plan: &Plan,
    bounds: &[Result<Nanos, Unbounded>],
) -> Option<(bool, String)> {
    let time = |time: Nanos| quantity::time(time.0 as f64);
    let promised = || {
        let classes = plan.classes.iter().zip(bounds);
        classes.filter_map(|(class, bound)| Some((&class.name, class.deadline?, bound)))
    };
    promised().next()?;
    let late = promised().filter_map(|(name, deadline, bound)| match bound {
        Ok(bound) if *bound <= deadline => None,
        Ok(bound) => Some(format!(
            "{name} is to take no more than {}, but may take {}",
            time(deadline),
            time(*bound)
        )),
        Err(why) => Some(format!("{name} may take any time: {why}")),
    });
    Some(match &late.collect::<Vec<_>>()[..] {
        [] => (true, "Every deadline holds.".to_string()),
        late => (false, format!("Not every deadline holds: {}.", listed(late))),
    })
}

/// Two rates as people read them, in full where that would not tell them apart.
pub(super) fn two_rates(a: Rate, b: Rate) -> (String, String) {
    let short = |rate: Rate| quantity::rate(rate.0 as f64);
    let long = |rate: Rate| format!("{}\u{a0}bit/s", quantity::count(rate.0));
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
}
