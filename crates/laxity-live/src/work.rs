//! What the thread does that forwards.

use std::io;
use std::sync::mpsc::Sender;

use laxity::units::Nanos;
use laxity_forward::{Dropped, Event, Prepared, Refusal, Sent};
use laxity_linux::clock::Clock;
use laxity_linux::frames::{Backend, Handle, Pool, Port, Side};
use laxity_linux::interface::Interface;
use laxity_linux::priority::{self, Awake};
use laxity_linux::sandbox::Sandbox;
use laxity_linux::wait::Waiter;
use rtrb::Producer;

use crate::asking::Asked;
use crate::bridge::{Bridge, Counts, Observer, Turn};
use crate::forwarding::Options;
use crate::recorder::Happened;

/// What the thread is asked for.
pub(crate) enum Ask {
    Reload {
        at: Side,
        next: Box<Prepared>,
        answer: Sender<Reloaded>,
    },
    Count(Sender<io::Result<Counts>>),
    Reattach {
        at: Port,
        to: Interface,
        answer: Sender<Result<(), laxity_linux::Error>>,
    },
    /// Takes nothing in any more, and ends when all is sent or it is this late.
    Drain {
        until: Nanos,
    },
}

/// What came of following another plan, and what is no longer followed: whoever asked clears it
/// away.
pub(crate) type Reloaded = (Option<Result<(), Refusal>>, Box<Prepared>);

/// What a thread has of the machine as long as it forwards.
pub(crate) struct Placed {
    _awake: Option<Awake>,
}

/// Gives the calling thread what it is to have of the machine, and takes from it what it does not
/// need, so that it may read what strangers send. Whoever waits for it to begin hears why it has no
/// real-time priority, or why it cannot begin.
pub(crate) fn place(
    options: Options,
    begun: &Sender<Result<Option<laxity_linux::Error>, laxity_linux::Error>>,
) -> Option<Placed> {
    let place = || {
        let _awake = options.awake.then(Awake::begin).transpose()?;
        options.core.map(priority::pin).transpose()?;
        let not_real_time = punctual(options).err();
        Sandbox::new().enter()?;
        Ok((Placed { _awake }, not_real_time))
    };
    let (placed, heard) = match place() {
        Ok((placed, not_real_time)) => (Some(placed), Ok(not_real_time)),
        Err(error) => (None, Err(error)),
    };
    // Who started it waits.
    let _ = begun.send(heard);
    placed
}

/// Makes the calling thread as punctual as it may be.
fn punctual(options: Options) -> Result<(), laxity_linux::Error> {
    priority::exact_timers()?;
    match options.priority {
        Some(wanted) => priority::real_time(wanted).and_then(|()| priority::lock_memory()),
        None => Ok(()),
    }
}

/// What the thread works with.
pub(crate) struct Work<B> {
    pub bridge: Bridge<B>,
    pub options: Options,
    pub asked: Asked<Ask>,
    pub told: Teller,
    /// When it ends at the latest, once it drains.
    pub until: Option<Nanos>,
}

impl<B: Backend> Work<B> {
    pub(crate) fn run(&mut self) -> io::Result<()> {
        let mut waiter = Waiter::default();
        let clock = &mut || Clock::Monotonic.now();
        loop {
            let turn = match self.until {
                None => self.bridge.turn(clock, &mut self.told)?,
                Some(until) => {
                    let next = self.bridge.send(clock, &mut self.told)?;
                    if next.is_none() || clock() >= until {
                        return Ok(());
                    }
                    Turn { next, more: false }
                }
            };
            if self.answer(clock()) || turn.more {
                continue;
            }
            let next = turn.next.into_iter().chain(self.until).min();
            let awake_from = next.map(|next| next.saturating_sub(self.options.spin));
            if awake_from.is_none_or(|from| from > clock()) {
                let backend = self.bridge.backend();
                let sides = Side::BOTH.into_iter().flat_map(|side| backend.descriptors(side));
                let sides = sides.filter(|_| self.until.is_none());
                waiter.wait(std::iter::once(self.asked.bell()).chain(sides), awake_from)?;
                if waiter.is_ready(0) {
                    self.asked.silence();
                }
            }
        }
    }

    /// Does what is asked for; tells whether anything was.
    fn answer(&mut self, now: Nanos) -> bool {
        let mut any = false;
        while let Some(ask) = self.asked.next() {
            any = true;
            // Who asked may have gone.
            match ask {
                Ask::Reload { at, mut next, answer } => {
                    let reloaded = self.bridge.reload(at, now, &mut next, &mut self.told);
                    let _ = answer.send((reloaded, next));
                }
                Ask::Count(answer) => drop(answer.send(self.bridge.counts())),
                Ask::Reattach { at, to, answer } => {
                    let _ = answer.send(self.bridge.reattach(at, &to));
                }
                Ask::Drain { until } => self.until = Some(until),
            }
        }
        any
    }
}

/// Tells the recorder, and never waits for it.
pub(crate) struct Teller {
    events: Producer<Happened>,
    /// The bytes of frames that are sent or dropped; of no room if they are not captured.
    frames: Producer<u8>,
    /// By side, how many plans were followed before the present one.
    plans: [u32; 2],
    /// Events that there was no room for since the last that was told.
    lost: u64,
}

impl Teller {
    /// One that has told nothing.
    pub(crate) fn new(events: Producer<Happened>, frames: Producer<u8>) -> Self {
        Teller { events, frames, plans: [0; 2], lost: 0 }
    }

    /// Tells the bytes of a frame as far as there is room for all of them.
    fn capture(&mut self, event: &Event, pool: &Pool) -> u32 {
        let (Event::Sent(Sent { packet, .. }) | Event::Dropped(Dropped { packet, .. })) = event
        else {
            return 0;
        };
        let bytes = pool.bytes(Handle(packet.handle as u32));
        match self.frames.push_entire_slice(bytes) {
            Ok(()) => bytes.len() as u32,
            Err(_) => 0,
        }
    }
}

impl Observer for Teller {
    fn event(&mut self, at: Side, event: &Event, pool: &Pool) {
        let plan = &mut self.plans[at.index()];
        *plan += u32::from(matches!(event, Event::Reloaded { .. }));
        let (plan, event, lost_before) = (*plan, *event, self.lost);
        if self.events.is_full() {
            self.lost += 1;
            return;
        }
        let captures = self.frames.buffer().capacity() > 0;
        let captured = if captures { self.capture(&event, pool) } else { 0 };
        // Nobody else takes the room that there is.
        let _ = self.events.push(Happened { at, plan, event, captured, lost_before });
        self.lost = 0;
    }
}
