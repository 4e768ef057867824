//! What the command holds for a class, by the largest memory of its process: a plan may have a
//! million classes. In a test of its own, for the system counts by the largest of all children.
#![cfg(target_os = "linux")]

use std::fmt::Write;
use std::fs;
use std::process::{Command, Stdio};

use laxity_plan::discipline::Kind;
use nix::sys::resource::{UsageWho, getrusage};

const FEW: usize = 2_000;
const MANY: usize = 42_000;

/// A plan with `classes` classes. Only the first one has a source.
fn plan(kind: Kind, classes: usize) -> String {
    let kind = kind.word();
    let mut text = format!(
        "version = 1\n[link]\nrate = \"10gbit\"\n[scheduler]\nkind = \"{kind}\"\n[[source]]\n\
         class = \"c0\"\nmodel = \"constant\"\npacket = \"100b\"\nrate = \"10mbit\"\n[class]\n"
    );
    for class in 0..classes {
        writeln!(text, "c{class} = {{}}").unwrap();
    }
    text
}

/// The largest memory that any run of the command had so far, in bytes.
fn peak() -> u64 {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    1024 * u64::try_from(usage.max_rss()).unwrap()
}

/// Runs a command on plans with `classes` classes, once for a table and once for JSON.
fn run_all(command: &[&str], classes: usize, told: &mut dyn FnMut(&str)) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.toml");
    for kind in Kind::ALL.iter().filter(|kind| !kind.room().is_of_networks) {
        fs::write(&path, plan(*kind, classes)).unwrap();
        let kind = kind.word();
        for json in [&[][..], &["--json"]] {
            let mut laxity = Command::new(env!("CARGO_BIN_EXE_laxity"));
            laxity.args(command).args(json).arg(&path);
            // Else glibc raises the threshold as it goes, and whether what is freed leaves holes of
            // megabytes depends on as little as the length of a path.
            laxity.env("MALLOC_MMAP_THRESHOLD_", "131072");
            let status = laxity.stdout(Stdio::null()).status().unwrap();
            assert!(status.success(), "{kind}: {command:?} {json:?}");
            told(&format!("{kind}: {command:?} {json:?}"));
        }
    }
}

/// The commands one after another, the one that takes less first: later ones are measured against
/// it. Trees of schedulers have places for the next power of two of classes, which are half as many
/// again here.
#[test]
fn a_class_takes_a_kilobyte_to_check_and_to_run() {
    let commands = [(&["check"][..], 1024), (&["run", "--duration", "1ms"], 1152)];
    commands.iter().for_each(|(command, _)| run_all(command, FEW, &mut |_| ()));
    let few = peak();
    for (command, limit) in commands {
        run_all(command, MANY, &mut |case| {
            let each = peak().saturating_sub(few) / (MANY - FEW) as u64;
            println!("{case}: at most {each} bytes a class so far");
            assert!(each < limit, "{case}: {each} bytes a class");
        });
    }
}
