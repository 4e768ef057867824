//! A machine that runs Debian's systemd, with the package installed: namespaces of this machine.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// What it takes, beside root: Debian's systemd, udev, util-linux, iproute2 and nftables.
const PROGRAMS: [&str; 6] = [
    "/lib/systemd/systemd",
    "/lib/systemd/systemd-udevd",
    "/bin/unshare",
    "/bin/nsenter",
    "/sbin/ip",
    "/sbin/tc",
];

/// In which it starts: twenty times what it takes.
const START: Duration = Duration::from_secs(30);

/// In which a unit comes to the state that it is to be in.
const PATIENCE: Duration = Duration::from_secs(20);

/// Ends with everything in it when it is dropped.
pub(super) struct Machine {
    unshare: Child,
    /// The process number of its systemd.
    init: String,
    _folder: TempDir,
}

impl Machine {
    /// None where there can be none, and then it says so.
    pub(super) fn start() -> Option<Machine> {
        if let Some(missing) = PROGRAMS.iter().find(|program| !Path::new(program).exists()) {
            eprintln!("SKIPPED: {missing} is not installed");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        install(folder.path());
        let boot = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/packaging/boot.sh");
        let mut unshare = Command::new("unshare")
            .args(["--mount", "--pid", "--fork", "--kill-child", "--net", "--uts", "--ipc"])
            .args(["--cgroup", "sh", boot])
            .arg(folder.path())
            .arg(env!("CARGO_BIN_EXE_laxity"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let children = format!("/proc/{0}/task/{0}/children", unshare.id());
        let ends = Instant::now() + START;
        while Instant::now() < ends && unshare.try_wait().unwrap().is_none() {
            let init = fs::read_to_string(&children).unwrap_or_default().trim().to_owned();
            let is_up = |state: &Output| {
                ["running", "degraded"].contains(&String::from_utf8_lossy(&state.stdout).trim())
            };
            if !init.is_empty() && is_up(&within(&init, "systemctl is-system-running")) {
                return Some(Machine { unshare, init, _folder: folder });
            }
            thread::sleep(Duration::from_millis(50));
        }
        let _ended = unshare.kill();
        let said = unshare.wait_with_output().unwrap().stderr;
        eprintln!(
            "SKIPPED: systemd does not start in namespaces of its own here: {}",
            String::from_utf8_lossy(&said)
        );
        None
    }

    /// Runs a line of the shell inside.
    pub(super) fn runs(&self, line: &str) -> bool {
        within(&self.init, line).status.success()
    }

    /// What a line of the shell prints inside.
    ///
    /// # Panics
    /// If it fails, with what the journal says.
    pub(super) fn says(&self, line: &str) -> String {
        let ran = within(&self.init, line);
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{line}: {said}\n{}", self.journal());
        String::from_utf8(ran.stdout).unwrap()
    }

    /// Waits until a line of the shell prints this.
    ///
    /// # Panics
    /// If it does not within the patience of a test, with what the journal says.
    pub(super) fn comes_to(&self, line: &str, expected: &str) {
        let ends = Instant::now() + PATIENCE;
        while String::from_utf8_lossy(&within(&self.init, line).stdout).trim() != expected {
            assert!(
                Instant::now() < ends,
                "{line} does not come to {expected}: {}",
                self.journal()
            );
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// A property of a unit.
    pub(super) fn property(&self, unit: &str, property: &str) -> String {
        self.says(&format!("systemctl show --value -p {property} {unit}")).trim().to_owned()
    }

    /// What the interface's tools show.
    pub(super) fn shown(&self) -> String {
        self.says("ip -brief link | awk '{ print $1 }'; tc qdisc; nft list ruleset; tc filter show dev eth0 egress; tc filter show dev eth0 ingress")
    }

    fn journal(&self) -> String {
        let journal = within(&self.init, "journalctl --no-pager --lines 40");
        String::from_utf8_lossy(&journal.stdout).into_owned()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ended = self.unshare.kill();
        let _ended = self.unshare.wait();
    }
}

fn within(init: &str, line: &str) -> Output {
    Command::new("nsenter")
        .args(["--target", init, "--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup"])
        .args(["--root", "--wd", "sh", "-c", line])
        .env("PATH", "/usr/sbin:/usr/bin")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Puts there what the Debian package brings into `usr` beside the command.
fn install(folder: &Path) {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest: toml::Table =
        fs::read_to_string(home.join("Cargo.toml")).unwrap().parse().unwrap();
    let assets = manifest["package"]["metadata"]["deb"]["assets"].as_array().unwrap();
    for asset in assets {
        let [from, to, mode] = [0, 1, 2].map(|at| asset[at].as_str().unwrap());
        if !from.starts_with("../../packaging/") || !to.starts_with("usr/") {
            continue;
        }
        let to = match to.strip_suffix('/') {
            Some(directory) => folder.join(directory).join(Path::new(from).file_name().unwrap()),
            None => folder.join(to),
        };
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(home.join(from), &to).unwrap();
        let mode = u32::from_str_radix(mode, 8).unwrap();
        fs::set_permissions(&to, fs::Permissions::from_mode(mode)).unwrap();
    }
}
