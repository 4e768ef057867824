//! Files that say how the rate of a link changes over time.

use laxity::link::{Trace, TraceError};
use laxity::units::{Nanos, Rate};
use thiserror::Error;

use crate::error::shown;
use crate::raw::Slope;

/// Bits that an opportunity to send takes with it: a packet of 1500 bytes.
const OPPORTUNITY: u64 = 12_000;
/// Opportunities of one millisecond, above which its rate is above [`Rate::LIMIT`].
const MOST_AT_ONCE: u64 = Rate::LIMIT.0 / OPPORTUNITY / 1000;
/// The longest text of a time or a rate, in bytes.
const LONGEST: usize = 64;
/// The columns of a CSV.
const HEADER: &str = "time,rate";

/// Why a file is no trace of a rate.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RateTraceError {
    /// A line is of neither format.
    #[error("line {line}: {message}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// The whole is no rate of a link.
    #[error("{0}")]
    Whole(#[from] TraceError),
}

/// Reads a trace: lines of milliseconds, each an opportunity to send 1500 bytes, as Mahimahi has
/// them (Netravali et al. 2015), or CSV with the columns `time` and `rate`. The former begins anew
/// at its last line, of the latter the last rate lasts. Opportunities of a millisecond are those
/// that come within the one that ends there, spread evenly.
///
/// # Errors
/// At the first line that is of neither format, or if the whole is no rate of a link.
pub fn parse(text: &str) -> Result<Trace, RateTraceError> {
    let text = text.trim_start_matches('\u{feff}');
    match text.lines().next().unwrap_or_default().trim() {
        HEADER => parse_csv(text),
        _ => parse_opportunities(text),
    }
}

fn wrong(line: usize, message: impl Into<String>) -> RateTraceError {
    RateTraceError::Line { line: line + 1, message: message.into() }
}

fn parse_csv(text: &str) -> Result<Trace, RateTraceError> {
    let mut rates = Vec::new();
    for (line, text) in text.lines().enumerate().skip(1) {
        let (time, rate) =
            text.split_once(',').ok_or_else(|| wrong(line, "this is no time and a rate"))?;
        if text.len() > LONGEST {
            return Err(wrong(line, "this text is too long for a time and a rate"));
        }
        let time: Nanos = time.trim().parse().map_err(|error| wrong(line, format!("{error}")))?;
        let Slope(rate) = rate.trim().parse().map_err(|error| wrong(line, format!("{error}")))?;
        rates.push((time, rate));
    }
    Ok(Trace::new(rates, None)?)
}

fn parse_opportunities(text: &str) -> Result<Trace, RateTraceError> {
    let mut counts: Vec<(u64, u64)> = Vec::new();
    for (line, text) in text.lines().enumerate() {
        let millisecond = text.trim().parse::<u64>().ok();
        let millisecond = millisecond.filter(|at| *at <= Nanos::LIMIT.0 / 1_000_000);
        let at = millisecond.ok_or_else(|| {
            wrong(line, format!(
                "`{}` is no millisecond: a trace has one on every line, or CSV below the line `{HEADER}`",
                shown(text.trim()).escape_debug()
            ))
        })?;
        match counts.last_mut() {
            Some((last, _)) if at < *last => {
                return Err(wrong(line, format!("{at} is before the line above")));
            }
            Some((last, count)) if at == *last => *count += 1,
            _ => counts.push((at, 1)),
        }
        if counts.last().is_some_and(|(_, count)| *count > MOST_AT_ONCE) {
            return Err(wrong(line, format!("more than {MOST_AT_ONCE} in one millisecond")));
        }
    }
    let Some(&(period, _)) = counts.last() else { return Err(TraceError::Beginning.into()) };
    if period == 0 {
        return Err(wrong(0, "the last millisecond, at which a trace begins anew, is 0"));
    }
    // What comes at 0 comes at the end of the period before.
    if counts[0].0 == 0 {
        let (_, count) = counts.remove(0);
        if let Some((_, last)) = counts.last_mut() {
            *last += count;
        }
    }
    let nanos = |millisecond: u64| Nanos(millisecond * 1_000_000);
    let (mut rates, mut end) = (Vec::new(), 0);
    for (at, count) in counts {
        if at > end + 1 {
            rates.push((nanos(end), 0));
        }
        rates.push((nanos(at - 1), (count * OPPORTUNITY * 1000).min(Rate::LIMIT.0)));
        end = at;
    }
    rates.dedup_by_key(|(_, rate)| *rate);
    Ok(Trace::new(rates, Some(nanos(period)))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opportunities_are_rates_of_milliseconds() {
        let trace = |rates: &[(u64, u64)], period: u64| {
            let rates = rates.iter().map(|(at, rate)| (Nanos(at * 1_000_000), rate * 12_000_000));
            Trace::new(rates, Some(Nanos(period * 1_000_000))).unwrap()
        };
        assert_eq!(parse("1\n"), Ok(trace(&[(0, 1)], 1)));
        assert_eq!(parse("1\n1\n2\n2\n"), Ok(trace(&[(0, 2)], 2)));
        assert_eq!(parse("3\n3\n4\n7\n"), Ok(trace(&[(0, 0), (2, 2), (3, 1), (4, 0), (6, 1)], 7)));
        assert_eq!(parse("0\n0\n2\n"), Ok(trace(&[(0, 0), (1, 3)], 2)));
    }

    #[test]
    fn rates_at_times() {
        let trace = parse("time,rate\n0s,10mbit\n1.5s, 0bit\n2s,1kbit\n").unwrap();
        let rates = [(0, 10_000_000), (1_500_000_000, 0), (2_000_000_000, 1_000)];
        let rates = rates.map(|(at, rate)| (Nanos(at), rate));
        assert_eq!(trace, Trace::new(rates, None).unwrap());
    }

    #[test]
    fn what_no_trace_is() {
        let wrong = |text: &str| parse(text).unwrap_err().to_string();
        assert_eq!(wrong(""), "it does not begin at 0s");
        assert_eq!(
            wrong("0\n"),
            "line 1: the last millisecond, at which a trace begins anew, is 0"
        );
        assert_eq!(wrong("2\n1\n"), "line 2: 1 is before the line above");
        assert!(wrong("1\nx\n").starts_with("line 2: `x` is no millisecond"));
        assert!(wrong("1\n\n2\n").starts_with("line 2: `` is no millisecond"));
        assert!(wrong("99999999999999999\n").contains("is no millisecond"));
        assert_eq!(wrong("time,rate\n"), "it does not begin at 0s");
        assert_eq!(wrong("time,rate\n1s,1mbit\n"), "it does not begin at 0s");
        assert_eq!(
            wrong("time,rate\n0s,1mbit\n0s,2mbit\n"),
            "the time 0ns is not after the one before"
        );
        assert!(wrong("time,rate\n0s,1mbit\n1s,0bit\n").starts_with("nothing is sent in the end"));
        assert!(wrong("time,rate\n0,1mbit\n").starts_with("line 2: `0` has no unit"));
        assert_eq!(wrong("time,rate\n0s\n"), "line 2: this is no time and a rate");
        assert!(wrong(&"1\n".repeat(833_334)).ends_with("more than 833333 in one millisecond"));
    }
}
