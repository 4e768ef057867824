//! Traffic through the simulator.

use std::collections::HashMap;
use std::sync::Arc;

use laxity::packet::Packet;
use laxity::units::{Bytes, Nanos};
use laxity_plan::model::{Hop, SourceId};
use laxity_sim::error::SimError;
use laxity_sim::link::Run;
use laxity_sim::network::NetworkRun;
use laxity_sim::record::{Fate, Observer, Record};
use laxity_sim::source::{Arrivals, Feed};

use crate::arrival::Arrival;
use crate::senders::{Senders, simulated};
use crate::target::{Place, Target};

/// What is to be simulated again and again.
pub(crate) struct Trial<'a> {
    pub place: &'a Place<'a>,
    pub senders: &'a Senders,
    pub target: &'a Target,
}

/// Places and times of packets in a run.
#[derive(Clone, Default)]
pub(crate) struct Sighting {
    /// When the target's packet that took longest set out.
    pub set_out: u64,
    /// The links it came to, and when.
    pub slowest: Vec<(Hop, u64)>,
    /// When the first and the last packet of each feed came to a link.
    pub spans: HashMap<(usize, Hop), (u64, u64)>,
}

impl Trial<'_> {
    /// Simulates arrivals in the order of time. Gives the longest delay of the target's packets
    /// among those that set out from each of these times until the next one.
    pub(crate) fn delays(
        &self,
        arrivals: &[Arrival],
        begins: &[u64],
    ) -> Result<Vec<u64>, SimError> {
        let mut ear = Ear { trial: self, begins, longest: vec![0; begins.len()], seen: None };
        self.run(arrivals, &mut ear)?;
        Ok(ear.longest)
    }

    /// The same of one stretch, and what was seen of it.
    pub(crate) fn watched(&self, arrivals: &[Arrival]) -> Result<(u64, Sighting), SimError> {
        let seen = Some((Sighting::default(), HashMap::new()));
        let mut ear = Ear { trial: self, begins: &[0], longest: vec![0], seen };
        self.run(arrivals, &mut ear)?;
        Ok((ear.longest[0], ear.seen.unwrap_or_default().0))
    }

    fn run(&self, arrivals: &[Arrival], ear: &mut Ear<'_>) -> Result<(), SimError> {
        let sender = |arrival: &Arrival| &self.senders.all[usize::from(arrival.feed)];
        let seed = self.place.plan().run.seed;
        match self.place {
            Place::Link(plan) => {
                let played = arrivals.iter().map(|of| simulated(sender(of), of)).collect();
                let feeds = vec![Feed::new(Box::new(Playback::new(played)))];
                let run = Run { plan, duration: None, seed, feeds };
                run.simulate(ear, &mut laxity_sim::to_the_end)?;
            }
            Place::Network(on) => {
                let mut played = vec![Vec::new(); on.plan.sources.len()];
                for arrival in arrivals {
                    let sender = sender(arrival);
                    played[sender.source].push(simulated(sender, arrival));
                }
                let played: Vec<Arc<[_]>> = played.into_iter().map(Arc::from).collect();
                let open = |source: SourceId| {
                    let played: Box<dyn Arrivals> =
                        Box::new(Playback::new(played[source.index()].clone()));
                    Ok(played)
                };
                let run = NetworkRun { arrivals: Some(&open), ..NetworkRun::new(on, None, seed) };
                run.simulate(ear, &mut laxity_sim::to_the_end)?;
            }
        }
        Ok(())
    }

    /// By when all of these packets have left for certain, where somebody sends as long as packets
    /// wait: each link is busy with each of them once.
    pub(crate) fn ends(&self, arrivals: &[Arrival]) -> u64 {
        let last = arrivals.last().map_or(0, |arrival| arrival.time);
        let takes = |arrival: &Arrival| {
            let length = Bytes(arrival.length.into());
            match self.place {
                Place::Link(plan) => plan.link.rate.time_for(length).0,
                Place::Network(on) => {
                    let path = &self.senders.all[usize::from(arrival.feed)].path;
                    path.iter().map(|hop| on.network.link(*hop).rate.time_for(length).0).sum()
                }
            }
        };
        let propagation = match self.place {
            Place::Link(_) => 0,
            Place::Network(on) => on.network.links.iter().map(|link| link.delay.0).sum(),
        };
        let work = arrivals.iter().map(takes).fold(0, u64::saturating_add);
        last.saturating_add(work).saturating_add(propagation).saturating_add(self.target.bound.0)
    }
}

/// Arrivals that were made beforehand.
struct Playback {
    arrivals: Arc<[laxity_sim::source::Arrival]>,
    next: usize,
}

impl Playback {
    fn new(arrivals: Arc<[laxity_sim::source::Arrival]>) -> Playback {
        Playback { arrivals, next: 0 }
    }
}

impl Arrivals for Playback {
    fn next_arrival(&mut self) -> Result<Option<laxity_sim::source::Arrival>, SimError> {
        self.next += 1;
        Ok(self.arrivals.get(self.next - 1).copied())
    }

    fn is_recording(&self) -> bool {
        true
    }
}

/// The links that a packet has come to, by its handle.
type UnderWay = HashMap<u64, Vec<(Hop, u64)>>;

struct Ear<'a> {
    trial: &'a Trial<'a>,
    begins: &'a [u64],
    longest: Vec<u64>,
    seen: Option<(Sighting, UnderWay)>,
}

impl Ear<'_> {
    /// The feed of a packet over a network.
    fn feed(&self, packet: &Packet) -> Option<usize> {
        let senders = self.trial.senders.all.iter();
        senders.into_iter().position(|of| of.class == packet.class && of.id == packet.flow)
    }

    fn hear(&mut self, set_out: Nanos, delay: Nanos) -> bool {
        let stretch = self.begins.partition_point(|begin| *begin <= set_out.0);
        let longest = &mut self.longest[stretch.saturating_sub(1)];
        let is_longer = delay.0 > *longest;
        *longest = delay.0.max(*longest);
        if let Some((seen, _)) = self.seen.as_mut().filter(|_| is_longer) {
            seen.set_out = set_out.0;
        }
        is_longer
    }
}

impl Observer for Ear<'_> {
    fn record(&mut self, record: &Record) {
        let Record { packet, hop, fate, .. } = record;
        match (hop, fate) {
            (None, Fate::Sent { departure, .. }) if packet.class == self.trial.target.class => {
                self.hear(packet.arrival, departure.saturating_sub(packet.arrival));
            }
            (Some(hop), Fate::Sent { .. }) if self.seen.is_some() => {
                let Some(feed) = self.feed(packet) else { return };
                let is_target = self.trial.senders.is_target(feed, self.trial.target);
                let Some((seen, under_way)) = &mut self.seen else { return };
                let at = packet.arrival.0;
                let span = seen.spans.entry((feed, *hop)).or_insert((at, at));
                *span = (span.0.min(at), span.1.max(at));
                if is_target {
                    under_way.entry(packet.handle).or_default().push((*hop, at));
                }
            }
            (Some(_), Fate::Dropped(_)) => {
                if let Some((_, under_way)) = &mut self.seen {
                    under_way.remove(&packet.handle);
                }
            }
            _ => {}
        }
    }

    fn delivered(&mut self, packet: &Packet, _: u64, now: Nanos) {
        if packet.class != self.trial.target.class {
            return;
        }
        let Some(feed) = self.feed(packet) else { return };
        if !self.trial.senders.is_target(feed, self.trial.target) {
            return;
        }
        let is_longer = self.hear(packet.arrival, now.saturating_sub(packet.arrival));
        if let Some((seen, under_way)) = &mut self.seen {
            let way = under_way.remove(&packet.handle).unwrap_or_default();
            if is_longer {
                seen.slowest = way;
            }
        }
    }
}
