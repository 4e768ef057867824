//! Plans that are found: the smallest link, the shortest deadlines, weights that keep a measured
//! goal, with the proof of what was found.
//!
//! Values of some keys are sought with which the plan is admitted and runs under every seed keep
//! its promises and reach their goals. Of the keys that are to be small, one after the other is
//! made so, the others that come after it being as large as they may: by bisection, in steps of its
//! least unit where the admission test binds, else to a precision. Free keys are drawn from a Latin
//! hypercube and then by a tree-structured Parzen estimator. A value that is tried is run into a
//! [store](crate::sweep::Store), so that a search which was stopped goes on.
//!
//! | module | what it is |
//! | --- | --- |
//! | [`Tuning`] | the plan, the [keys](Key) that are sought, the [goals](Goal) |
//! | [`Trial`] | values, and what came of them |
//! | [`tune()`] | the search |
//! | [`TuneResult`] | what was found, and what binds |

mod goal;
mod key;
#[cfg(feature = "pages")]
mod pages;
mod question;
mod relocate;
mod requirements;
mod result;
mod sampler;
mod search;
#[cfg(all(test, feature = "pages"))]
mod tests;
mod trial;

pub use goal::{Goal, GoalResult, Limit};
pub use key::{Key, Kind};
pub use question::{Search, Tuning};
pub use result::{Below, Bound, Least, TuneResult, TunedKey};
pub use search::tune;
pub use trial::Trial;
