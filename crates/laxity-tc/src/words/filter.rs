//! The words of `tc filter add` (iproute2, tc/tc_filter.c, tc/f_*.c).

mod basic;
mod flower;
mod u32;

use laxity_plan::error::Fault;

use super::command::{Args, Word};
use super::quantity;
use crate::error::plain;
use crate::notes::NotMapped;
use crate::setup::{FilterKind, Handle, Mark, Protocol};

/// The words of a filter up to those that its kind reads, and these.
pub(crate) struct FilterWords<'a> {
    pub head: FilterHead<'a>,
    handle: Option<&'a Word>,
    args: Args<'a>,
}

/// Where a filter is added, and what it is called.
pub(crate) struct FilterHead<'a> {
    pub place: FilterPlace,
    /// 0 if it is given none.
    pub priority: u16,
    pub chain: u32,
    pub protocol: Protocol,
    /// The name of its kind, or no text.
    pub kind: &'a str,
    /// The table of u32 that its handle names.
    pub table: Option<u16>,
    /// What it is called in notes: by the class that it is for.
    pub called: String,
}

/// Where a filter hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FilterPlace {
    /// At the qdisc at the root.
    Root,
    /// At a qdisc, if the minor number is 0, or at a class.
    At(Handle),
    /// Where no packets are shared out among classes.
    Elsewhere,
}

/// What a filter does: which packets it takes, and what becomes of them.
#[derive(Debug)]
pub(crate) struct FilterAction {
    pub kind: FilterKind,
    pub target: Target,
}

/// What becomes of the packets that a filter takes.
#[derive(Debug, Default)]
pub(crate) struct Target {
    pub class: Option<Handle>,
    /// Whether they do not leave by this interface.
    pub is_gone: bool,
    /// What of it has no counterpart, without being what it selects by.
    pub lost: Vec<String>,
}

/// Why a filter is not read.
#[derive(Debug)]
pub(crate) enum FilterError {
    /// `tc` would not read it either.
    Fault(Fault),
    /// It has no counterpart in a plan.
    NotMapped(NotMapped),
}

impl From<Fault> for FilterError {
    fn from(fault: Fault) -> Self {
        FilterError::Fault(fault)
    }
}

impl From<NotMapped> for FilterError {
    fn from(why: NotMapped) -> Self {
        FilterError::NotMapped(why)
    }
}

impl Target {
    /// Takes a class or actions; `false` if the word is neither.
    fn take(&mut self, word: &Word, args: &mut Args<'_>) -> Result<bool, Fault> {
        if word.text == "flowid" || word.means("classid") {
            self.class = Some(quantity::handle(args.value("flowid")?)?);
            return Ok(true);
        }
        let Some(name) = ["action", "police"].into_iter().find(|name| word.means(name)) else {
            return Ok(false);
        };
        let mut words = Vec::new();
        while let Some(word) = args.next() {
            match word.text.as_str() {
                "flowid" | "classid" => self.class = Some(quantity::handle(args.value("flowid")?)?),
                other => words.push(other),
            }
        }
        let words = words.strip_prefix(&["gact"]).unwrap_or(&words);
        match (name, words) {
            ("action", ["drop" | "shot", ..]) => self.is_gone = true,
            ("action", ["mirred", rest @ ..]) if rest.contains(&"redirect") => self.is_gone = true,
            _ => self.lost.push(format!("its `{name}` has no counterpart")),
        }
        Ok(true)
    }
}

impl<'a> FilterWords<'a> {
    /// Reads the words after `tc filter add`, and the interface that they name.
    pub(crate) fn read(args: &mut Args<'a>) -> Result<(Self, Option<&'a Word>), Fault> {
        let mut place = FilterPlace::Root;
        let (mut priority, mut chain, mut protocol) = (0, 0, Protocol::All);
        let (mut device, mut kind, mut handle) = (None, "", None);
        while let Some(word) = args.next() {
            match word.text.as_str() {
                "dev" => device = Some(args.value("dev")?),
                "root" => place = FilterPlace::Root,
                "ingress" | "egress" => place = FilterPlace::Elsewhere,
                "parent" => {
                    let parent = args.value("parent")?;
                    place = match parent.text.as_str() {
                        "root" => FilterPlace::Root,
                        _ => FilterPlace::At(quantity::handle(parent)?),
                    };
                }
                "handle" => handle = Some(args.value("handle")?),
                _ if word.means("block") => {
                    args.value("block")?;
                    place = FilterPlace::Elsewhere;
                }
                _ if word.means("preference") || word.means("priority") => {
                    let value = args.value("prio")?;
                    let number = quantity::whole(value, 0, "a priority")?;
                    let wrong = |_| value.fault("a priority", "the largest is 65535");
                    priority = u16::try_from(number).map_err(wrong)?;
                }
                _ if word.means("protocol") => protocol = self::protocol(args.value("protocol")?),
                _ if word.means("chain") => {
                    chain = quantity::whole(args.value("chain")?, 0, "a chain")?;
                }
                kind_word => {
                    kind = kind_word;
                    break;
                }
            }
        }
        let table = handle.and_then(|handle| u32::place(handle).ok()).map(|(table, _)| table);
        let called = called(args.clone());
        let head = FilterHead { place, priority, chain, protocol, kind, table, called };
        Ok((FilterWords { head, handle, args: args.clone() }, device))
    }

    /// Reads what the filter selects, and for which class.
    pub(crate) fn action(&self) -> Result<FilterAction, FilterError> {
        let (FilterHead { protocol, kind, .. }, args) = (&self.head, self.args.clone());
        let mut action = match *kind {
            "u32" => u32::read(protocol, args)?,
            "flower" => flower::read(protocol, args)?,
            "basic" => basic::read(protocol, args)?,
            "matchall" => matchall(args)?,
            "fw" => self.marked()?,
            "" => return Err(NotMapped::from("it names no kind of filter").into()),
            other => {
                let text = format!("filters of kind {} have no counterpart", plain(other));
                return Err(NotMapped(text).into());
            }
        };
        if let (FilterKind::U32(u32), Some(handle)) = (&action.kind, self.handle)
            && u32.parts.is_none()
        {
            let handle = plain(&handle.text);
            action.target.lost.push(format!("its handle {handle}, which may put it before others"));
        }
        Ok(action)
    }

    /// `handle MARK[/MASK] fw`; without a handle the mark names the class.
    fn marked(&self) -> Result<FilterAction, FilterError> {
        let (mut target, mut args) = (Target::default(), self.args.clone());
        while let Some(word) = args.next() {
            if !target.take(word, &mut args)? {
                return Err(
                    NotMapped(format!("`{}` of fw is not followed", plain(&word.text))).into()
                );
            }
        }
        let Some(handle) = self.handle else {
            target.class.get_or_insert_default();
            return Ok(FilterAction { kind: FilterKind::Fw(Mark::IsClass), target });
        };
        let (value, mask) = handle.text.split_once('/').unwrap_or((&handle.text, "0xffffffff"));
        let Some((value, mask)) = quantity::number(value, 0).zip(quantity::number(mask, 0)) else {
            return Err(handle.fault("a mark", "tc reads one such as 6 or 0x1/0xff").into());
        };
        Ok(FilterAction { kind: FilterKind::Fw(Mark::Is { value, mask }), target })
    }
}

fn matchall(mut args: Args<'_>) -> Result<FilterAction, FilterError> {
    let mut target = Target::default();
    while let Some(word) = args.next() {
        if !["skip_hw", "skip_sw"].contains(&word.text.as_str()) && !target.take(word, &mut args)? {
            return Err(word.no_keyword("matchall", "classid, flowid, action").into());
        }
    }
    Ok(FilterAction { kind: FilterKind::Matchall, target })
}

/// What a filter with these words is called.
fn called(mut args: Args<'_>) -> String {
    while let Some(word) = args.next() {
        if ["flowid", "classid"].contains(&word.text.as_str())
            && let Some(class) = args.peek()
        {
            return format!("filter for {}", plain(&class.text));
        }
    }
    "filter".into()
}

/// The protocol that a word names.
fn protocol(word: &Word) -> Protocol {
    let (number, name) = (quantity::number(&word.text, 0), word.text.to_ascii_lowercase());
    let name = if name == "ipv4" { "ip" } else { &name };
    let is_named = |protocol: &Protocol| {
        protocol.name().eq_ignore_ascii_case(name) || number == Some(protocol.ether_type())
    };
    Protocol::ALL.into_iter().find(is_named).unwrap_or_else(|| Protocol::Other(plain(name)))
}
