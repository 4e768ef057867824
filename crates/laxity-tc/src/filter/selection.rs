//! What a filter selects, whatever its kind.

use laxity_plan::matching::Version;

use super::u32::U32;
use crate::args::Args;
use crate::command::Word;
use crate::error::{Read, plain};
use crate::packets::{Field, Packets, all_vlans};
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
    /// The mark of netfilter that packets have.
    pub mark: Option<Mark>,
    /// More that it takes, each with the mark that it has.
    pub or: Vec<(Packets, Option<Mark>)>,
    pub fate: Fate,
    /// What is u32's alone.
    pub u32: Option<U32>,
    /// For flower: which bits it looks at. Filters that look at the same ones stand together.
    pub mask: Vec<String>,
}

/// What becomes of the packets that a filter takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// They go to its class.
    #[default]
    Classified,
    /// They do not leave by this interface.
    Gone,
}

/// A mark of netfilter that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// These bits of it are so.
    Is { value: u32, mask: u32 },
    /// It is the class that they go to.
    IsClass,
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
        let more = selection.or.iter_mut().map(|(packets, _)| packets);
        for packets in more.chain([&mut selection.packets]) {
            match self {
                Protocol::All => {}
                // What a tag hides is of another protocol.
                Protocol::Ip => {
                    packets.of_version(Version::V4);
                    packets.without_tag();
                }
                Protocol::Ip6 => {
                    packets.of_version(Version::V6);
                    packets.without_tag();
                }
                Protocol::Vlan => packets.with(Field::Vlan, &all_vlans()),
                Protocol::Other(other) => {
                    return Err(format!("frames of protocol {other} have no counterpart"));
                }
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

/// Reads the actions of a filter, up to the end of the command; `false` if this word is none. What of them a plan can do
/// without is lost.
pub fn action(word: &Word, args: &mut Args<'_>, selection: &mut Selection) -> Read<bool> {
    let Some(name) = ["action", "police"].into_iter().find(|name| word.means(name)) else {
        return Ok(false);
    };
    let mut words = Vec::new();
    while let Some(word) = args.next() {
        match word.text.as_str() {
            "flowid" | "classid" => selection.class = Some(units::handle(args.value("flowid")?)?),
            other => words.push(other),
        }
    }
    let words = words.strip_prefix(&["gact"]).unwrap_or(&words);
    match (name, words) {
        ("action", ["drop" | "shot", ..]) => selection.fate = Fate::Gone,
        ("action", ["mirred", rest @ ..]) if rest.contains(&"redirect") => {
            selection.fate = Fate::Gone;
        }
        _ => selection.lost.push(format!("its `{name}` has no counterpart")),
    }
    Ok(true)
}
