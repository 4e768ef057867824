//! Trace files of Perfetto: packets to look at on ui.perfetto.dev, and to query in SQL.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `message` | the messages of the file |
//! | `writer` | how they are written |
//! | `tracks` | the tracks of an output |
//! | `queues` | the counters of its queues |

mod message;
mod queues;
mod tracks;
mod writer;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use laxity::packet::{ClassId, Ecn, Packet};
use laxity::scheduler::DropReason;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::{Class, Hop, Network};

use self::message::DebugAnnotation;
use self::queues::{QueueKey, Queues};
use self::tracks::{InstantKind, Tracks};
use self::writer::{Argument, Arrow, NamedEvent, TextId, TraceWriter};
use crate::record::{Fate, Observer, Record};

/// A trace file for Perfetto. [`finish`](Self::finish) returns errors of writes.
///
/// Each output is a group of tracks. One track has the transmissions, a slice for each packet.
/// Others have instants: arrivals, deadlines, missed deadlines, drops, and packets that a queue
/// marked. Each queue has counters of its packets and bytes. All events of a class have its name
/// and its colour. Arrows lead from the arrival of a packet to its transmission, and in a network
/// to its next arrival and its receiver.
///
/// Packets of a network are known by their handles, so the run must be on one thread.
pub struct PerfettoTrace<'w> {
    writer: TraceWriter<'w>,
    classes: Vec<ClassTrace>,
    network: Option<Network>,
    outputs: HashMap<Option<Hop>, Tracks>,
    /// The receivers of a network.
    receivers: Option<Tracks>,
    queues: Queues,
    arrows: Arrows,
    /// The handles of packets that had been marked when they came to the output where they are.
    marked: HashSet<u64>,
}

impl<'w> PerfettoTrace<'w> {
    /// A file for the packets of a plan.
    pub fn new(writer: impl Write + Send + 'w, plan: &Plan) -> Self {
        PerfettoTrace {
            writer: TraceWriter::new(writer),
            classes: plan.classes.iter().map(ClassTrace::new).collect(),
            network: plan.network.clone(),
            outputs: HashMap::new(),
            receivers: None,
            queues: Queues::default(),
            arrows: Arrows::default(),
            marked: HashSet::new(),
        }
    }

    /// Writes what is still in memory.
    ///
    /// # Errors
    /// The first that any write met.
    pub fn finish(mut self) -> io::Result<()> {
        self.queues.advance(Nanos::MAX, &mut self.writer);
        self.writer.finish()
    }

    /// Writes the transmission of a packet, and its deadline if it has one.
    fn sent(&mut self, record: &Record, [start, departure]: [Nanos; 2], arrow: u64) {
        let Record { packet, hop, deadline, .. } = record;
        let mut arguments = identity(record);
        let waited = start.saturating_sub(packet.arrival);
        let delay = departure.saturating_sub(packet.arrival);
        arguments.extend([Argument::Waited.number(waited.0), Argument::Delay.number(delay.0)]);
        arguments.extend(deadline.map(|deadline| Argument::Deadline.number(deadline.0)));
        // On one link the way of a packet ends here, in a network at its receiver.
        let arrow = if hop.is_some() { Arrow::On(arrow) } else { Arrow::End(arrow) };
        let event = NamedEvent { name: self.name(packet.class), arrow: Some(arrow), arguments };
        let (output, writer) = self.output(*hop);
        output.transmission([start, departure], event, writer);
        let promised = self.classes[packet.class.index()].deadline;
        if let Some(delay) = promised.filter(|_| !packet.demoted) {
            let due = packet.arrival.saturating_add(delay);
            self.due(record, due, departure);
        }
    }

    /// Writes the deadline of a packet that left at `departure`.
    fn due(&mut self, record: &Record, due: Nanos, departure: Nanos) {
        let name = self.name(record.packet.class);
        let (output, writer) = self.output(record.hop);
        output.instant(InstantKind::Deadlines, due, NamedEvent::plain(name), writer);
        if departure > due {
            let mut arguments = identity(record);
            arguments.push(Argument::Late.number((departure - due).0));
            let event = NamedEvent { arguments, ..NamedEvent::plain(name) };
            output.instant(InstantKind::Missed, due, event, writer);
        }
    }

    /// Writes the drop of a packet at the present time.
    fn dropped(&mut self, record: &Record, reason: DropReason, arrow: u64) {
        let mut arguments = identity(record);
        arguments.push(Argument::Reason.text(self.writer.text(reason.name())));
        let name = self.name(record.packet.class);
        let event = NamedEvent { name, arrow: Some(Arrow::End(arrow)), arguments };
        let now = self.queues.present();
        let (output, writer) = self.output(record.hop);
        output.instant(InstantKind::Drops, now, event, writer);
    }

    fn name(&mut self, class: ClassId) -> TextId {
        let ClassTrace { name, text, .. } = &mut self.classes[class.index()];
        *text.get_or_insert_with(|| self.writer.text(name))
    }

    fn queue(&mut self, hop: Option<Hop>, class: ClassId) -> QueueKey {
        let class = self.name(class);
        let (output, _) = self.output(hop);
        QueueKey { group: output.group(), class }
    }

    fn output(&mut self, hop: Option<Hop>) -> (&mut Tracks, &mut TraceWriter<'w>) {
        let PerfettoTrace { outputs, writer, network, .. } = self;
        let tracks = outputs.entry(hop).or_insert_with(|| {
            let name = match network.as_ref().zip(hop) {
                Some((on, hop)) => format!("{} ({})", on.output(hop), on.link(hop).name),
                None => "link".to_owned(),
            };
            Tracks::new(name, writer)
        });
        (tracks, writer)
    }
}

/// The arguments that say which packet it is.
fn identity(record: &Record) -> Vec<DebugAnnotation> {
    let Record { packet, hop, .. } = record;
    // In a network others have its handle after it.
    let seq = hop.is_none().then(|| Argument::Seq.number(packet.handle));
    let others = [
        Argument::Flow.number(packet.flow.0.into()),
        Argument::Length.number(packet.length.into()),
        Argument::Arrival.number(packet.arrival.0),
    ];
    seq.into_iter().chain(others).collect()
}

impl Observer for PerfettoTrace<'_> {
    fn advance(&mut self, now: Nanos) {
        self.queues.advance(now, &mut self.writer);
    }

    fn arrived(&mut self, packet: &Packet, hop: Option<Hop>) {
        let queue = self.queue(hop, packet.class);
        self.queues.join(queue, packet.length);
        if packet.ecn == Ecn::Experienced {
            self.marked.insert(packet.handle);
        }
    }

    fn reloaded(&mut self, plan: &Plan) {
        self.classes = plan.classes.iter().map(ClassTrace::new).collect();
        self.queues.clear();
    }

    fn record(&mut self, record: &Record) {
        let Record { packet, hop, .. } = record;
        let arrow = self.arrows.number(record);
        let name = self.name(packet.class);
        let event = NamedEvent { arrow: Some(Arrow::On(arrow)), ..NamedEvent::plain(name) };
        let (output, writer) = self.output(*hop);
        output.instant(InstantKind::Arrivals, packet.arrival, event, writer);
        let queue = self.queue(*hop, packet.class);
        let was_marked = self.marked.remove(&packet.handle);
        match record.fate {
            Fate::Sent { start, departure } => {
                self.queues.leave(queue, packet.length, start);
                self.sent(record, [start, departure], arrow);
                if packet.ecn == Ecn::Experienced && !was_marked {
                    let event =
                        NamedEvent { arguments: identity(record), ..NamedEvent::plain(name) };
                    let (output, writer) = self.output(*hop);
                    output.instant(InstantKind::Marks, start, event, writer);
                }
            }
            Fate::Dropped(reason) => {
                self.queues.leave(queue, packet.length, self.queues.present());
                self.dropped(record, reason, arrow);
                self.arrows.end(packet, record.set_out);
            }
            Fate::Queued => {}
        }
    }

    fn delivered(&mut self, packet: &Packet, bytes: u64, now: Nanos) {
        let name = self.name(packet.class);
        let set_out = packet.arrival;
        let arrow = self.arrows.end(packet, set_out).map(Arrow::End);
        let arguments = vec![
            Argument::Flow.number(packet.flow.0.into()),
            Argument::Length.number(packet.length.into()),
            Argument::Bytes.number(bytes),
            Argument::SetOut.number(set_out.0),
            Argument::Delay.number(now.saturating_sub(set_out).0),
        ];
        let PerfettoTrace { receivers, writer, .. } = self;
        let receivers = receivers.get_or_insert_with(|| Tracks::new("receivers".into(), writer));
        let event = NamedEvent { name, arrow, arguments: arguments.clone() };
        receivers.instant(InstantKind::Received, now, event, writer);
        let promised = self.classes[packet.class.index()].end_to_end;
        let Some(due) = promised.map(|delay| set_out.saturating_add(delay)) else { return };
        receivers.instant(InstantKind::Deadlines, due, NamedEvent::plain(name), writer);
        if now > due {
            let mut arguments = arguments;
            arguments.push(Argument::Late.number((now - due).0));
            let event = NamedEvent { arguments, ..NamedEvent::plain(name) };
            receivers.instant(InstantKind::Missed, due, event, writer);
        }
    }
}

/// What is shown of a class.
struct ClassTrace {
    name: String,
    /// The name in the file, once a packet came.
    text: Option<TextId>,
    deadline: Option<Nanos>,
    end_to_end: Option<Nanos>,
}

impl ClassTrace {
    fn new(class: &Class) -> Self {
        let Class { name, deadline, end_to_end, .. } = class;
        let (deadline, end_to_end) = (*deadline, *end_to_end);
        ClassTrace { name: name.clone(), text: None, deadline, end_to_end }
    }
}

/// The numbers of flows of arrows.
#[derive(Default)]
struct Arrows {
    last: u64,
    /// By handle: packets of a network under way, with when they set out.
    under_way: HashMap<u64, (Nanos, u64)>,
}

impl Arrows {
    /// The number of a packet's flow: one more than its own on one link.
    fn number(&mut self, record: &Record) -> u64 {
        let Record { packet, set_out, hop, .. } = record;
        if hop.is_none() {
            return packet.handle + 1;
        }
        match self.under_way.get(&packet.handle) {
            Some((known, number)) if known == set_out => *number,
            _ => {
                self.last += 1;
                self.under_way.insert(packet.handle, (*set_out, self.last));
                self.last
            }
        }
    }

    /// Forgets a packet that is at its end; returns the number of its flow if it is known.
    fn end(&mut self, packet: &Packet, set_out: Nanos) -> Option<u64> {
        let known = self.under_way.remove(&packet.handle);
        known.filter(|(known, _)| *known == set_out).map(|(_, number)| number)
    }
}
