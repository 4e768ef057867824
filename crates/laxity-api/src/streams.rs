//! Streams that users ask a network for, admitted one after another.

use std::collections::BTreeSet;
use std::path::Path;

use laxity::units::Nanos;
use laxity_exchange::cnc::{FailureCode, ListenerStatus, Requests, Status, Stream};
use laxity_plan::Plan;
use laxity_plan::model::SchedulerSpec;
use serde_json::Value;

use crate::{CheckResult, Error, check};

/// What became of streams.
#[derive(Clone, Debug)]
pub struct StreamsResult {
    /// The streams that were asked for.
    pub requests: Requests,
    /// The status of each.
    pub statuses: Vec<Status>,
    /// The text of the plan with those that are admitted.
    pub text: String,
}

/// Admits streams to a plan of a network, whose `text` is in a folder: by rank, then in their
/// order, each if [`check`] admits the plan with it.
///
/// # Errors
/// If the plan is not admitted without them, cannot have classes and sources added, or is one of
/// EDF, whose outputs have deadlines of their own.
pub fn admit_streams(
    plan: &Plan,
    text: &str,
    folder: &Path,
    requests: Requests,
) -> Result<StreamsResult, Error> {
    if matches!(plan.scheduler, SchedulerSpec::Edf(_)) {
        return Err(Error::question(
            "`edf` promises at every output what the class has as its `deadline` there, and streams have none: take \
             tdp, fifo, priority, wfq or drr",
        ));
    }
    if !plan.sources.is_empty() && check(plan)?.admitted() != Some(true) {
        return Err(Error::question(
            "the plan is not admitted as it is, so no stream is: `laxity check` without --streams says why",
        ));
    }
    let mut network = Network { plan, folder, text: text.to_string() };
    let mut statuses = vec![Status { listeners: Vec::new() }; requests.streams.len()];
    let mut seen = BTreeSet::new();
    for number in requests.order() {
        let stream = &requests.streams[number];
        // Identifiers are the same in capital letters.
        let is_new = seen.insert(stream.id.to_ascii_uppercase());
        for listener in 0..stream.listeners.len() {
            let status = match network.hindrance(stream, is_new) {
                Some(failure) => Err(failure),
                None => network.admit(stream, listener)?,
            };
            statuses[number].listeners.push(status);
        }
    }
    network.update(&requests, &mut statuses)?;
    let Network { text, .. } = network;
    Ok(StreamsResult { requests, statuses, text })
}

impl StreamsResult {
    /// The document of the requests with what is answered.
    pub fn document(&self) -> Value {
        self.requests.answer(&self.statuses)
    }

    /// Whether every listener of every stream is ready.
    pub fn is_ready(&self) -> bool {
        self.statuses.iter().all(|status| status.failure().is_none())
    }
}

/// The plan with the streams that are admitted.
struct Network<'a> {
    plan: &'a Plan,
    folder: &'a Path,
    text: String,
}

impl Network<'_> {
    /// Why a stream is not even tried.
    fn hindrance(&self, stream: &Stream, is_new: bool) -> Option<FailureCode> {
        let has_jitter = stream.traffic.schedule.is_some_and(|it| it.jitter > Nanos::ZERO);
        // Frames that are reserved are as far apart as packets are said to come.
        let is_framed = matches!(self.plan.scheduler, SchedulerSpec::Tdp(_));
        if !is_new {
            Some(FailureCode::StreamIdInUse)
        } else if stream.trees > 1 || is_framed && has_jitter {
            Some(FailureCode::InsufficientResources)
        } else if stream.traffic.packet(self.plan) > self.plan.link.max_packet {
            Some(FailureCode::FrameTooLarge)
        } else {
            None
        }
    }

    /// Adds a stream for one of its listeners, if the plan is admitted with it.
    fn admit(&mut self, stream: &Stream, listener: usize) -> Result<ListenerStatus, Error> {
        // What is asked for counts from the begin of the interval.
        let before = stream
            .traffic
            .schedule
            .map_or(Nanos::ZERO, |schedule| schedule.earliest.saturating_add(schedule.jitter));
        let asked = stream.listeners[listener].latency;
        let left = asked.map(|asked| asked.saturating_sub(before));
        if left == Some(Nanos::ZERO) {
            return Ok(Err(FailureCode::LatencyExceeded));
        }
        let with = |latency| self.text.clone() + &stream.text(listener, latency, self.plan);
        let class = stream.class(listener);
        let mut text = with(left);
        let mut answer = self.answer(&text, &class, left)?;
        if let (None, Ok(found)) = (left, answer) {
            // Without a wish, what is found first is what is promised from now on.
            text = with(Some(found));
            answer = self.answer(&text, &class, Some(found))?;
        }
        // An answer has room for four seconds.
        let is_long = |bound: Nanos| bound.saturating_add(before).0 > u32::MAX.into();
        Ok(match answer {
            Ok(bound) if is_long(bound) => Err(FailureCode::LatencyExceeded),
            Ok(bound) => {
                self.text = text;
                Ok(bound)
            }
            failure => failure,
        })
    }

    /// The proved latency of a class in the plan of this text, which is to be at most `promised`.
    fn answer(
        &self,
        text: &str,
        class: &str,
        promised: Option<Nanos>,
    ) -> Result<ListenerStatus, Error> {
        let checked = check(&self.parse(text)?)?;
        let is_late = |bound: Nanos| promised.is_some_and(|promised| bound > promised);
        Ok(match bound(&checked, class) {
            Some(bound) if is_late(bound) => Err(FailureCode::LatencyExceeded),
            Some(bound) if checked.admitted() == Some(true) => Ok(bound),
            _ => Err(FailureCode::InsufficientBandwidth),
        })
    }

    /// The latencies with all streams that are admitted.
    fn update(&self, requests: &Requests, statuses: &mut [Status]) -> Result<(), Error> {
        if statuses.iter().all(|status| status.listeners.iter().all(Result::is_err)) {
            return Ok(());
        }
        let checked = check(&self.parse(&self.text)?)?;
        for (stream, status) in requests.streams.iter().zip(statuses) {
            for (number, listener) in status.listeners.iter_mut().enumerate() {
                if let Ok(latency) = listener {
                    *latency = bound(&checked, &stream.class(number)).unwrap_or(*latency);
                }
            }
        }
        Ok(())
    }

    fn parse(&self, text: &str) -> Result<Plan, Error> {
        Plan::parse(text, "the plan with the streams", self.folder).map_err(Error::Plan)
    }
}

/// The proved latency of a class.
fn bound(checked: &CheckResult, class: &str) -> Option<Nanos> {
    let bound = match checked {
        CheckResult::Link(_) => None,
        CheckResult::Network(proof) => proof.paths.iter().find(|it| it.class == class)?.bound_ns,
        CheckResult::Frames(proof) => proof.classes.iter().find(|it| it.class == class)?.bound_ns,
    };
    bound.map(Nanos)
}
