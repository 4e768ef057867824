//! Time-driven priority (Baldi et al. 2006).

mod blocking;
