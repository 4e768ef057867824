//! The ledgers of both directions while they are written.

use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use laxity_forward::ledger::{Header, Writer};
use laxity_forward::{Event, Settings};
use laxity_linux::frames::Side;

use super::spool::Spool;
use crate::process::Keeper;

/// A ledger for each direction that has a plan.
pub(crate) struct Ledgers([Option<Ledger>; 2]);

struct Ledger {
    spool: Spool,
    /// What is written next.
    writer: Writer<Vec<u8>>,
}

impl Ledgers {
    /// None at all.
    pub(crate) fn none() -> Self {
        Ledgers([None, None])
    }

    /// Begins them in a folder, as `out-TIME.ledger` and `back-TIME.ledger`, the time in seconds of
    /// 1970, with a number where one of that second is there already. `plans` are the texts of the
    /// plans, `settings` what they do not say.
    ///
    /// # Errors
    /// If a file cannot be made.
    pub(crate) fn create(
        folder: &Path,
        plans: [Option<&str>; 2],
        settings: [Option<Settings>; 2],
    ) -> io::Result<Self> {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let begin = |way, side: Side| match (plans[side.index()], settings[side.index()]) {
            (Some(text), Some(settings)) => {
                let mut writer = Writer::new(Vec::new(), Header::from(settings))?;
                writer.plan(text)?;
                let path = folder.join(format!("{way}-{time}.ledger"));
                Ok(Some(Ledger { spool: Spool::create(&path)?, writer }))
            }
            _ => Ok(None),
        };
        let begun: io::Result<_> = begin("out", Side::A);
        Ok(Ledgers([begun?, begin("back", Side::B)?]))
    }

    /// The next plan that is followed.
    pub(crate) fn plan(&mut self, at: Side, text: &str) {
        if let Some(ledger) = self.open(at) {
            ledger.writer.plan(text).unwrap_or_else(in_memory);
        }
    }

    /// Something happened.
    pub(crate) fn event(&mut self, at: Side, event: &Event) {
        if let Some(ledger) = self.open(at) {
            ledger.writer.write(event).unwrap_or_else(in_memory);
        }
    }

    /// Something happened that nobody heard of: what follows does not follow from what is written.
    pub(crate) fn gap(&mut self, at: Side, keeper: &mut dyn Keeper) {
        if let Some(ledger) = self.open(at) {
            ledger.hand_over(keeper);
            ledger.spool.end();
            ledger.ends("events came too fast", keeper);
        }
    }

    /// Hands what was told over to the disk.
    pub(crate) fn hand_over(&mut self, keeper: &mut dyn Keeper) {
        for at in Side::BOTH {
            if let Some(ledger) = self.open(at) {
                ledger.hand_over(keeper);
            }
        }
    }

    /// Waits until all is written.
    pub(crate) fn finish(mut self, keeper: &mut dyn Keeper) {
        self.hand_over(keeper);
        for ledger in self.0.into_iter().flatten() {
            let path = ledger.spool.path().display().to_string();
            if let Err(why) = ledger.spool.finish() {
                keeper.say(&format!("the ledger {path} is not whole: {why}"));
            }
        }
    }

    fn open(&mut self, at: Side) -> Option<&mut Ledger> {
        self.0[at.index()].as_mut().filter(|ledger| ledger.spool.is_open())
    }
}

impl Ledger {
    fn hand_over(&mut self, keeper: &mut dyn Keeper) {
        let told = std::mem::take(self.writer.get_mut());
        if !told.is_empty()
            && let Err(why) = self.spool.write(told)
        {
            self.ends(&why.to_string(), keeper);
        }
    }

    fn ends(&self, why: &str, keeper: &mut dyn Keeper) {
        keeper.say(&format!("the ledger {} ends: {why}", self.spool.path().display()));
    }
}

fn in_memory(error: io::Error) {
    unreachable!("memory takes all that is written: {error}")
}
