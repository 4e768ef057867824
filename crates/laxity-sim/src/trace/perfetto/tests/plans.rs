//! Single plans: marks, links of flows, reloads, files that cannot be written.

use std::io;
use std::path::Path;

use laxity::packet::FlowId;
use laxity::scheduler::Backlog;

use super::*;
use crate::replay::{Live, QueuedPacket, Step, replay};
use crate::source::Arrival;

const SECOND: Nanos = Nanos(1_000_000_000);

fn plan(text: &str) -> Plan {
    Plan::parse(&format!("version = 1\n{text}"), "plan.toml", Path::new("")).unwrap()
}

/// A queue marks a packet once: at later queues it has the mark already.
#[test]
fn a_mark_is_shown_at_the_link_whose_queue_set_it() {
    let plan = plan(
        r#"
        link = { rate = "1gbit", max-packet = "1500b" }
        scheduler.kind = "dualpi2"
        network.access = { between = ["s", "r"], private = true }
        network.bottleneck = { between = ["r", "t"], rate = "40mbit", delay = "5ms" }
        network.narrower = { between = ["t", "d"], rate = "30mbit" }
        class.l4s = {}
        source = [{ class = "l4s", model = "tcp", congestion = "dctcp", l4s = true, count = 2,
            packet = "1500b", stagger = "100ms", path = ["s", "r", "t", "d"] }]
        "#,
    );
    let (events, diary) = traced(&plan, SECOND);
    let mut before: HashMap<(u64, Nanos), bool> = HashMap::new();
    let mut told = Vec::new();
    for record in &diary.records {
        let Fate::Sent { start, .. } = record.fate else { continue };
        let is_marked = record.packet.ecn == Ecn::Experienced;
        let was_marked = before.insert((record.packet.handle, record.set_out), is_marked);
        if is_marked && was_marked != Some(true) {
            told.push((group(&plan, record.hop), start.0));
        }
    }
    let places: Vec<_> = told.iter().map(|(group, _)| group.clone()).collect();
    for link in ["r → t (bottleneck)", "t → d (narrower)"] {
        assert!(places.iter().any(|place| place == link), "{link}");
    }
    let marks = on_track(&events, "congestion marks");
    same("marks", marks.map(|event| (event.group.clone(), event.time)).collect(), told);
}

/// Flows with links of their own send at the same time.
#[test]
fn slices_that_overlap_are_on_several_tracks() {
    let plan = plan(
        r#"
        link = { rate = "1mbit", max-packet = "1000b" }
        scheduler.kind = "fifo"
        network.access = { between = ["s", "r"], private = true }
        class.a = {}
        source = [{ class = "a", model = "constant", rate = "400kbit", packet = "1000b", count = 3,
            path = ["s", "r"] }]
        "#,
    );
    let (events, diary) = traced(&plan, SECOND);
    let tracks = ["transmissions", "transmissions 2", "transmissions 3"].map(|track| {
        let slices: Vec<_> = on_track(&events, track).map(|event| event.time).collect();
        assert!(slices.is_sorted(), "{track}");
        slices.len() / 2
    });
    assert!(tracks.iter().all(|count| *count > 10), "{tracks:?}");
    assert_eq!(tracks.iter().sum::<usize>(), diary.records.len());
}

/// A class may have another number under another plan, and what waits may be of another class.
#[test]
fn queues_go_by_the_names_of_classes_after_a_reload() {
    let before =
        plan("link.rate = \"1mbit\"\nscheduler.kind = \"fifo\"\nclass.a = {}\nclass.b = {}");
    let after =
        plan("link.rate = \"1mbit\"\nscheduler.kind = \"fifo\"\nclass.c = {}\nclass.a = {}");
    let mut file = Vec::new();
    let mut trace = PerfettoTrace::new(&mut file, &before);
    let packet = |class, handle, arrival| Packet {
        class: ClassId(class),
        length: 100,
        arrival: Nanos(arrival),
        handle,
        ..Packet::default()
    };
    let waiting = [packet(0, 0, 5), packet(1, 1, 6)];
    for packet in &waiting {
        trace.advance(packet.arrival);
        trace.arrived(packet, None);
    }
    trace.advance(Nanos(10));
    // The packet of `a` stays in it, the one of `b` is of `c` now.
    trace.reloaded(&after);
    for (class, packet) in [(1, waiting[0]), (0, waiting[1])] {
        trace.arrived(&Packet { class: ClassId(class), ..packet }, None);
    }
    for (class, handle, arrival, start) in [(1, 0, 5, 20), (0, 1, 6, 30)] {
        let packet = packet(class, handle, arrival);
        let fate = Fate::Sent { start: Nanos(start), departure: Nanos(start + 1) };
        let set_out = packet.arrival;
        trace.advance(Nanos(start));
        trace.record(&Record { packet, set_out, hop: None, deadline: None, fate });
    }
    trace.finish().unwrap();
    let events = read(&file);
    let counter = |class: &str| {
        let track = format!("{class}: queued packets");
        on_track(&events, &track)
            .map(|event| (event.time, event.value.unwrap()))
            .collect::<Vec<_>>()
    };
    assert_eq!(counter("a"), [(5, 1), (20, 0)]);
    assert_eq!(counter("b"), [(6, 1), (10, 0)]);
    assert_eq!(counter("c"), [(10, 1), (30, 0)]);
    let slices = on_track(&events, "transmissions");
    let names: Vec<_> = slices.filter(|event| event.kind == EventKind::Begin).collect();
    assert_eq!([&*names[0].name, &*names[1].name], ["a", "c"]);
}

/// A replay tells the time of every arrival, choice and drop, and of reloads.
#[test]
fn a_replayed_link_is_traced_over_a_reload() {
    let text = |classes: &str| {
        format!(
            "link = {{ rate = \"8mbit\", max-packet = \"1000b\" }}\nscheduler.kind = \"fifo\"\n\
             scheduler.queue = {{ kind = \"droptail\", limit = 2 }}\n{classes}"
        )
    };
    let plans = ["class.a = {}", "class.b = {}\nclass.a = {}"].map(|classes| plan(&text(classes)));
    let arrival = |time| {
        let arrival = Arrival { time: Nanos(time), length: 1000, ..Arrival::default() };
        Step::Arrival(arrival)
    };
    let choice = |lateness| Step::Choice { lateness: Nanos(lateness) };
    let kept = |number, class| QueuedPacket { number, class: ClassId(class), flow: FlowId(0) };
    let steps = [
        arrival(0),
        choice(7),
        arrival(100),
        arrival(200),
        arrival(300),
        Step::Reload { time: Nanos(400), introduced: vec![], kept: vec![kept(1, 1), kept(2, 0)] },
        choice(0),
        choice(9),
    ];
    let most = Backlog { packets: 100, bytes: 100_000 };
    let live = Live { plans: &plans, seed: 1, backlog: most, catch_up: Nanos(0) };
    let (mut file, mut diary) = (Vec::new(), Diary::default());
    let mut trace = PerfettoTrace::new(&mut file, &plans[0]);
    replay(live, steps, &mut (&mut trace, &mut diary)).unwrap();
    trace.finish().unwrap();
    let events = read(&file);
    let at = |track: &str| {
        on_track(&events, track).map(|event| (event.time, event.name.clone())).collect::<Vec<_>>()
    };
    assert_eq!(at("drops"), [(300, "a".into())]);
    let transmissions: Vec<_> =
        at("transmissions").into_iter().filter(|(_, name)| !name.is_empty()).collect();
    // 1 ms each: the first one is 7 ns late, and so is what follows it, the last one by 9 ns more.
    let expected = [(7, "a"), (1_000_007, "a"), (2_000_016, "b")];
    assert_eq!(transmissions, expected.map(|(time, name)| (time, name.to_string())));
    let counter = |class: &str| {
        let track = format!("{class}: queued packets");
        on_track(&events, &track)
            .map(|event| (event.time, event.value.unwrap()))
            .collect::<Vec<_>>()
    };
    assert_eq!(counter("a"), [(0, 1), (7, 0), (100, 1), (200, 2), (400, 1), (1_000_007, 0)]);
    assert_eq!(counter("b"), [(400, 1), (2_000_016, 0)]);
}

/// Takes this number of bytes, and no more.
struct FullDisk(usize);

impl Write for FullDisk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_write_that_fails_is_an_error_at_the_end() {
    let plan = plan(
        "link = { rate = \"1mbit\", max-packet = \"100b\" }\nscheduler.kind = \"fifo\"\nclass.a = {}\n\
         source = [{ class = \"a\", model = \"constant\", rate = \"800kbit\", packet = \"100b\" }]",
    );
    for room in [0, 100, 1 << 18, 1 << 30] {
        let mut trace = PerfettoTrace::new(FullDisk(room), &plan);
        let duration = Some(Nanos(5 * SECOND.0));
        let run = Run { plan: &plan, duration, seed: 1, feeds: Vec::new() };
        run.with_sources().unwrap().simulate(&mut trace, &mut crate::to_the_end).unwrap();
        let written = trace.finish().map_err(|error| error.kind());
        let expected = if room < 1 << 30 { Err(io::ErrorKind::StorageFull) } else { Ok(()) };
        assert_eq!(written, expected, "{room}");
    }
}
