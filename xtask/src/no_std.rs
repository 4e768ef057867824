//! The crate `laxity` is for machines without a standard library too.

use std::path::Path;

use crate::outcome::{Outcome, Status};
use crate::steps::Step;
use crate::workspace::Workspace;

/// No dependency asks for `std`, and the crate is built for a bare target if there is one.
pub(crate) fn step() -> Step {
    Step::new("no-std", |workspace| {
        let list = ["tree", "--package", "laxity", "--edges", "normal,no-proc-macro"];
        let form = ["--target", "all", "--prefix", "none", "--format", "{p}|{f}"];
        let tree = workspace.output_of(workspace.cargo().args(list).args(form))?;
        if let Some(package) = asking_for_std(&tree) {
            return Err(format!("laxity depends on {package} with its feature `std`"));
        }
        println!("No dependency of laxity has its feature `std` turned on.");
        build(workspace)
    })
}

/// The first package of a list of `name|feature,feature` that has the feature `std`.
fn asking_for_std(tree: &str) -> Option<&str> {
    let packages = tree.lines().filter_map(|line| line.split_once('|'));
    let has_std = |features: &str| {
        features.split_once(' ').map_or(features, |(list, _)| list).split(',').any(|f| f == "std")
    };
    packages.filter(|(_, features)| has_std(features)).map(|(package, _)| package).next()
}

fn build(workspace: &Workspace) -> Outcome {
    let sysroot = workspace.output_of(workspace.program("rustc").args(["--print", "sysroot"]))?;
    let Some(target) = bare_target(&Path::new(sysroot.trim()).join("lib/rustlib")) else {
        let reason = "features checked, but no bare target is installed to build for \
                      (rustup target add thumbv7em-none-eabi)";
        return Ok(Status::Skipped(reason.into()));
    };
    workspace.run(workspace.cargo().args(["build", "--package", "laxity", "--target", &target]))
}

/// A target without an operating system among those that are installed.
fn bare_target(rustlib: &Path) -> Option<String> {
    let names = std::fs::read_dir(rustlib).ok()?.flatten().map(|entry| entry.file_name());
    names.filter_map(|name| name.into_string().ok()).find(|name| name.contains("-none"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_named_std_is_found() {
        assert_eq!(asking_for_std("laxity v0.1.0|\nnum-traits v0.2.19|libm,i128 (*)\n"), None);
        let tree = "laxity v0.1.0|\na v1.0.0|alloc,std (*)\nb v1.0.0|std\n";
        assert_eq!(asking_for_std(tree), Some("a v1.0.0"));
        assert_eq!(asking_for_std("a v1.0.0|std-like"), None);
    }
}
