//! The primitives that threads share: from the standard library, or in the model from loom, which
//! tries every interleaving.

#[cfg(all(loom, test))]
mod model;
#[cfg(not(all(loom, test)))]
mod system;

#[cfg(all(loom, test))]
pub(crate) use model::*;
#[cfg(not(all(loom, test)))]
pub(crate) use system::*;
