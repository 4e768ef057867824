//! How much room text takes, and what fits.

use crate::quantity::shortened;

/// How much wider bold text is.
pub(super) const BOLD: f64 = 1.12;
/// Sizes of text, and of labels that stand close.
pub(in crate::chart) const TEXT: f64 = 12.5;
pub(in crate::chart) const SMALL: f64 = 11.5;

/// A text in lines of at most this width.
pub(super) fn lines(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let longer = lines.last().map(|line| format!("{line} {word}"));
        match longer.filter(|longer| text_width(longer, size) <= room) {
            Some(longer) => *lines.last_mut().expect("it is longer than one") = longer,
            None => lines.push(fitted(word, size, room)),
        }
    }
    lines
}

/// A text that is cut off where it would leave its room.
pub(in crate::chart) fn fitted(text: &str, size: f64, room: f64) -> String {
    let length = text.chars().count();
    let cut = (1..=length).rev().map(|limit| shortened(text, limit));
    let mut fitting = cut.filter(|short| text_width(short, size) <= room);
    fitting.next().unwrap_or_default()
}

/// How wide a text is at most in the usual fonts, about.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ' ' | '\u{a0}' => 0.36,
        'm' | 'w' | 'M' | 'W' | '%' => 1.0,
        c if c >= '\u{1100}' && !('\u{2000}'..'\u{2e80}').contains(&c) => 1.05,
        _ => 0.63,
    };
    text.chars().map(em).sum::<f64>() * size
}
