//! What a filter selects, whatever its kind.

use laxity_plan::matching::{Numbers, Version};

use crate::command::Word;
use crate::error::plain;
use crate::packets::{Field, Packets};
use crate::units::{self, Handle};

/// The packets that a filter is asked about at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protocol {
    All,
    Ip,
    Ip6,
    Vlan,
    Other(String),
}

/// What a filter says.
#[derive(Debug, Default)]
pub struct Selection {
    pub packets: Packets,
    pub class: Option<Handle>,
    /// What of it has no counterpart, without being what it selects by.
    pub lost: Vec<String>,
    /// For flower: which bits it looks at. Filters that look at the same ones stand together.
    pub mask: Vec<String>,
}

/// A selection, or why a plan cannot say it.
pub type Selected = Result<Selection, String>;

impl Protocol {
    pub fn read(word: &Word) -> Protocol {
        let number = units::number(&word.text, 0);
        match (word.text.to_ascii_lowercase().as_str(), number) {
            ("all", _) | (_, Some(3)) => Protocol::All,
            ("ip" | "ipv4", _) | (_, Some(0x0800)) => Protocol::Ip,
            ("ipv6", _) | (_, Some(0x86dd)) => Protocol::Ip6,
            ("802.1q", _) | (_, Some(0x8100)) => Protocol::Vlan,
            (other, _) => Protocol::Other(plain(other)),
        }
    }

    /// What is left of a selection among the packets of this protocol.
    pub fn limit(&self, mut selection: Selection) -> Selected {
        match self {
            Protocol::All => {}
            Protocol::Ip => selection.packets.of_version(Version::V4),
            Protocol::Ip6 => selection.packets.of_version(Version::V6),
            Protocol::Vlan => {
                let tagged = Numbers::new(vec![(0, 4095)]);
                selection.packets.with(Field::Vlan, &tagged);
            }
            Protocol::Other(other) => {
                return Err(format!("frames of protocol {other} have no counterpart"));
            }
        }
        Ok(selection)
    }
}

impl std::fmt::Display for Protocol {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Protocol::All => "all",
            Protocol::Ip => "ip",
            Protocol::Ip6 => "ipv6",
            Protocol::Vlan => "802.1q",
            Protocol::Other(other) => other,
        })
    }
}

/// What of a filter a plan can do without: its actions.
pub fn action(word: &Word, selection: &mut Selection) -> bool {
    let found = ["action", "police"].into_iter().find(|name| word.means(name));
    selection.lost.extend(found.map(|name| format!("its `{name}` has no counterpart")));
    found.is_some()
}
