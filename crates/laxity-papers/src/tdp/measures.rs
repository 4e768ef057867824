//! Names of measurements in `claims.toml`.

pub(super) const JITTER: &str = "jitter from end to end [ms]";
pub(super) const RATIO: &str = "jitter under FIFO / under TDP";
pub(super) const TRANSIT: &str = "TDP's jitter from the first transmission on [ms]";
pub(super) const LOST: &str = "packets lost under TDP";
pub(super) const LATE: &str = "packets later than their frame";
pub(super) const BOUND: &str = "longest delay under TDP / its bound";
pub(super) const LOAD: &str = "reserved load of the ring's links";
pub(super) const FILLED: &str = "use of the busy links beside best effort";
pub(super) const REFUSED: &str = "demands refused at 70 % load";
