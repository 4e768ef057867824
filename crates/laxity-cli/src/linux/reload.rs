//! `laxity reload`: has the plans of what runs read again.

use super::control_socket;
use crate::args::Instance;
use crate::failure::Failure;
use crate::{Promises, print};

/// Carries the command out.
pub(super) fn run(instance: &Instance) -> Result<Promises, Failure> {
    let running = control_socket::running(instance.control.as_deref())?;
    match running.reload().map_err(Failure::system)? {
        Ok(()) => print("The plan is reloaded.")?,
        Err(why) => {
            print(&format!("The plan is not reloaded: {why}"))?;
            return Ok(Promises::Broken);
        }
    }
    Ok(Promises::Kept)
}
