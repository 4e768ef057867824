//! How late a link counts as while plans change.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use laxity::packet::{ClassId, Packet};
use laxity::units::Nanos;
use laxity_plan::discipline::Growth;
use laxity_sim::record::{Fate, Record};

use super::Stage;

/// How late the link counts as.
///
/// A plan that is followed from now on promises what it would promise after following it all along
/// on a link that was late. That lateness ends when the link is idle.
pub(super) struct Lateness {
    /// How many plans were followed.
    followed: usize,
    stage: Arc<Stage>,
    /// What lateness costs the classes of the plan that is followed.
    growths: HashMap<ClassId, Growth>,
    /// What is queued arrived then.
    queued: BTreeMap<u64, Nanos>,
    free_at: Nanos,
    lost: Nanos,
}

impl Lateness {
    pub(super) fn new(stage: Arc<Stage>) -> Self {
        Lateness {
            followed: 0,
            stage,
            growths: HashMap::new(),
            queued: BTreeMap::new(),
            free_at: Nanos::ZERO,
            lost: Nanos::ZERO,
        }
    }

    /// Goes on with the plans whose time has come.
    pub(super) fn follow(&mut self, now: Nanos) {
        let stage = Arc::clone(&self.stage);
        while let Some(change) = stage.calls.changes.get(self.followed)
            && change.at <= now
        {
            self.followed += 1;
            let (followed, classes) = stage.followed(change);
            let growths = followed.growths();
            let growth = |(outside, inside): (ClassId, ClassId)| (outside, growths[inside.index()]);
            self.growths = classes.into_iter().map(growth).collect();
            let oldest = self.queued.values().next();
            let end = self.free_at.max(change.at);
            self.lost = oldest.map_or(Nanos::ZERO, |oldest| end - *oldest + Nanos(1));
        }
    }

    pub(super) fn arrived(&mut self, packet: &Packet) {
        if self.queued.is_empty() && self.free_at <= packet.arrival {
            self.lost = Nanos::ZERO;
        }
        self.queued.insert(packet.handle, packet.arrival);
    }

    /// A packet has left. Returns by how much it may be later than promised.
    pub(super) fn left(&mut self, record: &Record) -> Nanos {
        self.queued.remove(&record.packet.handle);
        if let Fate::Sent { departure, .. } = record.fate {
            self.free_at = departure;
        }
        let growth = self.growths.get(&record.packet.class);
        // A class that is gone has its last packets among those that are promised nothing.
        growth.map_or(self.lost, |growth| growth.delay_for(self.lost))
    }
}
