//! Why a packet waits where classes have schedulers of their own.

use super::LeafQueues;
use crate::explain::{Explain, Rule, VirtualTimes};
use crate::packet::{ClassId, Packet};
use crate::scheduler::{Dispatch, Scheduler};
use crate::units::Nanos;

impl<S: Scheduler> LeafQueues<S> {
    /// The rules of a class's own scheduler, and the packet as that knows it.
    fn below(&self, packet: &Packet) -> Option<(Option<&dyn Explain>, Packet)> {
        let leaf = self.leaf(packet.class)?;
        Some((leaf.scheduler.explain(), Packet { class: ClassId(0), ..*packet }))
    }
}

impl<S: Scheduler> Explain for LeafQueues<S> {
    /// The number of its class, and its queue there.
    fn queue(&self, packet: &Packet) -> u64 {
        let within = self.below(packet).and_then(|(explain, inner)| Some(explain?.queue(&inner)));
        u64::from(packet.class.0) << 32 | within.unwrap_or_default()
    }

    fn precedence(&self, now: Nanos, sent: &Dispatch, waiting: &Packet) -> Rule {
        if sent.packet.class == waiting.class
            && let Some((explain, inner)) = self.below(waiting)
        {
            let packet = Packet { class: ClassId(0), ..sent.packet };
            let sent = Dispatch { packet, ..*sent };
            return explain
                .map_or(Rule::Scheduler, |explain| explain.precedence(now, &sent, &inner));
        }
        let upper = self.upper.explain();
        upper.map_or(Rule::Scheduler, |explain| explain.precedence(now, sent, waiting))
    }

    fn hold(&self, now: Nanos, waiting: &Packet) -> Rule {
        self.upper.explain().map_or(Rule::Scheduler, |explain| explain.hold(now, waiting))
    }

    fn virtual_times(&self) -> Option<&dyn VirtualTimes> {
        self.upper.explain()?.virtual_times()
    }
}
