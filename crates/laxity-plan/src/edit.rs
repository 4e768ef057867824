//! A plan's text with other values at some of its keys.

use std::fmt;
use std::str::FromStr;

use laxity::units::{Bytes, Nanos};
use thiserror::Error;
use toml_edit::{
    Array, ArrayOfTables, DocumentMut, InlineTable, Item, Key, Table, TableLike, TomlError, Value,
};

use crate::error::{Fault, PlanError};

/// A key of a plan, with those of the tables that it lies in: `class.video.deadline`,
/// `source.0.rate`. Parts are written as in TOML, in quotes where they hold more than letters,
/// digits, `-` and `_`; a number counts the tables of a list from 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Path(Vec<String>);

impl Path {
    /// The key of these parts.
    pub fn new<'a>(parts: impl IntoIterator<Item = &'a str>) -> Path {
        Path(parts.into_iter().map(str::to_owned).collect())
    }
}

impl FromStr for Path {
    type Err = EditError;

    fn from_str(text: &str) -> Result<Path, EditError> {
        let wrong = || EditError::NoKey(text.to_owned());
        let parts = Key::parse(text).map_err(|_| wrong())?;
        Ok(Path(parts.iter().map(|part| part.get().to_owned()).collect()))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> =
            self.0.iter().map(|part| Key::new(part).display_repr().into_owned()).collect();
        f.write_str(&parts.join("."))
    }
}

/// Why a key cannot have a value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EditError {
    /// The words are no key.
    #[error(
        "`{0}` is no key: write the names of tables and the key with dots, as `class.video.deadline`"
    )]
    NoKey(String),
    /// A table that the key lies in is not in the plan.
    #[error("the plan has no `{missing}`, in which `{key}` would lie")]
    NoTable {
        /// The key.
        key: Path,
        /// What is not there.
        missing: Path,
    },
    /// The text is not that of a class.
    #[error("these are no keys of a class: {0}")]
    NoKeys(String),
    /// Classes are not in tables, so that no others can be put before them.
    #[error(
        "the plan has no classes in tables such as `[class.NAME]`, before which others could stand"
    )]
    NoTables,
    /// There is a class of a name.
    #[error("there is a class `{0}` already")]
    Exists(String),
    /// The value is none of TOML's.
    #[error("`{0}` is no value of TOML")]
    NoValue(String),
}

/// The keys of a class with their values, as they stand below `[class.NAME]`.
#[derive(Clone, Debug, Default)]
pub struct ClassKeys(Table);

impl FromStr for ClassKeys {
    type Err = EditError;

    fn from_str(text: &str) -> Result<ClassKeys, EditError> {
        let document: DocumentMut =
            text.parse().map_err(|error: TomlError| EditError::NoKeys(error.message().into()))?;
        let table = document.into_table();
        // A table of its own would stand among those of the plan.
        let nested = table.iter().find(|(_, item)| !item.is_value()).map(|(key, _)| key.to_owned());
        match nested {
            Some(key) => Err(EditError::NoKeys(format!("`{key}` is a table: write it in braces"))),
            None => Ok(ClassKeys(table)),
        }
    }
}

impl fmt::Display for ClassKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl ClassKeys {
    /// Gives a key a value, written in TOML, whether it has one or not.
    ///
    /// # Errors
    /// If that is no value.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), EditError> {
        let value: Value = value.parse().map_err(|_| EditError::NoValue(value.to_owned()))?;
        self.0.insert(key, Item::Value(value));
        Ok(())
    }

    /// Takes out a key. Returns it with its value, if it was there.
    pub fn remove(&mut self, key: &str) -> Option<ClassKeys> {
        let taken = self.0.remove_entry(key)?;
        Some(ClassKeys(Table::from_iter([taken])))
    }

    /// Adds keys, in place of those that are there.
    pub fn extend(&mut self, keys: impl IntoIterator<Item = ClassKeys>) {
        keys.into_iter().for_each(|ClassKeys(keys)| self.0.extend(keys));
    }

    /// Gives a key a table of times, by name.
    pub fn set_times<'a>(&mut self, key: &str, times: impl IntoIterator<Item = (&'a str, Nanos)>) {
        let time = |(name, Nanos(time)): (&'a str, Nanos)| (name, format!("{time}ns"));
        let times: InlineTable = times.into_iter().map(time).collect();
        self.0.insert(key, Item::Value(times.into()));
    }

    /// Gives a key a table of numbers, by name.
    pub fn set_numbers<'a>(
        &mut self,
        key: &str,
        numbers: impl IntoIterator<Item = (&'a str, u32)>,
    ) {
        let number = |(name, number): (&'a str, u32)| (name, i64::from(number));
        let numbers: InlineTable = numbers.into_iter().map(number).collect();
        self.0.insert(key, Item::Value(numbers.into()));
    }

    /// The table of numbers of a key, by name; what is none of that is left out.
    pub fn numbers(&self, key: &str) -> impl Iterator<Item = (&str, u32)> {
        let table = self.0.get(key).and_then(Item::as_table_like);
        let number = |(name, item)| Some((name, u32::try_from(Item::as_integer(item)?).ok()?));
        table.into_iter().flat_map(TableLike::iter).filter_map(number)
    }

    /// The table of times of a key, by name; what is none of that is left out.
    pub fn times(&self, key: &str) -> impl Iterator<Item = (&str, Nanos)> {
        let table = self.0.get(key).and_then(Item::as_table_like);
        let time = |(name, item)| Some((name, Item::as_str(item)?.parse().ok()?));
        table.into_iter().flat_map(TableLike::iter).filter_map(time)
    }

    /// The value of a key, written in TOML, if it has one.
    pub fn get(&self, key: &str) -> Option<String> {
        Some(self.0.get(key)?.as_value()?.clone().decorated("", "").to_string())
    }
}

/// A plan's text that is being changed: its comments, order and formatting stay.
#[derive(Clone, Debug)]
pub struct Draft(DocumentMut);

impl Draft {
    /// Of the text of a plan, which is called `name` in errors.
    ///
    /// # Errors
    /// If it is no TOML.
    pub fn parse(text: &str, name: &str) -> Result<Draft, PlanError> {
        let document = text.parse::<DocumentMut>().map_err(|error| {
            PlanError::new(name, text, Fault::new(error.span(), error.message().to_string()))
        });
        Ok(Draft(document?))
    }

    /// Gives a key a value, written in TOML, whether it has one or not.
    ///
    /// # Errors
    /// If that is no value, or there is no such table.
    pub fn set(&mut self, key: &Path, value: &str) -> Result<(), EditError> {
        let mut value: Value =
            value.trim().parse().map_err(|_| EditError::NoValue(value.to_owned()))?;
        let (last, table) = self.place(key)?;
        match table.get_mut(last) {
            Some(Item::Value(old)) => {
                *value.decor_mut() = old.decor().clone();
                *old = value;
            }
            _ => drop(table.insert(last, Item::Value(value))),
        }
        Ok(())
    }

    /// The value of a key, written in TOML, if it has one.
    pub fn get(&self, key: &Path) -> Option<String> {
        // The way to a place is that of a change.
        let mut copy = self.clone();
        let (last, table) = copy.place(key).ok()?;
        // What stands around it, such as a comment, is not of it.
        Some(table.get(last)?.as_value()?.clone().decorated("", "").to_string())
    }

    /// The last part of a key, and the table that it lies in.
    fn place<'a>(
        &'a mut self,
        key: &'a Path,
    ) -> Result<(&'a str, &'a mut dyn TableLike), EditError> {
        let no_table = |depth: usize| EditError::NoTable {
            key: key.clone(),
            missing: Path(key.0[..=depth].to_vec()),
        };
        let (last, tables) = key.0.split_last().expect("a key has a part");
        let mut table: &mut dyn TableLike = self.0.as_table_mut();
        let mut depth = 0;
        while depth < tables.len() {
            let item = table.get_mut(&tables[depth]).ok_or_else(|| no_table(depth))?;
            let number = || key.0.get(depth + 1)?.parse::<usize>().ok();
            let (inner, parts) = match item {
                Item::ArrayOfTables(list) => {
                    let inner = number().and_then(|number| list.get_mut(number));
                    (inner.map(|inner| inner as &mut dyn TableLike), 2)
                }
                Item::Value(Value::Array(list)) => {
                    let inner = number().and_then(|number| list.get_mut(number));
                    let inner = inner.and_then(Value::as_inline_table_mut);
                    (inner.map(|inner| inner as &mut dyn TableLike), 2)
                }
                item => (item.as_table_like_mut(), 1),
            };
            table = inner.ok_or_else(|| no_table((depth + parts - 1).min(tables.len() - 1)))?;
            depth += parts;
        }
        Ok((last, table))
    }

    /// Puts classes before all others, in their order: their matches are tested first.
    ///
    /// # Errors
    /// If the classes of the plan are in no tables such as `[class.NAME]` or `class = { … }`, or
    /// one of a name is there.
    pub fn put_first<'a>(
        &mut self,
        classes: impl IntoIterator<Item = (&'a str, &'a ClassKeys)>,
    ) -> Result<(), EditError> {
        let table = match self.0.get_mut("class") {
            Some(Item::Table(table)) => table,
            Some(Item::Value(Value::InlineTable(table))) => {
                let others = std::mem::take(table);
                for (name, ClassKeys(keys)) in classes {
                    if others.contains_key(name) || table.contains_key(name) {
                        return Err(EditError::Exists(name.to_owned()));
                    }
                    table.insert(name, Value::InlineTable(keys.clone().into_inline_table()));
                }
                table.extend(others);
                return Ok(());
            }
            _ => return Err(EditError::NoTables),
        };
        if table.is_dotted() || !table.iter().all(|(_, item)| item.is_table()) {
            return Err(EditError::NoTables);
        }
        let others = std::mem::take(table);
        table.set_implicit(true);
        for (name, ClassKeys(keys)) in classes {
            if others.contains_key(name) || table.contains_key(name) {
                return Err(EditError::Exists(name.to_owned()));
            }
            table.insert(name, Item::Table(keys.clone()));
        }
        table.extend(others);
        Ok(())
    }

    /// Adds a source at the end, which sends as much as the contract of a class allows along a
    /// path.
    ///
    /// # Errors
    /// If the sources of the plan are no tables.
    pub fn add_source(
        &mut self,
        class: &str,
        packet: Bytes,
        path: &[String],
    ) -> Result<(), EditError> {
        let mut keys = Table::new();
        let packet = format!("{}b", packet.0);
        for (key, word) in [
            ("class", class),
            ("model", "greedy"),
            ("packet", &packet),
            ("burst", "1s"),
            ("spacing", "0s"),
        ] {
            keys.insert(key, Item::Value(word.into()));
        }
        keys.insert("path", Item::Value(path.iter().collect::<Array>().into()));
        let none = || Item::ArrayOfTables(ArrayOfTables::new());
        match self.0.entry("source").or_insert_with(none) {
            Item::ArrayOfTables(sources) => sources.push(keys),
            Item::Value(Value::Array(sources)) => sources.push(keys.into_inline_table()),
            _ => return Err(EditError::NoTables),
        }
        Ok(())
    }

    /// The text.
    pub fn text(&self) -> String {
        self.0.to_string()
    }

    /// What it says, without comments and formatting: two texts with the same meaning and order of
    /// keys have the same.
    pub fn essence(&self) -> String {
        let mut text = String::new();
        write_table(self.0.as_table(), &mut text);
        text
    }
}

/// Writes a table as `key=value` in braces.
fn write_table(table: &dyn TableLike, into: &mut String) {
    into.push('{');
    for (key, item) in table.iter() {
        *into += &format!("{key:?}=");
        write_item(item, into);
        into.push(';');
    }
    into.push('}');
}

fn write_item(item: &Item, into: &mut String) {
    match item {
        Item::None => {}
        Item::Value(value) => write_value(value, into),
        Item::Table(table) => write_table(table, into),
        Item::ArrayOfTables(list) => {
            into.push('[');
            for table in list {
                write_table(table, into);
                into.push(',');
            }
            into.push(']');
        }
    }
}

fn write_value(value: &Value, into: &mut String) {
    match value {
        Value::String(text) => *into += &format!("{:?}", text.value()),
        Value::Integer(number) => *into += &number.value().to_string(),
        Value::Float(number) => *into += &format!("{:?}", number.value()),
        Value::Boolean(is) => *into += &is.value().to_string(),
        Value::Datetime(time) => *into += &time.value().to_string(),
        Value::Array(list) => {
            into.push('[');
            for value in list {
                write_value(value, into);
                into.push(',');
            }
            into.push(']');
        }
        Value::InlineTable(table) => write_table(table, into),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "version = 1
link = { rate = '10mbit' } # of the modem
[class.video]
deadline = '30ms' # a frame
[class.\"a b\"]
[[source]]
class = 'video'
[[source]]
class = 'a b'
";

    fn set(key: &str, value: &str) -> Result<String, EditError> {
        let mut draft = Draft::parse(PLAN, "plan.toml").unwrap();
        draft.set(&key.parse()?, value)?;
        Ok(draft.text())
    }

    #[test]
    fn a_value_takes_the_place_of_the_old_one_and_nothing_else_changes() {
        let with = |old: &str, new: &str| Ok(PLAN.replace(old, new));
        assert_eq!(set("class.video.deadline", "\"20ms\""), with("'30ms'", "\"20ms\""));
        assert_eq!(set("link.rate", "'8mbit'"), with("'10mbit'", "'8mbit'"));
        assert_eq!(set("source.1.class", "'video'"), with("class = 'a b'", "class = 'video'"));
    }

    #[test]
    fn a_value_is_told_as_it_is_written() {
        let draft = Draft::parse(PLAN, "plan.toml").unwrap();
        let get = |key: &str| draft.get(&key.parse().unwrap());
        assert_eq!(get("class.video.deadline").as_deref(), Some("'30ms'"));
        assert_eq!(get("source.1.class").as_deref(), Some("'a b'"));
        assert_eq!((get("class.video"), get("class.video.weight"), get("x.y")), (None, None, None));
    }

    #[test]
    fn a_key_that_is_not_there_is_added_to_a_table_that_is() {
        let text = set("class.\"a b\".weight", "3").unwrap();
        assert!(text.contains("[class.\"a b\"]\nweight = 3\n"), "{text}");
        let text = set("link.max-packet", "'1500b'").unwrap();
        assert!(text.contains(", max-packet = '1500b' }"), "{text}");
    }

    #[test]
    fn classes_are_put_before_all_others_and_the_rest_stays() {
        let keys: ClassKeys = "deadline = '5ms'\nmatch = 'udp dport 5004'".parse().unwrap();
        let mut draft = Draft::parse(PLAN, "plan.toml").unwrap();
        draft.put_first([("b", &keys), ("a 1", &keys)]).unwrap();
        let body = "deadline = '5ms'\nmatch = 'udp dport 5004'\n";
        let added = format!("[class.b]\n{body}[class.\"a 1\"]\n{body}[class.video]");
        let text = draft.text();
        assert_eq!(text.replace("\n\n", "\n"), PLAN.replace("[class.video]", &added));
        let refused = |text: &str, name| {
            Draft::parse(text, "plan.toml").unwrap().put_first([(name, &keys)]).unwrap_err()
        };
        assert_eq!(refused(PLAN, "video"), EditError::Exists("video".into()));
        let mut inline =
            Draft::parse("class = { a = {}, c = { weight = 2 } }", "plan.toml").unwrap();
        inline.put_first([("b", &keys)]).unwrap();
        let order: Vec<_> = ["b = {", "a = {", "c = {"]
            .map(|class| inline.text().find(class))
            .into_iter()
            .collect();
        assert!(order.is_sorted() && order[0].is_some(), "{}", inline.text());
        assert_eq!(inline.put_first([("c", &keys)]), Err(EditError::Exists("c".into())));
        assert_eq!(refused("class.a.weight = 1", "b"), EditError::NoTables);
        assert_eq!(refused("[link]", "b"), EditError::NoTables);
        for text in ["[link]\nrate = 1", "deadline", "a = 1\na = 2"] {
            assert!(matches!(text.parse::<ClassKeys>(), Err(EditError::NoKeys(_))), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_is_told() {
        for (key, value, said) in [
            ("class.vidio.deadline", "'1ms'", "the plan has no `class.vidio`, in which"),
            ("source.2.rate", "'1mbit'", "the plan has no `source.2`, in which"),
            ("source.rate", "'1mbit'", "the plan has no `source"),
            ("version.x", "1", "the plan has no `version`"),
            ("class..x", "1", "is no key"),
            ("", "1", "is no key"),
            ("link.rate", "10mbit", "`10mbit` is no value of TOML"),
        ] {
            let error = set(key, value).unwrap_err().to_string();
            assert!(error.contains(said), "{key}: {error}");
        }
        let error = Draft::parse("version = ", "plan.toml").unwrap_err();
        assert!(error.to_string().starts_with("plan.toml:1:"), "{error}");
    }

    #[test]
    fn keys_are_written_as_they_are_read() {
        for key in ["class.video.deadline", "class.\"a b\".weight", "source.0.rate"] {
            assert_eq!(key.parse::<Path>().unwrap().to_string(), key);
        }
    }

    #[test]
    fn comments_and_formatting_are_not_of_the_essence() {
        let essence = |text: &str| Draft::parse(text, "plan.toml").unwrap().essence();
        let other = PLAN.replace(" # a frame", "\n\n").replace('\'', "\"");
        assert_eq!(essence(PLAN), essence(&other));
        assert_eq!(essence("a.b = 1"), essence("[a]\nb = 1"));
        assert_ne!(essence("a = '1'"), essence("a = 1"));
        assert_ne!(
            essence("a = 1\nb = 2"),
            essence("b = 2\na = 1"),
            "classes are matched in order"
        );
        assert_ne!(essence("a = ['x,\"y']"), essence("a = ['x', 'y']"));
    }
}
