//! The ledger of a direction while it is written.

use std::io;
use std::path::Path;

use laxity_forward::ledger::{Header, Writer};
use laxity_forward::{Event, Settings};
use laxity_plan::Plan;
use laxity_plan::model::PlanFile;

use super::spool::Spool;
use crate::process::{Keeper, PlanText};

/// A ledger of what happens to the packets of a direction.
pub(crate) struct Ledger {
    spool: Spool,
    /// What is written next.
    writer: Writer<Vec<u8>>,
}

impl Ledger {
    /// Begins a file; where one of its name is there already, it gets a number. `settings` are what
    /// the plan does not say.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn create(path: &Path, plan: &PlanText, settings: Settings) -> io::Result<Self> {
        let writer = Writer::new(Vec::new(), Header::from(settings))?;
        let mut ledger = Ledger { spool: Spool::create("ledger", path)?, writer };
        ledger.plan(&plan.text, &plan.plan);
        Ok(ledger)
    }

    /// The next plan that is followed, and its text.
    pub(crate) fn plan(&mut self, text: &str, plan: &Plan) {
        if self.spool.is_open() {
            for PlanFile { key, text, .. } in &plan.files {
                self.writer.file(&key.to_string(), text).unwrap_or_else(in_memory);
            }
            self.writer.plan(text).unwrap_or_else(in_memory);
        }
    }

    /// Something happened.
    pub(crate) fn event(&mut self, event: &Event) {
        if self.spool.is_open() {
            self.writer.write(event).unwrap_or_else(in_memory);
        }
    }

    /// Something happened that was not heard: what follows does not follow from what is written.
    pub(crate) fn gap(&mut self, keeper: &mut dyn Keeper) {
        if self.spool.is_open() {
            self.hand_over(keeper);
            self.spool.end();
            self.spool.say_end("events came too fast", keeper);
        }
    }

    /// Hands what was told over to the disk.
    pub(crate) fn hand_over(&mut self, keeper: &mut dyn Keeper) {
        self.spool.hand_over(std::mem::take(self.writer.get_mut()), keeper);
    }

    /// Waits until all is written.
    pub(crate) fn finish(mut self, keeper: &mut dyn Keeper) {
        self.hand_over(keeper);
        self.spool.close(keeper);
    }
}

fn in_memory(error: io::Error) {
    unreachable!("memory takes all that is written: {error}")
}
