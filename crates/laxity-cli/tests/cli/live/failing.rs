//! System calls that fail at random, by a library in front of the system's.

use std::io::Read;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::PLAN;
use super::link::Link;
use crate::folder::Folder;

/// Makes the library; false where there is no C compiler, and then it says so.
fn compile(folder: &Folder) -> bool {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/live/failing.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(folder.path("failing.so")).arg(source);
    match compiler.arg("-ldl").status() {
        Ok(status) => {
            assert!(status.success(), "{source}");
            true
        }
        Err(_) => {
            eprintln!("SKIPPED: no C compiler makes the library that has calls fail");
            false
        }
    }
}

/// Frames may be lost meanwhile; afterwards they pass, and the end is an orderly one.
#[test]
fn whatever_system_calls_fail_the_link_goes_on() {
    let folder = Folder::with_plan(PLAN);
    if !compile(&folder) {
        return;
    }
    for (seed, backend) in [(1, "ring"), (2, "packet"), (3, "ring"), (4, "packet")] {
        let library = folder.path("failing.so").display().to_string();
        let seed = seed.to_string();
        let variables = [("LD_PRELOAD", library.as_str()), ("FAILING_SEED", seed.as_str())];
        let written = ["--backend", backend, "--ledger", "books", "--capture", "frames.pcapng"];
        let Some(mut link) = Link::start_with(&folder, &written, &variables) else { return };
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(1_200) {
            link.offer(0, 5000, 50);
            link.offer(1, 5000, 50);
            link.running.signal("-HUP");
            let mut status = folder.command(&["status"]);
            let _whatever = status.stdout(Stdio::null()).stderr(Stdio::null()).status();
            sleep(Duration::from_millis(20));
        }
        let ended = link.running.0.try_wait().unwrap();
        if let Some(ended) = ended {
            let mut said = String::new();
            link.said.read_to_string(&mut said).unwrap();
            panic!("seed {seed}, {backend}: {ended}: {said}");
        }
        link.pass(0, 5000, 20);
        link.pass(1, 5000, 20);
        let (code, printed) = link.end_somehow();
        // Packets that waited for a call to succeed may have been late.
        assert!(matches!(code, Some(0 | 1)), "{code:?}: {printed}");
        assert!(printed.contains("call "), "{printed}");
    }
}
