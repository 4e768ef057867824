//! `basic`: tests joined by `and` and `or` (iproute2, tc/m_ematch.c, em_cmp.c, em_u32.c, em_meta.c).
//!
//! Each link joins all that follows, whichever it is: `A and B or C` is `A and (B or C)` (Linux, `tcf_em_early_end`).

use laxity_plan::matching::Version;

use super::bits::Bits;
use super::selection::{Mark, Protocol, Selected, Selection, action};
use crate::args::Args;
use crate::error::{Read, plain};
use crate::packets::Packets;
use crate::units;

/// The most alternatives that a filter may come to, and the most tests one behind or inside the other.
const MOST: usize = 64;
const DEEPEST: usize = 128;

/// What all of some tests ask for.
#[derive(Clone, Debug, Default)]
struct Alternative {
    bits: Bits,
    mark: Option<Mark>,
}

pub fn selected(protocol: &Protocol, mut args: Args<'_>) -> Read<Selected> {
    let mut selection = Selection::default();
    let mut text = String::new();
    let mut depth = 0;
    while let Some(word) = args.next() {
        let is_test = depth > 0 || word.text.contains('(');
        match word.text.as_str() {
            "flowid" if !is_test => selection.class = Some(units::handle(args.value("flowid")?)?),
            _ if !is_test && word.means("classid") => {
                selection.class = Some(units::handle(args.value("classid")?)?);
            }
            "match" if text.is_empty() => {}
            _ if !is_test && action(word, &mut args, &mut selection)? => break,
            other => {
                depth += other.matches('(').count();
                depth -= other.matches(')').count().min(depth);
                text += other;
                text.push(' ');
            }
        }
    }
    Ok(alternatives(&text, protocol).and_then(|alternatives| {
        let mut all = Vec::new();
        for Alternative { bits, mark } in alternatives {
            let mut packets = Packets::default();
            bits.packets(&mut packets)?;
            all.push((packets, mark));
        }
        let mut all = all.into_iter();
        // Without a test it takes everything.
        (selection.packets, selection.mark) = all.next().unwrap_or_default();
        selection.or = all.collect();
        Ok(selection)
    }))
}

/// What is asked for by an expression, any of these.
fn alternatives(text: &str, protocol: &Protocol) -> Result<Vec<Alternative>, String> {
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { words: &words, protocol, depth: 0 };
    let all = match words.is_empty() {
        true => Vec::new(),
        false => reader.expression()?,
    };
    match reader.words {
        [] => Ok(all),
        [rest, ..] => Err(format!("`{}` of basic is not followed", plain(rest))),
    }
}

struct Reader<'a> {
    words: &'a [&'a str],
    protocol: &'a Protocol,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> &'a str {
        let Some((first, rest)) = self.words.split_first() else { return "" };
        self.words = rest;
        first
    }

    fn expression(&mut self) -> Result<Vec<Alternative>, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("its tests are nested too deep or too many".into());
        }
        let first = self.test()?;
        let all = match self.words.first().map(|word| word.to_ascii_lowercase()).as_deref() {
            Some("and") => {
                self.next();
                let rest = self.expression()?;
                let pairs = first.iter().flat_map(|a| rest.iter().map(move |b| both(a, b)));
                pairs.take(MOST + 1).collect::<Result<Vec<_>, _>>()?
            }
            Some("or") => {
                self.next();
                [first, self.expression()?].concat()
            }
            _ => first,
        };
        self.depth -= 1;
        match all.len() > MOST {
            true => Err(format!("its tests come to more than {MOST} alternatives")),
            false => Ok(all),
        }
    }

    fn test(&mut self) -> Result<Vec<Alternative>, String> {
        let name = self.next();
        if name == "(" {
            let inner = self.expression()?;
            return match self.next() {
                ")" => Ok(inner),
                _ => Err("a parenthesis of basic is not closed".into()),
            };
        }
        let open = self.next();
        let end = self.words.iter().position(|word| *word == ")");
        let (Some(end), "(") = (end, open) else {
            return Err(format!("`{}` of basic is not followed", plain(name)));
        };
        let (inside, rest) = self.words.split_at(end);
        self.words = &rest[1..];
        let read = match name {
            "cmp" => self.compared(inside),
            "u32" => self.bits(inside),
            "meta" => marked(inside),
            _ => None,
        };
        let unread =
            || format!("`{}({})` has no counterpart", plain(name), plain(&inside.join(" ")));
        Ok(vec![read.ok_or_else(unread)?])
    }

    /// `cmp(u16 at 2 layer transport eq 80)`: a number at a place.
    fn compared(&self, words: &[&str]) -> Option<Alternative> {
        let mut words = words.iter().copied();
        let width = width(words.next()?)?;
        let (mut at, mut layer, mut mask, mut value) = (0, "network", all_ones(width), None);
        while let Some(word) = words.next() {
            let given = words.next()?;
            match word {
                "at" => at = i64::from(u16::try_from(units::number(given, 0)?).ok()?),
                "layer" => layer = given,
                "mask" => mask = u32::try_from(units::number(given, 0)?).ok()?,
                "eq" => value = Some(u32::try_from(units::number(given, 0)?).ok()?),
                _ => return None,
            }
        }
        let version = self.version()?;
        let begins = match layer {
            "link" | "0" => -14,
            "network" | "1" => 0,
            "transport" | "2" if version == Version::V4 => 20,
            "transport" | "2" => 40,
            _ => return None,
        };
        self.asked(version, begins + at, width, value?, mask)
    }

    /// `u32(u16 80 0xffff at 22)`: bits at a place of the header of IP.
    fn bits(&self, words: &[&str]) -> Option<Alternative> {
        let [width_of, value, mask, "at", at] = words else { return None };
        let number = |text| units::number(text, 0).and_then(|number| u32::try_from(number).ok());
        let at = u16::try_from(number(at)?).ok()?;
        self.asked(self.version()?, at.into(), width(width_of)?, number(value)?, number(mask)?)
    }

    fn asked(
        &self,
        version: Version,
        at: i64,
        width: u32,
        value: u32,
        mask: u32,
    ) -> Option<Alternative> {
        let fits = at >= 0 && (value | mask) <= all_ones(width) && value & !mask == 0;
        let mut alternative = Alternative::default();
        alternative.bits.of_version(version);
        alternative.bits.ask(at, width, value, mask);
        fits.then_some(alternative)
    }

    fn version(&self) -> Option<Version> {
        match self.protocol {
            Protocol::Ip => Some(Version::V4),
            Protocol::Ip6 => Some(Version::V6),
            Protocol::All | Protocol::Vlan | Protocol::Other(_) => None,
        }
    }
}

/// `meta(nf_mark mask 0xff eq 6)`: a mark of netfilter.
fn marked(words: &[&str]) -> Option<Alternative> {
    let number = |text| units::number(text, 0).and_then(|number| u32::try_from(number).ok());
    let (value, mask) = match words {
        ["nf_mark", "eq", value] => (number(value)?, u32::MAX),
        ["nf_mark", "mask", mask, "eq", value] => (number(value)?, number(mask)?),
        _ => return None,
    };
    Some(Alternative { mark: Some(Mark::Is { value, mask }), ..Alternative::default() })
}

fn both(a: &Alternative, b: &Alternative) -> Result<Alternative, String> {
    let mark = match (a.mark, b.mark) {
        (Some(a), Some(b)) if a != b => {
            return Err("two marks of one filter are not followed".into());
        }
        (a, b) => a.or(b),
    };
    Ok(Alternative { bits: a.bits.and(&b.bits), mark })
}

fn width(word: &str) -> Option<u32> {
    let known = [("u8", 1), ("u16", 2), ("u32", 4)];
    known.into_iter().find(|(name, _)| *name == word).map(|(_, width)| width)
}

fn all_ones(width: u32) -> u32 {
    u32::MAX >> (32 - 8 * width)
}
