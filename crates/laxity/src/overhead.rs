//! The bytes that a link adds to the frames sent over it.
//!
//! A modem behind an Ethernet port carries more than the bytes that leave the port: its own headers
//! and check sequences, preambles and gaps, and on some links whole cells. A shaper in front of
//! such a link has to count what the link carries.

/// The size of a frame on a link, as a function of its size on Ethernet.
///
/// The frame is an Ethernet frame with its header and without its check sequence, as an interface
/// sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overhead {
    /// Bytes added to every frame; negative if the link replaces the Ethernet header by a shorter
    /// one.
    pub bytes: i32,
    /// Minimum size of a frame in bytes, before it is cut into cells.
    pub at_least: u32,
    /// The cells or code words of the link.
    pub framing: Framing,
}

/// How a link cuts frames up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Framing {
    /// They are sent whole.
    #[default]
    Whole,
    /// ATM cells with 48 bytes of it in 53, the last one padded (ITU-T I.361).
    Atm,
    /// Code words with 64 bytes of it in 65, as VDSL2's packet transfer mode has them (IEEE 802.3,
    /// 61.3.3). The synchronizing byte of a code word that has begun counts.
    Ptm,
}

/// The header of an Ethernet frame, which access links replace or carry along.
const HEADER: i32 = 14;

impl Overhead {
    /// Nothing is added.
    pub const NONE: Overhead = Overhead { bytes: 0, at_least: 0, framing: Framing::Whole };

    /// The links that have a name, as in `tc-cake(8)`. There the bytes are counted from the IP
    /// packet.
    pub const NAMED: [(&'static str, Overhead); 12] = [
        // Header, check sequence, preamble with its delimiter, and gap (IEEE 802.3).
        ("ethernet", Overhead::from_ip(38, Framing::Whole)),
        // Header and check sequence; frames are padded to 64 bytes.
        ("docsis", Overhead { at_least: 64, ..Overhead::from_ip(18, Framing::Whole) }),
        ("pppoe-ptm", Overhead::from_ip(30, Framing::Ptm)),
        ("bridged-ptm", Overhead::from_ip(22, Framing::Ptm)),
        ("ipoa-vcmux", Overhead::from_ip(8, Framing::Atm)),
        ("ipoa-llcsnap", Overhead::from_ip(16, Framing::Atm)),
        ("pppoa-vcmux", Overhead::from_ip(10, Framing::Atm)),
        ("pppoa-llc", Overhead::from_ip(14, Framing::Atm)),
        ("pppoe-vcmux", Overhead::from_ip(32, Framing::Atm)),
        ("pppoe-llcsnap", Overhead::from_ip(40, Framing::Atm)),
        ("bridged-vcmux", Overhead::from_ip(24, Framing::Atm)),
        ("bridged-llcsnap", Overhead::from_ip(32, Framing::Atm)),
    ];

    /// An overhead given around the IP packet, without the Ethernet header.
    const fn from_ip(bytes: i32, framing: Framing) -> Overhead {
        Overhead { bytes: bytes - HEADER, at_least: 0, framing }
    }

    /// Bytes of the link for a frame of `frame` bytes: at least 1.
    pub fn on_link(&self, frame: u32) -> u32 {
        let whole = frame.saturating_add_signed(self.bytes).max(self.at_least).max(1);
        match self.framing {
            Framing::Whole => whole,
            Framing::Atm => whole.div_ceil(48).saturating_mul(53),
            Framing::Ptm => whole.saturating_add(whole.div_ceil(64)),
        }
    }

    /// Bytes of the link for an IP packet of `packet` bytes that was captured without a link
    /// header.
    pub fn on_link_of_ip(&self, packet: u32) -> u32 {
        if *self == Overhead::NONE {
            packet.max(1)
        } else {
            self.on_link(packet.saturating_add_signed(HEADER))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn named(name: &str) -> Overhead {
        Overhead::NAMED.into_iter().find(|(word, _)| *word == name).unwrap().1
    }

    /// A full frame of Ethernet takes 1538 bytes. A TCP acknowledgement of 40 bytes fits into one
    /// cell where nothing but AAL5's trailer of 8 goes with it, and into two where there is any
    /// header.
    #[test]
    fn links_carry_what_their_standards_say() {
        assert_eq!(named("ethernet").on_link(1514), 1538);
        assert_eq!(named("docsis").on_link(1514), 1518);
        assert_eq!(named("docsis").on_link(54), 64);
        assert_eq!(named("pppoa-vcmux").on_link_of_ip(38), 53);
        assert_eq!(named("pppoa-vcmux").on_link_of_ip(40), 106);
        assert_eq!(named("ipoa-vcmux").on_link_of_ip(40), 53);
        assert_eq!(named("pppoe-llcsnap").on_link_of_ip(1492), 32 * 53);
        assert_eq!(named("bridged-ptm").on_link_of_ip(1500), 1522 + 24);
        assert_eq!(Overhead::NONE.on_link_of_ip(40), 40);
    }

    proptest! {
        /// A longer frame never takes less of the link, and none takes nothing.
        #[test]
        fn longer_frames_take_no_less(
            bytes in -64i32..1_000, at_least in 0u32..1_000, framing in 0usize..3,
            frame in any::<u32>(), longer in 0u32..10_000,
        ) {
            let framing = [Framing::Whole, Framing::Atm, Framing::Ptm][framing];
            let overhead = Overhead { bytes, at_least, framing };
            let short = overhead.on_link(frame);
            prop_assert!(short >= 1);
            prop_assert!(overhead.on_link(frame.saturating_add(longer)) >= short);
        }

        /// Cells carry all that there is, and no cell is empty.
        #[test]
        fn cells_are_as_few_as_can_be(frame in 1u32..100_000) {
            let atm = Overhead { framing: Framing::Atm, ..Overhead::NONE };
            let cells = atm.on_link(frame) / 53;
            prop_assert_eq!(atm.on_link(frame) % 53, 0);
            prop_assert!(cells * 48 >= frame && (cells - 1) * 48 < frame);
        }
    }
}
