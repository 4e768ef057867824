//! A stream as a class and a source.

use laxity::units::{Bytes, NANOBITS_PER_BYTE, Nanos};
use laxity_plan::Plan;
use laxity_plan::model::SchedulerSpec;
use laxity_plan::written::quoted;

use super::{Stream, Traffic};

impl Stream {
    /// The text of the class and the source for a listener, under a plan's discipline. `latency` is
    /// what is promised, if anything is.
    ///
    /// In any time t it sends at most `N (t + 2 J) / T + N` frames, for N frames in an interval T
    /// and the jitter J of a talker that sends by the network's time.
    pub fn text(&self, listener: usize, latency: Option<Nanos>, plan: &Plan) -> String {
        let name = quoted(&self.class(listener));
        let (packet, bucket, rate) = self.traffic.arrival(plan);
        let mut text = format!(
            "\n[class.{name}]\narrival = {{ bucket = \"{}b\", rate = \"{rate}bit\", packet = \"{}b\" }}\n",
            bucket.0, packet.0
        );
        if let Some(Nanos(latency)) = latency {
            text += &format!("end-to-end = \"{latency}ns\"\n");
        }
        if matches!(plan.scheduler, SchedulerSpec::Tdp(_)) {
            let (interval, frames) = (self.traffic.interval(), self.traffic.frames);
            text += &format!("gap = \"{}ns\"\n", interval.0);
            if frames > 1 {
                text += &format!("count = {frames}\n");
            }
        }
        text += &format!(
            "\n[[source]]\nclass = {name}\nmodel = \"constant\"\nrate = \"{rate}bit\"\npacket = \"{}b\"\n\
             path = \"shortest\"\nfrom = {}\nto = {}\n",
            packet.0,
            quoted(&self.talker),
            quoted(&self.listeners[listener].node),
        );
        text
    }
}

impl Traffic {
    /// The interval, rounded down to nanoseconds.
    pub(super) fn interval(&self) -> Nanos {
        let (numerator, denominator) = self.interval;
        Nanos(u64::from(numerator) * 1_000_000_000 / u64::from(denominator.max(1)))
    }

    /// The largest packet on the link, the bucket, and the rate in bit/s, rounded up.
    fn arrival(&self, plan: &Plan) -> (Bytes, Bytes, u64) {
        let packet = self.packet(plan);
        let burst = u128::from(packet.0) * u128::from(self.frames);
        let (numerator, denominator) = self.interval;
        let interval = u128::from(numerator) * 1_000_000_000;
        let jitter = self.schedule.map_or(0, |schedule| u128::from(schedule.jitter.0));
        let early = burst * 2 * jitter * u128::from(denominator);
        let bucket = burst + early.div_ceil(interval.max(1));
        let work = burst * u128::from(NANOBITS_PER_BYTE) * u128::from(denominator);
        let rate = work.div_ceil(interval.max(1));
        let fits = |value: u128| u64::try_from(value).unwrap_or(u64::MAX);
        (packet, Bytes(fits(bucket)), fits(rate))
    }
}
