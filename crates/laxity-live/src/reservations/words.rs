//! Values of JSON in the words of plans.

use laxity_plan::edit::{ClassKeys, EditError};
use serde_json::{Map, Value};

/// How deep values may lie in one another.
const DEPTH: usize = 8;

/// The keys of a class.
///
/// # Errors
/// If a value is none of TOML's.
pub(crate) fn keys(class: &Map<String, Value>) -> Result<ClassKeys, EditError> {
    let mut keys: ClassKeys = "".parse()?;
    for (key, value) in class {
        let mut text = String::new();
        write(value, DEPTH, &mut text).ok_or_else(|| EditError::NoValue(value.to_string()))?;
        keys.set(key, &text)?;
    }
    Ok(keys)
}

/// Writes a value; `None` if it is none of TOML's.
fn write(value: &Value, depth: usize, text: &mut String) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    match value {
        Value::Null => return None,
        // Strings and numbers of JSON are such of TOML, too.
        Value::Bool(_) | Value::Number(_) | Value::String(_) => *text += &value.to_string(),
        Value::Array(values) => {
            text.push('[');
            for value in values {
                write(value, depth, text)?;
                text.push(',');
            }
            text.push(']');
        }
        Value::Object(values) => {
            text.push('{');
            for (number, (key, value)) in values.iter().enumerate() {
                let comma = if number > 0 { ", " } else { "" };
                *text += &format!("{comma}{} = ", key_of(key));
                write(value, depth, text)?;
            }
            text.push('}');
        }
    }
    Some(())
}

/// A key as TOML has it: in quotes unless it is made of letters, digits, `-` and `_`.
fn key_of(key: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    match key {
        "" => "\"\"".to_string(),
        key if key.chars().all(is_plain) => key.to_string(),
        key => Value::String(key.to_string()).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_plans() {
        let class = r#"{"deadline": "5ms", "arrival": {"bucket": "300b", "rate": "80kbit"},
                        "hosts": ["a\"b", "ü\n"], "count": 3}"#;
        let class: Map<String, Value> = serde_json::from_str(class).unwrap();
        let keys = keys(&class).unwrap();
        assert_eq!(keys.get("deadline").as_deref(), Some("\"5ms\""));
        assert_eq!(keys.get("count").as_deref(), Some("3"));
        let again: ClassKeys = keys.to_string().parse().unwrap();
        assert_eq!(again.to_string(), keys.to_string());
        assert!(keys.get("arrival").unwrap().contains("rate = \"80kbit\""));
    }

    #[test]
    fn what_toml_does_not_have_is_refused() {
        let refused = |text: &str| keys(&serde_json::from_str(text).unwrap()).is_err();
        assert!(refused(r#"{"deadline": null}"#));
        let deep = format!("{{\"a\": {}1{}}}", "[".repeat(100), "]".repeat(100));
        assert!(refused(&deep));
    }
}
