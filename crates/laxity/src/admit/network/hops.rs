//! Total flow analysis: what the servers of the path take, one after another (Cruz 1991, part II;
//! with what links shape, Mifdaoui, Leydier 2017). The delay at each is found with what comes to it
//! of all flows.

use super::Tandem;
use crate::units::Nanos;

/// The delay over the path.
pub(super) fn delay(tandem: &Tandem) -> Nanos {
    tandem.servers.iter().map(|server| server.delay).fold(Nanos::ZERO, Nanos::saturating_add)
}
