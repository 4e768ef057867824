//! JSON as `tc` prints it: objects keep the order of their keys, and keys that are repeated, such as
//! one `match` for each of a filter's.

use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::Number;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Nothing,
    Flag(bool),
    Text(String),
    Number(Number),
    Several(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// An object with these members.
    pub fn object<'k>(members: impl IntoIterator<Item = (&'k str, Json)>) -> Json {
        Json::Object(members.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// The first member of this name.
    pub fn get(&self, key: &str) -> Option<&Json> {
        let Json::Object(members) = self else { return None };
        members.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// A text, number or flag that is set, as a word of a command.
    pub fn word(&self) -> Option<String> {
        match self {
            Json::Flag(true) => Some("true".into()),
            Json::Text(text) => Some(text.clone()),
            Json::Number(number) if number.is_f64() => number.as_f64().map(|f| f.to_string()),
            Json::Number(number) => Some(number.to_string()),
            Json::Nothing | Json::Flag(false) | Json::Several(_) | Json::Object(_) => None,
        }
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::Text(text.into())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Json {
        Json::Text(text)
    }
}

impl From<bool> for Json {
    fn from(flag: bool) -> Json {
        Json::Flag(flag)
    }
}

impl From<u64> for Json {
    fn from(number: u64) -> Json {
        Json::Number(number.into())
    }
}

impl From<u32> for Json {
    fn from(number: u32) -> Json {
        Json::Number(number.into())
    }
}

impl From<i32> for Json {
    fn from(number: i32) -> Json {
        Json::Number(number.into())
    }
}

impl From<f64> for Json {
    fn from(number: f64) -> Json {
        Number::from_f64(number).map_or(Json::Nothing, Json::Number)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Nothing => to.serialize_unit(),
            Json::Flag(flag) => to.serialize_bool(*flag),
            Json::Text(text) => to.serialize_str(text),
            Json::Number(number) => number.serialize(to),
            Json::Several(values) => values.serialize(to),
            Json::Object(members) => {
                let mut map = to.serialize_map(Some(members.len()))?;
                for (key, value) in members {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("what tc shows")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Nothing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let mut all = Vec::new();
        while let Some(value) = list.next_element()? {
            all.push(value);
        }
        Ok(Json::Several(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut all = Vec::new();
        while let Some(entry) = map.next_entry()? {
            all.push(entry);
        }
        Ok(Json::Object(all))
    }
}
