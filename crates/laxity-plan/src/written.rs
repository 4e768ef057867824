//! Values of a plan as they are written in TOML.

use laxity::overhead::{Framing, Overhead};

/// A text as a value. It has no control characters.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A name as a key.
pub fn key(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let is_plain = !name.is_empty() && name.chars().all(plain);
    if is_plain { name.to_string() } else { quoted(name) }
}

/// The value of `overhead` in a plan; `None` for none.
pub fn overhead(overhead: &Overhead) -> Option<String> {
    let Overhead { bytes, at_least, framing } = *overhead;
    if *overhead == Overhead::NONE {
        return None;
    }
    if let Some((name, _)) = Overhead::NAMED.iter().find(|(_, named)| named == overhead) {
        return Some(format!("\"{name}\""));
    }
    let mut parts = vec![format!("bytes = \"{bytes}b\"")];
    if at_least > 0 {
        parts.push(format!("at-least = \"{at_least}b\""));
    }
    match framing {
        Framing::Atm => parts.push("framing = \"atm\"".into()),
        Framing::Ptm => parts.push("framing = \"ptm\"".into()),
        _ => {}
    }
    Some(match &parts[..] {
        [_] => format!("\"{bytes}b\""),
        parts => format!("{{ {} }}", parts.join(", ")),
    })
}
