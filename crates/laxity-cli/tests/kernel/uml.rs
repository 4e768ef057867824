//! A Linux of the test's own: User-mode Linux on the files of this machine, in which the same test
//! runs again, as root, with the kernel's queueing disciplines and without anything of the host's
//! network.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{OnceLock, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// Set where the test is inside.
const INSIDE: &str = "LAXITY_INSIDE_UML";

/// Where Debian's package has the modules of the kernel.
const MODULES: &str = "/usr/lib/uml/modules";

/// Written by a machine that is to run alone, so that no other takes its time.
static RUNNING: RwLock<()> = RwLock::new(());

/// Memory of the machine.
const MEMORY: &str = "mem=768M";

/// In which it starts and stops, where it can be started at all: a hundred times what it takes.
const START: Duration = Duration::from_secs(60);

/// Runs a test inside, within a limit of time, beside others; `name` is its path, as `cargo test`
/// shows it. Where there is no User-mode Linux, or where it does not even start and stop, it says
/// so and passes.
///
/// # Panics
/// If the test does, or does not end in time.
pub(crate) fn inside(name: &str, limit: Duration, test: impl FnOnce()) {
    if std::env::var_os(INSIDE).is_some() {
        return test();
    }
    let _beside = RUNNING.read().unwrap_or_else(PoisonError::into_inner);
    start(name, limit);
}

/// As [`inside`], with no other machine beside it: for a test that measures rates or delays.
///
/// # Panics
/// As [`inside`].
pub(crate) fn inside_alone(name: &str, limit: Duration, test: impl FnOnce()) {
    if std::env::var_os(INSIDE).is_some() {
        return test();
    }
    let _alone = RUNNING.write().unwrap_or_else(PoisonError::into_inner);
    start(name, limit);
}

fn start(name: &str, limit: Duration) {
    static MACHINE: OnceLock<Result<Machine, String>> = OnceLock::new();
    match MACHINE.get_or_init(|| Machine::found()?.started()) {
        Err(missing) => eprintln!("{name} is skipped: {missing}"),
        Ok(machine) => machine.run(name, limit),
    }
}

/// What it takes to start one.
struct Machine {
    kernel: PathBuf,
    modules: PathBuf,
}

impl Machine {
    fn found() -> Result<Machine, String> {
        let kernel = program("linux.uml").or_else(|| program("linux"));
        let kernel = kernel.ok_or("there is no User-mode Linux (Debian's user-mode-linux)")?;
        for needed in ["modprobe", "ip", "tc"] {
            program(needed).ok_or(format!("there is no {needed} (Debian's kmod and iproute2)"))?;
        }
        let modules = fs::read_dir(MODULES).ok().and_then(|mut all| all.next()?.ok());
        let modules = modules.ok_or(format!("no modules are in {MODULES}"))?.path();
        Ok(Machine { kernel, modules })
    }

    /// Itself, where a machine that does nothing starts and stops.
    fn started(self) -> Result<Machine, String> {
        let ran = self.boot(":\n", START);
        match ran.code.as_str() {
            "0" => Ok(self),
            _ => Err(format!("User-mode Linux does not start here; its console:\n{}", ran.console)),
        }
    }

    fn run(&self, name: &str, limit: Duration) {
        let test = std::env::current_exe().expect("the path of this test");
        let passed_on = std::env::vars().filter(|(name, _)| name.starts_with("LAXITY_"));
        let passed_on: String =
            passed_on.map(|(name, value)| format!("{name}={} ", quoted(&value))).collect();
        let ran = self.boot(
            &format!(
                "cd {} && {INSIDE}=1 {passed_on}exec {} --exact {name} --nocapture --include-ignored\n",
                quoted(&std::env::current_dir().expect("a current folder").display().to_string()),
                quoted(&test.display().to_string()),
            ),
            limit,
        );
        eprint!("{}", ran.output);
        let console = ran.console;
        assert!(ran.ended, "{name} did not end within {limit:?}; the console:\n{console}");
        assert_eq!(ran.code, "0", "{name} failed inside; the console:\n{console}");
        assert!(
            ran.output.contains("1 passed"),
            "{name} is not the name of one test: {}",
            ran.output
        );
    }

    /// Runs a command of the shell inside, for so long at most.
    fn boot(&self, command: &str, limit: Duration) -> Ran {
        let folder = tempfile::tempdir().expect("a folder for what goes in and out");
        let folder = folder.path();
        fs::write(folder.join("command"), command).expect("the command is written");
        let init = folder.join("init");
        fs::write(&init, include_str!("init.sh")).expect("the first process is written");
        fs::set_permissions(&init, PermissionsExt::from_mode(0o755)).expect("a program");
        let console = fs::File::create(folder.join("console")).expect("a file for the console");
        let mut machine = Command::new(&self.kernel)
            .args([MEMORY, "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw", "quiet"])
            .args(["con=null", "con0=null,fd:1", "panic=1"])
            .arg(format!("init={}", init.display()))
            .arg(format!("laxity_dir={}", folder.display()))
            .arg(format!("laxity_modules={}", self.modules.display()))
            .stdin(Stdio::null())
            .stderr(console.try_clone().expect("a second handle"))
            .stdout(console)
            .current_dir("/")
            .spawn()
            .expect("User-mode Linux starts");
        let ended = waited_for(&mut machine, limit);
        let read = |name| {
            let bytes = fs::read(folder.join(name)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Ran {
            ended,
            code: read("code").trim().to_owned(),
            output: read("output"),
            console: read("console"),
        }
    }
}

/// How a machine ended.
struct Ran {
    /// By itself, not at the limit.
    ended: bool,
    /// Of the command; empty where it never came to its end.
    code: String,
    output: String,
    /// What the kernel and its first process said.
    console: String,
}

/// Whether a machine ends by itself within the limit, at which it is ended.
fn waited_for(machine: &mut Child, limit: Duration) -> bool {
    let start = Instant::now();
    while machine.try_wait().expect("it is a child").is_none() {
        if start.elapsed() > limit {
            // It leads a group of its own, in which are the processes that it runs.
            let _gone = killpg(Pid::from_raw(machine.id() as i32), Signal::SIGKILL);
            let _gone = machine.kill();
            let _ended = machine.wait();
            return false;
        }
        thread::sleep(Duration::from_millis(20));
    }
    true
}

fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// How many rounds of something: `few`, or `all` where LAXITY_WHOLE is set.
pub(crate) fn whole<T>(few: T, all: T) -> T {
    if std::env::var_os("LAXITY_WHOLE").is_some() { all } else { few }
}
