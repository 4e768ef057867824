//! The kernel's disciplines, compiled for user space, beside ours: one load, in turns.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::outcome::Status;
use crate::release;
use crate::steps::Step;
use crate::workspace::Workspace;

/// Ours, and the program of the peer that it is held against.
const PAIRS: [(&str, &str); 7] = [
    ("fifo", "b_null"),
    ("tdp", "b_null"),
    ("drr", "b_drr"),
    ("qfq", "b_qfq"),
    ("edf", "b_etf"),
    ("dwcs", "b_etf"),
    ("hfsc", "b_hfsc"),
];
const SIZES: [u32; 2] = [1_024, 16_384];

/// A load as `laxity bench` and as the programs name it.
struct Mode {
    ours: &'static str,
    theirs: &'static str,
    /// Whether all classes wake at once.
    together: bool,
}

const MODES: [Mode; 4] = [
    Mode { ours: "backlogged", theirs: "back", together: false },
    Mode { ours: "on-off", theirs: "onoff", together: false },
    Mode { ours: "single", theirs: "single", together: false },
    Mode { ours: "together", theirs: "back", together: true },
];

/// A figure of `laxity bench --json`.
#[derive(Deserialize)]
struct Figure {
    mode: String,
    ns_per_packet: f64,
}

/// Prints what a packet costs and the median of the ratios within rounds, with the least and the
/// greatest of them.
pub(crate) fn step(folder: PathBuf, rounds: u32) -> Step {
    Step::new("speed", move |workspace| {
        let programs = PAIRS.map(|(_, peer)| folder.join(peer));
        if let Some(missing) = programs.iter().find(|program| !program.exists()) {
            return Ok(Status::Skipped(format!("there is no {}", missing.display())));
        }
        release::build(workspace, release::DIST)?;
        println!("                             ns a packet   ours / theirs");
        println!("ours  theirs  classes  load        ours  theirs  median  least  greatest");
        for classes in SIZES {
            for ((ours, peer), program) in PAIRS.iter().zip(&programs) {
                pair(workspace, ours, peer, program, classes, rounds)?;
            }
        }
        Ok(Status::Passed)
    })
}

/// Measures and prints a discipline beside its peer.
fn pair(
    workspace: &Workspace,
    ours: &str,
    peer: &str,
    program: &Path,
    classes: u32,
    rounds: u32,
) -> Result<(), String> {
    let mut measured: [Vec<(f64, f64)>; 4] = Default::default();
    for _ in 0..rounds {
        let figures = our_figures(workspace, ours, classes)?;
        for (mode, measured) in MODES.iter().zip(&mut measured) {
            let figure = figures.iter().find(|figure| figure.mode == mode.ours);
            let figure = figure.ok_or_else(|| format!("{ours}: {} is not measured", mode.ours))?;
            measured.push((figure.ns_per_packet, their_figure(workspace, program, mode, classes)?));
        }
    }
    for (mode, measured) in MODES.iter().zip(&measured) {
        let column = |of: fn(&(f64, f64)) -> f64| sorted(measured.iter().map(of).collect());
        let ratios = column(|(ours, theirs)| ours / theirs);
        println!(
            "{ours:<5} {:<7} {classes:>7}  {:<10} {:>5.1} {:>7.1} {:>7.2} {:>6.2} {:>9.2}",
            peer.trim_start_matches("b_"),
            mode.ours,
            median(&column(|(ours, _)| *ours)),
            median(&column(|(_, theirs)| *theirs)),
            median(&ratios),
            ratios[0],
            ratios[ratios.len() - 1],
        );
    }
    Ok(())
}

fn our_figures(
    workspace: &Workspace,
    discipline: &str,
    classes: u32,
) -> Result<Vec<Figure>, String> {
    let mut command = workspace.program(release::binary(workspace, release::DIST));
    command.args(["bench", "--load", "natural", "--json", "--only", discipline, "--classes"]);
    let printed = workspace.output_of(command.arg(classes.to_string()))?;
    serde_json::from_str(&printed).map_err(|error| format!("laxity bench: {error}"))
}

/// The program's median, which it prints behind `med`.
fn their_figure(
    workspace: &Workspace,
    program: &Path,
    mode: &Mode,
    classes: u32,
) -> Result<f64, String> {
    let mut command = workspace.program(program);
    command.args([mode.theirs, &classes.to_string(), "25", "3"]);
    if mode.together {
        command.env("SYNC", "1");
    }
    let printed = workspace.output_of(&mut command)?;
    let mut words = printed.split_whitespace().skip_while(|word| *word != "med");
    let median = words.nth(1).and_then(|median| median.parse().ok());
    median.ok_or_else(|| format!("{} printed no median: {printed}", program.display()))
}

fn median(sorted: &[f64]) -> f64 {
    sorted[sorted.len() / 2]
}

fn sorted(mut figures: Vec<f64>) -> Vec<f64> {
    figures.sort_by(f64::total_cmp);
    figures
}
