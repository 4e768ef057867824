//! What the claims are about, by their names in `claims.toml`.

pub const JITTER: &str = "jitter from end to end [ms]";
pub const RATIO: &str = "jitter under FIFO / under TDP";
pub const TRANSIT: &str = "TDP's jitter from the first transmission on [ms]";
pub const LOST: &str = "packets lost under TDP";
pub const LATE: &str = "packets later than their frame";
pub const BOUND: &str = "longest delay under TDP / its bound";
pub const LOAD: &str = "reserved load of the ring's links";
pub const FILLED: &str = "use of the busy links beside best effort";
pub const REFUSED: &str = "demands refused at 70 % load";
