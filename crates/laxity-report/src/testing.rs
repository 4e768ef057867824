//! What tests share.

pub(crate) mod sample;
