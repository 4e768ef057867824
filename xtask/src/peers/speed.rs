//! The kernel's disciplines, compiled for user space, beside ours: one load, in turns.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::outcome::Status;
use crate::release;
use crate::steps::Step;
use crate::workspace::Workspace;

/// Ours, and the program of the peer that it is held against.
struct Pair {
    ours: &'static str,
    theirs: &'static str,
    modes: &'static [Mode],
}

const PAIRS: [Pair; 9] = [
    Pair { ours: "fifo", theirs: "b_null", modes: &SCHEDULED },
    Pair { ours: "tdp", theirs: "b_null", modes: &SCHEDULED },
    Pair { ours: "drr", theirs: "b_drr", modes: &SCHEDULED },
    Pair { ours: "qfq", theirs: "b_qfq", modes: &SCHEDULED },
    Pair { ours: "edf", theirs: "b_etf", modes: &SCHEDULED },
    Pair { ours: "edf/exact-18", theirs: "b_etf", modes: &SCHEDULED },
    Pair { ours: "dwcs", theirs: "b_etf", modes: &SCHEDULED },
    Pair { ours: "hfsc", theirs: "b_hfsc", modes: &SCHEDULED },
    Pair { ours: "fifo/choke", theirs: "b_choke", modes: &OFFERED },
];
const SIZES: [u32; 2] = [1_024, 16_384];

/// A load as `laxity bench` and as the programs name it.
struct Mode {
    ours: &'static str,
    theirs: Load,
}

enum Load {
    Of {
        word: &'static str,
        /// Whether all classes wake at once.
        together: bool,
    },
    /// Packets that are offered for every four that are sent.
    Offered(u32),
}

const SCHEDULED: [Mode; 4] = [
    Mode { ours: "backlogged", theirs: Load::Of { word: "back", together: false } },
    Mode { ours: "on-off", theirs: Load::Of { word: "onoff", together: false } },
    Mode { ours: "single", theirs: Load::Of { word: "single", together: false } },
    Mode { ours: "together", theirs: Load::Of { word: "back", together: true } },
];

const OFFERED: [Mode; 2] = [
    Mode { ours: "overload", theirs: Load::Offered(5) },
    Mode { ours: "flood", theirs: Load::Offered(50) },
];

/// One round: both of ours, and theirs.
struct Measured {
    by_pointer: f64,
    inlined: f64,
    theirs: f64,
}

/// The most packets that a managed queue holds.
const QUEUE: &str = "1024";

/// A figure of `laxity bench --json`.
#[derive(Deserialize)]
struct Figure {
    mode: String,
    ns_per_packet: f64,
}

/// Prints what a packet costs, ours called by pointer and compiled into the load, and the median of
/// the ratios within rounds, with the least and the greatest of them.
pub(crate) fn step(folder: PathBuf, rounds: u32) -> Step {
    Step::new("speed", move |workspace| {
        let program = |pair: &Pair| folder.join(pair.theirs);
        if let Some(missing) = PAIRS.iter().map(program).find(|program| !program.exists()) {
            return Ok(Status::Skipped(format!("there is no {}", missing.display())));
        }
        release::build(workspace, release::DIST)?;
        println!("                                   ns a packet              by pointer / theirs");
        println!(
            "ours          theirs   classes  load        pointer  inlined  theirs  median  least  \
             greatest  inlined / theirs"
        );
        for classes in SIZES {
            for pair in &PAIRS {
                compare(workspace, pair, &program(pair), classes, rounds)?;
            }
        }
        Ok(Status::Passed)
    })
}

/// Measures and prints a discipline beside its peer.
fn compare(
    workspace: &Workspace,
    pair: &Pair,
    program: &Path,
    classes: u32,
    rounds: u32,
) -> Result<(), String> {
    let mut measured: Vec<Vec<Measured>> = pair.modes.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        let by_pointer = our_figures(workspace, pair.ours, classes, true)?;
        let inlined = our_figures(workspace, pair.ours, classes, false)?;
        for (mode, measured) in pair.modes.iter().zip(&mut measured) {
            let ours = |figures: &[Figure]| {
                let figure = figures.iter().find(|figure| figure.mode == mode.ours);
                let figure = figure.map(|figure| figure.ns_per_packet);
                figure.ok_or_else(|| format!("{}: {} is not measured", pair.ours, mode.ours))
            };
            let theirs = their_figure(workspace, program, mode, classes)?;
            let (by_pointer, inlined) = (ours(&by_pointer)?, ours(&inlined)?);
            measured.push(Measured { by_pointer, inlined, theirs });
        }
    }
    for (mode, measured) in pair.modes.iter().zip(&measured) {
        let column = |value: fn(&Measured) -> f64| sorted(measured.iter().map(value).collect());
        let ratios = column(|round| round.by_pointer / round.theirs);
        println!(
            "{:<13} {:<7} {classes:>8}  {:<10} {:>8.1} {:>8.1} {:>7.1} {:>7.2} {:>6.2} {:>9.2} {:>17.2}",
            pair.ours,
            pair.theirs.trim_start_matches("b_"),
            mode.ours,
            median(&column(|round| round.by_pointer)),
            median(&column(|round| round.inlined)),
            median(&column(|round| round.theirs)),
            median(&ratios),
            ratios[0],
            ratios[ratios.len() - 1],
            median(&column(|round| round.inlined / round.theirs)),
        );
    }
    Ok(())
}

fn our_figures(
    workspace: &Workspace,
    discipline: &str,
    classes: u32,
    by_pointer: bool,
) -> Result<Vec<Figure>, String> {
    let mut command = workspace.program(release::binary(workspace, release::DIST));
    command.args(["bench", "--load", "natural", "--json", "--only", discipline]);
    command.args(["--classes", &classes.to_string()]);
    if by_pointer {
        command.arg("--by-pointer");
    }
    let printed = workspace.output_of(&mut command)?;
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
    let classes = classes.to_string();
    match mode.theirs {
        Load::Of { word, together } => {
            command.args([word, &classes, "25", "3"]);
            if together {
                command.env("SYNC", "1");
            }
        }
        Load::Offered(offered) => {
            command.args([&classes, QUEUE, &offered.to_string()]);
        }
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
