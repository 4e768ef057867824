//! Regular expressions of `grep` and `[[ … =~ … ]]` (POSIX.1-2017, Base Definitions, chapter 9).

use regex_lite::{Regex, RegexBuilder};

/// The longest expression that is read, in bytes.
const LONGEST: usize = 1_000;

/// An expression as it is compared; `None` if it cannot be read.
pub(crate) fn read(text: &str, extended: bool, any_case: bool) -> Option<Regex> {
    if text.len() > LONGEST {
        return None;
    }
    let text = if extended { text.to_string() } else { as_extended(text) };
    RegexBuilder::new(&text).case_insensitive(any_case).multi_line(false).build().ok()
}

/// A basic expression as an extended one: what is written with a backslash in the one is written
/// without it in the other.
fn as_extended(basic: &str) -> String {
    let mut all = String::with_capacity(basic.len());
    let mut chars = basic.chars().peekable();
    let mut in_set = false;
    while let Some(c) = chars.next() {
        match c {
            '[' if !in_set => {
                in_set = true;
                all.push(c);
                for sign in ['^', ']'] {
                    all.extend(chars.next_if_eq(&sign));
                }
            }
            '[' if chars.peek() == Some(&':') => {
                all.push('[');
                for inside in chars.by_ref() {
                    all.push(inside);
                    if inside == ']' {
                        break;
                    }
                }
            }
            ']' if in_set => {
                in_set = false;
                all.push(c);
            }
            c if in_set => all.push(c),
            '\\' => match chars.next() {
                Some(sign @ ('+' | '?' | '|' | '(' | ')' | '{' | '}')) => all.push(sign),
                Some(sign) => all.extend(['\\', sign]),
                None => all.push('\\'),
            },
            '+' | '?' | '|' | '(' | ')' | '{' | '}' => all.extend(['\\', c]),
            c => all.push(c),
        }
    }
    all
}
