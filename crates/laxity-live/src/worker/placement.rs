//! What a thread gets from the machine before it forwards, and what it gives up.

use std::sync::mpsc::Sender;

use laxity::units::Nanos;
use laxity_linux::Error;
use laxity_linux::priority::{self, Awake};
use laxity_linux::sandbox::Sandbox;

/// How the thread that forwards runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Real-time priority; `None` for an ordinary thread.
    pub priority: Option<u8>,
    /// Core to stay on, counted from 0; `None` for any.
    pub core: Option<usize>,
    /// Whether to keep the machine's cores [awake](laxity_linux::priority::Awake).
    pub awake: bool,
    /// How long before an event the thread stops sleeping: waking up takes a few microseconds.
    pub spin: Nanos,
    /// Capacity of the ring of events, in events. Events beyond it are lost and counted.
    pub events: usize,
    /// Capacity of the ring of captured frames, in bytes; 0 captures nothing.
    pub capture: usize,
}

impl Default for Options {
    /// Priority 50, any core, which may sleep, 30 us, 65 536 events, nothing captured.
    fn default() -> Self {
        Options {
            priority: Some(50),
            core: None,
            awake: false,
            spin: Nanos(30_000),
            events: 65_536,
            capture: 0,
        }
    }
}

/// Holds what a thread has of the machine while it forwards.
pub(super) struct Placement {
    _awake: Option<Awake>,
}

/// Gives the calling thread its core and priority, and confines it to a sandbox, since it reads
/// what strangers send. Sends `begun` why there is no real-time priority, or why the thread cannot
/// begin; then there is no placement.
pub(super) fn place(
    options: Options,
    begun: &Sender<Result<Option<Error>, Error>>,
) -> Option<Placement> {
    let (placement, result) = match try_place(options) {
        Ok((placement, not_real_time)) => (Some(placement), Ok(not_real_time)),
        Err(error) => (None, Err(error)),
    };
    // The starter waits for this.
    let _ = begun.send(result);
    placement
}

fn try_place(options: Options) -> Result<(Placement, Option<Error>), Error> {
    let _awake = options.awake.then(Awake::begin).transpose()?;
    options.core.map(priority::pin).transpose()?;
    let not_real_time = make_punctual(options).err();
    Sandbox::new().enter()?;
    Ok((Placement { _awake }, not_real_time))
}

fn make_punctual(options: Options) -> Result<(), Error> {
    priority::exact_timers()?;
    match options.priority {
        Some(wanted) => priority::real_time(wanted).and_then(|()| priority::lock_memory()),
        None => Ok(()),
    }
}
