//! One file a command.

pub mod bench;
pub mod check;
pub mod compare;
pub mod fit;
pub mod import;
#[cfg(target_os = "linux")]
pub mod live;
pub mod replay;
pub mod reproduce;
#[cfg(target_os = "linux")]
mod routers;
pub mod run;
mod seeds;

use crate::failure::Failure;
use crate::{Promises, print_json};

/// `laxity schema`.
pub fn schema() -> Result<Promises, Failure> {
    print_json(&laxity_plan::schema())?;
    Ok(Promises::Kept)
}
