//! `{a,b}` and `{1..3}` (bash).

use crate::shell::syntax::{Part, Text};

/// The most words that one comes to.
const MOST: usize = 10_000;
/// How deep braces may be inside each other, and how many behind each other.
const DEEPEST: usize = 64;
/// The longest word with braces that count, in signs.
const LONGEST: usize = 2048;

/// A sign without quotes, or a part that braces leave alone.
#[derive(Clone)]
enum Token {
    Sign(char),
    Part(Part),
}

use Token::Sign;

/// The words that a word comes to, or itself where it has no braces; `None` if there are too many.
pub(crate) fn expanded(parts: &Text) -> Option<Vec<Text>> {
    if !parts.iter().any(|part| matches!(part, Part::Text(text) if text.contains('{'))) {
        return Some(vec![parts.clone()]);
    }
    let mut tokens = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => tokens.extend(text.chars().map(Sign)),
            part => tokens.push(Token::Part(part.clone())),
        }
    }
    let words = if tokens.len() <= LONGEST { words(&tokens, 0) } else { None };
    words.map(|words| words.iter().map(|word| text(word)).collect())
}

/// How much work braces are: each sign may be compared with each.
pub(crate) fn work(parts: &Text) -> usize {
    let signs = |part: &Part| match part {
        Part::Text(text) if text.contains('{') => text.len(),
        _ => 0,
    };
    let signs = parts.iter().map(signs).sum::<usize>().min(LONGEST);
    signs * signs
}

fn text(tokens: &[Token]) -> Text {
    let mut parts = Vec::new();
    for token in tokens {
        match (token, parts.last_mut()) {
            (Sign(c), Some(Part::Text(text))) => text.push(*c),
            (Sign(c), _) => parts.push(Part::Text((*c).into())),
            (Token::Part(part), _) => parts.push(part.clone()),
        }
    }
    parts
}

fn words(tokens: &[Token], depth: usize) -> Option<Vec<Vec<Token>>> {
    if depth > DEEPEST {
        return None;
    }
    let opens = tokens.iter().enumerate().filter(|(_, token)| matches!(token, Sign('{')));
    for (open, _) in opens {
        let Some((close, commas)) = closed(tokens, open) else { continue };
        let inside = &tokens[open + 1..close];
        let ways = if commas.is_empty() {
            match sequence(inside) {
                Some(ways) => ways?,
                None => continue,
            }
        } else {
            let starts = std::iter::once(open).chain(commas.iter().copied());
            let ends = commas.iter().copied().chain([close]);
            let mut ways = Vec::new();
            for (start, end) in starts.zip(ends) {
                ways.extend(words(&tokens[start + 1..end], depth + 1)?);
            }
            ways
        };
        let rests = words(&tokens[close + 1..], depth + 1)?;
        if ways.len().saturating_mul(rests.len()) > MOST {
            return None;
        }
        let joined = |way: &Vec<Token>, rest: &Vec<Token>| [&tokens[..open], way, rest].concat();
        let all = ways.iter().flat_map(|way| rests.iter().map(move |rest| joined(way, rest)));
        return Some(all.collect());
    }
    Some(vec![tokens.to_vec()])
}

/// Where braces that open here are closed, and the commas right inside of them.
fn closed(tokens: &[Token], open: usize) -> Option<(usize, Vec<usize>)> {
    let (mut depth, mut commas) = (0usize, Vec::new());
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token {
            Sign('{') => depth += 1,
            Sign('}') if depth == 1 => return Some((at, commas)),
            Sign('}') => depth -= 1,
            Sign(',') if depth == 1 => commas.push(at),
            _ => {}
        }
    }
    None
}

/// `1..3`, `01..10..3`, `a..c`; `None` inside if there are too many.
fn sequence(tokens: &[Token]) -> Option<Option<Vec<Vec<Token>>>> {
    let sign = |token: &Token| match token {
        Sign(c) => Some(*c),
        Token::Part(_) => None,
    };
    let text: String = tokens.iter().map(sign).collect::<Option<_>>()?;
    let parts: Vec<&str> = text.split("..").collect();
    let (first, last, step) = match parts[..] {
        [first, last] => (first, last, "1"),
        [first, last, step] => (first, last, step),
        _ => return None,
    };
    let step = step.parse::<i64>().ok()?.unsigned_abs().max(1);
    let letter = |text: &str| match text.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => Some(i64::from(*letter)),
        _ => None,
    };
    let number = |text: &str| text.parse::<i64>().ok();
    let (from, to, are_letters) = match (number(first), number(last)) {
        (Some(from), Some(to)) => (from, to, false),
        _ => (letter(first)?, letter(last)?, true),
    };
    let count = from.abs_diff(to) / step + 1;
    if count > MOST as u64 {
        return Some(None);
    }
    let padded = |text: &str| text.trim_start_matches('-').starts_with('0') && text.len() > 1;
    let width = if padded(first) || padded(last) { first.len().max(last.len()) } else { 0 };
    let word = |at: u64| {
        let offset = i64::try_from(at * step).unwrap_or(0);
        let value = if from <= to { from + offset } else { from - offset };
        match u8::try_from(value).ok().filter(|_| are_letters) {
            Some(letter) => vec![Sign(char::from(letter))],
            None => format!("{value:0width$}").chars().map(Sign).collect(),
        }
    };
    Some(Some((0..count).map(word).collect()))
}
