//! The package for Python, built into an environment of its own, and its tests there.

use std::path::Path;

use crate::outcome::Status;
use crate::steps::Step;
use crate::workspace::Workspace;

/// Makes the environment once, builds the module as it stands with what its tests need, and runs
/// pytest.
pub(crate) fn step() -> Step {
    Step::new("python", |workspace| {
        let environment = workspace.target().join("python");
        if let Some(reason) = prepare(workspace, &environment)? {
            return Ok(Status::Skipped(reason));
        }
        let program = |name: &str| {
            let mut program = workspace.program(environment.join("bin").join(name));
            program.env("VIRTUAL_ENV", &environment).current_dir(workspace.root().join("python"));
            program
        };
        workspace.run(program("maturin").args(["develop", "--profile", "dev"]))?;
        // The package itself lists the needs of its tests.
        workspace.run(program("pip").args(["install", "--quiet", "laxity[test]"]))?;
        workspace.run(program("python").args(["-m", "pytest", "-q"]))
    })
}

/// Why there is no environment, if it cannot be had.
pub(crate) fn prepare(workspace: &Workspace, environment: &Path) -> Result<Option<String>, String> {
    if environment.join("bin/maturin").exists() {
        return Ok(None);
    }
    let made = workspace.program("python3").args(["-m", "venv"]).arg(environment).status();
    if !made.is_ok_and(|made| made.success()) {
        return Ok(Some("python3 with its venv is not installed".into()));
    }
    let mut pip = workspace.program(environment.join("bin/pip"));
    let installed = pip.args(["install", "--quiet", "maturin>=1.16,<2"]).status();
    if installed.is_ok_and(|installed| installed.success()) {
        Ok(None)
    } else {
        Ok(Some("maturin cannot be installed".into()))
    }
}
