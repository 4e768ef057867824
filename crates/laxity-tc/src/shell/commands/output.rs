//! `echo` and `printf` (POSIX.1-2017, Shell and Utilities).

use std::rc::Rc;

use laxity_plan::error::Fault;

use crate::shell::expansion::arithmetic::signed_number;
use crate::shell::expansion::escapes::{escapes, one_escape};
use crate::shell::run::Shell;
use crate::shell::run::simple::{Fields, spaced};
use crate::shell::syntax::Node;
use crate::shell::values::value::{Status, Value, Variable};
use crate::words::command::Doubt;

/// The widest field of `printf`.
const WIDEST: usize = 1_000;

impl Shell<'_> {
    pub fn echo(&mut self, rest: &Fields, node: &Node) -> Result<(), Fault> {
        let options = ["-n", "-e", "-E", "-ne", "-en"];
        let count = rest.iter().take_while(|(word, _)| options.contains(&word.text.as_str()));
        let count = count.count();
        let has = |letter| rest[..count].iter().any(|(word, _)| word.text.contains(letter));
        let mut all = spaced(&rest[count..]);
        if has('e') {
            all.text = escapes(&all.text).0;
        }
        if !has('n') {
            all.text.push('\n');
        }
        self.print(&all, &node.span)
    }

    pub fn printf(&mut self, rest: &Fields, node: &Node) -> Result<(), Fault> {
        let rest = match rest.first() {
            Some((word, _)) if word.text == "--" => &rest[1..],
            _ => rest,
        };
        // `printf -v NAME`, as in bash.
        let (target, rest) = match rest {
            [(option, _), (name, _), rest @ ..] if option.text == "-v" => (Some(name), rest),
            rest => (None, rest),
        };
        let Some(((format, _), mut words)) = rest.split_first() else {
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
        words: &mut &Fields,
        all: &mut Value,
        node: &Node,
    ) -> Result<bool, Fault> {
        let mut rest = format;
        while let Some(at) = rest.find(['%', '\\']) {
            all.text.push_str(&rest[..at]);
            rest = &rest[at..];
            self.step(&node.span, rest.len().min(WIDEST))?;
            if rest.starts_with('\\') {
                let length = 2 + usize::from(rest[1..].starts_with('0')) * 3;
                let end = (1..=length).rev().find(|end| rest.is_char_boundary(*end));
                let end = end.unwrap_or(rest.len()).min(rest.len());
                let (one, left) = one_escape(&rest[1..]);
                all.text.push_str(&one.unwrap_or_else(|| rest[..end.min(2)].to_string()));
                rest = left;
                continue;
            }
            let flags = rest.len() - rest[1..].trim_start_matches(['-', '+', ' ', '0', '#']).len();
            let signs = &rest[1..flags];
            let (width, after) = digits(&rest[flags..]);
            let (precision, after) = match after.strip_prefix('.') {
                Some(after) => {
                    let (precision, after) = digits(after);
                    (Some(precision), after)
                }
                None => (None, after),
            };
            let Some(kind) = after.chars().next() else {
                all.text.push_str(rest);
                return Ok(false);
            };
            rest = &after[kind.len_utf8()..];
            if kind == '%' {
                all.text.push('%');
                continue;
            }
            let word = words.split_first().map(|((word, _), left)| {
                *words = left;
                word.clone()
            });
            let word = word.unwrap_or_default();
            all.doubts(word.doubt.as_ref());
            let number = || match word.text.trim() {
                "" => Some(0),
                text => signed_number(text),
            };
            let mut ends = false;
            let plus = |number: i64| match (number >= 0, signs) {
                (true, signs) if signs.contains('+') => format!("+{number}"),
                (true, signs) if signs.contains(' ') => format!(" {number}"),
                _ => number.to_string(),
            };
            let shown = match kind {
                's' | 'c' => {
                    let most = if kind == 'c' { 1 } else { precision.unwrap_or(usize::MAX) };
                    word.text.chars().take(most).collect()
                }
                'b' => {
                    let (text, stops) = escapes(&word.text);
                    ends = stops;
                    text
                }
                'd' | 'i' => number().map(plus).unwrap_or_default(),
                'u' => number().map(|number| number.to_string()).unwrap_or_default(),
                'x' => number().map(|number| format!("{number:x}")).unwrap_or_default(),
                'X' => number().map(|number| format!("{number:X}")).unwrap_or_default(),
                'o' => number().map(|number| format!("{number:o}")).unwrap_or_default(),
                _ => {
                    let written = self.written(&node.span);
                    let doubt = Doubt::unknown(written, "`printf` with decimals is not read");
                    all.doubts(Some(&Rc::new(doubt)));
                    String::new()
                }
            };
            if width > WIDEST || precision.is_some_and(|precision| precision > WIDEST) {
                return Err(Fault::at(&node.span, "this `printf` has too wide a field")
                    .help(format!("fields of up to {WIDEST} characters are read")));
            }
            let is_number = matches!(kind, 'd' | 'i' | 'u' | 'x' | 'X' | 'o');
            let digits_missing = precision.filter(|_| is_number).unwrap_or(0);
            let shown = zeros(&shown, digits_missing);
            let zero =
                signs.contains('0') && is_number && !signs.contains('-') && precision.is_none();
            let shown = if zero { zeros_to(&shown, width) } else { shown };
            let missing = width.saturating_sub(shown.chars().count());
            let space = " ".repeat(missing);
            if signs.contains('-') {
                all.text.extend([shown, space]);
            } else {
                all.text.extend([space, shown]);
            }
            if ends {
                return Ok(true);
            }
        }
        all.text.push_str(rest);
        Ok(false)
    }
}

/// A number with at least these digits.
fn zeros(number: &str, digits: usize) -> String {
    let sign = usize::from(number.starts_with(['-', '+', ' ']));
    zeros_to(number, digits + sign)
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
