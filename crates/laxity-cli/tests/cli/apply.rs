//! `laxity apply` in a network namespace, with the disciplines that any kernel has.

use std::fs;
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use laxity_linux::namespace::Namespace;

/// A plan of one queue, for a link of this rate.
fn plan(folder: &Path, rate: &str) -> String {
    let text = format!(
        "version = 1\n[link]\nrate = \"{rate}\"\nmax-packet = \"1514b\"\n[scheduler]\nkind = \"fifo\"\n\
         queue = {{ kind = \"droptail\", limit = \"60kB\" }}\n[class.all]\n"
    );
    let path = folder.join(format!("{rate}.toml"));
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn run(program: &str, words: &str) -> String {
    let ran = Command::new(program).args(words.split(' ')).output().unwrap();
    assert!(ran.status.success(), "{program} {words}: {}", stderr(&ran));
    String::from_utf8(ran.stdout).unwrap()
}

fn apply(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_laxity"))
        .args(["apply", "--dev", "v0"])
        .args(arguments)
        .env("XDG_RUNTIME_DIR", folder)
        .output()
        .unwrap()
}

fn stderr(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stderr).into_owned()
}

/// Queues packets that leave at the link's rate.
fn send(packets: usize) {
    let socket = UdpSocket::bind("10.9.0.1:0").unwrap();
    for _ in 0..packets {
        socket.send_to(&[0; 1000], "10.9.0.2:9").unwrap();
    }
}

#[test]
fn a_rate_changes_under_a_queue_and_an_empty_queue_is_no_loss() {
    let namespace = match Namespace::new() {
        Ok(namespace) => namespace,
        Err(error) if error.is_permission() => return eprintln!("SKIPPED: {error}"),
        Err(error) => panic!("{error}"),
    };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let test = || {
        for words in [
            "link add v0 type veth peer name v1",
            "link set v0 up",
            "link set v1 up",
            "addr add 10.9.0.1/24 dev v0",
            "neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev v0",
        ] {
            run("ip", words);
        }
        let applied = apply(folder, &[&plan(folder, "200kbit")]);
        assert_eq!(applied.status.code(), Some(0), "{}", stderr(&applied));
        let queues = || run("tc", "-s qdisc show dev v0");
        assert!(queues().contains("bfifo") && queues().contains("limit 60000b"), "{}", queues());

        // The rate changes while packets wait, and they stay.
        send(20);
        let applied = apply(folder, &[&plan(folder, "300kbit")]);
        assert_eq!(applied.status.code(), Some(0), "{}", stderr(&applied));
        let there = queues();
        assert!(there.contains("rate 300Kbit") && there.contains("limit 60000b"), "{there}");
        assert!(there.contains("dropped 0") && !there.contains("backlog 0b"), "{there}");

        // What waits is lost only if that is wanted; nobody has to want it where nothing waits.
        send(20);
        let undo = ["--undo", "--all"];
        let refused = apply(folder, &undo);
        assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
        assert!(stderr(&refused).contains("--drop-queues"), "{}", stderr(&refused));
        let since = Instant::now();
        while !queues()
            .lines()
            .filter(|line| line.contains("backlog"))
            .all(|line| line.contains(" 0p "))
        {
            assert!(since.elapsed().as_secs() < 30, "{}", queues());
            thread::sleep(Duration::from_millis(50));
        }
        let undone = apply(folder, &undo);
        assert_eq!(undone.status.code(), Some(0), "{}", stderr(&undone));
        assert!(queues().contains("noqueue"), "{}", queues());
    };
    namespace.run(test).unwrap();
}
