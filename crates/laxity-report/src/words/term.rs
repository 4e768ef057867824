//! The terms of bounds in words.

use laxity::admit::Source;
use laxity::packet::ClassId;
use laxity_plan::Plan;

/// A term as the row of a table says it.
pub fn term(plan: &Plan, source: Source) -> String {
    let name = |class: ClassId| plan.classes[class.index()].name.as_str();
    match source {
        Source::Own => "its own packets".into(),
        Source::Before(class) => format!("packets of {} before it", name(class)),
        Source::Turns(class) => format!("turns of {}", name(class)),
        Source::Aggregate => "turns of the other classes of its aggregate".into(),
        Source::BestEffort => "best effort that is due before it".into(),
        Source::Share => "its guarantee is slower than the link".into(),
        Source::Blocking(Some(class)) => format!("a packet of {} is in the way", name(class)),
        Source::Blocking(None) => "another aggregate is in the way".into(),
        Source::Ahead(class) => format!("{} was served ahead of its share", name(class)),
        Source::Head => "its share competes with its longest packet".into(),
        Source::Slots => "virtual times are rounded to slots".into(),
        Source::Tins => "its tin waits for its threshold, and for the tins above".into(),
        Source::Latency => "service begins late".into(),
        Source::Stall => "the link may stall".into(),
        Source::Shaping => "links in front bring less".into(),
        Source::Elapsed => "it comes later than what is before it".into(),
        Source::Rounding => "times are rounded".into(),
        Source::Undivided => "the output, in one".into(),
        Source::Frame => "its time frame has not begun".into(),
        Source::Forwarding => "it is forwarded frame by frame".into(),
        Source::Beside => "links without frames, propagation and clocks".into(),
        Source::Propagation => "propagation".into(),
        Source::Jitter => "the wire may delay it further".into(),
        Source::Passed => "a regulator lets packets go first that passed it".into(),
        Source::Method => "the method takes the hops together".into(),
        _ => source.name().into(),
    }
}
