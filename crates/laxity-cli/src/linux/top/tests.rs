//! Screens.

use std::net::IpAddr;

use laxity_live::client::{Client, ClientError};
use laxity_live::status::{
    ClassStatus, DelayStatus, EndpointsStatus, FlowStatus, FramesStatus, HostStatus,
    InterfaceStatus, NetworkStatus, Status, TalkersStatus, WaitStatus, WayStatus,
};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::keys::{self, Wish};
use super::poller::Reply;
use super::state::State;
use super::view;

/// Delays of `count` packets between 1 and 2 ms, with `max` as the largest, in ns.
fn delays(count: u64, max: u64) -> DelayStatus {
    DelayStatus {
        count,
        sum: u128::from(count) * 1_500_000,
        min: 1_000_001,
        mean: 1_500_000.0,
        p50: 1_400_000,
        p90: 1_800_000,
        p99: 1_900_000,
        p99_9: 1_990_000,
        max,
        at_most: DelayStatus::EDGES.map(|edge| if edge >= 2_000_000 { count } else { 0 }).into(),
    }
}

fn class(name: &str, sent: u64, bound_ns: Option<u64>) -> ClassStatus {
    ClassStatus {
        name: name.into(),
        arrived: sent + 3,
        sent,
        dropped: [("queue-full".to_string(), 2)].into(),
        nonconforming: 0,
        demoted: Some(0),
        queued: Some(1),
        bytes_sent: 1_250 * sent,
        delay_ns: (sent > 0).then(|| delays(sent, 2_000_000)),
        deadline_ns: bound_ns,
        deadline_misses: 0,
        bound_ns,
        bound_misses: u64::from(name == "call"),
        broken: u64::from(name == "call"),
        forfeit: false,
        waits: None,
        second: None,
        watched: None,
    }
}

/// Status of a link after `seconds` seconds.
fn status(seconds: u64) -> Status {
    Status {
        version: "0.1.0".into(),
        uptime_ns: seconds * 1_000_000_000,
        real_time: Some(false),
        reloads: Some(1),
        reloads_refused: Some(2),
        events_lost: Some(0),
        connections_unheard: None,
        orders: Default::default(),
        promised: None,
        interfaces: ["eth1", "eth0"]
            .map(|name| InterfaceStatus { name: name.into(), up: Some(true), ..Default::default() })
            .into(),
        ways: vec![WayStatus {
            way: "out".into(),
            title: None,
            scheduler: "edf".into(),
            rate_bps: 20_000_000,
            found: None,
            late: Some(delays(10, 120_000)),
            broken: 0,
            held_ns: None,
            held_up: false,
            wire: None,
            watched: None,
            talkers: None,
            advice: None,
            moments: Vec::new(),
            classes: vec![
                class("call", 100 * seconds, Some(4_000_000)),
                class("a class with a name that goes on", 1_000 * seconds, Some(1_800_000)),
                class("rest", 0, None),
            ],
        }],
        network: None,
    }
}

fn screen_of(state: &mut State, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| view::draw(state, frame)).unwrap();
    let screen = terminal.backend().to_string();
    let lines = screen.lines().map(|line| line.trim_matches('"').trim_end());
    lines.collect::<Vec<_>>().join("\n").trim_end().to_string()
}

fn screen(state: &mut State) -> String {
    screen_of(state, 80, 24)
}

/// Holds a screen to what it was; `LAXITY_RECORD=1` records it anew.
fn golden(name: &str, screen: &str) {
    let path = format!("{}/src/linux/top/tests/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("LAXITY_RECORD").is_some() {
        std::fs::write(&path, format!("{screen}\n")).unwrap();
    }
    assert_eq!(screen, std::fs::read_to_string(&path).unwrap().trim_end());
}

fn press(state: &mut State, code: KeyCode) -> Option<Wish> {
    keys::press(state, KeyEvent::new(code, KeyModifiers::NONE))
}

fn after_two_looks() -> State {
    let mut state = State::new(status(10));
    state.hear(Reply::Status(Box::new(status(12))));
    state
}

#[test]
fn a_screen_of_eighty_columns() {
    let screen = screen(&mut after_two_looks());
    assert!(screen.lines().all(|line| line.chars().count() <= 80));
    golden("now.txt", &screen);
}

#[test]
fn delays_of_all_packets_in_another_order() {
    let mut state = after_two_looks();
    for code in [KeyCode::Char(' '), KeyCode::Right] {
        assert_eq!(press(&mut state, code), None);
    }
    golden("in_all.txt", &screen(&mut state));
}

#[test]
fn routers_have_frames_in_place_of_a_rate() {
    let mut of_routers = status(10);
    let way = &mut of_routers.ways[0];
    (way.way, way.scheduler, way.late) = ("network".into(), "tdp".into(), None);
    let frames =
        FramesStatus { length_ns: 250_000, passed: 40_000, skipped: 4, out_of_step: 0, unknown: 0 };
    let nodes = vec!["r1".into(), "r2".into()];
    of_routers.network =
        Some(NetworkStatus { nodes, kept: true, frames: Some(frames), classes: Vec::new() });
    golden("routers.txt", &screen(&mut State::new(of_routers)));
}

#[test]
fn reloading_asks_first() {
    let mut state = after_two_looks();
    assert_eq!(press(&mut state, KeyCode::Char('r')), None);
    assert!(screen(&mut state).ends_with("y: yes, any other key: no"));
    assert_eq!(press(&mut state, KeyCode::Char('q')), None, "that is no yes");
    press(&mut state, KeyCode::Char('r'));
    assert_eq!(press(&mut state, KeyCode::Char('y')), Some(Wish::Reload));
    state.hear(Reply::Reloaded(Err("\n\x1b[2Jclass call does not fit\n---".into())));
    let screen = screen(&mut state);
    assert!(screen.contains("not reloaded: ") && screen.contains("does not fit"), "{screen}");
    assert!(!screen.contains('\x1b'));
    assert_eq!(press(&mut state, KeyCode::Esc), Some(Wish::End));
}

#[test]
fn a_link_at_its_end_is_said_and_what_was_heard_stays() {
    let mut state = after_two_looks();
    let (socket, cause) = ("/run/laxity/a-b.sock".into(), std::io::ErrorKind::NotFound.into());
    state.hear(Reply::Gone(ClientError::Gone { socket, cause }));
    let shown = screen(&mut state);
    assert!(shown.contains("call") && shown.contains("nothing runs"), "{shown}");
    press(&mut state, KeyCode::Char('r'));
    assert!(!state.asks, "there is nobody to reload");
    state.hear(Reply::Status(Box::new(status(1))));
    assert!(!screen(&mut state).contains("nothing runs"), "another one has begun");
    assert!(Client::at("/nowhere").status().is_err());
}

/// In the last two seconds the call waited 3 ms for another class and 1 ms for nothing.
#[test]
fn who_delays_a_class_now_is_said_below_the_classes() {
    let waiting = |seconds: u64, [other, idle]: [u64; 2]| {
        let mut status = status(seconds);
        let sent_ns = [("a class with a name that goes on".to_string(), other)].into();
        status.ways[0].classes[0].waits = Some(WaitStatus { sent_ns, idle_ns: idle });
        status
    };
    let mut state = State::new(waiting(10, [5_000_000, 8_000_000]));
    assert!(!screen(&mut state).contains("waits for"));
    state.hear(Reply::Status(Box::new(waiting(12, [8_000_000, 9_000_000]))));
    let screen = screen(&mut state);
    let line = screen.lines().find(|line| line.contains("waits for")).expect("a line");
    assert_eq!(line, "call            waits for a class with a name… 75 %, nothing sent 25 %");
    assert!(line.chars().count() <= 80);
}

/// A host with a flow of 11 Mbit/s in a second, and one with 20 small ones; and what to change.
#[test]
fn advice_hosts_and_flows_stand_below_the_classes() {
    let mut status = status(10);
    let address = |last: u8| IpAddr::from([10, 0, 0, last]);
    let host = |last, flows, bytes| HostStatus {
        address: address(last),
        class: "a class with a name that goes on".into(),
        flows,
        packets: bytes / 1_000,
        bytes,
    };
    let flow = |port, bytes| FlowStatus {
        ends: Some(EndpointsStatus {
            protocol: "udp".into(),
            source: address(2),
            source_port: Some(port),
            destination: IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0x1234]),
            destination_port: Some(53),
        }),
        class: "call".into(),
        packets: bytes / 1_000,
        bytes,
    };
    status.ways[0].talkers = Some(TalkersStatus {
        over_ns: 1_000_000_000,
        bytes: 1_500_000,
        packets: 1_500,
        hosts: vec![host(1, 1, 1_375_000), host(2, 20, 100_000)],
        flows: (0..20).map(|at| flow(5_000 + at, 5_000 - u64::from(at))).collect(),
        names: [(address(1), "desk\x1b[2J".to_string())].into(),
        ..TalkersStatus::default()
    });
    let advice = "call needs 64 kbit/s more; 2 Mbit/s are free: with `rate = \"320kbit\"` in its \
                  `arrival` all that it sent keeps it, and everything is proved.";
    status.ways[0].advice = Some(advice.into());
    let mut state = State::new(status);
    let few = screen_of(&mut state, 80, 40);
    assert!(few.lines().all(|line| line.chars().count() <= 80), "{few}");
    golden("talkers.txt", &few);
    press(&mut state, KeyCode::Char('f'));
    assert!(screen_of(&mut state, 80, 40).contains(":5019 → "));
    press(&mut state, KeyCode::Char('f'));
    assert!(!screen_of(&mut state, 80, 40).contains("flows now"));
}

/// Under `laxity watch` nobody knows queues or priorities.
#[test]
fn what_is_not_known_is_not_shown_as_nothing() {
    let mut watched = status(10);
    (watched.real_time, watched.reloads, watched.reloads_refused) = (None, None, None);
    (watched.ways[0].late, watched.ways[0].classes[0].queued) = (None, None);
    let screen = screen(&mut State::new(watched));
    let row = screen.lines().find(|line| line.starts_with("call ")).expect("a row");
    assert_eq!(row.split_whitespace().nth(2), Some("—"), "{screen}");
    assert!(!screen.contains("priority") && !screen.contains("late by"), "{screen}");
}

#[test]
fn more_classes_than_lines_are_scrolled() {
    let mut many = status(5);
    many.ways[0].classes = (0..100).map(|at| class(&format!("class-{at}"), at, None)).collect();
    let mut state = State::new(many);
    assert!(screen(&mut state).contains("class-0 ") && !screen(&mut state).contains("class-99 "));
    (0..500).for_each(|_| assert_eq!(press(&mut state, KeyCode::Down), None));
    assert!(screen(&mut state).contains("class-99 "));
    press(&mut state, KeyCode::Up);
    assert!(screen(&mut state).contains("class-99 "), "there is an empty line below it");
    for (width, height) in [(1, 1), (10, 3), (200, 5)] {
        screen_of(&mut state, width, height);
    }
}
