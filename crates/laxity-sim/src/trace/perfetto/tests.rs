//! Traces that are read back, and compared with the records of the run.

mod examples;
mod plans;

use std::collections::{BTreeMap, HashMap};

use laxity_plan::network::NetworkPlan;
use prost::Message;

use super::message::{DebugAnnotation, EventType, TracePacket};
use super::*;
use crate::link::Run;
use crate::network::NetworkRun;

/// The message that a trace is.
#[derive(Clone, PartialEq, Message)]
struct Trace {
    #[prost(message, repeated, tag = "1")]
    packet: Vec<TracePacket>,
}

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventKind {
    Begin,
    End,
    /// A slice that ends when it begins.
    Instant,
    Counter,
}

/// An event with its texts.
#[derive(Clone, Debug, PartialEq)]
struct Event {
    kind: EventKind,
    time: u64,
    group: String,
    track: String,
    name: String,
    colour: String,
    arguments: BTreeMap<String, Value>,
    flows: Vec<u64>,
    ended_flows: Vec<u64>,
    value: Option<i64>,
}

#[derive(Clone, Debug, PartialEq)]
enum Value {
    Number(u64),
    Text(String),
}

impl Event {
    fn number(&self, argument: &str) -> u64 {
        match &self.arguments[argument] {
            Value::Number(number) => *number,
            Value::Text(text) => panic!("{argument} is {text}"),
        }
    }
}

/// The events of a file, as a reader that knows the format has them.
fn read(file: &[u8]) -> Vec<Event> {
    let mut names = HashMap::new();
    let mut argument_names = HashMap::new();
    let mut texts = HashMap::new();
    let mut colours = HashMap::new();
    // By number: the group of a track, and its name.
    let mut tracks: HashMap<u64, (String, String)> = HashMap::new();
    let mut events = Vec::new();
    for packet in Trace::decode(file).unwrap().packet {
        assert_eq!(packet.trusted_packet_sequence_id, Some(1));
        if let Some(data) = packet.interned_data {
            for (table, interned) in [
                (&mut names, data.event_names),
                (&mut argument_names, data.debug_annotation_names),
                (&mut texts, data.debug_annotation_string_values),
                (&mut colours, data.correlation_id_str),
            ] {
                table.extend(interned.into_iter().map(|text| (text.iid, text.name.unwrap())));
            }
        }
        if let Some(track) = packet.track_descriptor {
            let name = track.name.unwrap();
            let group = match track.parent_uuid {
                Some(parent) => tracks[&parent].1.clone(),
                None => name.clone(),
            };
            let known = tracks.insert(track.uuid.unwrap(), (group, name));
            assert_eq!(known, None);
        }
        let Some(event) = packet.track_event else { continue };
        let argument = |argument: &DebugAnnotation| {
            let value = match argument.string_value_iid {
                Some(_) => Value::Text(texts[&argument.string_value_iid].clone()),
                None => Value::Number(argument.uint_value.unwrap()),
            };
            (argument_names[&argument.name_iid].clone(), value)
        };
        let (group, track) = tracks[&event.track_uuid.unwrap()].clone();
        let text = |table: &HashMap<_, String>, iid: Option<u64>| {
            iid.map(|_| table[&iid].clone()).unwrap_or_default()
        };
        let time = packet.timestamp.unwrap();
        let kind = match event.r#type() {
            EventType::SliceBegin => EventKind::Begin,
            EventType::SliceEnd => EventKind::End,
            EventType::Counter => EventKind::Counter,
            EventType::Unspecified => panic!("{event:?}"),
        };
        if !track.starts_with("transmissions") && kind == EventKind::End {
            let begin: &mut Event = events.last_mut().unwrap();
            let place = (&begin.group, &begin.track, begin.time);
            assert_eq!((begin.kind, place), (EventKind::Begin, (&group, &track, time)));
            begin.kind = EventKind::Instant;
            continue;
        }
        events.push(Event {
            kind,
            time,
            group,
            track,
            name: text(&names, event.name_iid),
            colour: text(&colours, event.correlation_id_str_iid),
            arguments: event.debug_annotations.iter().map(argument).collect(),
            flows: event.flow_ids,
            ended_flows: event.terminating_flow_ids,
            value: event.counter_value,
        });
    }
    events
}

/// What a run tells.
#[derive(Default)]
struct Diary {
    records: Vec<Record>,
    delivered: Vec<(Packet, u64, Nanos)>,
}

impl Observer for Diary {
    fn record(&mut self, record: &Record) {
        self.records.push(*record);
    }

    fn delivered(&mut self, packet: &Packet, bytes: u64, now: Nanos) {
        self.delivered.push((*packet, bytes, now));
    }
}

/// The events of a run, and what it told.
fn traced(plan: &Plan, duration: Nanos) -> (Vec<Event>, Diary) {
    let (mut file, mut diary) = (Vec::new(), Diary::default());
    let mut trace = PerfettoTrace::new(&mut file, plan);
    let mut both = (&mut trace, &mut diary);
    match plan.network_plan().map(NetworkPlan::analysis) {
        Some(on) => {
            let run = NetworkRun::new(&on, Some(duration), 1);
            run.simulate(&mut both, &mut crate::to_the_end).unwrap();
        }
        None => {
            let run = Run { plan, duration: Some(duration), seed: 1, feeds: Vec::new() };
            let run = run.with_sources().unwrap();
            run.simulate(&mut both, &mut crate::to_the_end).unwrap();
        }
    }
    trace.finish().unwrap();
    (read(&file), diary)
}

fn group(plan: &Plan, hop: Option<Hop>) -> String {
    let Some((network, hop)) = plan.network.as_ref().zip(hop) else { return "link".into() };
    let [from, to] = network.ends(hop);
    format!("{from} → {to} ({})", network.link(hop).name)
}

fn class(plan: &Plan, packet: &Packet) -> String {
    plan.classes[packet.class.index()].name.clone()
}

/// Compares two lists whose order does not matter.
fn same<T: Ord + std::fmt::Debug>(name: &str, mut read: Vec<T>, mut told: Vec<T>) {
    read.sort();
    told.sort();
    assert_eq!(read.len(), told.len(), "{name}");
    for (read, told) in read.iter().zip(&told) {
        assert_eq!(read, told, "{name}");
    }
}

fn on_track<'e>(events: &'e [Event], track: &'e str) -> impl Iterator<Item = &'e Event> {
    events.iter().filter(move |event| event.track == track)
}
