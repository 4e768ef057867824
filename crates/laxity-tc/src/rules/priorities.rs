//! How `prio` sorts packets that no filter takes (Linux, net/sched/sch_prio.c).

use laxity_plan::matching::Version;

use crate::notes::Notes;
use crate::packets::{Field, Packets, masked};
use crate::setup::Prio;

/// The bits of the DSCP that Linux takes a packet's priority from when it forwards it, and the
/// priorities of those that have one: TC_PRIO_BULK, TC_PRIO_INTERACTIVE_BULK, TC_PRIO_INTERACTIVE
/// (net/ipv4/route.c, ip_tos2prio).
const DSCP_MASK: u16 = 0b110;
const BY_DSCP: [(u16, usize); 3] = [(0b010, 2), (0b110, 4), (0b100, 6)];

/// What no filter takes and does not go to the usual band, as far as headers tell, and its band.
pub(super) fn unfiltered(prio: &Prio, line: usize, notes: &mut Notes) -> Vec<(Packets, u8)> {
    let usual = prio.priomap[0];
    let by_dscp = BY_DSCP.map(|(bits, priority)| (bits, prio.priomap[priority]));
    let marked: Vec<_> = by_dscp.into_iter().filter(|(_, band)| *band != usual).collect();
    if !marked.is_empty() {
        let text = "priomap: what no filter takes goes by its DSCP, of which Linux makes the \
                    priority of an IPv4 packet that it forwards";
        notes.reading(line, text);
    }
    if prio.priomap.iter().any(|band| *band != usual) {
        let text = "priomap: priorities that programs or netfilter set, which a capture does \
                    not have";
        notes.not_mapped(line, text);
    }
    let packets = |bits| {
        let mut packets = Packets::default();
        packets.require_version(Version::V4);
        if let Some(dscp) = masked(bits, DSCP_MASK, 6) {
            packets.with(Field::Dscp, &dscp);
        }
        packets
    };
    marked.into_iter().map(|(bits, band)| (packets(bits), band)).collect()
}
