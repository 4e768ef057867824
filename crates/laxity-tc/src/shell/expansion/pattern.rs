//! Patterns of `case`, `${NAME%…}` and `[[ … == … ]]` (POSIX.1-2017, Shell Command Language, 2.13),
//! and regular expressions of `grep` and `[[ … =~ … ]]` (Base Definitions, chapter 9).

use regex_lite::{Regex, RegexBuilder};

/// A pattern in which a backslash takes its meaning from the sign behind it.
pub(crate) struct Pattern(Vec<Part>);

enum Part {
    One(char),
    Any,
    /// One of these ranges; with `true` none of them.
    Set(bool, Vec<(char, char)>),
    Star,
}

/// Classes of characters by their names.
const CLASSES: [(&str, &[(char, char)]); 8] = [
    ("digit", &[('0', '9')]),
    ("alpha", &[('a', 'z'), ('A', 'Z')]),
    ("alnum", &[('a', 'z'), ('A', 'Z'), ('0', '9')]),
    ("upper", &[('A', 'Z')]),
    ("lower", &[('a', 'z')]),
    ("space", &[(' ', ' '), ('\t', '\r')]),
    ("blank", &[(' ', ' '), ('\t', '\t')]),
    ("xdigit", &[('0', '9'), ('a', 'f'), ('A', 'F')]),
];

impl Pattern {
    pub(crate) fn new(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let (mut parts, mut at) = (Vec::new(), 0);
        while let Some(c) = chars.get(at) {
            at += 1;
            parts.push(match c {
                '\\' => {
                    at += 1;
                    Part::One(chars.get(at - 1).copied().unwrap_or('\\'))
                }
                '?' => Part::Any,
                '*' if matches!(parts.last(), Some(Part::Star)) => continue,
                '*' => Part::Star,
                '[' => match set(&chars[at..]) {
                    Some((part, length)) => {
                        at += length;
                        part
                    }
                    None => Part::One('['),
                },
                c => Part::One(*c),
            });
        }
        Pattern(parts)
    }

    /// The most work of one comparison with a text of this length.
    pub(crate) fn work(&self, length: usize) -> usize {
        (self.0.len() + 1).saturating_mul(length + 1)
    }

    pub(crate) fn matches(&self, text: &[char]) -> bool {
        let (mut at, mut part) = (0, 0);
        let mut last_star = None;
        loop {
            match self.0.get(part) {
                Some(Part::Star) => {
                    last_star = Some((part, at));
                    part += 1;
                    continue;
                }
                Some(one) if text.get(at).is_some_and(|c| one.takes(*c)) => {
                    at += 1;
                    part += 1;
                    continue;
                }
                None if at == text.len() => return true,
                _ => {}
            }
            // The last star takes one character more.
            match last_star {
                Some((star, from)) if from < text.len() => {
                    last_star = Some((star, from + 1));
                    (part, at) = (star + 1, from + 1);
                }
                _ => return false,
            }
        }
    }
}

impl Part {
    fn takes(&self, c: char) -> bool {
        match self {
            Part::One(one) => *one == c,
            Part::Any => true,
            Part::Set(negated, ranges) => {
                ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *negated
            }
            Part::Star => false,
        }
    }
}

/// What stands behind `[`, and how long it is; `None` if it is not closed.
fn set(chars: &[char]) -> Option<(Part, usize)> {
    let negated = matches!(chars.first(), Some('!' | '^'));
    let first = usize::from(negated);
    let (mut at, mut ranges) = (first, Vec::new());
    loop {
        let mut c = *chars.get(at)?;
        if c == ']' && at > first {
            return Some((Part::Set(negated, ranges), at + 1));
        }
        if c == '[' && chars.get(at + 1) == Some(&':') {
            let name: String = chars[at + 2..].iter().take(10).take_while(|c| **c != ':').collect();
            if let Some((name, class)) = CLASSES.iter().find(|(known, _)| *known == name) {
                ranges.extend_from_slice(class);
                at += name.len() + 4;
                continue;
            }
        }
        if c == '\\' {
            at += 1;
            c = *chars.get(at)?;
        }
        at += 1;
        match (chars.get(at), chars.get(at + 1)) {
            (Some('-'), Some(last)) if *last != ']' => {
                let escaped = *last == '\\';
                let last = if escaped { *chars.get(at + 2)? } else { *last };
                ranges.push((c, last));
                at += 2 + usize::from(escaped);
            }
            _ => ranges.push((c, c)),
        }
    }
}

/// A text as a pattern that only it matches.
pub(crate) fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\*?[]!^-".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

/// The longest expression that is read, in bytes.
const LONGEST: usize = 1_000;

/// An expression as it is compared; `None` if it cannot be read.
pub(crate) fn regex(text: &str, extended: bool, any_case: bool) -> Option<Regex> {
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
