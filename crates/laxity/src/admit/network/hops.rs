//! Total flow analysis: the sum of the delays at all servers of the path (Cruz 1991, part II; with
//! shaping by links, Mifdaoui, Leydier 2017). The delay at each server holds for all flows that
//! pass it.

use super::Tandem;
use crate::units::Nanos;

/// The delay over the path.
pub(super) fn delay(tandem: &Tandem) -> Nanos {
    tandem.servers.iter().map(|server| server.delay).fold(Nanos::ZERO, Nanos::saturating_add)
}
