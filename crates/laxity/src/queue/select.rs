//! Choosing without a branch.

/// `yes` if the condition holds, else `no`, by arithmetic: a wide value would be chosen by a jump,
/// which is mispredicted half of the time.
pub(super) fn select(condition: bool, yes: u128, no: u128) -> u128 {
    let mask = u64::from(condition).wrapping_neg();
    let half = |yes: u64, no: u64| no ^ ((no ^ yes) & mask);
    let high = half((yes >> 64) as u64, (no >> 64) as u64);
    u128::from(high) << 64 | u128::from(half(yes as u64, no as u64))
}
