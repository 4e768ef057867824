//! Text from outside, made such that a terminal or a page shows every character and obeys none.
//!
//! Plans, scripts, recordings and file names may hold characters that move a terminal's cursor, set
//! its title or turn the order of letters around (Boucher, Anderson: Trojan Source, 2021; CWE-150).
//! XML 1.0 does not allow most of them at all (section 2.2).

use std::borrow::Cow;
use std::fmt::Write;

/// A text with every character in it that is an instruction replaced by one that shows it: control
/// characters other than line feed and tab, and those that change the direction of writing.
pub fn visible(text: &str) -> Cow<'_, str> {
    replaced(text, |c| !matches!(c, '\n' | '\t') && is_instruction(c))
}

/// The same of a text that is to be one line.
pub fn line(text: &str) -> Cow<'_, str> {
    replaced(text, is_instruction)
}

/// A JSON text with the same characters escaped where JSON would let them stand: its value is the
/// same. So is that of a basic string of TOML, which has the same escapes.
pub fn json(text: &str) -> Cow<'_, str> {
    let escaped = |c: char| c >= '\u{7f}' && is_instruction(c);
    replace(text, escaped, |text, c| write!(text, "\\u{:04x}", u32::from(c)))
}

fn replaced(text: &str, is_replaced: impl Fn(char) -> bool) -> Cow<'_, str> {
    replace(text, is_replaced, |text, c| match c {
        // The picture of each is at the same place of a block of its own.
        '\0'..='\u{1f}' => {
            text.write_char(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'))
        }
        '\u{7f}' => text.write_char('\u{2421}'),
        _ => write!(text, "<U+{:04X}>", u32::from(c)),
    })
}

fn replace(
    text: &str,
    is_replaced: impl Fn(char) -> bool,
    write: impl Fn(&mut String, char) -> std::fmt::Result,
) -> Cow<'_, str> {
    let Some(first) = text.find(&is_replaced) else { return Cow::Borrowed(text) };
    let mut shown = String::with_capacity(text.len() + 16);
    shown.push_str(&text[..first]);
    for c in text[first..].chars() {
        if is_replaced(c) {
            write(&mut shown, c).expect("a string takes everything")
        } else {
            shown.push(c)
        }
    }
    Cow::Owned(shown)
}

fn is_instruction(c: char) -> bool {
    let turns = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    // Line and paragraph separator break lines in some viewers.
    c.is_control() || turns || matches!(c, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn instructions_are_shown() {
        assert_eq!(visible("a\u{1b}[31mb\r\n\u{7f}"), "a␛[31mb␍\n␡");
        assert_eq!(visible("\u{9b}2J\u{202e}x"), "<U+009B>2J<U+202E>x");
        assert_eq!(line("one\ntwo"), "one␊two");
        assert!(matches!(visible("plain – ünïcode\n\tשלום"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn nothing_that_is_shown_is_an_instruction(text: String) {
            prop_assert!(!line(&text).chars().any(is_instruction));
            let harmless: String = text.chars().filter(|&c| !is_instruction(c)).collect();
            prop_assert_eq!(visible(&harmless), &*harmless);
        }

        #[test]
        fn json_keeps_its_value(text in "[\\x00-\\u{ff}\u{202a}-\u{202e}\u{2066}-\u{2069}]*") {
            let whole = serde_json::to_string(&text).unwrap();
            let escaped = json(&whole);
            prop_assert!(!escaped.chars().any(is_instruction));
            prop_assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
        }
    }
}
