//! Frames for Wireshark, each with what became of it.

mod pcapng;

use std::io;
use std::path::Path;

use laxity::units::Nanos;
use laxity_forward::{Dropped, Event, Sent};
use laxity_linux::clock::Clock;
use laxity_plan::Plan;

use crate::log::Told;
use crate::spool::Spool;

/// A pcapng file of the frames that were sent or dropped under a plan. What was sent stands at the
/// interface where it left, when it did; what was dropped at the one where it arrived, when it was
/// dropped. Comments tell class, delay and bound.
pub struct Capture {
    spool: Spool,
    /// What is written next.
    blocks: Vec<u8>,
    /// How much later the time of day is than the time of events.
    ahead: Nanos,
    /// Frames that came too fast.
    missed: u64,
}

impl Capture {
    /// Begins a file of frames between two interfaces of these names; where one of its name is
    /// there already, it gets a number.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn create(path: &Path, interfaces: [&str; 2]) -> io::Result<Self> {
        let spool = Spool::create(path)?;
        let ahead = Clock::Realtime.now().saturating_sub(Clock::Monotonic.now());
        let mut blocks = Vec::new();
        pcapng::begin(&mut blocks, interfaces);
        Ok(Capture { spool, blocks, ahead, missed: 0 })
    }

    /// The file's name.
    pub fn path(&self) -> &Path {
        self.spool.path()
    }

    /// Something happened.
    pub fn event(&mut self, told: Told<'_>) {
        let (at, time, comment) = match told.event {
            Event::Sent(sent) => (told.at.other(), sent.start, of_sent(sent, told.plan)),
            Event::Dropped(dropped) => (told.at, dropped.time, of_dropped(dropped, told.plan)),
            _ => return,
        };
        match told.frame {
            Some(frame) if self.spool.is_open() => {
                let time = self.ahead.saturating_add(time);
                pcapng::packet(&mut self.blocks, at.index() as u32, time, frame, &comment);
            }
            Some(_) => {}
            None => self.missed += 1,
        }
    }

    /// Hands what was told over to the disk.
    pub fn hand_over(&mut self, say: &mut dyn FnMut(&str)) {
        if self.blocks.is_empty() {
            return;
        }
        if let Err(why) = self.spool.write(std::mem::take(&mut self.blocks)) {
            say(&format!("the capture {} ends: {why}", self.spool.path().display()));
        }
    }

    /// Waits until all is written.
    pub fn finish(mut self, say: &mut dyn FnMut(&str)) {
        self.hand_over(say);
        let path = self.spool.path().display().to_string();
        if self.missed > 0 {
            say(&format!("{} frames came too fast for the capture {path}", self.missed));
        }
        if let Err(why) = self.spool.finish() {
            say(&format!("the capture {path} is not whole: {why}"));
        }
    }
}

fn of_sent(sent: &Sent, plan: &Plan) -> String {
    let class = &plan.classes[sent.packet.class.index()];
    let mut comment = format!("class {}, delay {}", class.name, sent.delay());
    if let Some(deadline) = sent.deadline {
        let kept = if sent.departure <= deadline { "before" } else { "after" };
        let apart = Nanos(sent.departure.0.abs_diff(deadline.0));
        comment += &format!(", {apart} {kept} its deadline");
    }
    if sent.packet.demoted {
        comment += ", demoted";
    }
    if sent.lateness > Nanos::ZERO {
        comment += &format!(", begun {} late", sent.lateness);
    }
    comment
}

fn of_dropped(dropped: &Dropped, plan: &Plan) -> String {
    let class = &plan.classes[dropped.packet.class.index()];
    let waited = dropped.time.saturating_sub(dropped.packet.arrival);
    format!("class {}, dropped after {waited}: {}", class.name, dropped.reason.name())
}
