//! Scripts that take more than they may.

use std::time::{Duration, Instant};

use laxity_linux::jail::{Ending, Jail, Limits, ScriptRun};

use crate::{Folder, Test, ended, lines, short};

pub const TESTS: &[Test] = &[
    ("sleeping_for_ever_ends", sleeping_for_ever_ends),
    ("processes_left_behind_end", processes_left_behind_end),
    ("what_ends_in_a_moment_is_waited_for", what_ends_in_a_moment_is_waited_for),
    ("output_without_end_ends", output_without_end_ends),
    ("a_fork_bomb_ends", a_fork_bomb_ends),
    ("memory_is_bounded", memory_is_bounded),
    ("records_are_bounded", records_are_bounded),
    ("a_full_folder_is_full", a_full_folder_is_full),
];

fn within(text: &str, limits: Limits) -> ScriptRun {
    let folder = Folder::new("limits");
    let begun = Instant::now();
    let ran = Jail::new(folder.script(text)).limits(limits).run().expect("it runs");
    assert!(begun.elapsed() < limits.time + Duration::from_secs(4), "{text}");
    ran
}

fn sleeping_for_ever_ends() {
    for text in
        ["tc 1; sleep 1d", "tc 1; trap '' TERM INT HUP; while :; do :; done", "tc 1; kill -STOP $$"]
    {
        let ran = within(text, Limits { time: Duration::from_millis(600), ..short() });
        assert_eq!((ran.ending, &lines(&ran)[..]), (Ending::Time, &["tc 1".to_string()][..]));
    }
}

fn processes_left_behind_end() {
    let name = format!("31.{}", std::process::id());
    let ran = within(&format!("(setsid sleep {name} &)\nsleep {name} &\ntc 1"), short());
    ended(&ran, 0);
    assert!(ran.left_running);
    for entry in std::fs::read_dir("/proc").expect("processes").flatten() {
        let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&command).contains(&name), "it goes on");
    }
}

fn what_ends_in_a_moment_is_waited_for() {
    let ran = within("(sleep 0.3; tc 2) &\necho 'tc 1' > >(sh)\nexit 0", short());
    ended(&ran, 0);
    assert!(!ran.left_running);
    assert_eq!(lines(&ran), ["tc 1", "tc 2"]);
}

fn output_without_end_ends() {
    let ran = within("yes & yes >&2", Limits { time: Duration::from_millis(600), ..short() });
    assert_eq!(ran.ending, Ending::Time);
    assert!(!ran.said.is_empty() && ran.said.len() <= 64 << 10);
}

fn a_fork_bomb_ends() {
    let ran = within("tc 1\nb() { b | b & }; b; sleep 5", short());
    assert!(matches!(ran.ending, Ending::Processes | Ending::Time), "{:?}", ran.ending);
    assert_eq!(lines(&ran), ["tc 1"]);
}

fn memory_is_bounded() {
    let limits = Limits { memory: 128 << 20, ..short() };
    let ran = within("x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done", limits);
    assert!(matches!(ran.ending, Ending::Memory | Ending::Signal(_)), "{:?}", ran.ending);
}

fn records_are_bounded() {
    let ran = within(
        "yes 'qdisc add' | tc -batch -\nhead -c 9000000 /dev/zero > /tmp/x\n\
                      tc -b /tmp/x; tc -b /tmp/x && exit 9\ntc 1; exit 0",
        short(),
    );
    ended(&ran, 0);
    assert!(ran.full);
    assert_eq!(ran.records.len(), 2);
}

fn a_full_folder_is_full() {
    let ran = within("head -c 100000000 /dev/zero > /tmp/x && exit 9\nexit 0", short());
    ended(&ran, 0);
}
