//! Who may ask what, and who is cut off.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use laxity_live::client::{Client, ClientError};
use laxity_live::server::{CONNECTIONS, PATIENCE, READERS};

use crate::sample::{Sample, status};

#[test]
fn the_control_socket_tells_and_reloads() {
    let refused = "class call does not fit\nat all".to_string();
    for reload in [Ok(()), Err(refused)] {
        let sample = Sample::new(status(3), reload.clone());
        let client = Client::at(sample.folder.path().join("a-b.sock"));
        assert_eq!(client.status().expect("an answer"), status(3));
        assert_eq!(client.reload().expect("an answer"), reload);
        drop(sample.server);
        assert!(!client.socket().exists());
        assert!(matches!(client.status(), Err(ClientError::Gone { .. })));
    }
}

#[test]
fn over_tcp_nothing_is_changed() {
    let sample = Sample::new(status(1), Ok(()));
    let told = sample.get("/status", "");
    assert!(
        told.starts_with("HTTP/1.1 200") && told.contains("\"uptime_ns\":12345678900"),
        "{told}"
    );
    for (request, code) in [
        ("POST /reload HTTP/1.1\r\nHost: localhost\r\n\r\n", "404"),
        ("GET /reload HTTP/1.1\r\nHost: localhost\r\n\r\n", "404"),
        ("POST /status HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx", "405"),
        ("DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n", "405"),
        ("GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", "404"),
        ("GET /status HTTP/1.1\r\nHost: evil.example\r\n\r\n", "421"),
        ("GET /status HTTP/1.1\r\n\r\n", "421"),
        ("GET /status SPDY/1\r\n\r\n", "400"),
    ] {
        let answer = sample.ask(request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {code}")), "{request}: {answer}");
        assert!(!answer.contains("uptime_ns"), "{request}: {answer}");
    }
    let control = UnixStream::connect(sample.folder.path().join("a-b.sock"));
    let mut control = control.expect("it listens");
    control.write_all(b"GET /reload HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    control.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 405") && answer.contains("allow: POST"), "{answer}");
}

#[test]
fn pages_run_nothing_from_elsewhere() {
    let sample = Sample::new(status(1), Ok(()));
    for (path, kind) in [
        ("/", "text/html"),
        ("/page.js", "text/javascript"),
        ("/page.css", "text/css"),
        ("/colours.css", "text/css"),
    ] {
        let answer = sample.get(path, "");
        assert!(answer.contains(&format!("content-type: {kind}")), "{answer}");
        assert!(answer.contains("content-security-policy: default-src 'none'; script-src 'self'"));
        assert!(!answer.contains("access-control-allow-origin"));
    }
}

#[test]
fn heads_have_limits() {
    let sample = Sample::new(status(1), Ok(()));
    let long = format!("X: {}\r\n", "x".repeat(40_000));
    let many: String = (0..200).map(|at| format!("X-{at}: x\r\n")).collect();
    for head in [long, many] {
        let answer = sample.get("/status", &head);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    }
    assert!(sample.get("/status", "").starts_with("HTTP/1.1 200"));
}

/// Those who ask and do not read, or do not even ask, hold places for a while; others are answered.
#[test]
fn slow_readers_are_cut_off() {
    // More than sockets hold.
    let sample = Sample::new(status(30_000), Ok(()));
    let begun = Instant::now();
    let ask = |request: &str| {
        let mut stream = TcpStream::connect(sample.address).expect("it listens");
        stream.write_all(request.as_bytes()).expect("it reads");
        stream
    };
    let asks = format!("GET /status HTTP/1.1\r\nHost: {}\r\n\r\n", sample.address);
    let mut slow: Vec<_> = (0..CONNECTIONS / 2).map(|_| ask(&asks)).collect();
    slow.extend((0..CONNECTIONS).map(|_| ask("GET /sta")));
    let client = Client::at(sample.folder.path().join("a-b.sock"));
    assert_eq!(client.status().expect("another door").ways[0].classes.len(), 30_000);
    assert!(sample.get("/", "").starts_with("HTTP/1.1 200"), "once there is a place");
    while sample.said.lock().unwrap().is_empty() && begun.elapsed() < 6 * PATIENCE {
        std::thread::sleep(Duration::from_millis(100));
    }
    let said = sample.said.lock().unwrap().clone();
    assert_eq!(said.len(), 1, "once a minute: {said:?}");
    assert!(said[0].contains("did not take its answer in time"), "{said:?}");
    let mut whole = Vec::new();
    let _cut_off = slow[0].read_to_end(&mut whole);
    assert!(whole.len() < sample.get("/status", "").len());
}

/// Those who came last are served, and at once.
#[test]
fn however_many_are_slow_a_scrape_is_answered_at_once() {
    let sample = Sample::new(status(3_000), Ok(()));
    let asks = format!("GET /status HTTP/1.1\r\nHost: {}\r\n\r\n", sample.address);
    let slow = (0..200).map(|number| {
        let mut stream = TcpStream::connect(sample.address).expect("it listens");
        let request = if number % 2 == 0 { "GET /sta" } else { &asks };
        stream.write_all(request.as_bytes()).expect("it reads");
        stream
    });
    let mut slow: Vec<_> = slow.collect();
    let begun = Instant::now();
    let scraped = sample.get("/metrics", "");
    let took = begun.elapsed();
    assert!(scraped.starts_with("HTTP/1.1 200"), "{scraped}");
    assert!(took < Duration::from_secs(3), "{took:?}");
    // The first ones were cut off long before their time.
    slow.truncate(200 - READERS);
    for stream in &mut slow {
        stream.set_read_timeout(Some(Duration::from_secs(2))).expect("a time");
        let _ended = stream.read_to_end(&mut Vec::new());
    }
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
}
