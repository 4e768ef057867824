//! `laxity reproduce`.
use crate::{Promises, args::Reproduce, failure::Failure};
pub fn run(_: &Reproduce) -> Result<Promises, Failure> {
    todo!()
}
