//! The plans of the experiments.

pub(super) const DELAY: &str = include_str!("../../../../papers/hfsc/plan.toml");
pub(super) const LINK_SHARING: &str = include_str!("../../../../papers/hfsc/link-sharing.toml");
pub(super) const DECOUPLING: &str = include_str!("../../../../papers/hfsc/decoupling.toml");
pub(super) const PUNISHMENT: &str = include_str!("../../../../papers/hfsc/punishment.toml");
pub(super) const CONFLICT: &str = include_str!("../../../../papers/hfsc/conflict.toml");
