//! Threads beside the one that forwards.

use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use laxity_linux::sandbox::Sandbox;

use crate::error::StartError;

/// Starts a thread that is confined to a sandbox before it does anything. It returns nothing if
/// that fails.
///
/// # Errors
/// If the thread cannot be had, or does not get rid of its privileges.
pub(crate) fn spawn<T: Send + 'static>(
    name: &str,
    sandbox: Sandbox,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<Option<T>>, StartError> {
    let (ready, is_ready) = mpsc::channel();
    let thread = thread::Builder::new().name(name.into()).spawn(move || {
        let entered = sandbox.enter();
        let is_confined = entered.is_ok();
        // The caller blocks on this result, so sending it cannot fail.
        let _ = ready.send(entered);
        is_confined.then(work)
    })?;
    is_ready.recv().map_err(|_| StartError::Gone)??;
    Ok(thread)
}
