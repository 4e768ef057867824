//! Keys of a table that some of its kinds take and others do not.

use std::ops::Range;

use schemars::Schema;

/// A key that a kind takes.
#[derive(Debug)]
pub(crate) struct Key {
    name: &'static str,
    /// What it means to this kind; empty if that is the same for all kinds, and said with the
    /// table.
    about: &'static str,
}

/// All keys of a kind, in groups. Other kinds may take some of the groups, too.
pub(crate) type Keys = &'static [&'static [Key]];

impl Key {
    /// A key that means the same to every kind that takes it.
    pub(crate) const fn common(name: &'static str) -> Key {
        Key { name, about: "" }
    }

    /// A key and what it means to the kind: a sentence without its capital letter.
    pub(crate) const fn new(name: &'static str, about: &'static str) -> Key {
        Key { name, about }
    }
}

/// The names of keys, in their order.
pub(crate) fn names(keys: Keys) -> impl Iterator<Item = &'static str> {
    keys.iter().copied().flatten().map(|key| key.name)
}

/// A key of a table, and where it stands if it is written.
pub(crate) type Written<'a> = (&'static str, Option<&'a Range<usize>>);

/// The first key that is written in a table of a kind that does not take it.
pub(crate) fn misplaced<'a>(
    written: impl IntoIterator<Item = Written<'a>>,
    takes: impl Fn(&str) -> bool,
) -> Option<(&'static str, &'a Range<usize>)> {
    let mut written = written.into_iter().filter_map(|(key, span)| Some((key, span?)));
    written.find(|(key, _)| !takes(key))
}

/// Writes into a table's schema what each key means to the kinds of the table. `kinds` holds the
/// word and the keys of each kind. A key without a meaning of its own for any kind keeps its
/// description.
pub(crate) fn describe(schema: &mut Schema, kinds: &[(&str, Keys)]) {
    let Some(properties) = schema.get_mut("properties").and_then(|all| all.as_object_mut()) else {
        return;
    };
    for (name, property) in properties.iter_mut() {
        let Some(property) = property.as_object_mut() else { continue };
        let mut meanings: Vec<(&str, Vec<String>)> = Vec::new();
        for (word, keys) in kinds {
            let key = keys.iter().copied().flatten().find(|key| key.name == name);
            let Some(Key { about, .. }) = key.filter(|key| !key.about.is_empty()) else { continue };
            let word = format!("`{word}`");
            match meanings.iter_mut().find(|(other, _)| other == about) {
                Some((_, words)) => words.push(word),
                None => meanings.push((about, vec![word])),
            }
        }
        if !meanings.is_empty() {
            let parts =
                meanings.iter().map(|(about, words)| format!("{}: {about}", words.join(", ")));
            let whole = parts.collect::<Vec<_>>().join(" ");
            property.insert("description".into(), whole.into());
        }
    }
}

/// The kinds of a table: for each its name in Rust and its word in a plan.
macro_rules! kinds {
    ($visibility:vis, $schema:literal, $field:literal, $($(#[$about:meta])* $kind:ident: $word:literal;)*) => {
        #[doc = $field]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
        #[schemars(rename = $schema)]
        $visibility enum Kind {
            $($(#[$about])* #[serde(rename = $word)] $kind,)*
        }

        impl Kind {
            /// All of them, in the order in which they are listed.
            $visibility const ALL: &'static [Kind] = &[$(Kind::$kind),*];

            /// Its word in a plan.
            $visibility fn word(self) -> &'static str {
                match self {
                    $(Kind::$kind => $word,)*
                }
            }
        }
    };
}
pub(crate) use kinds;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{aqm, source};

    /// A key that no kind takes could be in no plan, and one that is not in the table in none
    /// either.
    #[test]
    fn every_key_has_a_kind_and_a_meaning() {
        let schema = crate::schema().to_value();
        for (table, kinds, of_all) in
            [("Queue", aqm::keys(), &["kind", "limit"][..]), ("Source", source::keys(), &["model"])]
        {
            let properties = schema["$defs"][table]["properties"].as_object().unwrap();
            let written: BTreeSet<_> = properties.keys().map(String::as_str).collect();
            let taken = kinds.iter().flat_map(|(_, keys)| names(keys));
            assert_eq!(written, taken.chain(of_all.iter().copied()).collect());
            for (name, property) in properties {
                assert!(property["description"].is_string(), "{table}: {name}");
            }
        }
    }

    #[test]
    fn a_meaning_is_said_once_for_all_that_share_it() {
        const A: Keys = &[&[Key::new("rate", "the rate."), Key::common("class")]];
        const B: Keys = &[&[Key::new("rate", "the mean.")], &[Key::new("on", "its time.")]];
        let mut schema = schemars::json_schema!({
            "properties": { "rate": {}, "on": {}, "class": { "description": "Whose." } }
        });
        describe(&mut schema, &[("a", A), ("b", B), ("c", A)]);
        let said = |name: &str| schema.as_value()["properties"][name]["description"].clone();
        assert_eq!(said("rate"), "`a`, `c`: the rate. `b`: the mean.");
        assert_eq!(said("on"), "`b`: its time.");
        assert_eq!(said("class"), "Whose.");
    }
}
