//! `laxity live --demo`, for seconds instead of minutes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

use crate::folder::{Folder, hearing_signals};
use crate::live::link::{Running, hosts, wait_for};

/// How it ended, unless no laboratory can be had here, which is then said.
fn allowed(output: Output) -> Option<(Option<i32>, String, String)> {
    let [stdout, stderr] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
    if output.status.code() == Some(3) {
        assert!(stderr.contains("unshare -Urn") && stderr.contains("sudo"), "{stderr}");
        eprintln!("SKIPPED: {stderr}");
        return None;
    }
    Some((output.status.code(), stdout, stderr))
}

#[test]
fn it_says_what_audio_gets_and_needs_no_plan() {
    let folder = Folder::new();
    let output = folder.command(&["live", "--demo", "--duration", "4s"]).output().unwrap();
    let Some((code, stdout, stderr)) = allowed(output) else { return };
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    for (stream, scheduler) in [("audio", "fifo"), ("audio", "edf/exact"), ("video", "edf/exact")] {
        let row = stdout.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let row = row.into_iter().find(|row| row.starts_with(&[stream, scheduler]));
        assert!(row.is_some_and(|row| row.len() == 8), "{stream} {scheduler}: {stdout}");
    }
    let sentence = stdout.lines().find(|line| line.starts_with("audio's p99.9: ")).unwrap();
    assert!(
        sentence.contains(" under FIFO, ") && sentence.ends_with("(bound 5\u{a0}ms)."),
        "{sentence}"
    );
    assert!(folder.content().is_empty());
}

#[test]
fn it_is_data_for_programs() {
    let folder = Folder::new();
    let mut command = folder.command(&["live", "--demo", "--duration", "2s", "--json"]);
    let Some((code, stdout, stderr)) = allowed(command.output().unwrap()) else { return };
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    let shown: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(shown["duration_ns"], 1_000_000_000);
    assert_eq!(shown["edf"]["way"]["broken"], 0);
    assert_eq!(shown["edf"]["way"]["classes"][0]["bound_ns"], 5_000_000);
    assert!(shown["fifo"]["heard"]["streams"][0]["delay_ns"]["p99_9"].as_u64() > Some(5_000_000));
}

/// As somebody who is nobody: in a user namespace of its own.
#[test]
fn it_needs_no_root() {
    const NOBODY: u32 = 65534;
    let folder = Folder::new();
    let copy = folder.path("laxity");
    fs::copy(env!("CARGO_BIN_EXE_laxity"), &copy).unwrap();
    for path in [copy.parent().unwrap(), &copy] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = Command::new(copy);
    command.args(["live", "--demo", "--duration", "2s"]).current_dir("/");
    match command.uid(NOBODY).gid(NOBODY).output() {
        Err(error) => eprintln!("SKIPPED: it cannot be run as nobody: {error}"),
        Ok(output) => {
            let Some((code, stdout, stderr)) = allowed(output) else { return };
            assert_eq!(code, Some(0), "{stdout}{stderr}");
            assert!(stdout.contains("real-time priority"), "{stdout}");
        }
    }
}

#[test]
fn it_can_be_stopped() {
    // Says that it is skipped where there can be no hosts.
    let Some(_) = hosts() else { return };
    let folder = Folder::new();
    let mut command = hearing_signals(&folder.command(&["live", "--demo"]));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = Running::new(command.spawn().unwrap());
    let mut stderr = std::io::BufReader::new(running.0.stderr.take().unwrap());
    wait_for(&mut stderr, "fifo for 60");
    running.signal("-INT");
    wait_for(&mut stderr, "stopped by SIGINT; what it had not finished is removed");
    assert!(!running.0.wait().unwrap().success());
}

#[test]
fn what_it_has_no_use_for_is_refused() {
    let folder = Folder::new();
    for other in [&["plan.toml"][..], &["--in", "eth1"], &["--ledger", "books"]] {
        let ended = folder.laxity(&[&["live", "--demo"], other].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{}", ended.stderr);
    }
    let ended = folder.laxity(&["live", "--in", "lo", "--out", "lo"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("PLAN"), "{}", ended.stderr);
}

/// Where there can be no other network namespaces.
#[test]
fn it_says_what_it_needs() {
    let script = "echo 0 > /proc/sys/user/max_net_namespaces && exec \"$0\" live --demo";
    let arguments = ["-Ur", "sh", "-c", script, env!("CARGO_BIN_EXE_laxity")];
    let output = match Command::new("unshare").args(arguments).output() {
        Ok(output) if output.status.code() != Some(1) && output.status.code() != Some(2) => output,
        refused => return eprintln!("SKIPPED: a user namespace is not to be had: {refused:?}"),
    };
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("cannot make a network namespace"), "{stderr}");
    assert!(stderr.contains("sudo") && stderr.contains("unshare -Urn"), "{stderr}");
    assert!(!stderr.contains("edf"), "{stderr}");
}
