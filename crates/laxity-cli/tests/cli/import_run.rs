//! `laxity import tc --run`: scripts that their own shell runs, in a sandbox.

use std::process::{Command, Stdio};

use crate::bad_input::refused;
use crate::folder::{CommandResult, Folder};

const SCRIPT: &str = "\
#!/bin/bash
# only bash follows all of this
set -eu
DEV=${1:-eth0}
tc qdisc show dev \"$DEV\" | grep -q hfsc || true
tc qdisc add dev $DEV root handle 1: hfsc default 20
tc class add dev $DEV parent 1: classid 1:1 hfsc sc m2 ${UPLINK}kbit ul m2 ${UPLINK}kbit
declare -A RATES=([10]=1000 [20]=$((UPLINK - 1000)))
/sbin/tc class add dev $DEV parent 1:1 classid 1:10 hfsc sc m2 ${RATES[10]}kbit # voice
echo \"class add dev $DEV parent 1:1 classid 1:20 hfsc ls m2 ${RATES[20]}kbit # rest\" > >(tc -batch -)
iptables-restore -n <<END
*mangle
-A POSTROUTING -p udp --dport 4000 -j MARK --set-mark 1
COMMIT
END
sudo tc filter add dev $DEV parent 1: protocol ip handle 1 fw flowid 1:10
echo no > /etc/laxity-was-here || echo went on >&2
exit 3
";

/// What the command does; `None` where there are no user namespaces.
fn run(folder: &Folder, arguments: &[&str]) -> Option<CommandResult> {
    let ended = folder.laxity(arguments);
    if ended.code == Some(3) && ended.stderr.contains("in a sandbox") {
        println!("skipped: {}", ended.stderr);
        return None;
    }
    Some(ended)
}

#[test]
fn what_a_script_issues_becomes_a_plan() {
    let folder = Folder::new().with("shaper.sh", SCRIPT);
    let arguments = [
        "import",
        "tc",
        "--run",
        "--set",
        "UPLINK=9500",
        "--out",
        "plan.toml",
        "--",
        "./shaper.sh",
    ];
    let Some(ended) = run(&folder, &arguments) else { return };
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(0), "Plan: plan.toml\n"),
        "{}",
        ended.stderr
    );
    let plan = folder.text("plan.toml");
    for part in [
        "rate = \"9.5mbit\"",
        "[class.voice]",
        "[class.rest]",
        "curve = \"1mbit\"",
        "link-share = \"8.5mbit\"",
        "udp dport 4000",
        "Imported from shaper.sh",
    ] {
        assert!(plan.contains(part), "{part}: {plan}");
    }
    for part in [
        "the script ran in a sandbox",
        "./shaper.sh:5: the script asked `tc qdisc show dev eth0` and was told nothing",
        "the script ended with status 3",
        "the sandbox refused something, and the script said `./shaper.sh: line 17",
        "the script said `went on`",
    ] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
    assert!(!std::path::Path::new("/etc/laxity-was-here").exists());
    assert_eq!(folder.laxity(&["check", "plan.toml"]).code, Some(0));

    let ended =
        folder.laxity(&["import", "tc", "--run", "--set", "UPLINK=9500", "shaper.sh", "wan0"]);
    assert!(ended.stderr.contains("`tc qdisc show dev wan0`"), "{}", ended.stderr);
}

/// However the command ends, the script ends with it.
#[test]
fn a_command_that_is_killed_leaves_nothing() {
    let name = format!("38.{}", std::process::id());
    let folder = Folder::new().with("script.sh", format!("sleep {name}\n"));
    let running = || {
        let of = |entry: std::fs::DirEntry| std::fs::read(entry.path().join("cmdline")).ok();
        let all = std::fs::read_dir("/proc").unwrap().flatten().filter_map(of);
        let sleeps = |line: &Vec<u8>| {
            line.starts_with(b"sleep")
                && line.windows(name.len()).any(|part| part == name.as_bytes())
        };
        all.filter(sleeps).count()
    };
    let mut command = folder.command(&["import", "tc", "--run", "script.sh"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let awhile = || std::thread::sleep(std::time::Duration::from_millis(20));
    while running() == 0 && child.try_wait().unwrap().is_none() {
        awhile();
    }
    child.kill().unwrap();
    if child.wait().unwrap().code().is_some() {
        return println!("skipped: nothing ran");
    }
    for _ in 0..100 {
        if running() > 0 {
            awhile();
        }
    }
    assert_eq!(running(), 0);
}

/// A shell may leave files open to what it starts; a script gets none of them.
#[test]
fn what_is_open_outside_is_closed_inside() {
    let text = "echo inside >&7\ntc qdisc add dev eth0 root handle 1: prio\n";
    let folder = Folder::new().with("script.sh", text);
    let shell = "exec 7> open; exec \"$0\" import tc --link-rate 1mbit --run script.sh";
    let mut command = Command::new("sh");
    command.args(["-c", shell, env!("CARGO_BIN_EXE_laxity")]).current_dir(folder.path(""));
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(3) {
        return println!("skipped: {said}");
    }
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("7: Bad file descriptor"), "{said}");
    assert_eq!(folder.text("open"), "");
}

#[test]
fn a_script_has_its_time() {
    let text = "tc qdisc add dev eth0 root handle 1: prio\nsleep 1d\ntc qdisc del dev eth0 root\n";
    let folder = Folder::new().with("script.sh", text);
    let arguments =
        ["import", "tc", "--link-rate", "1mbit", "--run", "--run-limit", "500ms", "script.sh"];
    let Some(ended) = run(&folder, &arguments) else { return };
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for part in ["after 0.5 s, the limit", "--run-limit"] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
}

#[test]
fn what_cannot_be_imported_says_what_was_issued() {
    let folder = Folder::new()
        .with(
            "wrong.sh",
            "R=12mbot\ntc qdisc add dev eth0 root tbf rate $R burst 10k latency 5ms\n",
        )
        .with("usage.sh", "echo 'usage: usage.sh start' >&2; exit 1\n");
    let Some(ended) = run(&folder, &["import", "tc", "--run", "wrong.sh"]) else { return };
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    for part in ["12mbot", "wrong.sh, as it ran"] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
    let ended = folder.laxity(&["import", "tc", "--run", "usage.sh"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    for part in ["set nothing up", "status 1", "usage: usage.sh start"] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
}

#[test]
fn wrong_usage_is_refused() {
    let folder = Folder::new().with("script.sh", "tc qdisc add dev eth0 root prio\n");
    for (arguments, part) in [
        (&["import", "tc", "script.sh", "start"][..], "--run"),
        (&["import", "tc", "--run", "-"], "--run needs the script as a file"),
        (&["import", "tc", "--run", "none.sh"], "none.sh"),
        (&["import", "tc", "--run-limit", "5s", "script.sh"], "--run"),
        (&["import", "tc", "--run", "--source", "x", "script.sh"], "--source"),
        (&["import", "tc", "--run", "--run-limit", "0s", "script.sh"], "zero"),
    ] {
        refused(&folder, arguments, &[part]);
    }
}

/// Where there are no user namespaces, or none more.
#[test]
fn a_system_without_user_namespaces_is_told() {
    let folder = Folder::new().with("script.sh", "tc qdisc add dev eth0 root prio\n");
    let text =
        "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\" import tc --run script.sh";
    let mut command = Command::new("unshare");
    command.args(["-Ur", "sh", "-c", text, env!("CARGO_BIN_EXE_laxity")]);
    let Ok(output) = command.current_dir(folder.path("")).output() else {
        return println!("skipped: this machine has no unshare");
    };
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("unshare:") || said.contains("cannot create") {
        return println!("skipped: {said}");
    }
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(3), &[][..]), "{said}");
    for part in ["cannot run a script in a sandbox", "make a user namespace", "it needs Linux"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

/// Outside of a sandbox the command is itself, whatever it is called.
#[cfg(unix)]
#[test]
fn a_name_alone_makes_no_recorder() {
    let folder = Folder::new();
    let tool = folder.path("tc");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_laxity"), &tool).unwrap();
    let output = Command::new(&tool).args(["check", "none.toml"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("none.toml"));
}
