//! The calls of a simulation.

use laxity::packet::ClassId;
use laxity::units::Nanos;

use super::Dist;

/// `[[request]]`: calls that come and go, each a class like this one while it lasts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RequestSpec {
    /// The class that each asks for.
    pub class: ClassId,
    /// The time from one call to the next.
    pub every: Dist<Nanos>,
    /// How long each lasts from when it asks.
    pub holding: Dist<Nanos>,
}
