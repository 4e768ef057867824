//! Conformance of the rooms of disciplines: what a room proves holds, and what it says of itself
//! agrees.

mod bounds;
mod breakdowns;
mod known;
