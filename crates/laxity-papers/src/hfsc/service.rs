//! Service that classes got over time, and how far it fell behind their curves.

use laxity::curve::exact;
use laxity::packet::ClassId;
use laxity::service::ServiceCurve;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_report::chart::{Axis, Chart, Dash, Mark, Series, Style, Unit};
use laxity_sim::error::SimError;
use laxity_sim::record::{Observer, Record};
use num_traits::ToPrimitive;

use super::system::{Departure, Discipline, simulate};
use crate::drawing::{chart, series, time, within};

/// Keeps every packet of a short run.
#[derive(Debug, Default)]
pub(super) struct Services {
    /// In the order of departure.
    pub packets: Vec<Departure>,
}

impl Observer for Services {
    fn record(&mut self, record: &Record) {
        self.packets.extend(Departure::from_record(record));
    }
}

impl Services {
    /// The packets of a whole run.
    pub(super) fn simulate(plan: &Plan, discipline: Discipline) -> Result<Services, SimError> {
        let mut services = Services::default();
        simulate(plan, discipline, None, &mut services)?;
        Ok(services)
    }

    /// The packets of some classes.
    pub(super) fn packets_of<'a>(
        &'a self,
        classes: &'a [ClassId],
    ) -> impl Iterator<Item = &'a Departure> {
        self.packets.iter().filter(|sent| classes.contains(&sent.class))
    }

    /// Departure times of some classes' packets, each with the bytes sent up to then.
    pub(super) fn steps<'a>(
        &'a self,
        classes: &'a [ClassId],
    ) -> impl Iterator<Item = (Nanos, u64)> {
        self.packets_of(classes).scan(0, |sum, sent| {
            *sum += u64::from(sent.length);
            Some((sent.departure, *sum))
        })
    }

    /// The largest lag in ms of some classes behind a curve that begins at `from`, at which they
    /// become backlogged. A packet's lag is its departure less the time at which the curve reaches
    /// its last byte; below zero if it was early.
    pub(super) fn behind_ms(&self, classes: &[ClassId], curve: ServiceCurve, from: Nanos) -> f64 {
        let curve = curve.curve();
        let lag = |(left, bytes): (Nanos, u64)| {
            let due = curve.lower_pseudo_inverse(&exact(bytes)).and_then(|due| due.to_f64());
            (left.0 as f64 - from.0 as f64 - due.unwrap_or(f64::NAN)) / 1e6
        };
        self.steps(classes).map(lag).fold(f64::NEG_INFINITY, f64::max)
    }
}

/// A panel of service over time.
pub(super) fn panel(title: &str, until: Nanos, bytes: f64, series: Vec<Series>) -> Chart {
    let service = within((0.0, bytes), Axis::linear("", Unit::Size));
    chart(title, time("", Nanos::ZERO, until), service, series)
}

/// Bytes sent, as a staircase.
pub(super) fn sent(
    name: &str,
    subject: usize,
    steps: impl IntoIterator<Item = (Nanos, u64)>,
) -> Series {
    let points = steps.into_iter().map(|(at, bytes)| (at.as_secs_f64(), bytes as f64));
    series(name, Mark::Step, Style::new(subject), [(0.0, 0.0)].into_iter().chain(points))
}

/// A curve that begins at `from`, up to `until`.
pub(super) fn asked(
    name: &str,
    subject: usize,
    curve: ServiceCurve,
    from: Nanos,
    until: Nanos,
) -> Series {
    let at = |t: Nanos| {
        let work = curve.curve().value(&laxity::curve::exact_nanos(t)).to_f64();
        ((from + t).as_secs_f64(), work.unwrap_or(f64::NAN))
    };
    let corners = [Nanos::ZERO, curve.d(), until.saturating_sub(from)];
    series(name, Mark::Line, Style::new(subject).dashed(Dash::Dashed), corners.map(at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity::units::Rate;

    #[test]
    fn service_lags_behind_a_curve_by_its_latest_packet() {
        let sent = |class, departure: u64| Departure {
            class: ClassId(class),
            length: 1000,
            arrival: Nanos::ZERO,
            departure: Nanos(departure * 1_000_000),
        };
        let services = Services { packets: vec![sent(0, 11), sent(1, 12), sent(0, 14)] };
        // A packet of each ms from 10 ms on: the second is 2 ms late, both classes' together the
        // third by 1 ms.
        let line = ServiceCurve::linear(Rate(8_000_000));
        let behind = |classes: &[ClassId]| services.behind_ms(classes, line, Nanos(10_000_000));
        assert_eq!(behind(&[ClassId(0)]), 2.0);
        assert_eq!(behind(&[ClassId(0), ClassId(1)]), 1.0);
        assert_eq!(behind(&[ClassId(2)]), f64::NEG_INFINITY);
    }
}
