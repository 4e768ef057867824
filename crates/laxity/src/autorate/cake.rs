//! The rule of cake-autorate (Lakeman and contributors 2021-2025), written from the documentation
//! of its settings.
//!
//! Each probe is compared with the baseline of its reflector, which falls fast and rises slowly. If
//! three of the last six are above the threshold, the rate falls, the more the longer they waited.
//! Otherwise it rises with every probe while three quarters of it are used, and comes back to its
//! start while less is. After a fall it neither falls nor rises for a while. Delays are those of
//! one direction, as it measures them by time stamps of ICMP.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::{Millionths, Sample, Settings, Shaper, bits_per_second, scale};
use crate::units::{Bytes, Nanos};

/// `alpha_baseline_increase` and `alpha_baseline_decrease`.
const BASELINE_UP: Millionths = Millionths(1_000);
const BASELINE_DOWN: Millionths = Millionths(900_000);
/// `bufferbloat_detection_window` and `bufferbloat_detection_thr`.
const WINDOW: usize = 6;
const DELAYED: usize = 3;
/// `avg_owd_delta_max_adjust_up_thr_ms` and `avg_owd_delta_max_adjust_down_thr_ms` over
/// `owd_delta_delay_thr_ms`, which is the delay of the settings.
const FULL_RISE: u64 = 3;
const FULL_FALL: u64 = 2;
/// What the least fall is of: `shaper_rate_min_adjust_down_bufferbloat`.
const LEAST_FALL: Millionths = Millionths(10_000);
/// `shaper_rate_adjust_down_load_low` and `shaper_rate_adjust_up_load_low`.
const RETURN: Millionths = Millionths(10_000);
/// `high_load_thr`.
const HIGH_LOAD: Millionths = Millionths(750_000);
/// `bufferbloat_refractory_period_ms` and `decay_refractory_period_ms`.
const AFTER_FALL: Nanos = Nanos(300_000_000);
const AFTER_RETURN: Nanos = Nanos(1_000_000_000);
/// `monitor_achieved_rates_interval_ms`.
const MONITOR: Nanos = Nanos(200_000_000);
/// A packet on the wire, whose transmission is added to the threshold.
const LARGEST: Bytes = Bytes(1514);

#[derive(Clone, Debug)]
pub(super) struct CakeAutorate {
    /// By reflector.
    baselines: Vec<Option<u64>>,
    /// How much longer than their baselines the last probes took, in ns, and whether that is above
    /// the threshold.
    deltas: VecDeque<(u64, bool)>,
    fell: Option<Nanos>,
    returned: Option<Nanos>,
    /// Since when bytes are counted, and from which count.
    monitored: (Nanos, u64),
    achieved: u64,
}

impl CakeAutorate {
    pub(super) fn new(now: Nanos) -> Self {
        CakeAutorate {
            baselines: Vec::new(),
            deltas: VecDeque::with_capacity(WINDOW),
            fell: None,
            returned: None,
            monitored: (now, 0),
            achieved: 0,
        }
    }

    /// Time has passed; returns the rate in bits a second.
    pub(super) fn look(&mut self, shaper: Shaper) -> u64 {
        self.monitor(shaper);
        shaper.rate.0
    }

    /// A probe came back; returns the rate in bits a second.
    pub(super) fn sample(&mut self, settings: &Settings, shaper: Shaper, sample: &Sample) -> u64 {
        self.monitor(shaper);
        let delta = self.delta(sample);
        let threshold = settings.delay.saturating_add(shaper.rate.time_for(LARGEST)).0;
        if self.deltas.len() == WINDOW {
            self.deltas.pop_front();
        }
        self.deltas.push_back((delta, delta > threshold));
        let mean = self.deltas.iter().map(|(delta, _)| delta).sum::<u64>() / WINDOW as u64;
        let delayed = self.deltas.iter().filter(|(_, is_delayed)| *is_delayed).count();
        let (now, rate) = (shaper.now, shaper.rate.0);
        let may_change = has_passed(now, self.fell, AFTER_FALL);
        if delayed >= DELAYED {
            if !may_change {
                return rate;
            }
            self.fell = Some(now);
            let span = threshold * FULL_FALL - threshold;
            let fall = between(LEAST_FALL, settings.fall, mean.saturating_sub(threshold), span);
            return rate - fall.of(rate);
        }
        if self.achieved >= HIGH_LOAD.of(rate) {
            if !may_change {
                return rate;
            }
            let full = threshold / FULL_RISE;
            let rise =
                between(settings.rise, Millionths(0), mean.saturating_sub(full), threshold - full);
            return rate.saturating_add(rise.of(rate));
        }
        self.return_to(settings.start.0, now, rate)
    }

    /// The rate a step nearer to where it started, which is made once a second.
    fn return_to(&mut self, start: u64, now: Nanos, rate: u64) -> u64 {
        if !has_passed(now, self.returned, AFTER_RETURN) {
            return rate;
        }
        self.returned = Some(now);
        let step = RETURN.of(rate);
        if rate > start { (rate - step).max(start) } else { (rate + step).min(start) }
    }

    /// How much longer than the baseline of its reflector a probe took, in ns.
    fn delta(&mut self, sample: &Sample) -> u64 {
        let path = sample.path as usize;
        if path >= self.baselines.len() {
            self.baselines.resize(path + 1, None);
        }
        let took = sample.round_trip.0;
        let before = self.baselines[path].unwrap_or(took);
        let baseline = if took >= before {
            before + BASELINE_UP.of(took - before)
        } else {
            before - BASELINE_DOWN.of(before - took)
        };
        self.baselines[path] = Some(baseline);
        took.saturating_sub(baseline)
    }

    fn monitor(&mut self, shaper: Shaper) {
        let (since, carried) = self.monitored;
        let time = shaper.now.saturating_sub(since);
        if time >= MONITOR {
            self.achieved = bits_per_second(shaper.carried - carried, time).unwrap_or_default();
            self.monitored = (shaper.now, shaper.carried);
        }
    }
}

fn has_passed(now: Nanos, since: Option<Nanos>, time: Nanos) -> bool {
    since.is_none_or(|since| now.saturating_sub(since) > time)
}

/// From `at_none` to `at_whole`, by the part that an amount is of a whole, at most all of it.
fn between(at_none: Millionths, at_whole: Millionths, amount: u64, whole: u64) -> Millionths {
    let (none, all) = (u64::from(at_none.0), u64::from(at_whole.0));
    let part = |span: u64| scale(span, amount.min(whole), whole);
    let value = if all >= none { none + part(all - none) } else { none - part(none - all) };
    Millionths(value as u32)
}
