//! An emulated link around a command.
//!
//! The command runs in a network namespace of its own, whose only way out is the link: `up` from
//! the command, `down` to it. All namespaces end with the process that made them, however that
//! ends.
//!
//! | module | what it is |
//! | --- | --- |
//! | [`place`] | the namespaces |
//! | [`masquerade`] | the way on to other machines |
//! | [`relay`] | services of this machine that only it reaches |
//! | [`program`] | the command |

pub mod masquerade;
pub mod place;
pub mod program;
pub mod relay;

pub use masquerade::Masquerade;
pub use place::Place;
pub use program::{Ending, Program};
pub use relay::Relays;
