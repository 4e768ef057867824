//! Which packets filters take.

mod bits;
mod filter;
mod set;

pub(crate) use bits::{Bits, service};
pub(crate) use filter::{bits, mask, taken};
pub(crate) use set::{FIELDS, Field, PORTS, Packets, all_vlans, masked, one, with_all};
