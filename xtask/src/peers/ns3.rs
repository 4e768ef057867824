//! ns-3, whose networks are programs.

use std::path::PathBuf;

use super::case::{CASES, Case, Ns3, beside};
use super::run::Run;
use super::script;
use crate::workspace::Workspace;

/// The programs, built.
pub(super) struct Programs {
    folder: PathBuf,
}

impl Programs {
    /// Nothing where there is no ns-3, or no compiler.
    pub(super) fn build(workspace: &Workspace) -> Result<Option<Programs>, String> {
        let mut probe = workspace.program("g++");
        probe.args(["-E", "-x", "c++", "-include", "ns3/core-module.h", "/dev/null"]);
        if !probe.output().is_ok_and(|output| output.status.success()) {
            return Ok(None);
        }
        let folder = workspace.scratch("ns3")?;
        for Ns3 { program, .. } in CASES.iter().filter_map(|case| case.ns3.as_ref()) {
            let mut command = workspace.program("g++");
            command.args(["-std=c++17", "-O3", "-o"]).arg(folder.join(program));
            command.arg(beside(workspace, &format!("{program}.cc")));
            let modules = ["nix-vector-routing", "point-to-point", "internet", "network", "core"];
            command.args(modules.map(|module| format!("-lns3-{module}")));
            workspace.run(&mut command)?;
        }
        Ok(Some(Programs { folder }))
    }

    /// Runs a network under ns-3.
    pub(super) fn run(
        &self,
        workspace: &Workspace,
        case: &Case,
        Ns3 { program, options, .. }: &Ns3,
        seed: u32,
    ) -> Result<Run, String> {
        script::run(workspace, case, seed, || {
            let mut command = workspace.program(self.folder.join(program));
            command.args(*options);
            command
        })
    }
}
