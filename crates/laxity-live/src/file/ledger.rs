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
    /// What the plan does not say.
    settings: Settings,
    /// In a gap: how many events are not in it.
    missed: Option<u64>,
    gaps: u64,
}

impl Ledger {
    /// Begins a file; where one of its name is there already, it gets a number. `settings` are what
    /// the plan does not say.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn create(path: &Path, plan: &PlanText, settings: Settings) -> io::Result<Self> {
        let writer = Writer::new(Vec::new(), Header::from(settings))?;
        let spool = Spool::create("ledger", path)?;
        let mut ledger = Ledger { spool, writer, settings, missed: None, gaps: 0 };
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

    /// Something happened. In a gap it is left out, unless what follows does so from it.
    pub(crate) fn event(&mut self, event: &Event) {
        if !self.spool.is_open() {
            return;
        }
        if let Some(missed) = &mut self.missed {
            if !matches!(event, Event::Resumed { .. }) {
                *missed += 1;
                return;
            }
            self.end_gap();
        }
        self.writer.write(event).unwrap_or_else(in_memory);
    }

    /// Leaves out what happened and was not heard, `lost` events, and all that follows until a
    /// scheduler begins anew.
    pub(crate) fn gap(&mut self, lost: u64, keeper: &mut dyn Keeper) {
        if !self.spool.is_open() {
            return;
        }
        if self.gaps == 0 {
            let path = self.spool.path().display();
            keeper.say(&format!("events came too fast for the ledger {path}: it has a gap"));
        }
        if self.missed.is_none() {
            self.gaps += 1;
        }
        *self.missed.get_or_insert_default() += lost;
    }

    /// The settings with which a scheduler is to begin anew; `None` if the ledger is in no gap.
    pub(crate) fn mends(&self) -> Option<&Settings> {
        (self.spool.is_open() && self.missed.is_some()).then_some(&self.settings)
    }

    /// Ends it, as it cannot go on after a gap.
    pub(crate) fn end(&mut self, keeper: &mut dyn Keeper) {
        if self.spool.is_open() {
            self.hand_over(keeper);
            self.spool.end();
            self.spool.say_end("events came too fast, and the wire cannot begin anew", keeper);
        }
    }

    fn end_gap(&mut self) {
        if let Some(missed) = self.missed.take() {
            self.writer.gap(missed).unwrap_or_else(in_memory);
        }
    }

    /// Hands what was told over to the disk.
    pub(crate) fn hand_over(&mut self, keeper: &mut dyn Keeper) {
        self.spool.hand_over(std::mem::take(self.writer.get_mut()), keeper);
    }

    /// Waits until all is written.
    pub(crate) fn finish(mut self, keeper: &mut dyn Keeper) {
        self.end_gap();
        self.hand_over(keeper);
        self.spool.close(keeper);
    }
}

fn in_memory(error: io::Error) {
    unreachable!("memory takes all that is written: {error}")
}
