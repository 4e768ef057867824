//! What the bounds of static priority say about a plan.

use super::cells::cell;
use super::fair;
use super::room::{Room, Tested};
use crate::quantity;

pub(super) const ROOM: Room = Room {
    test: |plan| Some(fair::flat(plan)),
    tested: Tested::ByBounds,
    classes: |plan, answers| {
        let levels = plan.priority_levels();
        answers.iter_mut().for_each(|answer| answer.level = Some(levels[answer.id.index()]));
    },
    columns: |_, _| {
        vec![("level".to_owned(), cell(|class| class.level, |level| quantity::count(level.into())))]
    },
    mends: "",
};
