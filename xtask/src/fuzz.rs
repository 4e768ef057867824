//! Fuzzing on the stable toolchain: cargo-fuzz's flags without the sanitizers, which only nightly
//! has. All of the fuzzed code is safe, so a panic, an endless loop or a hunger for memory is what
//! there is to find.

use std::path::Path;
use std::thread;

use crate::outcome::{Outcome, Status};
use crate::steps::Step;
use crate::workspace::Workspace;

/// As cargo-fuzz has them.
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Cllvm-args=-simplifycfg-branch-fold-threshold=0";

/// Builds the fuzz targets and runs each for `seconds`, one on each core. The target folder keeps
/// the inputs that they find; the seeds stay as they are.
pub(crate) fn step(seconds: u32) -> Step {
    Step::new("fuzz", move |workspace| {
        let compiler = std::env::var("CXX").unwrap_or("c++".into());
        if workspace.program(&compiler).arg("--version").output().is_err() {
            return Ok(Status::Skipped(format!("libFuzzer needs a C++ compiler ({compiler})")));
        }
        let host = host(workspace)?;
        let folder = workspace.target().join("fuzz");
        let build = ["build", "--release", "--bins", "--manifest-path", "fuzz/Cargo.toml"];
        let mut build_targets = workspace.cargo();
        build_targets.args(build).args(["--target", &host, "--target-dir"]).arg(&folder);
        // Cargo would use these instead of RUSTFLAGS.
        build_targets.env_remove("CARGO_ENCODED_RUSTFLAGS").env("RUSTFLAGS", FLAGS);
        workspace.run(&mut build_targets)?;
        let binaries = folder.join(&host).join("release");
        let at_once = thread::available_parallelism().map_or(1, usize::from);
        for targets in targets(&workspace.root().join("fuzz/seeds"))?.chunks(at_once) {
            thread::scope(|scope| {
                let fuzz = |target| run(workspace, target, &binaries.join(target), seconds);
                let started = targets.iter().map(|target| scope.spawn(move || fuzz(target)));
                let started: Vec<_> = started.collect();
                let ended = started.into_iter().map(|fuzzer| fuzzer.join().expect("no panic"));
                ended.collect::<Result<Vec<_>, _>>()
            })?;
        }
        Ok(Status::Passed)
    })
}

fn run(workspace: &Workspace, target: &str, binary: &Path, seconds: u32) -> Outcome {
    let folder = |name: &str| {
        let folder = workspace.target().join("fuzz").join(name).join(target);
        std::fs::create_dir_all(&folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok::<_, String>(folder)
    };
    let (corpus, artifacts) = (folder("corpus")?, folder("artifacts")?);
    let seeds = workspace.root().join("fuzz/seeds").join(target);
    // The fuzzer writes into the first folder only.
    let mut fuzzer = workspace.program(binary);
    fuzzer.arg(corpus).arg(seeds);
    fuzzer.args(["-max_len=4096", "-rss_limit_mb=2048", "-timeout=10"]);
    fuzzer.arg(format!("-max_total_time={seconds}"));
    fuzzer.arg(format!("-artifact_prefix={}/", artifacts.display()));
    let output = fuzzer.output().map_err(|error| format!("{}: {error}", binary.display()))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        eprint!("{stderr}");
        return Err(format!("{target}: {}; the input is above", output.status));
    }
    println!("{target}: {}", stderr.lines().next_back().unwrap_or_default());
    Ok(Status::Passed)
}

/// The machine that is built on, in Cargo's words.
fn host(workspace: &Workspace) -> Result<String, String> {
    let version = workspace.output_of(workspace.program("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_string).ok_or("rustc does not name its host".into())
}

/// The names of the targets, which are those of their seeds.
fn targets(seeds: &Path) -> Result<Vec<String>, String> {
    let failed = |error| format!("{}: {error}", seeds.display());
    let folders = std::fs::read_dir(seeds).map_err(failed)?;
    let names = folders.map(|folder| Ok(folder?.file_name().to_string_lossy().into_owned()));
    let mut names = names.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A target without seeds would never run, and seeds without a target would fail.
    #[test]
    fn every_target_has_seeds() {
        let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
        let files = std::fs::read_dir(fuzz.join("fuzz_targets")).unwrap();
        let paths = files.map(|file| file.unwrap().path());
        // A folder has the parts of a target.
        let sources = paths.filter(|path| path.extension().is_some_and(|end| end == "rs"));
        let stem = |path: std::path::PathBuf| path.file_stem().unwrap().display().to_string();
        let mut written: Vec<String> = sources.map(stem).collect();
        written.sort();
        let manifest = std::fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
        let named = manifest
            .lines()
            .filter_map(|line| line.strip_prefix("path = \"fuzz_targets/")?.strip_suffix(".rs\""));
        let mut named: Vec<_> = named.collect();
        named.sort_unstable();
        assert_eq!(targets(&fuzz.join("seeds")).unwrap(), written);
        assert_eq!(named, written);
    }
}
