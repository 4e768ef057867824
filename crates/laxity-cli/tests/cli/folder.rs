//! A folder to run the command in.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Debug;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

use tempfile::TempDir;

/// An empty folder, gone when it is dropped.
pub(crate) struct Folder(TempDir);

/// The same command with the default reactions to signals.
///
/// The process that runs the tests may ignore signals, as background jobs of a shell do, and its
/// children inherit that.
pub(crate) fn hearing_signals(command: &Command) -> Command {
    let mut hearing = Command::new("env");
    if cfg!(target_os = "linux") {
        hearing.arg("--default-signal=INT,TERM,HUP");
    }
    hearing.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        hearing.env(name, value.unwrap_or_default());
    }
    if let Some(folder) = command.get_current_dir() {
        hearing.current_dir(folder);
    }
    hearing
}

/// How a command ended.
pub(crate) struct CommandResult {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    /// With a plan in `plan.toml`.
    pub(crate) fn with_plan(plan: &str) -> Folder {
        Folder::new().with("plan.toml", plan)
    }

    /// With one more file.
    pub(crate) fn with(self, name: &str, content: impl AsRef<[u8]>) -> Folder {
        fs::write(self.path(name), content).unwrap();
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.text(name)).unwrap()
    }

    /// The command, to be run in the folder with these arguments.
    pub(crate) fn command(&self, arguments: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_laxity"));
        command.args(arguments).current_dir(self.0.path()).stdin(Stdio::null());
        // What runs elsewhere is not found, and not found from there.
        command.env("XDG_RUNTIME_DIR", self.0.path());
        command
    }

    /// Runs the command to its end.
    pub(crate) fn laxity(&self, arguments: &[impl AsRef<OsStr> + Debug]) -> CommandResult {
        let output = self.command(arguments).output().unwrap();
        CommandResult::new(output, arguments)
    }

    /// The same with this on standard input.
    pub(crate) fn laxity_reads(
        &self,
        arguments: &[impl AsRef<OsStr> + Debug],
        input: &[u8],
    ) -> CommandResult {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let output = thread::scope(|scope| {
            // It may end before it has read everything.
            scope.spawn(move || pipe.write_all(input));
            child.wait_with_output().unwrap()
        });
        CommandResult::new(output, arguments)
    }

    /// Everything that is in the folder: the bytes of its files by their path, folders without.
    pub(crate) fn content(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut content = BTreeMap::new();
        collect(self.0.path(), &mut content);
        content
    }
}

impl CommandResult {
    /// Whatever the command did, it did not panic.
    fn new(output: Output, arguments: &[impl Debug]) -> CommandResult {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let result = CommandResult {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        };
        assert!(!result.stderr.contains("panicked"), "{arguments:?}: {}", result.stderr);
        result
    }

    /// What is printed, if the command ended with this code and said nothing else.
    pub(crate) fn printed(self, code: i32) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (Some(code), ""), "{}", self.stdout);
        self.stdout
    }

    /// The same as JSON.
    pub(crate) fn json(self, code: i32) -> serde_json::Value {
        serde_json::from_str(&self.printed(code)).unwrap()
    }
}

fn collect(folder: &Path, content: &mut BTreeMap<PathBuf, Option<Vec<u8>>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = path.is_file().then(|| fs::read(&path).unwrap());
        if bytes.is_none() {
            collect(&path, content);
        }
        content.insert(path, bytes);
    }
}

/// A file of the repository.
pub(crate) fn repository(name: &str) -> String {
    format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"))
}
