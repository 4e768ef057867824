//! Every process of ours is killed at any moment: the interface has the old set-up or the new one.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::lab::{cable, plan, run, says};
use crate::uml::{inside, whole};

const LIMIT: Duration = Duration::from_secs(600);

/// Number of classes: enough that a kill is likely to come while they are being set up.
const CLASSES: usize = 120;

#[test]
fn killed_at_any_moment_it_is_the_old_or_the_new() {
    inside("kills::killed_at_any_moment_it_is_the_old_or_the_new", LIMIT, || {
        cable();
        let plans = [
            plan("one.toml", &of(CLASSES, "hfsc")),
            plan("two.toml", &of(CLASSES - 20, "hfsc")),
            plan("three.toml", &of(CLASSES, "drr")),
        ];
        let mut setups = Vec::new();
        let mut longest = Duration::ZERO;
        for path in &plans {
            let since = Instant::now();
            says(0, &["apply", path, "--dev", "left", "--drop-queues"]);
            longest = longest.max(since.elapsed());
            setups.push(seen());
        }
        let mut draw = Pcg64Mcg::seed_from_u64(20);
        let (mut old, mut new) = (0, 0);
        let mut now = 2;
        for round in 0..whole(10, 100) {
            let next = (now + draw.random_range(1..3)) % 3;
            let arguments = ["apply", &plans[next], "--dev", "left", "--drop-queues"];
            kill_within(longest, &arguments, &mut draw);
            let there = seen();
            let found = setups.iter().position(|setup| *setup == there);
            match found {
                Some(found) if found == next => new += 1,
                Some(found) if found == now => old += 1,
                _ => panic!(
                    "round {round}, from {now} to {next}: neither the old nor the new:\n{there}"
                ),
            }
            now = found.unwrap();
        }
        println!(
            "{old} times the old set-up, {new} times the new one; an apply takes up to {longest:?}"
        );
        assert!(old > 0 && new > 0);
        // What the killed processes left behind does not disturb the next `apply`.
        says(0, &["apply", &plans[0], "--dev", "left", "--drop-queues"]);
        assert_eq!(seen(), setups[0]);
    });
}

/// Starts `laxity` and kills it at a moment of the time that it takes, or a little later.
pub(crate) fn kill_within(longest: Duration, arguments: &[&str], draw: &mut Pcg64Mcg) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_laxity"))
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    thread::sleep(longest.mul_f64(draw.random_range(0.0..1.2)));
    kill_some(&mut child, draw);
}

/// Kills a command, or its guardian, or both, and waits until none of them is left.
fn kill_some(child: &mut Child, draw: &mut Pcg64Mcg) {
    let all = ours();
    match draw.random_range(0..3u32) {
        // One of them, whichever; the others end it.
        0 if !all.is_empty() => end(&[all[draw.random_range(0..all.len())]]),
        // The first one.
        1 => end(&[child.id() as i32]),
        // All at once: nobody is left to end anything.
        _ => end(&all),
    }
    let _ended = child.wait();
    let patience = Instant::now();
    while !ours().is_empty() {
        assert!(patience.elapsed() < Duration::from_secs(30), "a guardian does not end");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A plan with `classes` classes and a scheduler of `kind`.
pub(crate) fn of(classes: usize, kind: &str) -> String {
    let mut text = format!(
        "version = 1\n[link]\nrate = \"100mbit\"\nmax-packet = \"1514b\"\n[scheduler]\nkind = \"{kind}\"\n"
    );
    for class in 0..classes {
        let rate = 90_000_000 / classes;
        text += &format!("[class.c{class}]\n");
        // More filters than a packet should be asked by are refused.
        if class < 1_000 {
            text += &format!("match = \"udp dport {}\"\n", 1_000 + class);
        }
        text += &match kind {
            "hfsc" => format!("curve = \"{rate}bit\"\n"),
            _ => format!("weight = {}\n", 1 + class % 3),
        };
    }
    text
}

/// What is there, as `tc` shows it.
fn seen() -> String {
    let mut all = run("tc", "qdisc show dev left") + &run("tc", "class show dev left");
    for place in ["1:", "2:"] {
        let ran =
            Command::new("tc").args(["filter", "show", "dev", "left", "parent", place]).output();
        all += &String::from_utf8_lossy(&ran.expect("it is there").stdout);
    }
    let mut lines: Vec<&str> = all.lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}

/// The processes of the command.
fn ours() -> Vec<i32> {
    let all = fs::read_dir("/proc").expect("processes").filter_map(|entry| {
        let id: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let name = fs::read_to_string(format!("/proc/{id}/comm")).ok()?;
        let state = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let is_dead = state.rsplit(')').next()?.trim_start().starts_with('Z');
        (name.trim() == "laxity" && !is_dead).then_some(id)
    });
    all.collect()
}

fn end(processes: &[i32]) {
    for process in processes {
        let _gone = kill(Pid::from_raw(*process), Signal::SIGKILL);
    }
}
