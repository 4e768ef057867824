//! What a package brings besides the command.

use std::path::Path;
use std::process::Command;

use crate::folder::Folder;

/// The unit gives a service no more than it needs: at most 2.5 on systemd's scale from 0, all shut,
/// to 10.
#[test]
fn the_unit_is_hardened() {
    let unit =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/systemd/laxity@.service");
    let security = ["security", "--offline=true", "--threshold=25", "--no-pager"];
    let Ok(judged) = Command::new("systemd-analyze").args(security).arg(&unit).output() else {
        return eprintln!("SKIPPED: systemd-analyze is not installed");
    };
    let text = String::from_utf8_lossy(&judged.stdout);
    assert!(judged.status.success(), "{text}{}", String::from_utf8_lossy(&judged.stderr));
    assert!(text.contains("Overall exposure level"), "{text}");
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
