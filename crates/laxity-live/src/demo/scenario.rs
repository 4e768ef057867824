//! A link, and what one host sends over it to the other.

use std::path::Path;
use std::time::Duration;

use laxity_plan::Plan;

use super::traffic::Stream;

/// A link, and what one host sends over it to the other.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "made by whoever tries something")]
pub struct Scenario {
    /// The plan of the link.
    pub plan: Plan,
    /// Datagrams. Those of a stream that is called as a class is are of that class.
    pub streams: Vec<Stream>,
    /// Number of TCP flows. Each sends without end.
    pub flows: usize,
}

impl Scenario {
    /// Audio and video beside a flood and bulk transfers: far more than the link carries.
    pub fn full() -> Self {
        let streams = [
            ("audio", 5004, 200, 1, 5_000),
            ("video", 5006, 1200, 12, 33_000),
            ("flood", 6000, 1200, 8, 4_480),
        ];
        Scenario::read(include_str!("scenario/full.toml"), &streams, 16)
    }

    /// Pings, requests and small uploads beside audio and two cameras: three quarters of what the
    /// link carries.
    pub fn sparse() -> Self {
        let streams = [
            ("audio", 5004, 200, 1, 5_000),
            ("camera-1", 5006, 1200, 17, 33_000),
            ("camera-2", 5008, 1200, 17, 33_000),
            ("ping", 7000, 64, 1, 10_000),
            ("request", 7002, 500, 1, 23_000),
            ("upload", 7004, 1200, 12, 31_000),
        ];
        Scenario::read(include_str!("scenario/sparse.toml"), &streams, 0)
    }

    /// The same under another discipline, such as `fifo`.
    ///
    /// # Panics
    /// If there is none of that name.
    pub fn under(&self, scheduler: &str) -> Self {
        let plan = self.plan.clone().under(scheduler).expect("the name of a discipline");
        Scenario { plan, ..self.clone() }
    }

    /// Streams by name, port, bytes of payload, how many datagrams at once, and how often in
    /// microseconds.
    fn read(plan: &str, streams: &[(&'static str, u16, usize, u32, u64)], flows: usize) -> Self {
        let plan = Plan::parse(plan, "plan.toml", Path::new("")).expect("it is read by a test");
        let stream = |&(name, port, payload, burst, micros): &_| Stream {
            name,
            port,
            payload,
            burst,
            every: Duration::from_micros(micros),
        };
        Scenario { plan, streams: streams.iter().map(stream).collect(), flows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_deadline_has_a_bound() {
        for scenario in [Scenario::full(), Scenario::sparse()] {
            for promise in scenario.plan.promises() {
                assert_eq!(promise.deadline.is_some(), promise.bound.is_some(), "{promise:?}");
            }
        }
    }

    /// Bits a second of datagrams, with what IP and Ethernet add.
    #[test]
    fn the_one_is_too_much_and_the_other_is_three_quarters() {
        let load = |scenario: Scenario| {
            let of = |stream: &Stream| {
                let bytes = stream.payload as u32 + 14 + 20 + 8;
                let bits = scenario.plan.link.accounted(bytes) * 8 * stream.burst;
                f64::from(bits) / stream.every.as_secs_f64()
            };
            scenario.streams.iter().map(of).sum::<f64>() / scenario.plan.link.rate.0 as f64
        };
        let [full, sparse] = [Scenario::full(), Scenario::sparse()].map(load);
        assert!(full > 1.05, "{full}");
        assert!((0.72..0.78).contains(&sparse), "{sparse}");
    }
}
