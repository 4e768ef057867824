//! A bridge on a thread of its own.

use std::io;
use std::os::fd::BorrowedFd;

use laxity::units::Nanos;
use laxity_forward::{Event, PreparedPlan};
use laxity_linux::frames::{Backend, Handle, Pool, Port, Side};
use laxity_linux::interface::Interface;

use super::Bridge;
use super::measurement::SideEvent;
use crate::error::{ReloadError, StartError};
use crate::worker::{Counts, Options, Reports, Teller, Turn, Work, Worker};

/// A bridge at work on a thread of its own. It follows another plan for what arrives at a side, if
/// that was made ready with the side's [settings](Bridge::settings).
pub type Forwarding = Worker<(Side, PreparedPlan)>;

/// Reads what happens at a bridge.
pub type Recorder = Reports<SideEvent>;

impl Forwarding {
    /// Starts the thread.
    ///
    /// # Errors
    /// If there is no thread, or it cannot be confined.
    pub fn start<B: Backend + Send + 'static>(
        bridge: Bridge<B>,
        options: Options,
    ) -> Result<(Self, Recorder), StartError> {
        let (teller, recorder) = Teller::new(options);
        let work = BridgeWork { bridge, teller, plans: [0; 2], closing: None };
        Ok((Worker::begin(work, options)?, recorder))
    }
}

/// A bridge and the thread's end of the ring of events.
struct BridgeWork<B> {
    bridge: Bridge<B>,
    teller: Teller<SideEvent>,
    /// By side, how many plans were followed before the present one.
    plans: [u32; 2],
    /// Once it ends: whether there may be frames left to take in.
    closing: Option<bool>,
}

impl<B: Backend> Work for BridgeWork<B> {
    type Plan = (Side, PreparedPlan);

    const NAME: &str = "forwarding";
    const WITHOUT_PRIORITY: &str = "Without it frames are late by milliseconds when others work";

    fn turn(&mut self, end: Option<Nanos>) -> io::Result<Option<Turn>> {
        let BridgeWork { bridge, teller, plans, closing } = self;
        let (observer, time) = (&mut observer(teller, plans), bridge.time());
        let clock = &mut || time.elapsed();
        let Some(end) = end else { return bridge.turn(clock, observer).map(Some) };
        let turn = if *closing.get_or_insert_with(|| bridge.close()) {
            bridge.turn(clock, observer)?
        } else {
            Turn { next: bridge.send(clock, observer)?, more: false }
        };
        let goes_on = (turn.next.is_some() || turn.more) && clock() < end;
        Ok(goes_on.then_some(turn))
    }

    fn now(&self) -> Nanos {
        self.bridge.time().elapsed()
    }

    fn descriptors(&self, is_ending: bool) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.bridge.descriptors().filter(move |_| !is_ending)
    }

    fn counts(&mut self) -> io::Result<Counts> {
        self.bridge.counts()
    }

    fn reattach(&mut self, at: Port, to: &Interface) -> Result<(), laxity_linux::Error> {
        self.bridge.backend.reattach(at, to)
    }

    fn reload(&mut self, (at, next): &mut (Side, PreparedPlan)) -> Result<(), ReloadError> {
        let BridgeWork { bridge, teller, plans, .. } = self;
        let now = bridge.time().elapsed();
        Ok(bridge
            .reload(*at, now, next, &mut observer(teller, plans))
            .ok_or(ReloadError::Plain)??)
    }
}

/// Tells what happens to the frames that arrive at a side.
fn observer<'a>(
    teller: &'a mut Teller<SideEvent>,
    plans: &'a mut [u32; 2],
) -> impl FnMut(Side, &Event, &Pool) + 'a {
    move |at, event, pool| {
        let plan = &mut plans[at.index()];
        *plan += u32::from(matches!(event, Event::Reloaded { .. }));
        let frame = || Some(pool.bytes(Handle(event.leaving()?.handle as u32)));
        teller.tell_with(SideEvent { at, plan: *plan, event: *event }, frame);
    }
}
