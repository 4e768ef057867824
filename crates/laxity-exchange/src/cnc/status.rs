//! What is answered: the status of each stream.

use laxity::units::Nanos;
use serde_json::{Map, Value, json};

use super::{Requests, Stream};

/// Why a stream fails (IEEE Std 802.1Q-2022, Table 46-15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each has its number")]
pub enum FailureCode {
    /// Some link has no room for it.
    InsufficientBandwidth,
    /// Bridges cannot do it: more than one tree at once, or a time that has jitter.
    InsufficientResources,
    /// Another stream has its identifier.
    StreamIdInUse,
    /// Its frames are longer than a link sends.
    FrameTooLarge,
    /// It would take longer than it may.
    LatencyExceeded,
}

impl FailureCode {
    /// Its number.
    pub fn number(self) -> u8 {
        match self {
            FailureCode::InsufficientBandwidth => 1,
            FailureCode::InsufficientResources => 2,
            FailureCode::StreamIdInUse => 4,
            FailureCode::FrameTooLarge => 14,
            FailureCode::LatencyExceeded => 21,
        }
    }

    /// What it says.
    pub fn words(self) -> &'static str {
        match self {
            FailureCode::InsufficientBandwidth => "insufficient bandwidth",
            FailureCode::InsufficientResources => "insufficient bridge resources",
            FailureCode::StreamIdInUse => "stream identifier in use by another talker",
            FailureCode::FrameTooLarge => "maximum frame size too large for the media",
            FailureCode::LatencyExceeded => "maximum latency exceeded",
        }
    }
}

/// The status of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "made by who admits streams")]
pub struct Status {
    /// That of each listener, in their order.
    pub listeners: Vec<ListenerStatus>,
}

/// The status of a listener: the proved latency, or why it fails.
pub type ListenerStatus = Result<Nanos, FailureCode>;

impl Status {
    /// The first failure.
    pub fn failure(&self) -> Option<FailureCode> {
        self.listeners.iter().find_map(|listener| listener.err())
    }

    /// Whether every listener is ready.
    pub fn is_ready(&self) -> bool {
        !self.listeners.is_empty() && self.failure().is_none()
    }

    fn info(&self) -> Value {
        let ready = self.listeners.iter().filter(|listener| listener.is_ok()).count();
        let (talker, listener) = match (ready, self.listeners.len()) {
            (_, 0) => ("ready", "none"),
            (0, _) => ("failed", "failed"),
            (ready, all) if ready == all => ("ready", "ready"),
            _ => ("ready", "partial-failed"),
        };
        json!({
            "talker-status": talker,
            "listener-status": listener,
            "failure-code": self.failure().map_or(0, FailureCode::number),
        })
    }
}

/// The document with what is answered.
pub(super) fn answer(requests: &Requests, statuses: &[Status]) -> Value {
    let mut document = requests.document.clone();
    for (stream, status) in requests.streams.iter().zip(statuses) {
        let [domain, cuc, number] = stream.place;
        let config = document.get_mut("ieee802-dot1q-cnc-config:cnc-config");
        let domain = config.and_then(|config| config.get_mut("domain")?.get_mut(domain));
        let cuc = domain.and_then(|domain| domain.get_mut("cuc")?.get_mut(cuc));
        let entry = cuc.and_then(|cuc| cuc.get_mut("stream")?.get_mut(number)?.as_object_mut());
        if let Some(entry) = entry {
            stream.write(status, entry);
        }
    }
    document
}

impl Stream {
    fn write(&self, status: &Status, entry: &mut Map<String, Value>) {
        let is_configured = status.listeners.iter().any(Result::is_ok);
        let stage = if is_configured { "configured" } else { "planned" };
        entry.insert("stream-status".into(), stage.into());
        entry.insert("status-info".into(), status.info());
        entry.remove("failed-interfaces");
        let latencies = status.listeners.iter().map(|listener| Some(self.latency(listener.ok()?)));
        let latencies: Vec<Option<u32>> = latencies.collect();
        if let Some(talker) = entry.get_mut("talker").and_then(Value::as_object_mut) {
            put(talker, latencies.iter().flatten().max().copied());
            match (is_configured, self.offset(talker)) {
                (true, Some(offset)) => talker.insert("interface-configuration".into(), offset),
                _ => talker.remove("interface-configuration"),
            };
        }
        let listeners = entry.get_mut("listener").and_then(Value::as_array_mut);
        for (listener, latency) in listeners.into_iter().flatten().zip(latencies) {
            if let Some(listener) = listener.as_object_mut() {
                put(listener, latency);
            }
        }
    }

    /// The latency that a listener is told: from the begin of the interval, if the talker sends by
    /// the network's time.
    fn latency(&self, bound: Nanos) -> u32 {
        let schedule = self.traffic.schedule;
        let later = schedule.map_or(Nanos(0), |it| it.earliest.saturating_add(it.jitter));
        u32::try_from(bound.saturating_add(later).0).unwrap_or(u32::MAX)
    }

    /// When the talker is to send, if that is for the network to say.
    fn offset(&self, talker: &Map<String, Value>) -> Option<Value> {
        let earliest = self.traffic.schedule?.earliest.0;
        let interface = talker.get("end-station-interfaces")?.get(0)?.as_object()?;
        let mut entry = interface.clone();
        entry.entry("interface-name").or_insert_with(|| "".into());
        let configuration = json!([{ "index": 0, "time-aware-offset": earliest }]);
        entry.insert("config-list".into(), configuration);
        Some(json!({ "interface-list": [entry] }))
    }
}

fn put(entry: &mut Map<String, Value>, latency: Option<u32>) {
    match latency {
        Some(latency) => entry.insert("accumulated-latency".into(), latency.into()),
        None => entry.remove("accumulated-latency"),
    };
}
