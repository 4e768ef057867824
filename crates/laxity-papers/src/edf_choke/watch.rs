//! One run of one combination, and its measurements.

use laxity::histogram::Delays;
use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::{Hop, LinkId};
use laxity_sim::error::SimError;
use laxity_sim::network::NetworkRun;
use laxity_sim::record::{Fate, Observer, Record};
use laxity_sim::summary::{Summary, jain};

use super::combination::Combination;

/// The link that the paper's flows compete for first: delays are measured there.
const BOTTLENECK: &str = "bottleneck";
/// How finely throughput is shown.
pub(super) const BIN: Nanos = Nanos(2_000_000_000);

/// Measurements of a run.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub combination: Combination,
    /// Over the flows of TCP and UDP together, other traffic aside.
    pub fairness: f64,
    pub tcp: Traffic,
    pub udp: Traffic,
    /// The mean over connections of a connection's goodput by its mean delay.
    pub tcp_power: f64,
    /// Bits a second of UDP over the bottleneck, by time.
    pub udp_over_time: Vec<(f64, f64)>,
    /// Bits a second of every connection, and of UDP.
    pub flows: Vec<f64>,
    /// Of TCP's segments at the bottleneck, propagation excluded.
    pub tcp_delays: Delays,
    /// Propagation over the bottleneck.
    pub propagation: f64,
}

/// All flows of TCP, or of UDP.
#[derive(Clone, Copy, Debug)]
pub(super) struct Traffic {
    /// Bits a second, each packet once.
    pub goodput: f64,
    /// At the bottleneck, wait, transmission and propagation, in s: of the packets that were sent.
    pub delay: Moments,
    /// `delay` with dropped packets counted as zero.
    pub delay_of_all: Moments,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    pub mean: f64,
    pub deviation: f64,
}

impl Run {
    pub(super) fn simulate(
        text: &str,
        combination: Combination,
        seed: u64,
    ) -> Result<Run, SimError> {
        let plan = combination.plan(text);
        let duration = plan.run.duration.unwrap_or_default();
        let mut watch = Watch::new(&plan, duration);
        let on = plan.network_plan().expect("the paper's plans are networks").analysis();
        let run = NetworkRun::new(&on, Some(duration), seed);
        let summary = run.simulate(&mut watch, &mut laxity_sim::to_the_end)?.summary;
        Ok(watch.shown(combination, &summary))
    }
}

/// How long a plan's traffic lasts.
pub(super) fn duration(text: &str) -> Nanos {
    let plan = Plan::parse(text, "plan.toml", ".".as_ref()).expect("the paper's plans are valid");
    plan.run.duration.unwrap_or_default()
}

/// Watches the bottleneck.
struct Watch {
    hop: Hop,
    propagation: f64,
    tcp: ClassId,
    udp: ClassId,
    /// Of the segments of every connection and of UDP, in the order of flow numbers.
    delays: Vec<Delays>,
    tcp_delays: Delays,
    udp_delays: Delays,
    dropped: [u64; 2],
    udp_bytes: Vec<u64>,
    duration: Nanos,
}

impl Watch {
    fn new(plan: &Plan, duration: Nanos) -> Watch {
        let links = &plan.network.as_ref().expect("the paper's plans are networks").links;
        let link = links.iter().position(|link| link.name == BOTTLENECK);
        let link = link.expect("the paper's plans have a bottleneck");
        let class = |name| plan.class(name).expect("the paper's plans have TCP and UDP");
        Watch {
            hop: Hop { link: LinkId::from_index(link), backward: false },
            propagation: links[link].delay.as_secs_f64(),
            tcp: class("tcp"),
            udp: class("udp"),
            delays: Vec::new(),
            tcp_delays: Delays::default(),
            udp_delays: Delays::default(),
            dropped: [0; 2],
            udp_bytes: vec![0; duration.0.div_ceil(BIN.0) as usize],
            duration,
        }
    }

    fn traffic(&self, goodput: f64, delays: &Delays, dropped: u64) -> Traffic {
        let mean = delays.mean() / 1e9 + self.propagation;
        let deviation = delays.variance().sqrt() / 1e9;
        let share = delays.count() as f64 / (delays.count() + dropped).max(1) as f64;
        let of_all = share * mean;
        let square_of_all = share * (deviation * deviation + mean * mean);
        Traffic {
            goodput,
            delay: Moments { mean, deviation },
            delay_of_all: Moments {
                mean: of_all,
                deviation: (square_of_all - of_all * of_all).max(0.0).sqrt(),
            },
        }
    }

    fn shown(self, combination: Combination, summary: &Summary) -> Run {
        let goodputs = |class: &str| -> Vec<f64> {
            let flows = summary
                .network
                .as_ref()
                .expect("a network")
                .flows
                .iter()
                .filter(|flow| flow.class == class);
            flows.map(|flow| flow.goodput_bps).collect()
        };
        let (tcp, udp) = (goodputs("tcp"), goodputs("udp"));
        let powers = tcp.iter().enumerate().map(|(flow, goodput)| {
            let delays = self.delays.get(flow).filter(|delays| delays.count() > 0);
            delays.map_or(0.0, |delays| goodput / (delays.mean() / 1e9 + self.propagation))
        });
        let seconds = BIN.as_secs_f64();
        let over_time = self.udp_bytes.iter().enumerate();
        let over_time = over_time
            .map(|(bin, bytes)| ((bin as f64 + 0.5) * seconds, *bytes as f64 * 8.0 / seconds));
        let flows: Vec<f64> = tcp.iter().chain(&udp).copied().collect();
        Run {
            combination,
            fairness: jain(flows.iter().copied()).unwrap_or(f64::NAN),
            tcp: self.traffic(tcp.iter().sum(), &self.tcp_delays, self.dropped[0]),
            udp: self.traffic(udp.iter().sum(), &self.udp_delays, self.dropped[1]),
            tcp_power: powers.sum::<f64>() / tcp.len().max(1) as f64,
            udp_over_time: over_time.collect(),
            propagation: self.propagation,
            flows,
            tcp_delays: self.tcp_delays,
        }
    }
}

impl Observer for Watch {
    fn record(&mut self, record: &Record) {
        let packet = &record.packet;
        if record.hop != Some(self.hop) || (packet.class != self.tcp && packet.class != self.udp) {
            return;
        }
        let is_udp = packet.class == self.udp;
        let Fate::Sent { departure, .. } = record.fate else {
            self.dropped[usize::from(is_udp)] += 1;
            return;
        };
        let delay = departure - packet.arrival;
        if is_udp {
            self.udp_delays.record(delay);
            let bin = (departure.min(self.duration).0 / BIN.0) as usize;
            if let Some(bytes) = self.udp_bytes.get_mut(bin) {
                *bytes += u64::from(packet.length);
            }
        } else {
            let flow = packet.flow.0 as usize;
            if self.delays.len() <= flow {
                self.delays.resize_with(flow + 1, Delays::default);
            }
            self.delays[flow].record(delay);
            self.tcp_delays.record(delay);
        }
    }
}
