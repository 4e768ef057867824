//! The wheel of the Python package.

use std::path::PathBuf;
use std::time::Instant;

use crate::outcome::{Outcome, Status};
use crate::python;
use crate::steps::Step;
use crate::workspace::Workspace;

/// It is to be smaller than that.
const MOST_BYTES: u64 = 8_500_000;

/// Built as it is installed, into `target/wheels`: small enough, and in a fresh environment it
/// proves a plan, draws a comparison and prints what the command prints.
pub(crate) fn step() -> Step {
    Step::new("wheel", |workspace| {
        let environment = workspace.target().join("python");
        if let Some(reason) = python::prepare(workspace, &environment)? {
            return Ok(Status::Skipped(reason));
        }
        let folder = workspace.target().join("wheels");
        // What is there is of another day.
        let _ = std::fs::remove_dir_all(&folder);
        let mut maturin = workspace.program(environment.join("bin/maturin"));
        maturin.current_dir(workspace.root().join("python"));
        workspace.run(maturin.arg("build").arg("--out").arg(&folder))?;
        let wheels = std::fs::read_dir(&folder).map_err(|error| error.to_string())?;
        let wheels: Vec<PathBuf> = wheels.filter_map(|entry| Some(entry.ok()?.path())).collect();
        let [wheel] = &wheels[..] else { return Err(format!("not one wheel: {wheels:?}")) };
        let bytes = wheel.metadata().map_err(|error| error.to_string())?.len();
        println!("{}: {:.2} MB", wheel.display(), bytes as f64 / 1e6);
        if bytes > MOST_BYTES {
            return Err(format!(
                "the wheel has {bytes} bytes, and is to have at most {MOST_BYTES}"
            ));
        }
        try_out(workspace, wheel)
    })
}

/// Without anything else that is installed.
fn try_out(workspace: &Workspace, wheel: &PathBuf) -> Outcome {
    let fresh = workspace.scratch("wheel")?;
    let began = Instant::now();
    workspace.run(workspace.program("python3").args(["-m", "venv"]).arg(&fresh))?;
    let program = |name: &str| workspace.program(fresh.join("bin").join(name));
    workspace.run(program("pip").args(["install", "--quiet"]).arg(wheel))?;
    let module = workspace.output_of(program("python").args(["-c", TRIAL]))?;
    println!("a proof and a figure {:.1} s after `pip install`", began.elapsed().as_secs_f64());
    let command = program("laxity").args(["run", PLAN, "--json"]).output();
    let command = command.map_err(|error| error.to_string())?.stdout;
    if module.trim() == String::from_utf8_lossy(&command).trim() {
        Ok(Status::Passed)
    } else {
        Err("the module's JSON is not the command's".into())
    }
}

const PLAN: &str = "examples/home-uplink.toml";

/// Prints the JSON of a run.
const TRIAL: &str = "
import laxity as lx
plan = lx.Plan.read('examples/home-uplink.toml')
assert plan.check().admitted
assert lx.compare(plan, ['fifo', 'edf']).figure.startswith('<svg')
print(plan.run().json)
";
