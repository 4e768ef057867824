//! Reservations that programs order over the network.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use serde_json::{Value, json};

use super::PLAN;
use super::link::Link;
use crate::folder::Folder;

const TOKENS: [&str; 2] = ["0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"];

/// A link whose clients may have two reservations each, and give six orders at once.
fn start(folder: &Folder) -> Option<Link> {
    let path = folder.path("clients.toml");
    let client = |(name, token)| {
        format!("[client.{name}]\ntoken = '{token}'\nreservations = 2\norders-per-second = 3\n")
    };
    let clients: String = ["media", "studio"].into_iter().zip(TOKENS).map(client).collect();
    std::fs::write(&path, clients).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    let orders = ["--reserve-at", "9465", "--clients", "clients.toml"];
    Link::start(folder, &[&["--control", "s", "--reservations", "promised"], &orders[..]].concat())
}

/// What a request is answered: the status, the head and the body.
fn ask(link: &Link, request: &str) -> (u16, String, String) {
    let stream = link.between.run(|| TcpStream::connect("127.0.0.1:9465").unwrap());
    let mut stream = stream.unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    // What it refuses it need not read to the end.
    let _ = stream.read_to_string(&mut answer);
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer has a head");
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head.to_string(), body.to_string())
}

/// What a client's order is answered.
fn order(link: &Link, token: &str, order: &Value) -> (u16, Value) {
    let body = order.to_string();
    let request = format!(
        "POST /reservations HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let (status, head, body) = ask(link, &request);
    assert!(head.contains("application/json"), "{head}{body}");
    (status, serde_json::from_str(&body).unwrap())
}

pub(super) fn call(name: &str, deadline: &str) -> Value {
    json!({
        "order": "reserve", "name": name,
        "class": {
            "deadline": deadline, "match": "udp dport 6000",
            "arrival": { "bucket": "600b", "rate": "200kbit", "packet": "300b" },
        },
    })
}

#[test]
fn each_client_has_its_own() {
    let folder = Folder::with_plan(PLAN);
    let Some(link) = start(&folder) else { return };
    let [media, studio] = TOKENS;
    let (status, granted) = order(&link, media, &call("call", "8ms"));
    assert_eq!(
        (status, &granted["answer"], &granted["name"]),
        (200, &json!("granted"), &json!("call"))
    );
    assert!(granted["bound_ns"].as_u64().unwrap() <= 8_000_000);
    assert_eq!(order(&link, media, &call("call", "8ms")).0, 409);
    assert_eq!(order(&link, studio, &call("call", "8ms")).0, 200);

    let list = json!({ "order": "list" });
    let names = |token| {
        let (_, listed) = order(&link, token, &list);
        let all = listed["reservations"].as_array().unwrap().clone();
        all.iter().map(|one| one["name"].as_str().unwrap().to_string()).collect::<Vec<_>>()
    };
    assert_eq!((names(media), names(studio)), (vec!["call".into()], vec!["call".into()]));
    let listed = folder.laxity(&["reservations", "--control", "s", "--json"]).printed(0);
    assert!(listed.contains("media/call") && listed.contains("studio/call"), "{listed}");

    let others = json!({ "order": "release", "name": "studio/call" });
    assert_eq!(order(&link, media, &others).0, 404);
    let (status, refused) = order(&link, studio, &call("tight", "0.3ms"));
    assert_eq!((status, &refused["reason"]), (409, &json!("no-room")));
    let fitting = refused["offer"]["deadline_ns"].as_u64().unwrap();
    assert_eq!(order(&link, studio, &call("tight", &format!("{fitting}ns"))).0, 200);
    let (status, refused) = order(&link, studio, &call("third", "9ms"));
    assert_eq!((status, &refused["reason"]), (429, &json!("too-many")));
    link.end();
}

#[test]
fn whoever_is_unknown_senseless_or_hasty_is_refused() {
    let folder = Folder::with_plan(PLAN);
    let Some(link) = start(&folder) else { return };
    for head in ["", "Authorization: Bearer wrong\r\n", "Authorization: Basic bWVkaWE6\r\n"] {
        let request =
            format!("POST /reservations HTTP/1.1\r\nHost: a\r\n{head}Content-Length: 0\r\n\r\n");
        let (status, head, _) = ask(&link, &request);
        assert!(status == 401 && head.contains("www-authenticate: Bearer"), "{head}");
    }
    for (path, expected) in [("/status", 404), ("/reload", 404), ("/reservations", 405)] {
        assert_eq!(
            ask(&link, &format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n")).0,
            expected,
            "{path}"
        );
    }
    let (status, _, described) = ask(&link, "GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n");
    let described: Value = serde_json::from_str(&described).unwrap();
    assert_eq!((status, &described["openapi"]), (200, &json!("3.1.0")));

    let [media, _] = TOKENS;
    let (status, refused) = order(&link, media, &json!({ "order": "reserv" }));
    assert_eq!((status, &refused["reason"]), (400, &json!("senseless")));
    let list = json!({ "order": "list" });
    let ended: Vec<u16> = (0..12).map(|_| order(&link, media, &list).0).collect();
    assert!(ended[..4].iter().all(|status| *status == 200), "{ended:?}");
    assert!(ended.contains(&429), "{ended:?}");
    link.end();
}

#[test]
fn a_file_of_clients_is_read_before_the_link_starts() {
    let folder = Folder::with_plan(PLAN);
    std::fs::write(folder.path("clients.toml"), "[client.a]\ntoken = 'short'\n").unwrap();
    let start = |more: &[&str]| {
        folder.laxity(&[&["live", "plan.toml", "--in", "lo", "--out", "lo"], more].concat())
    };
    let orders = ["--reservations", "promised", "--reserve-at", "9465"];
    let ended = start(&orders);
    assert!(ended.code == Some(2) && ended.stderr.contains("--clients"), "{}", ended.stderr);
    let ended = start(&[&orders[..], &["--clients", "clients.toml"]].concat());
    assert!(ended.code == Some(2) && ended.stderr.contains("chmod 600"), "{}", ended.stderr);
}
