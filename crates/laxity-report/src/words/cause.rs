//! The causes of delays in words.

use laxity::explain::{self, Rule};
use laxity::packet::ClassId;
use laxity_answers::why::Cause;
use laxity_plan::Plan;

/// A cause as the row of a table says it, for a packet of this class.
pub fn cause(plan: &Plan, own: ClassId, cause: Cause) -> String {
    let name = |class: ClassId| plan.classes[class.index()].name.as_str();
    match cause {
        Cause::Wait(explain::Cause::OnLink(class)) => {
            format!("a packet of {} was on the link", name(class))
        }
        Cause::Wait(explain::Cause::Before(class, rule)) => {
            let whose =
                if class == own { "the same class".to_string() } else { name(class).into() };
            format!("packets of {whose}: {}", before(rule))
        }
        Cause::Wait(explain::Cause::Held(rule)) => format!("nothing was sent: {}", held(rule)),
        Cause::Wait(explain::Cause::SlowLink) => "the link was slower than its rate".into(),
        Cause::Wait(explain::Cause::LateChoice) => "the link was free and woke up late".into(),
        Cause::Transmission => "its own transmission".into(),
        Cause::SlowTransmission => "its own transmission, below the link's rate".into(),
        Cause::Propagation => "propagation".into(),
        Cause::Wire => "the wire delayed it further".into(),
        Cause::Regulator => "the regulator before the next link held it".into(),
        Cause::WireAndRegulator => "the wire and the regulator before the next link".into(),
    }
}

/// The rule of a cause alone; all of the cause if it has no rule.
pub fn rule(plan: &Plan, own: ClassId, of: Cause) -> String {
    match of {
        Cause::Wait(explain::Cause::Before(_, rule)) => before(rule).into(),
        Cause::Wait(explain::Cause::Held(rule)) => held(rule).into(),
        other => cause(plan, own, other),
    }
}

/// Why another packet went first.
fn before(rule: Rule) -> &'static str {
    match rule {
        Rule::ArrivalOrder => "they came first",
        Rule::EarlierDeadline => "their deadlines are earlier",
        Rule::BestEffort => "it is best effort, and they have a guarantee",
        Rule::VirtualFinish => "their virtual finishing times are smaller",
        Rule::Ineligible => "its class was ahead of its share",
        Rule::Turn => "it was their turn",
        Rule::NewFlow => "their flow was new",
        Rule::QueueShare => "their queue has the greater share",
        Rule::Tin => "their tin goes first",
        Rule::Shaper => "they were before it in the shaper",
        Rule::Level => "their level comes first",
        Rule::RealTimeCurve => "their real-time curve was to be kept",
        Rule::VirtualTime => "its class had the greater virtual time",
        Rule::UpperLimit => "an upper limit held its class back",
        Rule::EligibleTime => "it was not eligible yet",
        Rule::LossTolerance => "their stream tolerates less loss",
        Rule::TimeFrame => "its time frame comes later",
        Rule::Rank => "their rank is lower",
        Rule::Unseen => "they were sent before it",
        _ => "the scheduler does not say why",
    }
}

/// Why nothing was sent.
fn held(rule: Rule) -> &'static str {
    match rule {
        Rule::UpperLimit => "an upper limit held its class back",
        Rule::EligibleTime => "it was not eligible yet",
        Rule::Shaper => "the shaper held it back",
        Rule::TimeFrame => "its time frame had not begun, or had no room left",
        Rule::Unseen => "the reason is not seen from outside",
        _ => "the scheduler held it back",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rule has words of its own where it makes packets wait for others.
    #[test]
    fn every_rule_is_said() {
        let unsaid = Rule::ALL.iter().filter(|rule| before(**rule) == before(Rule::Scheduler));
        assert_eq!(unsaid.collect::<Vec<_>>(), [&Rule::Scheduler]);
    }
}
