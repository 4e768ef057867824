//! `echo` and `printf` (POSIX.1-2017, Shell and Utilities).

use std::rc::Rc;

use laxity_plan::error::Fault;

use crate::shell::expansion::arithmetic::signed_number;
use crate::shell::expansion::escapes::{escapes, one_escape};
use crate::shell::run::Shell;
use crate::shell::run::simple::spaced;
use crate::shell::syntax::Node;
use crate::shell::values::{Status, Value, Variable};
use crate::words::command::{Doubt, Word};

/// The widest field of `printf`.
const WIDEST: usize = 1_000;

impl Shell<'_> {
    pub(crate) fn echo(&mut self, rest: &[Word], node: &Node) -> Result<(), Fault> {
        let options = ["-n", "-e", "-E", "-ne", "-en"];
        let is_option = |word: &&Word| options.contains(&word.text.as_str());
        let count = rest.iter().take_while(is_option).count();
        let has = |letter| rest[..count].iter().any(|word| word.text.contains(letter));
        let mut all = spaced(&rest[count..]);
        if has('e') {
            all.text = escapes(&all.text).0;
        }
        if !has('n') {
            all.text.push('\n');
        }
        self.print(&all, &node.span)
    }

    pub(crate) fn printf(&mut self, rest: &[Word], node: &Node) -> Result<(), Fault> {
        let rest = match rest.first() {
            Some(word) if word.text == "--" => &rest[1..],
            _ => rest,
        };
        // `printf -v NAME`, as in bash.
        let (target, rest) = match rest {
            [option, name, rest @ ..] if option.text == "-v" => (Some(name), rest),
            rest => (None, rest),
        };
        let Some((format, mut words)) = rest.split_first() else {
            self.status = Status::Known(2);
            return Ok(());
        };
        let mut all = Value { text: String::new(), doubt: format.doubt.clone() };
        loop {
            let before = words.len();
            let ended = self.formatted(&format.text, &mut words, &mut all, node)?;
            if ended || words.is_empty() || words.len() == before {
                break;
            }
        }
        match target {
            Some(name) => self.assign(&name.text, Variable::One(all), &node.span),
            None => self.print(&all, &node.span),
        }
    }

    /// Uses the format once; `true` if it ends all output.
    fn formatted(
        &mut self,
        format: &str,
        words: &mut &[Word],
        all: &mut Value,
        node: &Node,
    ) -> Result<bool, Fault> {
        let mut rest = format;
        while let Some(at) = rest.find(['%', '\\']) {
            all.text.push_str(&rest[..at]);
            rest = &rest[at..];
            self.step(&node.span, rest.len().min(WIDEST))?;
            if rest.starts_with('\\') {
                let (one, left) = one_escape(&rest[1..]);
                let plain = || rest[..rest.len() - left.len()].to_string();
                all.text.push_str(&one.unwrap_or_else(plain));
                rest = left;
                continue;
            }
            let Some((conversion, after)) = Conversion::parse(rest) else {
                all.text.push_str(rest);
                return Ok(false);
            };
            rest = after;
            if conversion.kind == '%' {
                all.text.push('%');
                continue;
            }
            let mut word = Word::default();
            if let Some((first, left)) = words.split_first() {
                word = first.clone();
                *words = left;
            }
            all.doubts(word.doubt.as_ref());
            let (shown, ends) = conversion.shown(&word.text).unwrap_or_else(|| {
                let written = self.written(&node.span);
                let doubt = Doubt::unknown(written, "`printf` with decimals is not read");
                all.doubts(Some(&Rc::new(doubt)));
                Default::default()
            });
            if conversion.width > WIDEST || conversion.precision > Some(WIDEST) {
                return Err(Fault::at(&node.span, "this `printf` has too wide a field")
                    .help(format!("fields of up to {WIDEST} characters are read")));
            }
            all.text.push_str(&conversion.padded(&shown));
            if ends {
                return Ok(true);
            }
        }
        all.text.push_str(rest);
        Ok(false)
    }
}

/// A part of a format: `%`, signs, width, precision and a letter.
struct Conversion<'a> {
    signs: &'a str,
    width: usize,
    precision: Option<usize>,
    kind: char,
}

impl<'a> Conversion<'a> {
    /// The conversion that a format begins with, and the rest; `None` if it has no letter.
    fn parse(format: &'a str) -> Option<(Self, &'a str)> {
        let after = format[1..].trim_start_matches(['-', '+', ' ', '0', '#']);
        let signs = &format[1..format.len() - after.len()];
        let (width, mut after) = digits(after);
        let mut precision = None;
        if let Some(rest) = after.strip_prefix('.') {
            let (digits, rest) = digits(rest);
            (precision, after) = (Some(digits), rest);
        }
        let kind = after.chars().next()?;
        Some((Conversion { signs, width, precision, kind }, &after[kind.len_utf8()..]))
    }

    fn is_number(&self) -> bool {
        matches!(self.kind, 'd' | 'i' | 'u' | 'x' | 'X' | 'o')
    }

    /// A word as it is printed, and whether `\c` in it ends all output; `None` for decimals.
    fn shown(&self, word: &str) -> Option<(String, bool)> {
        if self.is_number() {
            let text = word.trim();
            let number = if text.is_empty() { Some(0) } else { signed_number(text) };
            return Some((number.map(|number| self.number(number)).unwrap_or_default(), false));
        }
        match self.kind {
            's' => Some((word.chars().take(self.precision.unwrap_or(usize::MAX)).collect(), false)),
            'c' => Some((word.chars().take(1).collect(), false)),
            'b' => Some(escapes(word)),
            _ => None,
        }
    }

    fn number(&self, number: i64) -> String {
        match self.kind {
            'x' => format!("{number:x}"),
            'X' => format!("{number:X}"),
            'o' => format!("{number:o}"),
            'd' | 'i' if number >= 0 && self.signs.contains('+') => format!("+{number}"),
            'd' | 'i' if number >= 0 && self.signs.contains(' ') => format!(" {number}"),
            _ => number.to_string(),
        }
    }

    /// A text with zeros and spaces up to the width.
    fn padded(&self, text: &str) -> String {
        let is_left = self.signs.contains('-');
        let has_zeros = self.signs.contains('0') && self.is_number() && !is_left;
        let sign = usize::from(text.starts_with(['-', '+', ' ']));
        let digits = self.precision.filter(|_| self.is_number()).unwrap_or(0);
        let mut text = zeros_to(text, digits + sign);
        if has_zeros && self.precision.is_none() {
            text = zeros_to(&text, self.width);
        }
        let space = " ".repeat(self.width.saturating_sub(text.chars().count()));
        if is_left { text + &space } else { space + &text }
    }
}

/// A number with zeros up to this width.
fn zeros_to(number: &str, width: usize) -> String {
    let (sign, digits) = number.split_at(usize::from(number.starts_with(['-', '+', ' '])));
    format!("{sign}{}{digits}", "0".repeat(width.saturating_sub(number.len())))
}

fn digits(text: &str) -> (usize, &str) {
    let (digits, rest) =
        text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    (if digits.is_empty() { 0 } else { digits.parse().unwrap_or(usize::MAX) }, rest)
}
