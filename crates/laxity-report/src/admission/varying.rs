//! What is said of a plan whose link has a rate that changes, under a discipline of which nothing is proved then.

use super::outcome::{Admission, Test};
use super::room::{Room, Tested, UNTESTED};

pub(super) const ROOM: Room = Room {
    test: |plan| {
        Some(Admission {
            admitted: None,
            statement: "Nothing is proved: the rate of the link changes over time, or it may be late, and of the \
                        disciplines EDF alone has a test for that."
                .to_string(),
            bounds: plan.bounds(),
            test: Test::Flat,
        })
    },
    tested: Tested::ByBounds,
    ..UNTESTED
};
