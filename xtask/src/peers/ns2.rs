//! ns-2.

use super::case::{Case, beside};
use super::run::Run;
use super::script;
use crate::workspace::Workspace;

/// Whether there is a program of its name.
pub(super) fn is_installed(workspace: &Workspace) -> bool {
    workspace.program("ns").arg("/dev/null").output().is_ok()
}

/// Runs a network.
pub(super) fn run(workspace: &Workspace, case: &Case, seed: u32) -> Result<Run, String> {
    script::run(workspace, case, seed, || {
        let mut command = workspace.program("ns");
        command.arg(beside(workspace, case.script)).args(case.ns2);
        command
    })
}
