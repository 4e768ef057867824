//! Two sending threads and one scheduler thread: alarms leave before reports, whichever come first.

use std::error::Error;
use std::thread;

use laxity::packet::{ClassId, Packet};
use laxity::sched::Priority;
use laxity::scheduler::{Dispatch, DropReason};
use laxity::units::{Nanos, Rate};
use laxity_engine::{Engine, Pace, Settings, Sink};

const ALARMS: ClassId = ClassId(0);
const REPORTS: ClassId = ClassId(1);

/// Keeps what it is given to send. It runs on the scheduler thread.
#[derive(Default)]
struct SentList(Vec<(ClassId, String)>);

impl Sink<String> for SentList {
    fn sent(&mut self, dispatch: Dispatch, _: Nanos, payload: String) {
        self.0.push((dispatch.packet.class, payload));
    }

    fn dropped(&mut self, packet: Packet, reason: DropReason, payload: String) {
        panic!("{payload} of {:?} is dropped: {}", packet.class, reason.name());
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // A packet of 1000 bytes takes 0.1 ms, so that packets wait.
    let settings = Settings { pace: Pace::Link(Rate(80_000_000)), ..Settings::default() };
    let engine = Engine::start(Priority::new(&[0, 1]), SentList::default(), settings)?;
    let senders = [(ALARMS, "alarm", 50), (REPORTS, "report", 500)].map(|(class, name, count)| {
        let producer = engine.handle().producer();
        thread::spawn(move || -> Result<(), String> {
            let mut producer = producer.map_err(|stopped| stopped.to_string())?;
            for number in 0..count {
                let packet = Packet { class, length: 1_000, ..Packet::default() };
                let payload = format!("{name} {number}");
                producer.send_or_wait(packet, payload).map_err(|unsent| unsent.to_string())?;
            }
            Ok(())
        })
    });
    for sender in senders {
        sender.join().map_err(|_| "a sender has panicked")??;
    }
    // It ends when producers are gone and everything is sent.
    let finished = engine.shutdown()?;
    let sent = finished.sink.0;
    let last_alarm =
        sent.iter().rposition(|(class, _)| *class == ALARMS).ok_or("alarms are sent")?;
    println!("{} packets; the last alarm was number {}.", sent.len(), last_alarm + 1);
    let alarms = sent.iter().filter(|(class, _)| *class == ALARMS).map(|(_, payload)| payload);
    assert!(alarms.eq(&(0..50).map(|number| format!("alarm {number}")).collect::<Vec<_>>()));
    assert_eq!((sent.len(), finished.statistics.sent), (550, 550));
    Ok(())
}
