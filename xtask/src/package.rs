//! The library as a registry would take it.

use crate::steps::Step;

/// Files that a library's users read first, and have to keep.
const BESIDE: [&str; 3] = ["README.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// It is packed with what a registry asks for, and builds from nothing but what is packed and the
/// dependencies, which are there from other steps.
pub(crate) fn step() -> Step {
    Step::new("package", |workspace| {
        let package = ["package", "--package", "laxity", "--allow-dirty", "--offline"];
        let files = workspace.output_of(workspace.cargo().args(package).arg("--list"))?;
        if let Some(file) = BESIDE.iter().find(|file| !files.lines().any(|line| line == **file)) {
            return Err(format!("{file} is not packed"));
        }
        workspace.run(workspace.cargo().args(package))
    })
}
