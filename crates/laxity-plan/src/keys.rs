//! Keys of a table that some of its kinds take and others do not.

use crate::error::Span;
use crate::raw::{At, Word};

/// The keys that a kind takes, in groups that other kinds may take, too.
pub(crate) type Keys = &'static [&'static [&'static str]];

/// Whether a key is among these.
pub(crate) fn has(keys: Keys, key: &str) -> bool {
    keys.iter().any(|group| group.contains(&key))
}

/// A key that is written, and the place of its value.
pub(crate) type WrittenKey<'a> = (String, &'a Span);

/// The first key that is written in a table of a kind that does not take it.
pub(crate) fn misplaced<'a>(
    mut written: impl Iterator<Item = WrittenKey<'a>>,
    takes: impl Fn(&str) -> bool,
) -> Option<WrittenKey<'a>> {
    written.find(|(key, _)| !takes(key))
}

/// A value of a table.
pub(crate) trait Place {
    /// Where it is written; `None` if it is not, and if every table of its kind has it.
    fn place(&self) -> Option<&Span>;
}

impl<T> Place for Option<At<T>> {
    fn place(&self) -> Option<&Span> {
        self.as_ref().map(|at| &at.span)
    }
}

impl<T> Place for Option<Box<At<T>>> {
    fn place(&self) -> Option<&Span> {
        self.as_ref().map(|at| &at.span)
    }
}

impl<T> Place for At<T> {
    fn place(&self) -> Option<&Span> {
        None
    }
}

impl<T> Place for Word<T> {
    fn place(&self) -> Option<&Span> {
        None
    }
}

/// A table of a plan that can tell which of its keys are written.
macro_rules! table {
    ($(#[$about:meta])* pub(crate) struct $table:ident {
        $($(#[$meaning:meta])* pub $key:ident: $value:ty,)*
    }) => {
        $(#[$about])*
        #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields, rename_all = "kebab-case")]
        pub(crate) struct $table {
            $($(#[$meaning])* pub $key: $value,)*
        }

        impl $table {
            /// The keys that are written, in the order of the table.
            pub(crate) fn written(&self) -> impl Iterator<Item = $crate::keys::WrittenKey<'_>> {
                let keys = [$((stringify!($key), $crate::keys::Place::place(&self.$key))),*];
                let key = |field: &str| field.trim_start_matches("r#").replace('_', "-");
                keys.into_iter().filter_map(move |(field, place)| Some((key(field), place?)))
            }
        }
    };
}
pub(crate) use table;

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

    use crate::{aqm, discipline, source};

    /// A key that no kind takes could be in no plan, and one that is not in the table in none
    /// either.
    #[test]
    fn every_key_has_a_kind_and_a_meaning() {
        let schema = crate::schema().to_value();
        let of_disciplines = discipline::Kind::ALL.iter().map(|kind| kind.room().keys.to_vec());
        let of_queues = aqm::Kind::ALL.iter().map(|kind| kind.keys().concat());
        let of_sources = source::Kind::ALL.iter().map(|kind| kind.keys().concat());
        for (table, taken, of_all) in [
            ("Scheduler", of_disciplines.collect::<Vec<_>>(), &["kind", "queue"][..]),
            ("Queue", of_queues.collect(), &["kind", "limit"]),
            ("Source", of_sources.collect(), &["model"]),
        ] {
            let properties = schema["$defs"][table]["properties"].as_object().unwrap();
            let written: BTreeSet<_> = properties.keys().map(String::as_str).collect();
            let taken = taken.into_iter().flatten();
            assert_eq!(written, taken.chain(of_all.iter().copied()).collect());
            for (name, property) in properties {
                assert!(property["description"].is_string(), "{table}: {name}");
            }
        }
    }
}
