//! A link that is forwarded over, seen and controlled from beside.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};

use laxity_linux::namespace::Namespace;

use crate::folder::Folder;
use crate::live::PLAN;
use crate::live::link::Link;

/// What a request over TCP is answered.
pub(crate) fn get(within: &Namespace, path: &str) -> String {
    let asked = || {
        let mut stream = TcpStream::connect("127.0.0.1:9464").unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost:9464\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    within.run(asked).unwrap()
}

/// Status, reload and metrics while packets pass; with real-time priority, where nothing may be
/// short of memory either.
#[test]
fn a_link_is_seen_and_controlled() {
    let folder = Folder::with_plan(PLAN);
    let more = ["--listen", "9464", "--priority", "1"];
    let Some(mut link) = Link::start(&folder, &more) else { return };
    link.pass(0, 5000, 20);
    let socket = folder.path("laxity/a-b.sock");
    assert_eq!(std::fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    let by_name = ["status", "--control", socket.to_str().unwrap(), "--json"];
    let status = folder.laxity(&by_name).json(0);
    let call = &status["ways"][0]["classes"][0];
    assert_eq!((&call["name"], &call["sent"]), (&"call".into(), &20.into()));
    // The only one that there is, unless there are services.
    let control = ["--control", "laxity/a-b.sock"];
    let text = folder.laxity(&[&["status"], &control[..]].concat()).printed(0);
    assert!(text.starts_with("a → b, for 0:00:") && text.contains("out: edf"), "{text}");

    let reload = [&["reload"], &control[..]].concat();
    assert_eq!(folder.laxity(&reload).printed(0), "The plan is reloaded.\n");
    link.says("the plan is reloaded");
    std::fs::write(folder.path("plan.toml"), PLAN.replace("10ms", "1ms")).unwrap();
    let refused = folder.laxity(&reload).printed(1);
    assert!(refused.starts_with("The plan is not reloaded: ") && refused.contains("NOT ADMITTED"));
    std::fs::write(folder.path("plan.toml"), "version = ").unwrap();
    assert!(folder.laxity(&reload).printed(1).contains("plan.toml"));
    link.pass(0, 5000, 30);

    let metrics = get(&link.between, "/metrics");
    let sent = "laxity_class_sent_packets_total{way=\"out\",class=\"call\"} 30\n";
    assert!(metrics.contains(sent), "{metrics}");
    assert!(metrics.contains("laxity_reloads_total{result=\"refused\"} 2\n"), "{metrics}");
    promtool_is_content(&metrics);
    assert!(get(&link.between, "/").contains("<!doctype html>"));
    link.end();
    assert!(!socket.exists());
    assert_eq!(folder.laxity(&reload).code, Some(3));
}

pub(crate) fn promtool_is_content(answer: &str) {
    let (_, text) = answer.split_once("\r\n\r\n").unwrap();
    let mut command = Command::new("promtool");
    command.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut promtool) = command.stderr(Stdio::piped()).spawn() else {
        return eprintln!("SKIPPED: promtool is not installed, so metrics are not checked");
    };
    promtool.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = promtool.wait_with_output().unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success() && said.is_empty(), "{said}");
}

/// Whose socket is in use does not start; without `--listen` no port is opened.
#[test]
fn one_socket_is_for_one_link() {
    let folder = Folder::with_plan(PLAN);
    let Some(link) = Link::start(&folder, &[]) else { return };
    let nobody = link.between.run(|| TcpStream::connect("127.0.0.1:9464").is_err()).unwrap();
    assert!(nobody);
    let mut second = folder.command(&["live", "plan.toml", "--in", "a", "--out", "b"]);
    let second = link.between.run(|| second.output().unwrap()).unwrap();
    let said = String::from_utf8_lossy(&second.stderr);
    assert_eq!(second.status.code(), Some(3), "{said}");
    assert!(said.contains("a-b.sock is in use"), "{said}");
    link.end();
}

#[test]
fn several_are_listed_and_none_is_said() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("laxity")).unwrap();
    let sockets = ["a-b.sock", "c-d.sock"].map(|name| folder.path("laxity").join(name));
    let listeners = sockets.each_ref().map(|path| UnixListener::bind(path).unwrap());
    let ended = folder.laxity(&["reload"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(
        ended.stderr.contains("a-b.sock") && ended.stderr.contains("c-d.sock"),
        "{}",
        ended.stderr
    );
    drop(listeners);
    for command in ["status", "reload", "top"] {
        let ended = folder.laxity(&[command, "--control", "laxity/a-b.sock"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(3), ""), "{command}");
        assert!(ended.stderr.contains("nothing runs"), "{}", ended.stderr);
    }
}

#[test]
fn an_address_is_an_address() {
    let folder = Folder::with_plan(PLAN);
    for wrong in ["localhost:9464", "70000", "1.2.3.4", ""] {
        let arguments = ["live", "plan.toml", "--in", "lo", "--out", "lo", "--listen", wrong];
        let ended = folder.laxity(&arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{wrong}");
        assert!(ended.stderr.contains("10.0.0.1:9464"), "{}", ended.stderr);
    }
    // Of nobody: addresses for documentation (RFC 5737).
    let folder = folder.laxity(&[
        "live",
        "plan.toml",
        "--in",
        "lo",
        "--out",
        "lo",
        "--listen",
        "192.0.2.1:1",
    ]);
    assert_eq!(folder.code, Some(3), "{}", folder.stderr);
    assert!(folder.stderr.contains("cannot listen at 192.0.2.1:1"), "{}", folder.stderr);
}
