//! `laxity reproduce`: papers' experiments, repeated.

use std::fs;
use std::path::Path;

use laxity_papers::{PAPERS, Paper, Repetition, Settings};
use laxity_report::quantity;

use crate::args::Reproduce;
use crate::failure::Failure;
use crate::input::Inputs;
use crate::output::Output;
use crate::{Promises, print, print_json, progress};

/// Carries the command out.
pub(crate) fn run(arguments: &Reproduce) -> Result<Promises, Failure> {
    let papers = chosen(arguments.paper.as_deref())?;
    let mut repetitions = Vec::new();
    for paper in papers {
        let output = arguments
            .out
            .as_ref()
            .map(|folder| Output::new(&folder.join(paper.name), &Inputs::default()));
        let output = output.transpose()?;
        let repetition = repeat(paper, arguments)?;
        if let Some(output) = output {
            write(output, &repetition)?;
        }
        if !arguments.json {
            print(&text(&repetition, arguments.out.as_deref()))?;
        }
        repetitions.push(repetition);
    }
    if arguments.json {
        print_json(&repetitions)?;
    } else if repetitions.len() > 1 {
        print(&failing(&repetitions))?;
    }
    Ok(Promises::kept_if(repetitions.iter().all(Repetition::holds)))
}

fn chosen(name: Option<&str>) -> Result<Vec<&'static Paper>, Failure> {
    let Some(name) = name else { return Ok(PAPERS.iter().collect()) };
    let names = PAPERS.iter().map(|paper| paper.name).collect::<Vec<_>>().join(", ");
    let paper = Paper::named(name).ok_or_else(|| {
        Failure::input(format!("`{name}` is not a paper here: there are {names}"))
    })?;
    Ok(vec![paper])
}

fn repeat(paper: &Paper, arguments: &Reproduce) -> Result<Repetition, Failure> {
    let bar = progress::steps(paper.name, 0);
    let step = |of: u64| {
        bar.set_length(of);
        bar.inc(1);
    };
    let settings =
        Settings { seeds: arguments.seeds, duration: arguments.duration, progress: &step };
    let repetition = paper.repeat(&settings);
    bar.finish_and_clear();
    Ok(repetition?)
}

fn write(mut output: Output, repetition: &Repetition) -> Result<(), Failure> {
    for (name, svg) in &repetition.figures {
        output.write(&format!("{name}.svg"), svg)?;
    }
    output.write_json("verdicts.json", repetition)?;
    output.publish()
}

/// What fails of several papers, once more at the end, where it is not overlooked.
fn failing(repetitions: &[Repetition]) -> String {
    let failing = repetitions.iter().filter(|repetition| !repetition.holds());
    let tables = failing.map(|repetition| {
        format!(
            "\nOutside its tolerance, {}\n{}\n",
            repetition.paper,
            repetition.table_of_failing()
        )
    });
    tables.collect()
}

fn text(repetition: &Repetition, out: Option<&Path>) -> String {
    let mut text = format!(
        "{}\n{} seeds of {} each\n\n",
        repetition.citation,
        repetition.seeds,
        quantity::time(repetition.duration_ns as f64)
    );
    for (heading, table) in &repetition.tables {
        text += &format!("{heading}\n{table}\n\n");
    }
    text += &repetition.verdict_table();
    let failing = repetition.verdicts.iter().filter(|verdict| !verdict.holds).count();
    text += &match failing {
        0 => "\n\nEvery figure lies within its tolerance.\n".to_string(),
        _ => format!("\n\n{failing} figures lie outside their tolerance.\n"),
    };
    if let Some(out) = out {
        let folder = out.join(repetition.paper);
        text += &format!("Figures: {}\n", fs::canonicalize(&folder).unwrap_or(folder).display());
    }
    text
}
