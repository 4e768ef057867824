//! Another plan, while packets are queued.

use std::collections::HashMap;
use std::mem;

use laxity::packet::{ClassId, FlowId, Packet};
use laxity::scheduler::{QueueMemory, Scheduler as _};
use laxity::units::Nanos;
use laxity_plan::classify::Conversation;

use crate::cache::Classification;
use crate::error::Refusal;
use crate::event::{Event, Sink};
use crate::forwarder::{Forwarder, drops, patience};
use crate::gate;
use crate::prepared::PreparedPlan;
use crate::queued::QueuedPacket;

impl Forwarder {
    /// Follows another plan from now on, if it can. What it followed before takes the place of that
    /// plan, with its books, in which what was handed over stands as queued. In the new ones it
    /// arrives once more.
    ///
    /// Every queued packet stays queued, whatever the limits of the new plan. One whose class is
    /// there by name stays in it; any other goes to the class that its headers have under the new
    /// plan. The new scheduler [takes them over](laxity::scheduler::Scheduler::take_over) in the
    /// order of their arrival, and its meters judge them there: one that would be dropped for that
    /// is demoted instead. For their classes that is no worse than if they had arrived over a time
    /// in which the link was late, and that lateness is in the
    /// [`allowance`](crate::SentPacket::allowance) of what is sent until the link is idle: what the
    /// new plan guarantees holds from the first packet on, with nothing else to be said about those
    /// between two plans. What CoDel remembers of the queue of a packet that is queued
    /// goes on under the new plan.
    ///
    /// What is on a wire comes out when it would have. A new wire draws anew, and keeps its packets
    /// behind those of the old one.
    ///
    /// # Errors
    /// If the plan cannot be followed, in which case nothing has changed.
    pub fn reload(
        &mut self,
        now: Nanos,
        next: &mut PreparedPlan,
        sink: Sink<'_>,
    ) -> Result<(), Refusal> {
        let now = gate::advance(&mut self.now, now);
        if self.followed.plan.link.threads != next.plan.link.threads {
            return Err(Refusal::Threads);
        }
        if next.is_anew && (self.followed.wire.is_some() || self.under_way.next_due().is_some()) {
            return Err(Refusal::Wire);
        }
        let mut introduced = Vec::new();
        let kept = self.classes_under(next, &mut |event| introduced.push(*event))?;
        let is_anew = mem::take(&mut next.is_anew);
        let memories = if is_anew { Vec::new() } else { self.memories(&kept) };
        mem::swap(&mut self.followed, next);
        if let (Some(wire), Some(before)) = (&mut self.followed.wire, &next.wire) {
            wire.follow(before);
        }
        self.under_way.make_room(self.followed.wire.as_ref());
        let queued = kept.len() as u64;
        sink(&if is_anew {
            let free_at = self.outlet.ends();
            Event::Resumed { time: now, arrived: self.arrived, free_at, queued }
        } else {
            Event::Reloaded { time: now, kept: queued }
        });
        introduced.iter().for_each(&mut *sink);
        let Forwarder { followed: PreparedPlan { plan, policer, port, .. }, outlet, held, .. } =
            self;
        for (handle, number, mut packet) in kept {
            let Packet { class, flow, .. } = packet;
            sink(&if is_anew {
                Event::Queued { number, packet }
            } else {
                Event::Kept { number, class, flow }
            });
            policer.keep(&mut packet);
            held.change(handle, packet);
            let packet = Packet { handle, ..packet };
            port.take_over(now, packet, &mut drops(held, now, sink));
        }
        for (class, flow, memory) in memories {
            port.recall(class, flow, memory);
        }
        let oldest = held.oldest().map(|queued| [queued.arrived, queued.packet.arrival]);
        outlet.change_to(plan.link.transmitter(), plan.link.wire.is_some(), patience(plan));
        outlet.changes_hands(now, port.next_ready(now), oldest);
        Ok(())
    }

    /// What is remembered of the queues of packets that have these classes and flows under another
    /// plan.
    fn memories(&self, kept: &[(u64, u64, Packet)]) -> Vec<(ClassId, FlowId, QueueMemory)> {
        let scheduler = self.followed.port.scheduler();
        let memory = |(handle, _, packet): &(u64, u64, Packet)| {
            let Packet { class, flow, .. } = self.held.get(*handle)?.packet;
            Some((packet.class, packet.flow, scheduler.memory(class, flow)?))
        };
        kept.iter().filter_map(memory).collect()
    }

    /// What is queued as it is under another plan, with handles and numbers, in the order of
    /// arrival. Flows of that plan are introduced.
    fn classes_under(
        &self,
        next: &mut PreparedPlan,
        sink: Sink<'_>,
    ) -> Result<Vec<(u64, u64, Packet)>, Refusal> {
        // Asked for each packet: nothing here is to grow with the number of classes.
        let before = &self.followed.plan.classes;
        let same = |next: &PreparedPlan, class: ClassId| {
            next.leaves.get(&before[class.index()].name).copied()
        };
        // Flows of frames that the new plan has in another class than the one that they stay in.
        let mut flows = HashMap::new();
        let under = |(handle, queued): (u64, &QueuedPacket)| {
            let headers = &queued.headers;
            let found = match same(next, queued.packet.class) {
                Some(class) if next.sorter.class_of(headers) != class => {
                    let flow = flows.entry((class, Conversation::new(headers)));
                    let flow = *flow.or_insert_with(|| next.new_flow(class, headers, sink));
                    Classification { class, flow }
                }
                _ => next.sort(headers, sink),
            };
            let packet = Packet { class: found.class, flow: found.flow, ..queued.packet };
            let plan = &next.plan;
            let class = &plan.classes[packet.class.index()];
            let limit = plan.max_packet(class).min(plan.link.max_packet).0;
            // What is there already under the same plan stays.
            if !next.is_anew && u64::from(packet.length) > limit {
                let class = class.name.clone();
                return Err(Refusal::Queued { length: packet.length, limit, class });
            }
            Ok((handle, queued.number, packet))
        };
        self.held.iter().map(under).collect()
    }
}
