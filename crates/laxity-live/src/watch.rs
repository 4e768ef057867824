//! Measures any shaper from outside and compares the delays with the bounds of a plan.
//!
//! Two taps see the frames before and behind the shaper. Packets are paired by their content.
//!
//! It shares no code with the forwarder's own measurement, only the forms in which figures are
//! [shown](crate::status) and [kept](crate::status::history) for a report. The kernel's time stamps
//! give the time between the two taps; nothing depends on when frames are read.
//!
//! | module | what it is |
//! | --- | --- |
//! | [`content`] | what tells packets apart, as far as shapers leave it as it is |
//! | [`pairing`] | what arrived and has not left |
//! | [`measuring`] | frames in, figures out; no clock, no I/O |
//! | [`causes`] | what delayed packets, as far as taps show it |
//! | [`taps`] | the frames of two interfaces |

mod busiest;
pub mod causes;
mod class;
pub mod content;

pub mod measuring;
pub mod order;
pub mod pairing;
pub mod taps;
#[cfg(test)]
mod tests;

use std::sync::mpsc::Receiver;

use laxity::units::Nanos;
use laxity_forward::Refusal;
use laxity_linux::clock::Clock;
use laxity_linux::interface::Interface;
use laxity_linux::sandbox::Sandbox;
use laxity_plan::Plan;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::LiveError;
use crate::process::Request;
use crate::reservations::Answer;

pub use measuring::Settings;
pub use taps::{Behind, Taps, WatchResult};

/// What is watched.
pub struct Watch {
    /// Before and behind what is measured.
    pub interfaces: [Interface; 2],
    /// Which frames of the second are taken for those that have left.
    pub behind: Behind,
    /// What is held against it.
    pub plan: Plan,
    /// What is not in the plan.
    pub settings: Settings,
    /// It ends by itself after so long.
    pub duration: Option<Nanos>,
    /// What others ask for meanwhile.
    pub requests: Receiver<Request>,
}

impl Watch {
    /// Watches until a signal asks for the end, without any privilege once the taps are open.
    ///
    /// # Errors
    /// If the plan is not of a link, or the system refuses what it takes.
    pub fn run(self, say: &mut dyn FnMut(&str)) -> Result<WatchResult, LiveError> {
        let Watch { interfaces: [before, after], behind, plan, settings, duration, requests } =
            self;
        if let Some(class) = plan.host_class() {
            return Err(Refusal::HostMarks(class.name.clone()).into());
        }
        let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(LiveError::Signals)?;
        let mut taps = Taps::open([&before, &after], behind, plan, settings)?;
        Sandbox::new().terminal().enter()?;
        say(&format!("watching between {} and {}", before.name, after.name));
        let end = duration.map(|duration| Clock::Monotonic.now().saturating_add(duration));
        while end.is_none_or(|end| Clock::Monotonic.now() < end)
            && signals.pending().next().is_none()
        {
            taps.look().map_err(LiveError::Frames)?;
            for request in requests.try_iter() {
                match request {
                    Request::End => return taps.finish().map_err(LiveError::Frames),
                    // Who asked may have gone.
                    Request::Status(answer) => {
                        drop(answer.send(taps.status().map_err(LiveError::Frames)?));
                    }
                    Request::Past { answer, .. } => drop(answer.send(None)),
                    Request::Reload(answer) => drop(answer.send(Err(KEEPS.into()))),
                    Request::Order(_, answer) => drop(answer.send(Answer::none_taken())),
                }
            }
        }
        taps.finish().map_err(LiveError::Frames)
    }
}

/// Why a plan is not read again.
const KEEPS: &str = "laxity watch keeps the plan that it began with, so that all it has measured is held \
                     against the same; end it and begin again";
