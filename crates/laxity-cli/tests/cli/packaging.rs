//! What a package brings besides the command.

#[cfg(target_os = "linux")]
mod machine;
#[cfg(target_os = "linux")]
mod units;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::folder::Folder;

/// The folder of what only packages have.
fn packaging() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging")
}

/// Units give a service no more than it needs. Tenths on systemd's scale from 0, all shut, to 100:
/// programs at an interface and TAP devices take more than frames of two interfaces.
#[test]
fn units_are_hardened() {
    for (unit, most) in [("laxity@", 25), ("laxity-dev@", 30), ("laxity-apply@", 20)] {
        let unit = packaging().join(format!("systemd/{unit}.service"));
        let threshold = format!("--threshold={most}");
        let security = ["security", "--offline=true", &threshold, "--no-pager"];
        let Ok(judged) = Command::new("systemd-analyze").args(security).arg(&unit).output() else {
            return eprintln!("SKIPPED: systemd-analyze is not installed");
        };
        let text = String::from_utf8_lossy(&judged.stdout);
        let said = String::from_utf8_lossy(&judged.stderr);
        assert!(judged.status.success(), "{}: {text}{said}", unit.display());
        assert!(text.contains("Overall exposure level"), "{text}");
    }
}

/// What a service needs that restarts within a moment, and for every backend.
#[test]
fn units_let_every_backend_start_and_start_again_at_once() {
    let setting = |unit: &str, key: &str| {
        let text = fs::read_to_string(packaging().join(format!("systemd/{unit}.service"))).unwrap();
        let found = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        found.unwrap_or_else(|| panic!("{unit} has no {key}")).to_string()
    };
    for unit in ["laxity@", "laxity-dev@"] {
        assert_eq!(setting(unit, "RestartSec"), "100ms", "{unit}");
        assert_eq!(setting(unit, "WatchdogSec"), "5s", "{unit}");
        let granted = setting(unit, "AmbientCapabilities");
        assert_eq!(granted, setting(unit, "CapabilityBoundingSet"), "{unit}");
        assert!(granted.contains("CAP_IPC_LOCK") && granted.contains("CAP_NET_ADMIN"), "{granted}");
    }
    assert!(setting("laxity@", "RestrictAddressFamilies").contains("AF_XDP"));
    assert!(setting("laxity@", "ExecStart").contains("$BYPASS"));
    assert_eq!(setting("laxity@", "Environment"), "BYPASS=--bypass");
}

/// Each alert has its cause, and no other raises it. It asks for metrics that exist.
#[test]
fn alerts_are_raised_by_what_they_are_for() {
    let folder = packaging().join("prometheus");
    let rules = fs::read_to_string(folder.join("laxity.rules.yml")).unwrap();
    let known = fs::read_to_string(packaging().join("../docs/metrics.md")).unwrap();
    let is_part = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    for word in rules.split(|letter| !is_part(letter)).filter(|word| word.starts_with("laxity_")) {
        let name = word.trim_end_matches("_bucket");
        assert!(known.contains(&format!("| `{name}` |")), "{word} is no metric");
    }
    for words in [["check", "rules", "laxity.rules.yml"], ["test", "rules", "laxity.test.yml"]] {
        let Ok(tried) = Command::new("promtool").args(words).current_dir(&folder).output() else {
            return eprintln!("SKIPPED: promtool (Debian's prometheus) is not installed");
        };
        let said = [tried.stdout, tried.stderr].concat();
        assert!(tried.status.success(), "{}", String::from_utf8_lossy(&said));
    }
}

/// When an interface is up, the hook starts only what is enabled for it, by its escaped name.
#[test]
fn what_is_enabled_starts_with_its_interface() {
    if !Path::new("/bin/sh").exists() {
        return eprintln!("SKIPPED: there is no /bin/sh");
    }
    let folder = Folder::new();
    let shim = "#!/bin/sh\necho \"$@\" >> \"$CALLS\"\n\
                [ \"$1\" != is-enabled ] || [ \"$3\" = 'laxity-dev@br\\x2dlan.service' ]\n";
    let escape = "#!/bin/sh\necho 'br\\x2dlan'\n";
    for (name, text) in [("systemctl", shim), ("systemd-escape", escape)] {
        let path = folder.path(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let hook = fs::read_to_string(packaging().join("network/laxity-up")).unwrap();
    // Here is no systemd to be running.
    let hook = hook.replace("-d /run/systemd/system", "-d /");
    let run = |interface: &str| {
        let calls = folder.path("calls");
        fs::write(&calls, "").unwrap();
        let ended = Command::new("/bin/sh")
            .args(["-c", &hook])
            .env("IFACE", interface)
            .env("CALLS", &calls)
            .env("PATH", format!("{}:/bin:/usr/bin", folder.path("").display()))
            .status();
        assert!(ended.unwrap().success());
        fs::read_to_string(calls).unwrap()
    };
    let calls = run("br-lan");
    let started: Vec<_> = calls.lines().filter(|line| line.starts_with("start")).collect();
    assert_eq!(started, ["start --no-block laxity-dev@br\\x2dlan.service"]);
    assert_eq!([run("lo"), run("")], ["", ""]);
}

#[test]
fn every_command_has_a_page_and_completes() {
    let folder = Folder::new();
    folder.laxity(&["manual", "pages"]).printed(0);
    let page = folder.text("pages/laxity-check.1");
    assert!(page.contains("Prove a plan"), "{page}");
    let help = folder.laxity(&["--help"]).printed(0);
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty());
    let names = commands.filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    let names: Vec<&str> = names.filter(|name| *name != "help").collect();
    assert!(names.len() > 10, "{help}");
    for name in names {
        assert!(folder.path(&format!("pages/laxity-{name}.1")).exists(), "{name}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let script = folder.laxity(&["completions", shell]).printed(0);
        assert!(script.contains("reproduce"), "{shell}");
    }
}
