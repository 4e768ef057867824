//! `basic`: tests joined by `and` and `or` (iproute2, tc/m_ematch.c and em_*.c).
//!
//! Each link joins all that follows, whichever it is: `A and B or C` is `A and (B or C)` (Linux,
//! `tcf_em_early_end`).

use laxity_plan::matching::Version;

use super::{FilterAction, FilterError, Target};
use crate::error::plain;
use crate::notes::NotMapped;
use crate::setup::{FilterKind, Mark, Protocol, Test, U32Key};
use crate::words::command::Args;
use crate::words::quantity::number;

/// The most alternatives that a filter may come to.
const MOST: usize = 64;
/// The most tests behind or inside each other.
const DEEPEST: usize = 128;

/// Reads the words behind `basic`.
pub(super) fn read(protocol: &Protocol, mut args: Args<'_>) -> Result<FilterAction, FilterError> {
    let (mut target, mut text, mut depth) = (Target::default(), String::new(), 0);
    while let Some(word) = args.next() {
        let is_test = depth > 0 || word.text.contains('(');
        match word.text.as_str() {
            "match" if text.is_empty() => {}
            _ if !is_test && target.take(word, &mut args)? => {}
            other => {
                depth += other.matches('(').count();
                depth -= other.matches(')').count().min(depth);
                text += other;
                text.push(' ');
            }
        }
    }
    Ok(FilterAction { kind: FilterKind::Basic(alternatives(&text, protocol)?), target })
}

/// The alternatives of an expression.
fn alternatives(text: &str, protocol: &Protocol) -> Result<Vec<Test>, NotMapped> {
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { words: &words, protocol, depth: 0 };
    let all = if words.is_empty() { Vec::new() } else { reader.expression()? };
    match reader.words {
        [] => Ok(all),
        [rest, ..] => Err(format!("`{}` of basic is not followed", plain(rest)).into()),
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

    fn expression(&mut self) -> Result<Vec<Test>, NotMapped> {
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
        if all.len() > MOST {
            return Err(format!("its tests come to more than {MOST} alternatives").into());
        }
        Ok(all)
    }

    fn test(&mut self) -> Result<Vec<Test>, NotMapped> {
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
            return Err(format!("`{}` of basic is not followed", plain(name)).into());
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
    fn compared(&self, words: &[&str]) -> Option<Test> {
        let mut words = words.iter().copied();
        let width = width(words.next()?)?;
        let (mut at, mut layer, mut mask, mut value) = (0, "network", all_ones(width), None);
        while let Some(word) = words.next() {
            let given = words.next()?;
            match word {
                "at" => at = i64::from(number::<u16>(given, 0)?),
                "layer" => layer = given,
                "mask" => mask = number(given, 0)?,
                "eq" => value = Some(number(given, 0)?),
                _ => return None,
            }
        }
        let version = self.protocol.version()?;
        let begins = match layer {
            "link" | "0" => -14,
            "network" | "1" => 0,
            "transport" | "2" if version == Version::V4 => 20,
            "transport" | "2" => 40,
            _ => return None,
        };
        asked(begins + at, width, value?, mask)
    }

    /// `u32(u16 80 0xffff at 22)`: bits at a place of the header of IP.
    fn bits(&self, words: &[&str]) -> Option<Test> {
        let [width_of, value, mask, "at", at] = words else { return None };
        let at: u16 = number(at, 0)?;
        self.protocol.version()?;
        asked(at.into(), width(width_of)?, number(value, 0)?, number(mask, 0)?)
    }
}

/// The test of the bits of `value` that `mask` has, in `width` bytes from a place on.
fn asked(at: i64, width: u32, value: u32, mask: u32) -> Option<Test> {
    let fits = at >= 0 && (value | mask) <= all_ones(width) && value & !mask == 0;
    let mut test = Test::default();
    U32Key::push(&mut test.keys, (at, false), width, value, mask);
    fits.then_some(test)
}

/// `meta(nf_mark mask 0xff eq 6)`: a mark of netfilter.
fn marked(words: &[&str]) -> Option<Test> {
    let (value, mask) = match words {
        ["nf_mark", "eq", value] => (number(value, 0)?, u32::MAX),
        ["nf_mark", "mask", mask, "eq", value] => (number(value, 0)?, number(mask, 0)?),
        _ => return None,
    };
    Some(Test { mark: Some(Mark::Is { value, mask }), ..Test::default() })
}

fn both(a: &Test, b: &Test) -> Result<Test, NotMapped> {
    let mark = match (a.mark, b.mark) {
        (Some(a), Some(b)) if a != b => {
            return Err("two marks of one filter are not followed".into());
        }
        (a, b) => a.or(b),
    };
    Ok(Test { keys: [&a.keys[..], &b.keys].concat(), mark })
}

fn width(word: &str) -> Option<u32> {
    let known = [("u8", 1), ("u16", 2), ("u32", 4)];
    known.into_iter().find(|(name, _)| *name == word).map(|(_, width)| width)
}

fn all_ones(width: u32) -> u32 {
    u32::MAX >> (32 - 8 * width)
}
