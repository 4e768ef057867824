//! Access links: what they add to frames, and how much of their rate a plan may use.

use std::fmt;
use std::str::FromStr;

use laxity::overhead::Overhead;

use super::Direction;

/// A kind of access link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessLink {
    /// Its word: that of `tc-cake(8)`, where there is one.
    pub word: &'static str,
    /// What people call it.
    pub name: &'static str,
    /// What it adds to frames.
    pub overhead: Overhead,
    medium: Medium,
}

/// What decides how steady the rate of a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Medium {
    /// A telephone line, whose modem shows the rate at which it is synchronised.
    Line,
    /// A cable or fibre that many share, sold by a rate that the provider polices.
    Shared,
    /// Ethernet to the device that limits the rate.
    Direct,
    /// A mobile network, whose rate changes.
    Air,
}

/// An Ethernet frame with PPPoE's header of eight bytes, padded to the shortest frame of Ethernet
/// and its preamble and gap.
const PPPOE: Overhead = Overhead { bytes: 32, at_least: 84, ..Overhead::NONE };

impl AccessLink {
    const COMMON: [AccessLink; 9] = [
        AccessLink::new("docsis", "cable (DOCSIS)", Medium::Shared),
        AccessLink::new("pppoe-ptm", "VDSL with PPPoE", Medium::Line),
        AccessLink::new("bridged-ptm", "VDSL without PPPoE", Medium::Line),
        AccessLink::new("fibre", "fibre (GPON, a socket of Ethernet)", Medium::Shared),
        AccessLink::new("pppoe", "fibre or Ethernet with PPPoE", Medium::Shared),
        AccessLink::new("lte", "LTE or 5G", Medium::Air),
        AccessLink::new("ethernet", "Ethernet", Medium::Direct),
        AccessLink::new("pppoa-vcmux", "ADSL with PPPoA", Medium::Line),
        AccessLink::new("pppoe-llcsnap", "ADSL with PPPoE", Medium::Line),
    ];

    const RARE: [AccessLink; 6] = [
        AccessLink::new("pppoe-vcmux", "ADSL", Medium::Line),
        AccessLink::new("pppoa-llc", "ADSL", Medium::Line),
        AccessLink::new("ipoa-vcmux", "ADSL", Medium::Line),
        AccessLink::new("ipoa-llcsnap", "ADSL", Medium::Line),
        AccessLink::new("bridged-vcmux", "ADSL", Medium::Line),
        AccessLink::new("bridged-llcsnap", "ADSL", Medium::Line),
    ];

    const fn new(word: &'static str, name: &'static str, medium: Medium) -> AccessLink {
        AccessLink { word, name, overhead: Overhead::NONE, medium }
    }

    /// The links that are asked about, the most common first.
    pub fn common() -> impl Iterator<Item = AccessLink> {
        AccessLink::COMMON.into_iter().map(AccessLink::with_overhead)
    }

    /// Every link that has a word: those that are asked about, and the others of `tc-cake(8)`.
    pub fn all() -> impl Iterator<Item = AccessLink> {
        AccessLink::common().chain(AccessLink::RARE.into_iter().map(AccessLink::with_overhead))
    }

    fn with_overhead(self) -> AccessLink {
        let named = |word| Overhead::NAMED.iter().find(|(name, _)| *name == word);
        let overhead = match self.word {
            // A tunnel of the provider may add more; it is in the part of the rate that is kept.
            "lte" => Overhead::NONE,
            "pppoe" => PPPOE,
            // The frame on the glass is about as long as on Ethernet, which most modems hand it to.
            "fibre" => named("ethernet").map_or(Overhead::NONE, |(_, overhead)| *overhead),
            word => named(word).map_or(Overhead::NONE, |(_, overhead)| *overhead),
        };
        AccessLink { overhead, ..self }
    }

    /// How much of the link's rate a plan uses, in percent. The rest keeps the queue out of the
    /// modem, and downloads below the provider's own queue.
    pub fn percent(&self, direction: Direction) -> u64 {
        match (self.medium, direction) {
            (Medium::Line, Direction::Up) => 97,
            (Medium::Line, Direction::Down) => 92,
            (Medium::Shared, Direction::Up) => 95,
            (Medium::Shared, Direction::Down) => 90,
            (Medium::Direct, Direction::Up) => 98,
            (Medium::Direct, Direction::Down) => 95,
            (Medium::Air, Direction::Up) => 80,
            (Medium::Air, Direction::Down) => 75,
        }
    }

    /// What to know about the rate of the link.
    pub(super) fn advice(&self) -> &'static str {
        match self.medium {
            Medium::Line => "The rate is the one that the modem shows as synchronised.",
            Medium::Shared => {
                "The rate is what a speed test shows in the evening, not what the contract says."
            }
            Medium::Direct => "The rate is that of the slowest device on the way.",
            Medium::Air => {
                "A mobile link's rate changes: give the one that it has at its worst hours."
            }
        }
    }
}

impl fmt::Display for AccessLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word)
    }
}

/// No link is called so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no such link: the links are {}", AccessLink::all().map(|link| link.word).collect::<Vec<_>>().join(", "))]
pub struct UnknownLink;

impl FromStr for AccessLink {
    type Err = UnknownLink;

    fn from_str(word: &str) -> Result<AccessLink, UnknownLink> {
        AccessLink::all().find(|link| link.word == word).ok_or(UnknownLink)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_of_cake_has_its_overhead() {
        for (word, overhead) in Overhead::NAMED {
            let link: AccessLink = word.parse().unwrap();
            assert_eq!(link.overhead, overhead, "{word}");
        }
        assert_eq!("pppoe".parse::<AccessLink>().unwrap().overhead.on_link(1514), 1546);
        assert_eq!("isdn".parse::<AccessLink>(), Err(UnknownLink));
    }

    #[test]
    fn a_plan_never_uses_all_of_a_link() {
        for link in AccessLink::all() {
            for direction in Direction::ALL {
                assert!((50..100).contains(&link.percent(direction)), "{link}");
            }
        }
    }
}
