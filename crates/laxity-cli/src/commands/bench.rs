//! `laxity bench`.
use crate::{Promises, args::Bench, failure::Failure};
pub fn run(_: &Bench) -> Result<Promises, Failure> {
    todo!()
}
