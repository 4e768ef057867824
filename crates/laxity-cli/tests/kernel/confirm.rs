//! What is to be confirmed, is, or comes back.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::kills::of;
use crate::lab::{cable, plan, run, says};
use crate::uml::inside;

const LIMIT: Duration = Duration::from_secs(180);

#[test]
fn what_nobody_confirms_comes_back() {
    inside("confirm::what_nobody_confirms_comes_back", LIMIT, || {
        cable();
        let (before, after) =
            (plan("before.toml", &of(3, "drr")), plan("after.toml", &of(4, "hfsc")));
        says(0, &["apply", &before, "--dev", "left"]);
        let there = run("tc", "class show dev left");
        let apply = ["apply", &*after, "--dev", "left", "--drop-queues", "--confirm", "3s"];

        // Nobody does, while it waits.
        let said = says(1, &apply);
        assert!(said.contains("Nobody confirmed"), "{said}");
        assert_eq!(run("tc", "class show dev left"), there);

        // Nobody does, and what waits is killed, as by a terminal that is gone.
        let mut waiting = started(&apply);
        let since = Instant::now();
        while run("tc", "class show dev left") == there {
            assert!(since.elapsed() < Duration::from_secs(20), "it is never applied");
        }
        thread::sleep(Duration::from_millis(300));
        waiting.kill().unwrap();
        waiting.wait().unwrap();
        assert_ne!(run("tc", "class show dev left"), there);
        let busy = says(3, &["apply", &before, "--dev", "left", "--drop-queues"]);
        assert!(busy.contains("--keep"), "{busy}");
        thread::sleep(Duration::from_secs(5));
        assert_eq!(run("tc", "class show dev left"), there);

        // Someone does, elsewhere.
        let mut waiting = started(&apply);
        let since = Instant::now();
        while !Command::new(env!("CARGO_BIN_EXE_laxity"))
            .args(["apply", "--keep", "--dev", "left"])
            .output()
            .is_ok_and(|ran| ran.status.success())
        {
            assert!(since.elapsed() < Duration::from_secs(20), "it never waits");
        }
        // What is confirmed before it is applied holds as soon as it is.
        assert!(waiting.wait().unwrap().success());
        thread::sleep(Duration::from_secs(4));
        assert!(says(0, &["apply", &after, "--dev", "left"]).contains("Nothing to change"));
        assert!(says(2, &["apply", "--keep", "--dev", "left"]).contains("nothing at left waits"));
    });
}

#[test]
fn what_the_kernel_refuses_is_taken_back() {
    inside("confirm::what_the_kernel_refuses_is_taken_back", LIMIT, || {
        cable();
        let before = plan("before.toml", &of(3, "drr"));
        says(0, &["apply", &before, "--dev", "left"]);
        let there = run("tc", "class show dev left");
        // A kernel without qfq takes away what was there, and then refuses what is to come.
        std::fs::write("/proc/sys/kernel/modprobe", "/bin/false").unwrap();
        let others = plan("others.toml", &of(5, "qfq"));
        let refused = says(3, &["apply", &others, "--dev", "left", "--drop-queues"]);
        assert!(refused.contains("the kernel refuses"), "{refused}");
        assert!(refused.contains("the interface has what it had before"), "{refused}");
        assert_eq!(run("tc", "class show dev left"), there);
    });
}

fn started(arguments: &[&str]) -> std::process::Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laxity"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("it starts")
}
