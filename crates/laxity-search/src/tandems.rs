//! Random FIFO tandems: their bounds beside the longest delays that a search finds there.
//!
//! A flow passes links of 10 to 20 Mbit/s in a row, 2 to 10, and others pass some of them, from any
//! one to any other. Buckets hold 2 to 20 kB, packets are of up to 1000 bytes, and the link that
//! has most to do has 30 to 95 % of its rate.

use std::fmt::Write;
use std::ops::Range;
use std::path::Path;

use laxity::admit::network::Bound;
use laxity::units::Nanos;
use laxity_adversary::worst::{Place, longest};
use laxity_plan::Plan;
use laxity_sim::error::SimError;
use rand::{RngExt, SeedableRng};

use crate::Generator;

/// Links in a row, and flows over some of them.
#[derive(Clone, Debug)]
pub struct Tandem {
    /// Of the link that has most to do, in percent.
    pub load: u64,
    /// Of the links, in bit/s.
    pub rates: Vec<u64>,
    /// The first passes all links.
    pub flows: Vec<Flow>,
}

/// A flow under a token bucket.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Positions of the links that it passes, in a row.
    pub links: Range<usize>,
    /// In bytes.
    pub bucket: u64,
    /// In bit/s.
    pub rate: u64,
}

impl Tandem {
    /// The tandem of this number among those of a seed.
    pub fn draw(seed: u64, number: u64) -> Tandem {
        let draw = &mut Generator::seed_from_u64(seed << 32 | number);
        let links = draw.random_range(2..=10usize);
        let rates: Vec<u64> =
            (0..links).map(|_| draw.random_range(10..=20u64) * 1_000_000).collect();
        let others = draw.random_range(links / 2..=2 * links);
        let other = |_| {
            let first = draw.random_range(0..links);
            first..draw.random_range(first..links) + 1
        };
        let flows: Vec<_> = std::iter::once(0..links).chain((0..others).map(other)).collect();
        // Rates in proportion to these numbers bring the link that has most to do to its load.
        let weights: Vec<u64> = flows.iter().map(|_| draw.random_range(1..=4u64)).collect();
        let load = draw.random_range(30..=95u64);
        let busy = |link: usize| {
            let passing = flows.iter().zip(&weights).filter(|(flow, _)| flow.contains(&link));
            passing.map(|(_, weight)| *weight as f64).sum::<f64>() / rates[link] as f64
        };
        let most = (0..links).map(busy).fold(0.0, f64::max);
        let rate = |weight: u64| (weight as f64 / most * load as f64 / 100.0) as u64;
        let flow = |(links, weight): (&Range<usize>, &u64)| Flow {
            links: links.clone(),
            bucket: draw.random_range(2..=20u64) * 1000,
            rate: rate(*weight),
        };
        let flows = flows.iter().zip(&weights).map(flow).collect();
        Tandem { load, rates, flows }
    }

    /// The least bound of the flow over all links, and the longest delay that a search finds for it
    /// with this number of packets.
    ///
    /// # Errors
    /// If the simulator cannot go on.
    pub fn compared(&self, packets: u64, seed: u64) -> Result<Compared, SimError> {
        let text = self.text();
        let plan = Plan::parse(&text, "tandem.toml", Path::new("")).expect("the text is a plan");
        let on = plan.network_plan().expect("there are links").analysis();
        let bound = on.paths().routes[0].least().expect("no link is overloaded");
        let place = Place::Network(&on);
        let target = place.targets().into_iter().next().expect("the first flow has a bound");
        let found = longest(&place, &target, packets, seed)?.map_or(Nanos::ZERO, |of| of.delay);
        Ok(Compared { bound, found })
    }

    /// Its plan.
    pub fn text(&self) -> String {
        let mut text = String::from(
            "version = 1\nlink = { rate = \"10mbit\", max-packet = \"1000b\" }\nscheduler.kind = \"fifo\"\n",
        );
        let mut line = |of: String| writeln!(text, "{of}").expect("strings take all");
        for (link, rate) in self.rates.iter().enumerate() {
            let next = link + 1;
            line(format!(
                "network.l{link} = {{ between = [\"n{link}\", \"n{next}\"], rate = \"{rate}bit\" }}"
            ));
        }
        for (number, Flow { bucket, rate, .. }) in self.flows.iter().enumerate() {
            line(format!(
                "class.f{number}.arrival = {{ bucket = \"{bucket}b\", rate = \"{rate}bit\" }}"
            ));
        }
        for (number, Flow { links, .. }) in self.flows.iter().enumerate() {
            let path: Vec<String> =
                (links.start..=links.end).map(|node| format!("n{node}")).collect();
            line(format!(
                "[[source]]\nclass = \"f{number}\"\nmodel = \"constant\"\nrate = \"1mbit\"\npacket = \"1000b\"\npath = {path:?}"
            ));
        }
        text
    }
}

/// A bound, and what comes close to it.
#[derive(Clone, Copy, Debug)]
pub struct Compared {
    /// The least bound.
    pub bound: Bound,
    /// The longest delay that was found.
    pub found: Nanos,
}

impl Compared {
    /// How many times as long as what was found the bound is.
    pub fn ratio(&self) -> f64 {
        self.bound.delay.0 as f64 / self.found.0 as f64
    }
}
