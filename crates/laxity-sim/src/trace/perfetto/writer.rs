//! Writes the packets of a trace file.

use std::collections::HashMap;
use std::io::{self, BufWriter, Write};

use laxity::units::Nanos;
use prost::Message;

use super::message::{
    CounterDescriptor, DebugAnnotation, EXPLICIT, EventType, InternedData, InternedName,
    NEEDS_STATE, STATE_CLEARED, TracePacket, TrackDescriptor, TrackEvent, Unit,
};

laxity::id! {
    /// A track of the file, or a group of tracks.
    pub(super) struct TrackId;
    /// A text that is in the file once.
    pub(super) struct TextId;
}

/// An argument of an event, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    Seq,
    Flow,
    Length,
    Arrival,
    SetOut,
    Waited,
    Delay,
    Deadline,
    Late,
    Reason,
    Bytes,
}

impl Argument {
    const ALL: [(Argument, &str); 11] = [
        (Argument::Seq, "seq"),
        (Argument::Flow, "flow"),
        (Argument::Length, "length"),
        (Argument::Arrival, "arrival_ns"),
        (Argument::SetOut, "set_out_ns"),
        (Argument::Waited, "waited_ns"),
        (Argument::Delay, "delay_ns"),
        (Argument::Deadline, "deadline_ns"),
        (Argument::Late, "late_ns"),
        (Argument::Reason, "reason"),
        (Argument::Bytes, "bytes"),
    ];

    fn name_iid(self) -> Option<u64> {
        Some(self as u64 + 1)
    }

    /// The argument with a number.
    pub(super) fn number(self, value: u64) -> DebugAnnotation {
        DebugAnnotation { name_iid: self.name_iid(), uint_value: Some(value), ..Default::default() }
    }

    /// The argument with a text.
    pub(super) fn text(self, text: TextId) -> DebugAnnotation {
        let string_value_iid = Some(text.iid());
        DebugAnnotation { name_iid: self.name_iid(), string_value_iid, ..Default::default() }
    }
}

impl TextId {
    fn iid(self) -> u64 {
        u64::from(self.0) + 1
    }
}

impl TrackId {
    fn uuid(self) -> u64 {
        u64::from(self.0) + 1
    }
}

/// A trace file that is being written. [`finish`](Self::finish) returns errors of writes.
pub(super) struct TraceWriter<'w> {
    out: BufWriter<Box<dyn Write + Send + 'w>>,
    /// What is encoded and not written yet.
    encoded: Vec<u8>,
    texts: Vec<String>,
    /// By content.
    text_ids: HashMap<String, TextId>,
    tracks: u32,
    failed: Option<io::Error>,
}

impl<'w> TraceWriter<'w> {
    /// All packets of a file are of one sequence: they share their texts.
    const SEQUENCE: u32 = 1;

    /// A file with the names of arguments.
    pub(super) fn new(out: impl Write + Send + 'w) -> Self {
        let mut writer = TraceWriter {
            out: BufWriter::with_capacity(1 << 18, Box::new(out)),
            encoded: Vec::new(),
            texts: Vec::new(),
            text_ids: HashMap::new(),
            tracks: 0,
            failed: None,
        };
        let names = Argument::ALL.map(|(argument, name)| InternedName {
            iid: argument.name_iid(),
            name: Some(name.to_owned()),
        });
        writer.write(TracePacket {
            sequence_flags: Some(STATE_CLEARED),
            interned_data: Some(InternedData {
                debug_annotation_names: names.to_vec(),
                ..InternedData::default()
            }),
            ..TracePacket::default()
        });
        writer
    }

    /// The number of a text. It may name an event, be the value of an argument, or stand for a
    /// colour.
    pub(super) fn text(&mut self, text: &str) -> TextId {
        if let Some(&known) = self.text_ids.get(text) {
            return known;
        }
        let id = TextId::from_index(self.texts.len());
        self.texts.push(text.to_owned());
        self.text_ids.insert(text.to_owned(), id);
        let interned = vec![InternedName { iid: Some(id.iid()), name: Some(text.to_owned()) }];
        self.write(TracePacket {
            sequence_flags: Some(NEEDS_STATE),
            interned_data: Some(InternedData {
                event_names: interned.clone(),
                debug_annotation_names: Vec::new(),
                debug_annotation_string_values: interned.clone(),
                correlation_id_str: interned,
            }),
            ..TracePacket::default()
        });
        id
    }

    /// The text of a number.
    pub(super) fn content(&self, text: TextId) -> &str {
        &self.texts[text.index()]
    }

    /// Begins a group of tracks, which stand in it by their ranks.
    pub(super) fn group(&mut self, name: String) -> TrackId {
        self.descriptor(TrackDescriptor {
            name: Some(name),
            child_ordering: Some(EXPLICIT),
            ..TrackDescriptor::default()
        })
    }

    /// Begins a track for slices and instants.
    pub(super) fn track(&mut self, group: TrackId, rank: u32, name: String) -> TrackId {
        self.descriptor(TrackDescriptor {
            parent_uuid: Some(group.uuid()),
            name: Some(name),
            sibling_order_rank: i32::try_from(rank).ok(),
            ..TrackDescriptor::default()
        })
    }

    /// Begins a counter.
    pub(super) fn counter(
        &mut self,
        group: TrackId,
        rank: u32,
        name: String,
        unit: Unit,
    ) -> TrackId {
        self.descriptor(TrackDescriptor {
            parent_uuid: Some(group.uuid()),
            name: Some(name),
            sibling_order_rank: i32::try_from(rank).ok(),
            counter: Some(CounterDescriptor { unit: Some(unit.into()) }),
            ..TrackDescriptor::default()
        })
    }

    fn descriptor(&mut self, descriptor: TrackDescriptor) -> TrackId {
        let track = TrackId(self.tracks);
        self.tracks += 1;
        let descriptor = TrackDescriptor { uuid: Some(track.uuid()), ..descriptor };
        self.write(TracePacket { track_descriptor: Some(descriptor), ..TracePacket::default() });
        track
    }

    /// Writes a slice of a track, which has the colour of its name.
    pub(super) fn slice(&mut self, track: TrackId, [start, end]: [Nanos; 2], event: NamedEvent) {
        self.event(start, track, EventType::SliceBegin, event.into());
        self.event(end, track, EventType::SliceEnd, TrackEvent::default());
    }

    /// Writes an instant of a track, which has the colour of its name.
    pub(super) fn instant(&mut self, track: TrackId, time: Nanos, event: NamedEvent) {
        // Perfetto stacks events of type instant that have the same time, and leaves out those
        // above a certain height. Slices that have ended are not stacked.
        self.slice(track, [time, time], event);
    }

    /// Writes the value that a counter has from this time on.
    pub(super) fn count(&mut self, track: TrackId, time: Nanos, value: u64) {
        let event = TrackEvent { counter_value: Some(value as i64), ..TrackEvent::default() };
        self.event(time, track, EventType::Counter, event);
    }

    fn event(&mut self, time: Nanos, track: TrackId, kind: EventType, event: TrackEvent) {
        let needs_state = event.name_iid.map(|_| NEEDS_STATE);
        let event =
            TrackEvent { r#type: Some(kind.into()), track_uuid: Some(track.uuid()), ..event };
        self.write(TracePacket {
            timestamp: Some(time.0),
            sequence_flags: needs_state,
            track_event: Some(event),
            ..TracePacket::default()
        });
    }

    fn write(&mut self, packet: TracePacket) {
        /// Field 1 of the message `Trace`, whose fields have a length.
        const PACKET: u8 = 1 << 3 | 2;
        if self.failed.is_some() {
            return;
        }
        let sequence = Some(Self::SEQUENCE);
        let packet = TracePacket { trusted_packet_sequence_id: sequence, ..packet };
        self.encoded.clear();
        self.encoded.push(PACKET);
        let written = packet.encode_length_delimited(&mut self.encoded);
        written.expect("a Vec has room for every message");
        self.failed = self.out.write_all(&self.encoded).err();
    }

    /// Writes what is still in memory.
    ///
    /// # Errors
    /// The first that any write met.
    pub(super) fn finish(mut self) -> io::Result<()> {
        match self.failed {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }
}

/// A slice or an instant.
#[derive(Debug)]
pub(super) struct NamedEvent {
    /// Its name, and what has the same colour.
    pub name: TextId,
    /// The flow of arrows that goes through it.
    pub arrow: Option<Arrow>,
    pub arguments: Vec<DebugAnnotation>,
}

/// A place in a flow of arrows. An arrow leads from an event to the next one of its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrow {
    /// More may follow.
    On(u64),
    /// The last one.
    End(u64),
}

impl NamedEvent {
    /// An event with a name alone.
    pub(super) fn plain(name: TextId) -> Self {
        NamedEvent { name, arrow: None, arguments: Vec::new() }
    }
}

impl From<NamedEvent> for TrackEvent {
    fn from(event: NamedEvent) -> TrackEvent {
        let NamedEvent { name, arrow, arguments } = event;
        let (flow_ids, terminating_flow_ids) = match arrow {
            None => (Vec::new(), Vec::new()),
            Some(Arrow::On(flow)) => (vec![flow], Vec::new()),
            Some(Arrow::End(flow)) => (Vec::new(), vec![flow]),
        };
        TrackEvent {
            debug_annotations: arguments,
            name_iid: Some(name.iid()),
            flow_ids,
            terminating_flow_ids,
            correlation_id_str_iid: Some(name.iid()),
            ..TrackEvent::default()
        }
    }
}
