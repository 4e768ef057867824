//! `laxity reload`: has the plans of what runs read again.

use crate::args::Asked;
use crate::failure::Failure;
use crate::{Promises, print, sight};

/// Carries the command out.
pub(crate) fn run(asked: &Asked) -> Result<Promises, Failure> {
    match sight::running(asked.control.as_deref())?.reload()? {
        Ok(()) => print("The plan is reloaded.")?,
        Err(why) => {
            print(&format!("The plan is not reloaded: {why}"))?;
            return Ok(Promises::Broken);
        }
    }
    Ok(Promises::Kept)
}
