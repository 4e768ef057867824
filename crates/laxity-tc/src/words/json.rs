//! JSON as `tc` prints it: objects keep the order of their keys, and keys that are repeated, such
//! as one `match` for each of a filter's.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Number, Value};

/// A value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Json {
    Nothing,
    Flag(bool),
    Number(Number),
    Text(String),
    Several(Vec<Json>),
    Object(Members),
}

/// The members of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Members(pub Vec<(String, Json)>);

impl Json {
    /// An object with these members.
    pub(crate) fn object<'k>(members: impl IntoIterator<Item = (&'k str, Json)>) -> Json {
        Json::Object(Members(members.into_iter().map(|(key, value)| (key.into(), value)).collect()))
    }

    /// The first member of this name.
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        let Json::Object(Members(members)) = self else { return None };
        members.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The first member of this name, as a word of a command.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.get(key)?.word()
    }

    /// A text, number or flag that is set, as a word of a command.
    pub(crate) fn word(&self) -> Option<String> {
        match self {
            Json::Flag(true) => Some("true".into()),
            Json::Text(text) => Some(text.clone()),
            Json::Number(number) if number.is_f64() => number.as_f64().map(|f| f.to_string()),
            Json::Number(number) => Some(number.to_string()),
            Json::Nothing | Json::Flag(false) | Json::Several(_) | Json::Object(_) => None,
        }
    }
}

impl<T: Into<Value>> From<T> for Json {
    fn from(value: T) -> Json {
        match value.into() {
            Value::Null => Json::Nothing,
            Value::Bool(flag) => Json::Flag(flag),
            Value::Number(number) => Json::Number(number),
            Value::String(text) => Json::Text(text),
            Value::Array(values) => Json::Several(values.into_iter().map(Json::from).collect()),
            Value::Object(members) => {
                let members = members.into_iter().map(|(key, value)| (key, value.into()));
                Json::Object(Members(members.collect()))
            }
        }
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let members = std::iter::from_fn(|| map.next_entry().transpose());
                members.collect::<Result<_, _>>().map(Members)
            }
        }
        from.deserialize_map(Reader)
    }
}
