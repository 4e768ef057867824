//! The test against its definition, and against what links do.

mod definition;
mod left_over;
mod promises;
mod worst_case;

use proptest::prelude::*;
use proptest::sample::Index;

use super::System;
use crate::testing::systems;

/// Admitted systems: of any system the first classes that fit, and often the deadline of one class
/// as short as it may be.
fn admitted_systems() -> impl Strategy<Value = System> {
    let edge = prop::option::of(any::<Index>());
    let fitting = (systems(), edge).prop_map(|(mut system, edge)| {
        while !system.is_admitted() {
            system.real_time.pop();
        }
        if let Some(class) = edge.filter(|_| !system.real_time.is_empty()) {
            let class = class.index(system.real_time.len());
            let shortest = system.shortest_admitted_deadline(class);
            system.real_time[class].deadline = shortest.expect("it is admitted as it is");
        }
        system
    });
    fitting.prop_filter("no class fits", |system| !system.real_time.is_empty())
}
