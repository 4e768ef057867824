//! Which packets filters take.

mod bits;
mod filter;
mod set;

pub use bits::{Bits, service};
pub use filter::{bits, mask, taken};
pub use set::{FIELDS, Field, Packets, all_vlans, masked, one};
