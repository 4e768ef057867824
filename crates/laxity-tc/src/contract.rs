//! What an exported script says in comments because `tc` has no words for it, as [`export`](crate::export) writes it.

use std::collections::HashMap;

use crate::export::{MARK, OF_CLASS, OF_LINK};
use crate::units::Handle;

/// Keys of a plan with their values in TOML, by the class that they are of.
#[derive(Debug, Default)]
pub struct Contract {
    link: Vec<(String, String)>,
    classes: HashMap<Handle, Vec<(String, String)>>,
}

impl Contract {
    /// Reads the comments of a script; what is none of the known keys is left to people.
    pub fn read(script: &str) -> Contract {
        let mut contract = Contract::default();
        for line in script.lines() {
            let Some(words) = line.trim_start().strip_prefix(MARK) else { continue };
            let Some((head, value)) = words.split_once('=') else { continue };
            let mut head = head.split_whitespace();
            let (Some(whose), Some(key), None) = (head.next(), head.next(), head.next()) else {
                continue;
            };
            let entry = (key.to_string(), value.trim().to_string());
            match handle(whose) {
                None if whose == "link" && OF_LINK.contains(&key) => contract.link.push(entry),
                Some(handle) if OF_CLASS.contains(&key) => {
                    contract.classes.entry(handle).or_default().push(entry);
                }
                _ => {}
            }
        }
        contract
    }

    /// The lines for `[link]`, or else these.
    pub fn link(&self, or_else: impl FnOnce() -> Option<String>) -> String {
        if self.link.is_empty() {
            return or_else().unwrap_or_default();
        }
        self.link.iter().map(|(key, value)| format!("{key} = {value}\n")).collect()
    }

    /// The name of a class.
    pub fn name(&self, handle: Handle) -> Option<String> {
        let (_, value) = self.classes.get(&handle)?.iter().find(|(key, _)| key == "name")?;
        let name = value.strip_prefix('"')?.strip_suffix('"')?;
        let plain =
            !name.is_empty() && !name.chars().any(|c| c.is_control() || matches!(c, '"' | '\\'));
        plain.then(|| name.to_string())
    }

    /// The lines for a class.
    pub fn class(&self, handle: Handle) -> String {
        let lines =
            self.classes.get(&handle).into_iter().flatten().filter(|(key, _)| key != "name");
        lines.map(|(key, value)| format!("{key} = {value}\n")).collect()
    }
}

fn handle(text: &str) -> Option<Handle> {
    let (major, minor) = text.split_once(':')?;
    let half = |text| u16::from_str_radix(text, 16).ok();
    Some(Handle { major: half(major)?, minor: half(minor)? })
}
