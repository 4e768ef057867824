//! `laxity reload`: has the plans of what runs read again.

use crate::args::Instance;
use crate::failure::Failure;
use crate::{Promises, control_socket, print};

/// Carries the command out.
pub(crate) fn run(instance: &Instance) -> Result<Promises, Failure> {
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
