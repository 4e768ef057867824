//! A bridge on a thread of its own.

use std::io;
use std::os::fd::BorrowedFd;

use laxity::units::Nanos;
use laxity_forward::{Event, PreparedPlan, SentPacket};
use laxity_linux::frames::{Backend, Handle, Pool, Port, Side};
use laxity_linux::interface::Interface;

use super::measurement::SideEvent;
use super::{Bridge, Observer};
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
        let (observer, time) = (&mut Telling { teller, plans }, bridge.time());
        let clock = &mut || time.elapsed();
        let takes_in = match end {
            None => true,
            Some(_) => *closing.get_or_insert_with(|| bridge.close()),
        };
        let turn = if takes_in {
            bridge.turn(clock, observer)?
        } else {
            Turn { next: bridge.send(clock, observer)?, more: false }
        };
        let goes_on = end.is_none_or(|end| (turn.next.is_some() || turn.more) && clock() < end);
        if !goes_on || teller.kept() > KEPT {
            teller.tell_kept();
        }
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
        let reloaded = bridge.reload(*at, now, next, &mut Telling { teller, plans });
        teller.tell_kept();
        Ok(reloaded.ok_or(ReloadError::Plain)??)
    }
}

/// Whether it is not known yet when a packet was handed over.
fn is_unknown(sent: &SentPacket) -> bool {
    !sent.is_under_way && sent.held == Nanos::ZERO
}

/// Events that are kept at most while an interface takes no more.
const KEPT: usize = 4_096;

/// Tells what happens to the frames that arrive at a side, when what is sent has been handed over.
struct Telling<'a> {
    teller: &'a mut Teller<SideEvent>,
    plans: &'a mut [u32; 2],
}

impl Observer for Telling<'_> {
    fn observe(&mut self, at: Side, event: &Event, pool: &Pool) {
        let plan = &mut self.plans[at.index()];
        *plan += u32::from(matches!(event, Event::Reloaded { .. }));
        let frame = || Some(pool.bytes(Handle(event.leaving()?.handle as u32)));
        self.teller.keep(SideEvent { at, plan: *plan, event: *event }, frame);
    }

    fn handed_over(&mut self, at: Side, time: Nanos, holding: Nanos) {
        self.teller.change_kept(|it| match &mut it.event {
            Event::Sent(sent) if it.at == at && is_unknown(sent) => {
                sent.held = time.saturating_sub(sent.start).saturating_add(holding).max(Nanos(1));
            }
            _ => {}
        });
        // In their order: what the interface of the other side has not taken yet stays.
        self.teller
            .tell_kept_until(|it| matches!(&it.event, Event::Sent(sent) if is_unknown(sent)));
    }
}
