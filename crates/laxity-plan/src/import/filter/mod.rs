//! `tc filter add`: which packets go to which class.

mod flower;
mod u32;

use super::args::{Args, Read};
use super::packets::{Field, Packets};
use super::shell::{Word, plain};
use super::units::{self, Handle};
use crate::matching::{Numbers, Version};

/// A filter as it is written, up to what its kind reads.
pub struct Written<'a> {
    pub place: Place,
    pub priority: u32,
    pub chain: u32,
    pub protocol: Protocol,
    pub kind: Option<&'a Word>,
    pub handle: Option<&'a Word>,
    pub args: Args<'a>,
}

/// Where a filter hangs.
pub enum Place {
    /// At the qdisc itself.
    Root,
    /// At a qdisc, if the minor number is 0, or at a class.
    At(Handle),
    /// Where no packets are shared out among classes.
    Elsewhere,
}

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

impl<'a> Written<'a> {
    /// Reads the words after `tc filter add`, and the interface that they name.
    pub fn read(args: &mut Args<'a>) -> Read<(Self, Option<&'a Word>)> {
        let mut place = Place::Root;
        let (mut priority, mut chain, mut protocol) = (0, 0, Protocol::All);
        let (mut device, mut kind, mut handle) = (None, None, None);
        while let Some(word) = args.next() {
            match word.text.as_str() {
                "dev" => device = Some(args.value("dev")?),
                "root" => place = Place::Root,
                "ingress" | "egress" => place = Place::Elsewhere,
                "parent" => {
                    let parent = args.value("parent")?;
                    place = match parent.text.as_str() {
                        "root" => Place::Root,
                        _ => Place::At(units::handle(parent)?),
                    };
                }
                "handle" => handle = Some(args.value("handle")?),
                _ if word.means("block") => {
                    args.value("block")?;
                    place = Place::Elsewhere;
                }
                _ if word.means("preference") || word.means("priority") => {
                    let value = args.value("prio")?;
                    priority = units::whole(value, 0, "a priority")?;
                    if priority > 0xffff {
                        return Err(value.fault("a priority", "the largest is 65535"));
                    }
                }
                _ if word.means("protocol") => protocol = Protocol::read(args.value("protocol")?),
                _ if word.means("chain") => {
                    chain = units::whole(args.value("chain")?, 0, "a chain")?;
                }
                _ => {
                    kind = Some(word);
                    break;
                }
            }
        }
        let args = args.clone();
        Ok((Written { place, priority, chain, protocol, kind, handle, args }, device))
    }

    /// What the filter selects, and for which class.
    pub fn selected(&self) -> Read<Selected> {
        let kind = self.kind.map_or("", |kind| kind.text.as_str());
        let selected = match kind {
            "u32" => u32::selected(&self.protocol, self.args.clone()),
            "flower" => flower::selected(&self.protocol, self.args.clone()),
            "matchall" => matchall(self.args.clone()),
            "fw" => {
                let mark =
                    self.handle.map_or(String::new(), |mark| format!(" {}", plain(&mark.text)));
                Ok(Err(format!("it goes by netfilter's mark{mark}, which a capture does not have")))
            }
            "" => Ok(Err("it names no kind of filter".into())),
            other => Ok(Err(format!("filters of kind {} have no counterpart", plain(other)))),
        };
        Ok(selected?.and_then(|mut selection| {
            if let (Some(handle), "u32") = (self.handle, kind) {
                let text =
                    format!("its handle {}, which may put it before others", plain(&handle.text));
                selection.lost.push(text);
            }
            self.protocol.limit(selection)
        }))
    }
}

impl Protocol {
    fn read(word: &Word) -> Protocol {
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
    fn limit(&self, mut selection: Selection) -> Selected {
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
fn action(word: &Word, selection: &mut Selection) -> bool {
    let found = ["action", "police"].into_iter().find(|name| word.means(name));
    selection.lost.extend(found.map(|name| format!("its `{name}` has no counterpart")));
    found.is_some()
}

fn matchall(mut args: Args<'_>) -> Read<Selected> {
    let mut selection = Selection::default();
    while let Some(word) = args.next() {
        match word.text.as_str() {
            "flowid" => selection.class = Some(units::handle(args.value("flowid")?)?),
            "skip_hw" | "skip_sw" => {}
            _ if word.means("classid") => {
                selection.class = Some(units::handle(args.value("classid")?)?);
            }
            _ if action(word, &mut selection) => break,
            _ => return Err(word.no_keyword("matchall", "classid, flowid, action")),
        }
    }
    Ok(Ok(selection))
}
