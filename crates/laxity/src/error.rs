//! Why a discipline or a queue management refuses its settings.

use core::fmt::{self, Display};
use core::ops::RangeInclusive;

use crate::packet::ClassId;

/// A setting, or a change of one, that a scheduler or a queue management refuses. The message says
/// what is wrong and what is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// A number is too small or too large.
    #[error("{what}{} is {given}: accepted is {}", class_suffix(.class), from_to(.least, .most))]
    OutOfRange {
        /// The name of the number, with its unit.
        what: &'static str,
        /// The class that the number belongs to; `None` if it is not a class's.
        class: Option<ClassId>,
        /// The number.
        given: u64,
        /// The least that is accepted.
        least: u64,
        /// The greatest that is accepted.
        most: u64,
    },
    /// There is no such class.
    #[error("there is no class {}", .0.0)]
    NoClass(ClassId),
    /// A class that is its own ancestor.
    #[error("class {} lies below itself: from every class, parents lead to the top", .0.0)]
    Cycle(ClassId),
    /// Only leaves have real-time curves.
    #[error("class {} has classes below it, so it cannot have a real-time curve", .0.0)]
    RealTimeAbove(ClassId),
    /// Neither a real-time nor a link-sharing curve, or an interior class without the latter.
    #[error("class {} has no curve to be served by", .0.0)]
    NoCurve(ClassId),
    /// An upper limit without a link-sharing curve to limit.
    #[error("class {} has an upper limit but no link-sharing curve to limit", .0.0)]
    LimitAlone(ClassId),
    /// A class with classes below it cannot go.
    #[error("class {} has classes below it", .0.0)]
    HasChildren(ClassId),
    /// A class with packets queued cannot become a parent.
    #[error("class {} has packets queued, so it cannot become a parent", .0.0)]
    HasPackets(ClassId),
    /// A scheduler below a share that is not there, or has shares below it.
    #[error("no scheduler can stand below share {}: it takes one with no shares below it", .0.0)]
    NotALeaf(ClassId),
    /// Two schedulers below one share.
    #[error("share {} has two schedulers: each takes a share of its own", .0.0)]
    TwoSchedulers(ClassId),
    /// Two schedulers list the same class.
    #[error("class {} is in two places: its packets go to one scheduler", .0.0)]
    TwoPlaces(ClassId),
    /// A class that belongs to a queue that is not there.
    #[error("class {} belongs to queue {queue}, counted from 0, and there are {queues}", .class.0)]
    NoQueue {
        /// The class.
        class: ClassId,
        /// The queue's position as given, counted from 0.
        queue: usize,
        /// How many queues there are.
        queues: usize,
    },
    /// The streams of a class take neighbouring slots, and there is no gap that is long enough.
    #[error("there is no room for {count} more streams: together there are at most {most}")]
    NoRoom {
        /// How many streams the class has.
        count: u32,
        /// The most streams of all classes together.
        most: u32,
    },
}

/// Refuses a number outside of the accepted range.
pub(crate) fn check(
    what: &'static str,
    given: u64,
    accepted: RangeInclusive<u64>,
) -> Result<(), SetupError> {
    check_of(what, None::<ClassId>, given, accepted)
}

/// Refuses a class's number outside of the accepted range.
pub(crate) fn check_of(
    what: &'static str,
    class: impl Into<Option<ClassId>>,
    given: u64,
    accepted: RangeInclusive<u64>,
) -> Result<(), SetupError> {
    if accepted.contains(&given) {
        return Ok(());
    }
    let (least, most) = accepted.into_inner();
    Err(SetupError::OutOfRange { what, class: class.into(), given, least, most })
}

fn class_suffix(class: &Option<ClassId>) -> impl Display {
    fmt::from_fn(move |f| match class {
        Some(class) => write!(f, " of class {}", class.0),
        None => Ok(()),
    })
}

fn from_to(least: &u64, most: &u64) -> impl Display {
    fmt::from_fn(move |f| match *most {
        u64::MAX => write!(f, "at least {least}"),
        most => write!(f, "{least} to {most}"),
    })
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn a_number_out_of_range_is_told_with_what_is_accepted() {
        assert_eq!(check("the gap in ns", 1, 1..=u64::MAX), Ok(()));
        let refused = check("the gap in ns", 0, 1..=u64::MAX).unwrap_err().to_string();
        assert_eq!(refused, "the gap in ns is 0: accepted is at least 1");
        let refused = check_of("the guard in ns", ClassId(3), 9, 0..=8).unwrap_err().to_string();
        assert_eq!(refused, "the guard in ns of class 3 is 9: accepted is 0 to 8");
    }
}
