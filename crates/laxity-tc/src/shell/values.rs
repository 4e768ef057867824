//! What a script knows while it is carried out: values, variables, and the files that it wrote.

mod array;
mod files;
mod state;
mod value;

pub(crate) use array::{Array, MOST_NAMED};
pub(crate) use files::{Files, Input};
pub(crate) use state::{Arguments, Name, State};
pub(crate) use value::{Status, Value, ValueResult, Variable};
