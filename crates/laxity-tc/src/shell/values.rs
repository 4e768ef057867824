//! What a script knows while it is carried out: values, variables, and the files that it wrote.

pub(super) mod array;
pub(super) mod files;
pub(super) mod input;
pub(super) mod state;
pub(super) mod value;
