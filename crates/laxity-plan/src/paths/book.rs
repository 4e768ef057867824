//! The network as a book of reservations along paths sees it.

use laxity::admit::edf::RealTime;
use laxity::reserve::path::{Link, LinkId, NodeId, PathBook};
use laxity::units::{Bytes, Nanos};

use crate::model::{self, Class, Hop, Plan, Police, SchedulerSpec};
use crate::network::NetworkPlan;

impl Hop {
    /// Its number in a [book of paths](NetworkPlan::path_book).
    pub fn in_book(self) -> LinkId {
        LinkId(2 * self.link.0 + u32::from(self.backward))
    }

    /// The hop of a number there.
    pub fn of_book(LinkId(number): LinkId) -> Hop {
        Hop { link: model::LinkId(number / 2), backward: number % 2 == 1 }
    }
}

impl NetworkPlan<'_> {
    /// The book of the network's links, with all that the classes of the plan are promised. `None`
    /// unless every link serves by deadline alone, and holds packets in front of it until they keep
    /// to the `arrival` of their class, and every class with deadlines has a known `arrival`.
    pub fn path_book(self) -> Option<PathBook> {
        let hops: Vec<Hop> = self.network.hops().collect();
        if !hops.iter().all(|hop| self.serves_by_deadline(*hop)) || self.plan.has_inner_schedulers()
        {
            return None;
        }
        let mut book = PathBook::new(hops.iter().map(|hop| self.booked_link(*hop)));
        let knows = self.plan.knows_arrivals();
        let mut entered: Vec<_> = self
            .plan
            .sources
            .iter()
            .flat_map(|source| {
                let classes = self.plan.fed_by(source);
                classes.flat_map(|class| source.path().iter().map(move |hop| (class, *hop)))
            })
            .collect();
        entered.sort_unstable();
        entered.dedup();
        for (class, hop) in entered {
            let (number, class) = (class.index(), &self.plan.classes[class.index()]);
            let Some(deadline) = class.deadline_over(hop.link).or(class.gap) else { continue };
            if !knows[number] {
                return None;
            }
            let flow = RealTime { deadline, ..self.plan.flow(class)? };
            book.enter(&[hop.in_book()], &flow, &[deadline]).ok()?;
        }
        Some(book)
    }

    fn serves_by_deadline(self, hop: Hop) -> bool {
        let link = self.network.link(hop);
        link.regulate
            && !link.private
            && !link.disturbs()
            && link.trace.is_none()
            && link.autorate.is_none()
            && !self.network.is_custom(hop)
            && matches!(self.plan.scheduling_at(hop).scheduler, SchedulerSpec::Edf(_))
    }

    fn booked_link(self, hop: Hop) -> Link {
        let link = self.network.link(hop);
        let [from, to] = self.network.between(hop).map(|node| NodeId(node.0));
        let is_best_effort = |class: &Class| {
            class.deadline_over(hop.link).or(class.gap).is_none() || class.police == Police::Demote
        };
        let best_effort = self.plan.classes.iter().filter(|class| is_best_effort(class));
        Link {
            from,
            to,
            rate: link.rate,
            latency: link.latency,
            delay: link.delay,
            best_effort_packet: best_effort.map(|class| self.plan.max_packet(class)).max(),
        }
    }
}

impl Plan {
    /// What a class sends, as EDF's test takes it. Its deadline is that from end to end, or else
    /// its own. `None` if the plan does not say what it sends.
    pub fn flow(&self, class: &Class) -> Option<RealTime> {
        let arrival = self.contract(class)?;
        let buckets = arrival.iter().map(|line| line.bucket);
        let packet = buckets.fold(self.max_packet(class), Bytes::min);
        let deadline = class.end_to_end.or(class.deadline).unwrap_or(Nanos::MAX);
        Some(RealTime { deadline, arrival, packet })
    }
}
