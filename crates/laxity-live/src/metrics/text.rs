//! Metrics as text. Prometheus has two forms of it, which differ in how counters are called and in
//! what stands at the end; `promtool` reads the older alone.

use std::fmt::{self, Display, Write};

use super::{METRICS, Metric, Value};
use crate::status::{DelayStatus, Status};

/// A form of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are no others")]
pub enum Format {
    /// Prometheus' own, version 0.0.4.
    Prometheus,
    /// OpenMetrics 1.0.
    OpenMetrics,
}

impl Format {
    /// The one that who sends this `Accept` header likes best.
    pub fn accepted(accept: &str) -> Format {
        let weight = |wanted: &str| {
            let ranges = accept.split(',').filter_map(|range| {
                let (kind, parameters) = range.split_once(';').unwrap_or((range, ""));
                let q = parameters.split(';').find_map(|each| each.trim().strip_prefix("q="));
                let q = q.map_or(Some(1.0), |q| q.trim().parse().ok())?;
                kind.trim().eq_ignore_ascii_case(wanted).then_some(q)
            });
            ranges.fold(0.0, f64::max)
        };
        let open = weight("application/openmetrics-text");
        if open > 0.0 && open >= weight("text/plain") {
            Format::OpenMetrics
        } else {
            Format::Prometheus
        }
    }

    /// Its media type.
    pub const fn content_type(self) -> &'static str {
        match self {
            Format::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Format::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }

    /// All metrics of a link.
    pub fn write(self, status: &Status) -> String {
        let mut text = String::new();
        for metric in METRICS {
            self.family(metric, status, &mut text).expect("a string takes everything");
        }
        if self == Format::OpenMetrics {
            text.push_str("# EOF\n");
        }
        text
    }

    fn family(self, metric: &Metric, status: &Status, text: &mut String) -> fmt::Result {
        let full_name = metric.full_name();
        let family = match self {
            Format::Prometheus => &full_name,
            Format::OpenMetrics => metric.name,
        };
        writeln!(text, "# HELP {family} {}", metric.help)?;
        writeln!(text, "# TYPE {family} {}", metric.kind)?;
        if let (Format::OpenMetrics, Some(unit)) = (self, metric.unit()) {
            writeln!(text, "# UNIT {family} {unit}")?;
        }
        let labels = metric.samples.labels();
        let mut written = Ok(());
        let mut sample = |suffix: &str, values: &[&str], le: Option<&str>, value: &dyn Display| {
            let line = Sample { name: &full_name, suffix, labels, values, le, value };
            written = written.and_then(|()| writeln!(text, "{line}"));
        };
        metric.samples.each(status, &mut |values, value| match value {
            Value::Whole(count) => sample("", values, None, &count),
            Value::Nanos(nanos) => sample("", values, None, &Seconds(nanos.into())),
            Value::Bits(bits) => sample("", values, None, &(bits as f64 / 8.0)),
            Value::Delays(delays) => {
                let count = delays.map_or(0, |delays| delays.count);
                // A scrape has fewer buckets than a page.
                let edges = DelayStatus::EDGES.iter().enumerate();
                for (at, edge) in edges.filter(|(_, edge)| DelayStatus::is_coarse(**edge)) {
                    let below = delays.and_then(|delays| delays.at_most.get(at)).unwrap_or(&0);
                    sample("_bucket", values, Some(&shown_edge(*edge)), below);
                }
                sample("_bucket", values, Some("+Inf"), &count);
                let sum = Seconds(delays.map_or(0, |delays| delays.sum));
                sample("_sum", values, None, &sum);
                sample("_count", values, None, &count);
            }
        });
        written
    }
}

/// A line.
struct Sample<'s> {
    name: &'s str,
    suffix: &'s str,
    labels: &'s [&'s str],
    values: &'s [&'s str],
    le: Option<&'s str>,
    value: &'s dyn Display,
}

impl Display for Sample<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name, self.suffix)?;
        let labels = self.labels.iter().zip(self.values);
        let labels = labels.chain(self.le.as_ref().map(|le| (&"le", le)));
        let mut before = '{';
        for (label, value) in labels {
            write!(f, "{before}{label}=\"{}\"", LabelValue(value))?;
            before = ',';
        }
        if before == ',' {
            f.write_char('}')?;
        }
        write!(f, " {}", self.value)
    }
}

/// A label's value between quotes.
struct LabelValue<'s>(&'s str);

impl Display for LabelValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '\\' => f.write_str("\\\\"),
            '"' => f.write_str("\\\""),
            '\n' => f.write_str("\\n"),
            c => f.write_char(c),
        })
    }
}

/// A time in ns, shown in seconds to the last digit.
struct Seconds(u128);

impl Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SECOND: u128 = 1_000_000_000;
        let text = format!("{}.{:09}", self.0 / SECOND, self.0 % SECOND);
        f.write_str(text.trim_end_matches('0'))?;
        if self.0.is_multiple_of(SECOND) { f.write_char('0') } else { Ok(()) }
    }
}

/// As OpenMetrics wants edges to be written, so that they are the same label wherever they come
/// from.
fn shown_edge(nanos: u64) -> String {
    match nanos {
        0..100_000 => format!("{}e-05", nanos / 10_000),
        _ => Seconds(nanos.into()).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_that_is_liked_best() {
        let prometheus = "application/openmetrics-text;version=1.0.0,\
            application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        assert_eq!(Format::accepted(prometheus), Format::OpenMetrics);
        for other in [
            "",
            "*/*",
            "text/plain",
            "application/openmetrics-text;q=0",
            "a;q=x,,;;q=",
            "text/plain, application/openmetrics-text;q=0.5",
        ] {
            assert_eq!(Format::accepted(other), Format::Prometheus, "{other}");
        }
    }

    #[test]
    fn times_are_exact_and_edges_canonical() {
        let shown = [0, 1, 1_500_000_000, 3_000_000_000].map(|nanos| Seconds(nanos).to_string());
        assert_eq!(shown, ["0.0", "0.000000001", "1.5", "3.0"]);
        let edges = DelayStatus::EDGES.into_iter().filter(|edge| DelayStatus::is_coarse(*edge));
        let edges: Vec<String> = edges.map(shown_edge).collect();
        assert_eq!(edges[..4], ["1e-05", "2e-05", "5e-05", "0.0001"]);
        assert_eq!((edges.len(), &*edges[15]), (16, "1.0"));
    }

    #[test]
    fn names_are_of_the_kind_that_prometheus_wants() {
        for metric in METRICS {
            assert!(metric.name.starts_with("laxity_") && !metric.name.ends_with("_total"));
            assert!(metric.unit().is_none_or(|unit| metric.name.ends_with(&format!("_{unit}"))));
            assert!(metric.help.ends_with('.') && !metric.help.contains(['\n', '\\', '|']));
        }
    }
}
