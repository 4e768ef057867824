//! `tc filter add`: which packets go to which class.

mod basic;
mod bits;
mod flower;
mod selection;
pub mod u32;

use crate::args::Args;
use crate::command::Word;
use crate::error::{Read, plain};
use crate::units::{self, Handle};
pub use bits::{Bits, service};
pub use selection::{Fate, Mark, Protocol, Selection};
use selection::{Selected, action};

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
            "basic" => basic::selected(&self.protocol, self.args.clone()),
            "matchall" => matchall(self.args.clone()),
            "fw" => self.marked(),
            "" => Ok(Err("it names no kind of filter".into())),
            other => Ok(Err(format!("filters of kind {} have no counterpart", plain(other)))),
        };
        Ok(selected?.and_then(|mut selection| {
            let is_table = selection.u32.as_ref().is_some_and(|u32| u32.parts.is_some());
            if let (Some(handle), "u32", false) = (self.handle, kind, is_table) {
                let text =
                    format!("its handle {}, which may put it before others", plain(&handle.text));
                selection.lost.push(text);
            }
            self.protocol.limit(selection)
        }))
    }
}

impl Written<'_> {
    /// What it is called in notes: by the class that it is for.
    pub fn called(&self) -> String {
        let mut args = self.args.clone();
        let names_class = |word: &Word| ["flowid", "classid"].contains(&word.text.as_str());
        while let Some(word) = args.next() {
            if let Some(class) = args.peek().filter(|_| names_class(word)) {
                return format!("filter for {}", plain(&class.text));
            }
        }
        "filter".into()
    }

    /// `handle MARK[/MASK] fw`; without a handle the mark names the class.
    fn marked(&self) -> Read<Selected> {
        let mut selection = Selection::default();
        let mut args = self.args.clone();
        while let Some(word) = args.next() {
            match word.text.as_str() {
                "flowid" => selection.class = Some(units::handle(args.value("flowid")?)?),
                _ if word.means("classid") => {
                    selection.class = Some(units::handle(args.value("classid")?)?);
                }
                _ if action(word, &mut args, &mut selection)? => break,
                _ => return Ok(Err(format!("`{}` of fw is not followed", plain(&word.text)))),
            }
        }
        let Some(handle) = self.handle else {
            selection.mark = Some(Mark::IsClass);
            selection.class.get_or_insert(Handle { major: 0, minor: 0 });
            return Ok(Ok(selection));
        };
        let (value, mask) = handle.text.split_once('/').unwrap_or((&handle.text, "0xffffffff"));
        let number = |text| units::number(text, 0).and_then(|number| u32::try_from(number).ok());
        let Some((value, mask)) = number(value).zip(number(mask)) else {
            return Err(handle.fault("a mark", "tc reads one such as 6 or 0x1/0xff"));
        };
        selection.mark = Some(Mark::Is { value, mask });
        Ok(Ok(selection))
    }
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
            _ if action(word, &mut args, &mut selection)? => break,
            _ => return Err(word.no_keyword("matchall", "classid, flowid, action")),
        }
    }
    Ok(Ok(selection))
}
