//! Against the definition, and the theorems.

mod dispatches;
mod guarantees;
mod reference;
