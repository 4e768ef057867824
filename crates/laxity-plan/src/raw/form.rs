//! Values that TOML may hold in several forms: as text, number, list or table.

use std::fmt::{self, Formatter};
use std::marker::PhantomData;

use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};

/// A value of a plan, with a function for each form in which it may be written. Every other form is
/// refused with what is expected.
pub(super) trait Form<'de>: Sized {
    /// Writes what is accepted, with an example.
    fn expected(f: &mut Formatter<'_>) -> fmt::Result;

    /// A string.
    fn text<E: Error>(text: &str) -> Result<Self, E> {
        Err(refused::<Self, E>(Unexpected::Str(text)))
    }

    /// An integer, also one with a sign.
    fn integer<E: Error>(number: i128) -> Result<Self, E> {
        let digits = number.to_string();
        Self::number(&digits, Unexpected::Other(&format!("integer `{digits}`")))
    }

    /// A number with a point, or one that is not finite.
    fn float<E: Error>(number: f64) -> Result<Self, E> {
        Self::number(&number.to_string(), Unexpected::Float(number))
    }

    /// A number, as text: for values that read only its digits.
    fn number<E: Error>(_digits: &str, found: Unexpected<'_>) -> Result<Self, E> {
        Err(refused::<Self, E>(found))
    }

    /// An array.
    fn list<A: SeqAccess<'de>>(_: A) -> Result<Self, A::Error> {
        Err(refused::<Self, A::Error>(Unexpected::Seq))
    }

    /// A table.
    fn table<A: MapAccess<'de>>(_: A) -> Result<Self, A::Error> {
        Err(refused::<Self, A::Error>(Unexpected::Map))
    }
}

fn refused<'de, T: Form<'de>, E: Error>(found: Unexpected<'_>) -> E {
    E::invalid_type(found, &FormVisitor::<T>(PhantomData))
}

/// Reads a value in whichever form it is written.
pub(super) fn read<'de, T: Form<'de>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    from.deserialize_any(FormVisitor(PhantomData))
}

struct FormVisitor<T>(PhantomData<T>);

impl<'de, T: Form<'de>> Visitor<'de> for FormVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        T::expected(f)
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        T::text(text)
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        T::integer(number.into())
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        T::integer(number.into())
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        T::float(number)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        T::list(list)
    }
    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<T, A::Error> {
        T::table(table)
    }
}

/// Reads values of these types in their forms.
macro_rules! in_forms {
    ($([$($generic:tt)*] $value:ty;)*) => {$(
        impl<'de, $($generic)*> serde::Deserialize<'de> for $value {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::raw::form::read(from)
            }
        }
    )*};
}
pub(super) use in_forms;

/// The schema of a value that is read in several forms, by its name there; without one it stands
/// where the value does.
macro_rules! schema {
    ($value:ty, $name:literal, $generator:pat => $schema:expr) => {
        impl schemars::JsonSchema for $value {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }
            fn json_schema($generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $schema
            }
        }
    };
    ($value:ty, $generator:pat => $schema:expr) => {
        impl schemars::JsonSchema for $value {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($value).into()
            }
            fn json_schema($generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $schema
            }
        }
    };
}
pub(super) use schema;
