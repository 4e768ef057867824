//! Values of a plan as they are written in TOML.

use laxity::overhead::{Framing, Overhead};
use laxity::sched::cake::{AckFilter, CakeSettings};

use crate::model::CakeSpec;

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

/// The keys of a scheduler that is cake, each with its value. The rate and the limit are left out.
pub fn cake(cake: &CakeSpec) -> Vec<String> {
    let CakeSpec { wash, settings, .. } = cake;
    let CakeSettings { diffserv, isolation, rtt, ingress, ack_filter, .. } = settings;
    let mut keys = vec![
        "kind = \"cake\"".to_string(),
        format!("diffserv = \"{}\"", diffserv.word()),
        format!("isolation = \"{}\"", isolation.word()),
        format!("rtt = \"{rtt}\""),
    ];
    keys.extend(ingress.then(|| "ingress = true".into()));
    keys.extend(wash.then(|| "wash = true".into()));
    let filter = match ack_filter {
        AckFilter::Off => None,
        AckFilter::On => Some("on"),
        AckFilter::Aggressive => Some("aggressive"),
    };
    keys.extend(filter.map(|filter| format!("ack-filter = \"{filter}\"")));
    keys
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
