//! The playground: a folder of static files, and its tests.

use std::path::{Path, PathBuf};

use crate::outcome::{Outcome, Status};
use crate::release;
use crate::steps::Step;
use crate::wasm::{self, Modules};
use crate::workspace::Workspace;

/// How many plans that are drawn at random the module and the command have to prove alike, and from
/// which seed on.
const PLANS: &str = "300";
const SEED: &str = "1";

/// What Chromium may be called.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The page into web/dist; its proofs beside the command's; and the page in a browser.
pub(crate) fn steps() -> [Step; 3] {
    [
        Step::new("web", build),
        Step::new("web proofs", |workspace| with_page(workspace, proofs)),
        Step::new("web page", |workspace| with_page(workspace, page)),
    ]
}

fn build(workspace: &Workspace) -> Outcome {
    let web = workspace.root().join("web");
    // What was built before is not to be tested in place of what cannot be built.
    let old = web.join("dist");
    if old.exists() {
        std::fs::remove_dir_all(&old).map_err(|error| format!("{}: {error}", old.display()))?;
    }
    if let Some(reason) = prepare(workspace, &web)? {
        return Ok(Status::Skipped(reason));
    }
    let Modules { prover, whole } = match wasm::build(workspace)? {
        Ok(modules) => modules,
        Err(reason) => return Ok(Status::Skipped(reason.into())),
    };
    workspace.run(workspace.program("npm").args(["run", "--silent", "types"]).current_dir(&web))?;
    let mut bundle = workspace.program("node");
    workspace.run(bundle.arg("build.mjs").arg(prover).arg(whole).current_dir(&web))
}

/// Installs the packages that the lock file names, unless they are there. Says why not, if they
/// cannot be had.
fn prepare(workspace: &Workspace, web: &Path) -> Result<Option<String>, String> {
    let changed = |file: PathBuf| file.metadata().and_then(|file| file.modified()).ok();
    let installed = changed(web.join("node_modules/.package-lock.json"));
    if installed > changed(web.join("package-lock.json")) {
        return Ok(None);
    }
    let mut npm = workspace.program("npm");
    match npm.args(["ci", "--ignore-scripts", "--silent"]).current_dir(web).status() {
        Err(_) => Ok(Some("Node.js with its npm is not installed".into())),
        Ok(status) if status.success() => Ok(None),
        Ok(_) => Ok(Some("the page's packages cannot be installed".into())),
    }
}

/// Tests the page that was built, if one was.
fn with_page(workspace: &Workspace, test: fn(&Workspace, &Path) -> Outcome) -> Outcome {
    let web = workspace.root().join("web");
    if web.join("dist/index.html").exists() {
        test(workspace, &web)
    } else {
        Ok(Status::Skipped("the page was not built".into()))
    }
}

fn proofs(workspace: &Workspace, web: &Path) -> Outcome {
    // Of the whole workspace, as its tests build it, so that nothing is built twice.
    let example = ["build", "--workspace", "--example", "random_plans"];
    workspace.run(workspace.cargo().args(example))?;
    workspace.run(workspace.cargo().args(["build", "--workspace", "--bin", "laxity"]))?;
    let built = workspace.target().join("debug");
    let drawn = workspace.scratch("web-plans")?;
    let draw = release::executable(built.join("examples/random_plans"));
    workspace.run(workspace.program(draw).arg(&drawn).args([PLANS, SEED]))?;
    let command = release::executable(built.join("laxity"));
    workspace.run(workspace.program("node").arg(web.join("test/spot.mjs")))?;
    let mut node = workspace.program("node");
    node.arg(web.join("test/same.mjs"));
    node.args(["prover", "laxity"].map(|name| web.join(format!("dist/{name}.wasm.gz"))));
    workspace.run(node.arg(command).arg("examples").arg(drawn))
}

fn page(workspace: &Workspace, web: &Path) -> Outcome {
    let mut browsers = BROWSERS.into_iter().filter(|name| {
        let version = workspace.program(name).arg("--version").output();
        version.is_ok_and(|output| output.status.success())
    });
    let Some(browser) = browsers.next() else {
        return Ok(Status::Skipped("no Chromium is installed".into()));
    };
    let mut node = workspace.program("node");
    node.arg(web.join("test/page.mjs")).arg(browser).arg(web.join("dist"));
    workspace.run(node.arg(workspace.target().join("xtask/web-pictures")))
}
