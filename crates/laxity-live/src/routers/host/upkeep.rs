//! What is asked of routers beside forwarding.

use std::io;

use laxity_forward::Settings;
use laxity_forward::router::Router;
use laxity_linux::frames::{Backend, Port, Statistics};
use laxity_linux::interface::Interface;

use super::super::measured::{Fate, Happened};
use super::super::passage::Wire;
use super::hands::Hands;
use super::{Host, Local};
use crate::cut::{Cut, Cutter};

/// What was counted besides what happens to packets.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Counts {
    /// By port, what the backend counts.
    pub interfaces: Vec<Statistics>,
    /// By port at which they arrived.
    pub cut: Vec<Cut>,
    /// How many packets of each class are queued.
    pub queued: Vec<u64>,
    /// How often inputs got out of step.
    pub losses: u64,
    /// Packets of which no frame was known, and padding.
    pub unknown: u64,
}

impl<B: Backend> Host<B> {
    /// What is on its way between routers here, and will not come, is lost.
    pub fn close(&mut self, tell: &mut dyn FnMut(Happened)) {
        for lost in self.wires.iter().flat_map(Wire::under_way) {
            tell(Happened::Ended(*lost, Fate::Lost));
        }
    }

    /// What was counted since the start.
    ///
    /// # Errors
    /// If the backend cannot tell.
    pub fn counts(&mut self) -> io::Result<Counts> {
        let Host { backend, routers, ports, cutters, .. } = self;
        let interfaces = (0..ports.len()).map(|port| backend.statistics(Port(port as u16)));
        let (mut losses, mut unknown, mut queued) = (0, 0, Vec::new());
        for Local { router, .. } in routers {
            let [lost, strange] = router.lost_frames();
            (losses, unknown) = (losses + lost, unknown + strange);
            queued.resize(router.queued().len(), 0);
            queued.iter_mut().zip(router.queued()).for_each(|(sum, count)| *sum += count);
        }
        let interfaces = interfaces.collect::<io::Result<_>>()?;
        let cut = cutters.iter().map(Cutter::lost).collect();
        Ok(Counts { interfaces, cut, queued, losses, unknown })
    }

    /// Follows the plan of other routers of the same nodes, which get what is no longer followed.
    /// All must [agree](laxity_forward::router::agree).
    pub fn reload(&mut self, next: &mut [Router], tell: &mut dyn FnMut(Happened)) {
        for (number, next) in next.iter_mut().enumerate() {
            let Host { backend, routers, ports, passages, skips, outgoing, time, .. } = self;
            let Local { router, first } = &mut routers[number];
            let (first, now) = (*first, time.now());
            let mut hands =
                Hands { backend, ports, passages, skips, outgoing, first, tell: &mut *tell };
            router.reload(now, next, &mut hands);
        }
    }

    /// Goes on with another interface at a port, one that has come back.
    ///
    /// # Errors
    /// If it cannot.
    pub fn reattach(&mut self, at: Port, to: &Interface) -> Result<(), laxity_linux::Error> {
        self.backend.reattach(at, to)?;
        self.ports[at.index()].mac = to.mac.unwrap_or_default();
        Ok(())
    }

    /// What is not in the plan.
    pub fn settings(&self) -> Settings {
        self.settings
    }
}
