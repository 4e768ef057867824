//! A link that is not there, and what may be asked of it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use laxity::histogram::Delays;
use laxity::units::Nanos;
use laxity_live::process::Request;
use laxity_live::reservations::{Reservation, Stage};
use laxity_live::server::{ControlSocket, Listeners, Server};
use laxity_live::status::{
    ClassStatus, ClassWatch, DelayStatus, InterfaceStatus, PastStatus, PromisedStatus, Status,
    WayStatus, WayWatch,
};
use laxity_report::html::colours;
use tempfile::TempDir;

/// Two reservations, one of them for later.
fn promised() -> PromisedStatus {
    let reservation = |name: &str, state, from_ns, until_ns| Reservation {
        name: name.into(),
        state,
        keys: "deadline = \"10ms\"".into(),
        path: Vec::new(),
        from_ns,
        until_ns,
        held_until_ns: None,
    };
    // In the year 2100.
    let later = 4_102_444_800_000_000_000;
    PromisedStatus {
        at_ns: 1_000_000_000,
        stages: [("active".to_string(), 1), ("ahead".to_string(), 1)].into(),
        at: None,
        promised_bps: 8_000_000,
        rate_bps: 20_000_000,
        reservations: vec![
            reservation("media/call", Stage::Active, 0, None),
            reservation("concert", Stage::Ahead, later, Some(later + 7_200_000_000_000)),
        ],
    }
}

/// Status of a link with `classes` classes.
pub(crate) fn status(classes: usize) -> Status {
    let mut delays = Delays::default();
    (1..=1_000).for_each(|at| delays.record(Nanos(at * 5_000)));
    let delays = DelayStatus::new(&delays);
    let class = |at: usize| {
        let bound = (at == 0).then_some(8_000_000);
        ClassStatus {
            name: if at == 0 { "call \"\\\n".into() } else { format!("class-{at}") },
            arrived: 1_003,
            sent: 1_000,
            dropped: [("queue-full".to_string(), 2)].into(),
            nonconforming: 3,
            demoted: Some(3),
            queued: Some(1),
            bytes_sent: 100_000,
            delay_ns: delays.clone(),
            deadline_ns: bound,
            deadline_misses: 0,
            bound_ns: bound,
            bound_misses: 0,
            broken: 0,
            forfeit: false,
            waits: None,
            second: None,
            watched: None,
        }
    };
    let interface = |name: &str| InterfaceStatus {
        name: name.into(),
        up: Some(true),
        received: Some(1_000),
        sent: Some(1_000),
        unseen: None,
        held_ns: None,
        lost: [("missed".to_string(), 1)].into(),
    };
    Status {
        version: "0.1.0".into(),
        uptime_ns: 12_345_678_900,
        real_time: Some(true),
        reloads: Some(1),
        reloads_refused: Some(2),
        orders: [("granted".to_string(), 3), ("no-room".to_string(), 1)].into(),
        promised: Some(promised()),
        events_lost: Some(0),
        connections_unheard: Some(0),
        interfaces: vec![interface("a"), interface("b")],
        ways: vec![WayStatus {
            way: "out".into(),
            title: None,
            scheduler: "edf".into(),
            rate_bps: 20_000_000,
            found: None,
            late: delays.clone(),
            broken: 0,
            held_ns: None,
            held_up: false,
            wire: None,
            watched: None,
            talkers: None,
            advice: None,
            moments: Vec::new(),
            classes: (0..classes).map(class).collect(),
        }],
        network: None,
    }
}

/// The same as who watches it from outside knows it.
pub(crate) fn watched(classes: usize) -> Status {
    let mut status = status(classes);
    (status.real_time, status.events_lost) = (None, None);
    (status.reloads, status.reloads_refused) = (None, None);
    status.orders.clear();
    status.connections_unheard = None;
    for interface in &mut status.interfaces {
        (interface.up, interface.sent, interface.unseen) = (None, None, Some(3));
        interface.lost.clear();
    }
    let way = &mut status.ways[0];
    (way.way, way.late) = ("watched".into(), None);
    way.watched = Some(WayWatch { busiest_bps: 20.7e6, unclassed: 1, unpaired: 2, alike: 3 });
    for class in &mut way.classes {
        (class.queued, class.demoted) = (None, None);
        class.dropped = [("lost".to_string(), 2)].into();
        class.nonconforming = 1;
        class.watched = Some(ClassWatch { throughput_bps: 1e6, pending: 1 });
    }
    status
}

/// A server before such a link, whose plan is as good as it is said to be.
pub(crate) struct Sample {
    pub folder: TempDir,
    pub address: SocketAddr,
    pub said: Arc<Mutex<Vec<String>>>,
    pub server: Server,
}

impl Sample {
    pub(crate) fn new(status: Status, reload: Result<(), String>) -> Sample {
        Sample::from_statuses(move |_| status.clone(), reload)
    }

    /// A server of a link whose status depends on how often it was asked.
    pub(crate) fn from_statuses(
        status: impl FnMut(u64) -> Status + Send + 'static,
        reload: Result<(), String>,
    ) -> Sample {
        Sample::with_past(status, reload, None)
    }

    /// The same of a link with a history.
    pub(crate) fn with_past(
        status: impl FnMut(u64) -> Status + Send + 'static,
        reload: Result<(), String>,
        past: Option<PastStatus>,
    ) -> Sample {
        let folder = tempfile::tempdir().expect("a folder");
        let control = ControlSocket::bind(&folder.path().join("a-b.sock")).expect("a socket");
        let network = Listeners::listen(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a port");
        let address = network.local_addr().expect("an address");
        let listeners = Listeners { control: Some(control), network: Some(network), orders: None };
        let (ask, requests) = mpsc::channel();
        thread::spawn(move || answer(requests, status, &reload, past));
        let said = Arc::new(Mutex::new(Vec::new()));
        let hears = said.clone();
        let say = move |what: &str| hears.lock().expect("nobody panics").push(what.to_string());
        let server = Server::start(listeners, colours(), ask, say).expect("a server");
        Sample { folder, address, said, server }
    }

    /// What a request is answered, head and all.
    pub(crate) fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        // What it refuses it need not read to the end.
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    pub(crate) fn get(&self, path: &str, more: &str) -> String {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{more}\r\n", self.address))
    }
}

fn answer(
    requests: Receiver<Request>,
    mut status: impl FnMut(u64) -> Status,
    reload: &Result<(), String>,
    past: Option<PastStatus>,
) {
    let mut asked = 0;
    for request in requests {
        match request {
            Request::Status(answer) => {
                asked += 1;
                drop(answer.send(status(asked)));
            }
            Request::Past { answer, .. } => drop(answer.send(past.clone())),
            Request::Reload(answer) => drop(answer.send(reload.clone())),
            Request::Order(_, answer) => drop(answer),
            Request::End => return,
        }
    }
}
