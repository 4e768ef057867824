//! `stab`: what the kernel counts for a packet, looked up by its length (`tc_sizespec`).

use super::attributes::{Attributes, find, words};
use crate::setup::SizeTable;

/// TCA_STAB_BASE and TCA_STAB_DATA.
const STAB: [u16; 2] = [1, 2];
/// TC_LINKLAYER_ETHERNET and TC_LINKLAYER_ATM.
const LINK_LAYERS: [u32; 2] = [1, 2];
/// The most entries of a table that fits into an attribute.
const MOST: u32 = 16_384;
/// The largest shift of lengths and of entries that the kernel takes (STAB_SIZE_LOG_MAX).
const MOST_LOG: u8 = 30;

pub(super) fn attributes(stab: &SizeTable) -> Vec<u8> {
    let tsize = stab.tsize.min(MOST);
    let fits = |log: &u8| stab.mtu.saturating_sub(1) >> log < tsize;
    let cell_log = if tsize == 0 { 0 } else { (0..MOST_LOG).find(fits).unwrap_or(MOST_LOG) };
    let sizes: Vec<u64> =
        (1..=u64::from(tsize)).map(|entry| adjusted(entry << cell_log, stab)).collect();
    let largest = sizes.iter().max().copied().unwrap_or_default();
    let size_log = (0..MOST_LOG).find(|log| largest >> log <= u16::MAX.into()).unwrap_or(MOST_LOG);
    // An entry is of the lengths up to its own, so that one of exactly so much is not the next.
    let cell_align: i16 = if tsize > 0 { -1 } else { 0 };
    let base = [
        &[cell_log, size_log][..],
        &cell_align.to_ne_bytes(),
        &stab.overhead.to_ne_bytes(),
        &LINK_LAYERS[usize::from(stab.atm)].to_ne_bytes(),
        &stab.mpu.to_ne_bytes(),
        &stab.mtu.to_ne_bytes(),
        &tsize.to_ne_bytes(),
    ];
    let attributes = Attributes::default().with(STAB[0], &base.concat());
    let data = sizes.iter().flat_map(|size| ((size >> size_log) as u16).to_ne_bytes());
    let data: Vec<u8> = data.collect();
    if data.is_empty() { attributes.0 } else { attributes.with(STAB[1], &data).0 }
}

/// At least `mpu`, and in cells of ATM 53 bytes for each 48.
fn adjusted(size: u64, stab: &SizeTable) -> u64 {
    let size = size.max(stab.mpu.into());
    if stab.atm { size.div_ceil(48) * 53 } else { size }
}

pub(super) fn read(attributes: &[u8]) -> Option<SizeTable> {
    let [_, overhead, link_layer, mpu, mtu, tsize] = words(find(attributes, STAB[0])?)?;
    let atm = link_layer == LINK_LAYERS[1];
    let overhead = overhead as i32;
    let known = LINK_LAYERS.contains(&link_layer) && tsize <= MOST;
    known.then_some(SizeTable { overhead, mpu, atm, mtu, tsize })
}

#[cfg(test)]
mod tests;
