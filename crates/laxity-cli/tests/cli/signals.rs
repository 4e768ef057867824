//! Commands that are stopped by signals, and what is left of them.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::bad_input::PLAN;
use crate::folder::{Folder, hearing_signals, repository};
use crate::packets::BUSY;

const UNFINISHED: &str = ".laxity-unfinished-";

/// What would go on for hours.
fn endless(folder: &Folder) -> Vec<Vec<&'static str>> {
    let dumbbell = fs::read_to_string(repository("examples/dumbbell.toml")).unwrap();
    fs::write(folder.path("network.toml"), dumbbell).unwrap();
    fs::write(folder.path("plan.toml"), BUSY).unwrap();
    let long = ["--duration", "1000000s"];
    vec![
        [&["run", "plan.toml"], &long[..]].concat(),
        [&["run", "plan.toml", "--packets", "parquet"], &long[..]].concat(),
        [&["run", "network.toml"], &long[..]].concat(),
        [&["compare", "plan.toml", "--schedulers", "edf,wfq"], &long[..]].concat(),
        [&["compare", "network.toml", "--schedulers", "fifo,drr"], &long[..]].concat(),
        [&["reproduce", "low-delay-best-effort"], &long[..]].concat(),
    ]
}

fn start(command: Command) -> Child {
    let mut command = hearing_signals(&command);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until there are unfinished files somewhere below.
fn await_unfinished(folder: &Path) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while unfinished(folder).is_empty() {
        assert!(Instant::now() < deadline, "nothing is written in {}", folder.display());
        sleep(Duration::from_millis(5));
    }
}

fn unfinished(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(UNFINISHED)) {
            found.insert(entry.path());
        } else if entry.path().is_dir() {
            found.append(&mut unfinished(&entry.path()));
        }
    }
    found
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

/// How it ends and what it has said; it does so soon.
fn end(mut child: Child) -> (ExitStatus, String) {
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begin.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("it goes on after a signal");
        }
        sleep(Duration::from_millis(2));
    };
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (status, said)
}

#[test]
fn a_signal_leaves_nothing_behind() {
    let signals = [("INT", 2), ("TERM", 15), ("HUP", 1)];
    let folder = Folder::new();
    let commands = endless(&folder);
    let before = folder.content();
    for (at, command) in commands.iter().enumerate() {
        // Every signal, and every kind of folder: new, new within new, and there already.
        for (turn, (name, number)) in signals.iter().enumerate() {
            let out = ["new", "a/b/c", "."][(at + turn) % 3];
            let child = start(folder.command(&[&command[..], &["--out", out]].concat()));
            await_unfinished(&folder.path(""));
            sleep(Duration::from_millis(30 * turn as u64));
            send(name, &child);
            let (status, said) = end(child);
            assert_eq!(status.signal(), Some(*number), "{command:?}: {said}");
            let expected =
                format!("laxity: stopped by SIG{name}; what it had not finished is removed\n");
            assert_eq!(said, expected, "{command:?}");
            let mut left = folder.content();
            // The folder of a paper within the one that was there is the paper's.
            left.retain(|path, _| !before.contains_key(path));
            assert_eq!(left, Default::default(), "{command:?} {name}");
        }
    }
    assert!(folder.content() == before);
}

#[test]
fn a_shell_sees_the_signal() {
    let folder = Folder::with_plan(BUSY);
    let mut shell = Command::new("sh");
    let script = "\"$0\" run plan.toml --duration 1000000s --out out & child=$!
        until ls out/.laxity-* >/dev/null 2>&1; do sleep 0.01; done
        kill -TERM $child; wait $child; echo $?; ls";
    shell.args(["-c", script, env!("CARGO_BIN_EXE_laxity")]).current_dir(folder.path(""));
    let ended = shell.output().unwrap();
    assert_eq!(String::from_utf8(ended.stdout).unwrap(), "143\nplan.toml\n");
}

#[test]
fn what_is_to_be_ignored_stays_ignored() {
    let folder = Folder::with_plan(BUSY);
    let mut shell = Command::new("sh");
    let script = "trap '' HUP; exec \"$0\" run plan.toml --duration 1000000s --out out";
    shell.args(["-c", script, env!("CARGO_BIN_EXE_laxity")]).current_dir(folder.path(""));
    let mut child = start(shell);
    await_unfinished(&folder.path(""));
    send("HUP", &child);
    sleep(Duration::from_millis(300));
    assert_eq!(child.try_wait().unwrap(), None, "it heard a signal that nohup keeps from it");
    send("TERM", &child);
    assert_eq!(end(child).0.signal(), Some(15));
    assert!(!folder.path("out").exists());
}

#[test]
fn what_a_killed_run_left_is_cleared_by_the_next_but_not_what_is_in_use() {
    let folder = Folder::with_plan(BUSY).with("notes.txt", "mine");
    let run = |duration| ["run", "plan.toml", "--out", "out", "--duration", duration];
    let killed = [(); 2].map(|()| {
        let others = unfinished(&folder.path("")).len();
        let child = start(folder.command(&run("1000000s")));
        while unfinished(&folder.path("")).len() == others {
            sleep(Duration::from_millis(5));
        }
        child
    });
    let left = unfinished(&folder.path(""));
    for child in killed {
        send("KILL", &child);
        assert_eq!(end(child).0.signal(), Some(9));
    }
    assert_eq!(unfinished(&folder.path("")), left);

    // Not ours to clear, whatever they are called.
    let foreign = format!("out/{UNFINISHED}file");
    fs::write(folder.path(&foreign), "mine").unwrap();
    fs::create_dir(folder.path("out/.laxity-mine")).unwrap();
    fs::write(folder.path("out/.laxity-mine/notes.txt"), "mine").unwrap();

    let lives = start(folder.command(&run("1000000s")));
    let own = loop {
        let mut own = unfinished(&folder.path(""));
        own.retain(|path| !left.contains(path) && path.is_dir());
        if !own.is_empty() && !left.iter().any(|path| path.exists()) {
            break own;
        }
        sleep(Duration::from_millis(5));
    };
    for _ in 0..3 {
        folder.laxity(&run("300ms")).printed(0);
        assert!(own.iter().all(|path| path.exists()), "a run that goes on lost its files");
    }
    send("INT", &lives);
    assert_eq!(end(lives).0.signal(), Some(2));
    assert!(own.iter().all(|path| !path.exists()));
    assert_eq!(folder.text("out/.laxity-mine/notes.txt"), "mine");
    assert_eq!(folder.text(&foreign), "mine");
    assert!(folder.path("out/packets.csv").exists());
}

/// Whenever a run is killed, a manifest that stands tells of files that stand; and the next run
/// leaves its own alone.
#[test]
fn a_manifest_never_stands_beside_other_files() {
    let folder = Folder::with_plan(PLAN);
    let out = folder.path("out");
    let run =
        |packets| ["run", "plan.toml", "--duration", "50ms", "--out", "out", "--packets", packets];
    let check = || {
        let Ok(manifest) = fs::read_to_string(out.join("manifest.json")) else { return };
        let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
        for file in manifest["files"].as_array().unwrap() {
            let found = out.join(file["name"].as_str().unwrap()).metadata().unwrap();
            assert_eq!(file["bytes"], found.len());
        }
    };
    let begin = Instant::now();
    folder.laxity(&run("csv")).printed(0);
    let whole = begin.elapsed();
    for turn in 0..40u32 {
        let child = start(folder.command(&run(["parquet", "csv", "none"][turn as usize % 3])));
        sleep(whole * (turn + 10) / 50);
        send("KILL", &child);
        end(child);
        check();
    }
    folder.laxity(&run("none")).printed(0);
    check();
    let names: BTreeSet<_> =
        fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let expected = ["manifest.json", "report.html", "summary.json"].map(Into::into);
    assert_eq!(names, expected.into());
}

/// A study is stopped in the middle, again and again, and the same command goes on from there.
#[test]
fn a_study_that_is_stopped_keeps_what_is_done_and_leaves_no_halves() {
    let folder = Folder::with_plan(BUSY);
    let study =
        "version = 1\nplan = 'plan.toml'\nseeds = 64\n[grid]\n'run.duration' = ['1s', '2s']\n";
    fs::write(folder.path("study.toml"), study).unwrap();
    let sweep = ["sweep", "study.toml", "--out", "out"];
    let count = |ending: &str| {
        let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
        let files = entries(&folder.path("out/runs")).flat_map(|of| entries(&of.path()));
        files.filter(|file| file.path().extension().is_some_and(|is| is == ending)).count()
    };
    for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        let before = count("parquet");
        let child = start(folder.command(&sweep));
        let begin = Instant::now();
        while count("parquet") <= before && begin.elapsed() < Duration::from_secs(20) {
            sleep(Duration::from_millis(1));
        }
        send(name, &child);
        let (status, said) = end(child);
        assert_eq!(status.signal(), Some(number), "{said}");
        let expected = "what is done is kept, and the same command goes on from there";
        assert_eq!(said, format!("laxity: stopped by SIG{name}; {expected}\n"));
        assert_eq!(count("tmp"), 0);
        let after = count("parquet");
        assert!(after > before && after < 128, "{before}, then {after}");
    }
    // What a killed one left goes with the next; what another writes now stays.
    let runs = fs::read_dir(folder.path("out/runs")).unwrap().next().unwrap().unwrap().path();
    let [left, used] = ["left", "used"].map(|name| runs.join(format!("{name}.1-1.tmp")));
    fs::write(&left, "half").unwrap();
    let held = fs::File::create_new(&used).unwrap();
    held.lock().unwrap();
    assert!(folder.laxity(&sweep).printed(0).contains("of 128 runs made"));
    assert!(!left.exists() && used.exists());
}
