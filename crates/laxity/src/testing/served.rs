//! Service curves against packets.

use proptest::prelude::*;

use super::SentPacket;
use crate::admit::Service;
use crate::curve::{ceil_nanos, exact};

/// Whether each of some packets, in their order, leaves within a service from when one of them
/// came, it or one before it, for that and all between.
pub(crate) fn served_by(service: &Service, packets: &[&SentPacket]) -> Result<(), TestCaseError> {
    prop_assert!(service.curve.is_nondecreasing());
    for (n, last) in packets.iter().enumerate() {
        let mut bytes = 0;
        let served = packets[..=n].iter().rev().filter_map(|first| {
            bytes += u64::from(first.dispatch.packet.length);
            let time = ceil_nanos(&service.curve.lower_pseudo_inverse(&exact(bytes))?)?;
            Some(first.dispatch.packet.arrival + time + service.late)
        });
        let latest = served.max();
        prop_assert!(latest >= Some(last.departure), "{latest:?} {}", last.departure);
    }
    Ok(())
}
