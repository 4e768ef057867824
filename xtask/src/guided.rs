//! The command as it is shipped: built once so that it counts what it does, tried on what its users
//! do, and built again for that (profile-guided optimisation).

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::outcome::{Outcome, Status};
use crate::release;
use crate::steps::Step;
use crate::workspace::Workspace;

/// Into `target/dist`.
pub(crate) fn step() -> Step {
    Step::new("guided build", build)
}

/// What users do, with OUT where a folder is to be written, and none of the networks that are timed
/// beside other simulators. Whatever is not among it becomes slower, since it is taken for rare.
const RUNS: [&str; 17] = [
    "run examples/home-uplink.toml --duration 60s --out OUT",
    "run examples/home-uplink.toml --duration 60s --json",
    "run examples/media-server.toml --duration 20s --json",
    "run examples/gateway.toml --duration 20s --json",
    "run examples/gps-over-edf.toml --duration 60s --json",
    "run examples/time-frames.toml --duration 10s --json",
    "run examples/two-hops.toml --duration 60s --json",
    "run examples/dumbbell.toml --duration 100s --json",
    "run examples/backbone.toml --duration 2s --json",
    "run examples/dumbbell.toml --scheduler fifo --duration 300s --json",
    "run examples/backbone.toml --scheduler fifo --duration 2s --json",
    "run examples/backbone.toml --scheduler fifo --duration 2s --threads 2 --json",
    "compare examples/home-uplink.toml --schedulers fifo,wfq,wf2q,drr,qfq,hfsc,priority,fq-codel,dualpi2,cake,edf,dwcs --duration 20s --json",
    "check examples/backbone.toml --json",
    "check examples/media-server.toml --json",
    "check examples/gps-over-edf.toml --json",
    "live --demo --duration 10s --json",
];

/// What reaches what those do not, many classes above all. Benchmarks do the same over and over,
/// which must not make all else rare: of what they do little is counted.
const BENCHES: [&str; 2] =
    ["bench --classes 1000 --json", "bench --classes 10000 --load natural --json"];

/// The oldest LLVM whose tools read what the compiler writes.
const OLDEST: u32 = 19;

/// Builds it, if the tool that reads what was counted is there.
pub(crate) fn build(workspace: &Workspace) -> Outcome {
    let Some(tool) = llvm_profdata(workspace)? else {
        let missing = format!("llvm-profdata of LLVM {OLDEST} or later is not installed");
        return Ok(Status::Skipped(format!("{missing} (rustup component add llvm-tools)")));
    };
    let folder = workspace.target().join("guided");
    let mut counting = release::building(workspace, release::DIST);
    counting.arg("--target-dir").arg(&folder);
    workspace.run(with_flag(&mut counting, "-Cprofile-generate=", &folder.join("counts")))?;
    let program = release::within(&folder, release::DIST);
    let out = workspace.scratch("guided")?.join("out");
    let read = folder.join("laxity.profdata");
    let mut merge = workspace.program(tool);
    merge.arg("merge").arg("-o").arg(&read);
    for (weight, trials) in [(50, &RUNS[..]), (1, &BENCHES)] {
        let counts = workspace.scratch(&format!("guided/{weight}"))?;
        for trial in trials {
            println!("laxity {trial}");
            let words = trial.split(' ');
            let words =
                words.map(|word| if word == "OUT" { out.as_os_str() } else { word.as_ref() });
            let mut command = workspace.program(&program);
            command.args(words).env("LLVM_PROFILE_FILE", counts.join("%m.profraw"));
            let ended =
                command.stdout(Stdio::null()).status().map_err(|error| error.to_string())?;
            // With 1 it says that a promise was not kept.
            if !matches!(ended.code(), Some(0 | 1)) {
                let failed = format!("laxity {trial}: {ended}");
                return if trial.starts_with("live") {
                    Ok(Status::Skipped(format!("{failed} (root or user namespaces)")))
                } else {
                    Err(failed)
                };
            }
        }
        merge.arg(format!("-weighted-input={weight},{}", counts.display()));
    }
    workspace.run(&mut merge)?;
    let mut guided = release::building(workspace, release::DIST);
    workspace.run(with_flag(&mut guided, "-Cprofile-use=", &read))
}

/// Builds it, or, where that cannot be, as cargo does, and says so.
pub(crate) fn build_or_not(workspace: &Workspace) -> Outcome {
    match build(workspace)? {
        Status::Passed => Ok(Status::Passed),
        Status::Skipped(reason) => {
            println!("not guided by what it does: {reason}");
            release::build(workspace, release::DIST)
        }
    }
}

/// One more flag for the compiler, beside those of the environment.
fn with_flag<'a>(cargo: &'a mut Command, flag: &str, path: &Path) -> &'a mut Command {
    let known = std::env::var("RUSTFLAGS").unwrap_or_default();
    let known = known.split_whitespace().map(OsString::from);
    let mut last = OsString::from(flag);
    last.push(path);
    let flags = known.chain([last]).collect::<Vec<_>>().join(std::ffi::OsStr::new("\u{1f}"));
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags)
}

/// The tool beside the compiler, or another that is new enough.
fn llvm_profdata(workspace: &Workspace) -> Result<Option<PathBuf>, String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let asked = ["--print", "target-libdir"];
    let libraries = workspace.output_of(workspace.program(rustc).args(asked))?;
    let beside = Path::new(libraries.trim()).with_file_name("bin").join("llvm-profdata");
    let numbered = (OLDEST..OLDEST + 20).rev().map(|version| format!("llvm-profdata-{version}"));
    let mut tools = std::iter::once(beside)
        .chain(numbered.map(PathBuf::from))
        .chain([PathBuf::from("llvm-profdata")]);
    Ok(tools.find(|tool| version(workspace, tool).is_some_and(|version| version >= OLDEST)))
}

/// Of an LLVM tool, if it is there.
fn version(workspace: &Workspace, tool: &Path) -> Option<u32> {
    let said = workspace.program(tool).arg("--version").output().ok()?;
    version_in(&String::from_utf8_lossy(&said.stdout))
}

fn version_in(said: &str) -> Option<u32> {
    let (_, version) = said.split_once("LLVM version ")?;
    version.split('.').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        assert_eq!(version_in("Debian LLVM version 19.1.7\n  Optimized build."), Some(19));
        assert_eq!(version_in("LLVM (http://llvm.org/):\n  LLVM version 22.1.2-rust\n"), Some(22));
        assert_eq!(version_in("something else"), None);
    }

    #[test]
    fn a_path_with_a_space_is_one_flag() {
        let mut cargo = Command::new("cargo");
        with_flag(&mut cargo, "-Cprofile-use=", Path::new("/a b/c"));
        let flags = cargo.get_envs().find(|(name, _)| *name == "CARGO_ENCODED_RUSTFLAGS");
        let flags = flags.and_then(|(_, value)| value?.to_str()).unwrap();
        assert!(flags.split('\u{1f}').any(|flag| flag == "-Cprofile-use=/a b/c"), "{flags}");
    }
}
