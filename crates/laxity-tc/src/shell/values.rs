//! What a script knows while it is carried out: values, variables, and the files that it wrote.

pub mod array;
pub mod files;
pub mod input;
pub mod state;
pub mod value;
