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

/// What a thread does not have that it was to have, each with the reason.
#[derive(Debug, Default)]
pub(super) struct Lacks {
    pub(super) real_time: Option<Error>,
    /// Memory that stays.
    pub(super) locked_memory: Option<Error>,
}

/// Holds what a thread has of the machine while it forwards.
pub(super) struct Placement {
    _awake: Option<Awake>,
}

/// Gives the calling thread its core and priority, and confines it to a sandbox, since it reads
/// what strangers send. Sends `begun` what the thread lacks, or why it cannot begin; then there is
/// no placement.
pub(super) fn place(options: Options, begun: &Sender<Result<Lacks, Error>>) -> Option<Placement> {
    let (placement, result) = match try_place(options) {
        Ok((placement, lacks)) => (Some(placement), Ok(lacks)),
        Err(error) => (None, Err(error)),
    };
    // The starter waits for this.
    let _ = begun.send(result);
    placement
}

fn try_place(options: Options) -> Result<(Placement, Lacks), Error> {
    let _awake = options.awake.then(Awake::begin).transpose()?;
    options.core.map(priority::pin).transpose()?;
    priority::exact_timers()?;
    let lacks = match options.priority {
        Some(wanted) => Lacks {
            real_time: priority::real_time(wanted).err(),
            locked_memory: priority::lock_memory().err(),
        },
        None => Lacks::default(),
    };
    Sandbox::new().enter()?;
    Ok((Placement { _awake }, lacks))
}
