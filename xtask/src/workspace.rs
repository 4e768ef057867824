//! Where things are, and how programs are run there.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use cargo_metadata::{Metadata, MetadataCommand};

use crate::outcome::{Outcome, Status};

/// This workspace.
pub(crate) struct Workspace {
    /// What cargo knows of it.
    pub metadata: Metadata,
    cargo: OsString,
}

impl Workspace {
    /// The workspace that this program was built from.
    pub(crate) fn find() -> Result<Self, String> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
        let metadata = MetadataCommand::new().manifest_path(manifest).exec();
        let metadata = metadata.map_err(|error| error.to_string())?;
        Ok(Workspace { metadata, cargo: std::env::var_os("CARGO").unwrap_or("cargo".into()) })
    }

    /// Its root folder.
    pub(crate) fn root(&self) -> &Path {
        self.metadata.workspace_root.as_std_path()
    }

    /// The folder of everything that is built.
    pub(crate) fn target(&self) -> &Path {
        self.metadata.target_directory.as_std_path()
    }

    /// An empty folder for a step's files.
    pub(crate) fn scratch(&self, name: &str) -> Result<PathBuf, String> {
        let folder = self.target().join("xtask").join(name);
        let failed = |error| format!("{}: {error}", folder.display());
        if folder.exists() {
            std::fs::remove_dir_all(&folder).map_err(failed)?;
        }
        std::fs::create_dir_all(&folder).map_err(failed)?;
        Ok(folder)
    }

    /// The cargo that runs this program.
    pub(crate) fn cargo(&self) -> Command {
        self.program(&self.cargo)
    }

    /// A program that starts in the root folder and reads no input.
    pub(crate) fn program(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.root()).stdin(Stdio::null());
        command
    }

    /// Runs a program that must succeed; what it prints is seen.
    pub(crate) fn run(&self, command: &mut Command) -> Outcome {
        let status = command.status().map_err(|error| unstarted(command, &error))?;
        if status.success() {
            Ok(Status::Passed)
        } else {
            Err(format!("{}: {status}", line(command)))
        }
    }

    /// Runs a program that must succeed and gives what it prints.
    pub(crate) fn output_of(&self, command: &mut Command) -> Result<String, String> {
        let output = command.stderr(Stdio::inherit()).output();
        let Output { status, stdout, .. } = output.map_err(|error| unstarted(command, &error))?;
        if status.success() {
            Ok(String::from_utf8_lossy(&stdout).into_owned())
        } else {
            Err(format!("{}: {status}", line(command)))
        }
    }
}

fn unstarted(command: &Command, error: &std::io::Error) -> String {
    format!("{} cannot be started: {error}", line(command))
}

/// The command as one would type it.
fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
