//! One file a command.

pub mod bench;
pub mod check;
pub mod compare;
pub mod fit;
pub mod import;
#[cfg(target_os = "linux")]
pub mod live;
#[cfg(target_os = "linux")]
pub mod reload;
pub mod reproduce;
pub mod run;
mod seeds;
#[cfg(target_os = "linux")]
pub mod status;
#[cfg(target_os = "linux")]
pub mod top;

use crate::failure::Failure;
use crate::{Promises, print_json};

/// `laxity schema`.
pub fn schema() -> Result<Promises, Failure> {
    print_json(&laxity_plan::schema())?;
    Ok(Promises::Kept)
}
