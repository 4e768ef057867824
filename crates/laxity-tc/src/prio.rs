//! `prio`: bands, of which the first that has packets is sent from (iproute2, tc/q_prio.c; Linux,
//! net/sched/sch_prio.c).

use std::ops::RangeInclusive;

use laxity_plan::error::Fault;
use laxity_plan::matching::Version;

use crate::args::Args;
use crate::command::Word;
use crate::error::Read;
use crate::notes::Notes;
use crate::packets::{Field, Packets, masked};
use crate::units::whole;

/// The fewest and the most bands.
const BANDS: RangeInclusive<u32> = 2..=16;
/// Which bits of the DSCP Linux takes a packet's priority from when it forwards it, and the
/// priorities of those that have one: TC_PRIO_BULK, TC_PRIO_INTERACTIVE_BULK, TC_PRIO_INTERACTIVE
/// (net/ipv4/route.c, ip_tos2prio).
const DSCP_MASK: u16 = 0b110;
const BY_DSCP: [(u16, usize); 3] = [(0b010, 2), (0b110, 4), (0b100, 6)];

/// How many bands there are, and to which one a packet of each priority goes that no filter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prio {
    pub bands: u16,
    /// By priority.
    map: [u16; 16],
}

impl Prio {
    /// The words after `prio`.
    pub fn read(kind: &Word, args: &mut Args<'_>) -> Read<Self> {
        let mut bands = 3;
        let mut map = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];
        while let Some(word) = args.next() {
            match word.text.as_str() {
                "bands" => {
                    let value = args.value("bands")?;
                    bands = whole(value, 10, "a number of bands")?;
                    if !BANDS.contains(&bands) {
                        return Err(value.fault("a number of bands", "prio has 2 to 16"));
                    }
                }
                // It is last: whatever follows is part of it.
                "priomap" => priomap(&mut map, args)?,
                // Linux does not look at it.
                "multiqueue" => {}
                _ => return Err(word.no_keyword("qdisc prio", "bands NUMBER, priomap BAND …")),
            }
        }
        if let Some(priority) = map.iter().position(|band| *band >= bands) {
            let message = format!(
                "the priomap sends priority {priority} to band {}, and the last one is {}",
                map[priority],
                bands - 1
            );
            return Err(Fault::at(&kind.span, message)
                .help("write `priomap` with 16 bands that there are; Linux refuses others"));
        }
        Ok(Prio { bands: bands as u16, map: map.map(|band| band as u16) })
    }

    /// The band of what no filter takes and has no priority.
    pub fn default_band(&self) -> u16 {
        self.map[0]
    }

    /// What no filter takes and does not go to the usual band, as far as headers tell, and its band.
    pub fn unfiltered(&self, line: usize, notes: &mut Notes) -> Vec<(Packets, u16)> {
        let by_dscp = BY_DSCP.map(|(bits, priority)| (bits, self.map[priority]));
        let marked: Vec<_> =
            by_dscp.into_iter().filter(|(_, band)| *band != self.default_band()).collect();
        if !marked.is_empty() {
            let text = "priomap: what no filter takes goes by its DSCP, of which Linux makes the \
                        priority of an IPv4 packet that it forwards";
            notes.reading(line, text);
        }
        if self.map.iter().any(|band| *band != self.default_band()) {
            let text = "priomap: priorities that programs or netfilter set, which a capture does \
                        not have";
            notes.not_mapped(line, text);
        }
        let packets = |bits| {
            let mut packets = Packets::default();
            packets.of_version(Version::V4);
            masked(bits, DSCP_MASK, 6).iter().for_each(|dscp| packets.with(Field::Dscp, dscp));
            packets
        };
        marked.into_iter().map(|(bits, band)| (packets(bits), band)).collect()
    }
}

/// The bands of the first priorities; those of the others stay.
fn priomap(map: &mut [u32; 16], args: &mut Args<'_>) -> Read<()> {
    let mut places = map.iter_mut();
    while let Some(word) = args.next() {
        if word.text == "multiqueue" {
            continue;
        }
        let band = whole(word, 10, "a band")?;
        let Some(place) = places.next() else {
            return Err(word.no_keyword("priomap", "16 bands, one for each priority"));
        };
        *place = band;
    }
    Ok(())
}
