//! Against the definition, and what it promises.

mod dispatches;
mod naive;
mod reference;
mod sharing;
