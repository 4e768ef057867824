//! What is promised on a link while flows come and go.
//!
//! A book answers whether one more flow may come, by when its packets will have left, and, if it
//! may not come, why and what would fit. An answer is that of the [admission test](crate::admit)
//! of the whole link with the newcomer in it, but takes a small part of its time.

pub mod bookings;
mod demand;
pub mod edf;
pub mod path;
pub mod settling;
pub mod streams;
#[cfg(test)]
mod transitions;
