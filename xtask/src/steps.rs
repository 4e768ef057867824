//! Steps, announced and timed. A failure does not end the run.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::outcome::{Outcome, Status};
use crate::workspace::Workspace;

/// One thing that must succeed.
pub(crate) struct Step {
    name: &'static str,
    run: Box<dyn Fn(&Workspace) -> Outcome>,
}

impl Step {
    /// A step of this name.
    pub(crate) fn new(name: &'static str, run: impl Fn(&Workspace) -> Outcome + 'static) -> Step {
        Step { name, run: Box::new(run) }
    }
}

/// A line of the closing table: the step, how it ended, and how long it took.
type Row = (&'static str, String, Duration);

/// Runs the steps in turn.
pub(crate) fn run(workspace: &Workspace, steps: Vec<Step>) -> ExitCode {
    let mut rows: Vec<Row> = Vec::new();
    let begin = Instant::now();
    let mut failed = 0;
    let mut failures: Vec<String> = Vec::new();
    for (number, Step { name, run }) in steps.iter().enumerate() {
        println!("\n==> {name} ({} of {})", number + 1, steps.len());
        let step_begin = Instant::now();
        let outcome = run(workspace);
        let word = match &outcome {
            Ok(Status::Passed) => "passed".to_string(),
            Ok(Status::Skipped(reason)) => format!("SKIPPED: {reason}"),
            Err(error) => {
                eprintln!("Step `{name}` failed: {error}");
                let (summary, details) = error.split_once('\n').unwrap_or((error, ""));
                failures.extend((!details.is_empty()).then(|| format!("{name}: {details}")));
                failed += 1;
                format!("FAILED: {summary}")
            }
        };
        rows.push((name, word, step_begin.elapsed()));
    }
    println!("\n{}", table(&rows, begin.elapsed()));
    if failed > 0 {
        // Behind everything, where the end of a long log is read first.
        failures.iter().for_each(|details| eprintln!("{details}"));
        eprintln!("{failed} of {} steps failed.", rows.len());
        return ExitCode::FAILURE;
    }
    let skipped = rows.iter().filter(|(_, word, _)| word.starts_with("SKIPPED")).count();
    match skipped {
        0 => println!("Every step passed: {} of {}.", rows.len(), rows.len()),
        _ => println!("Every step passed or was skipped: {skipped} of {} skipped.", rows.len()),
    }
    ExitCode::SUCCESS
}

fn table(rows: &[Row], total: Duration) -> String {
    let width = rows.iter().map(|(name, ..)| name.len()).max().unwrap_or_default();
    let line = |name: &str, time: Duration, word: &str| {
        let line = format!("{name:width$}  {:>7.1} s  {word}", time.as_secs_f64());
        line.trim_end().to_string() + "\n"
    };
    let rows: String = rows.iter().map(|(name, word, time)| line(name, *time, word)).collect();
    rows + &line("total", total, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_aligned() {
        let rows = [
            ("fuzz", "passed".to_string(), Duration::from_millis(61_250)),
            ("no-std", "SKIPPED: no target".to_string(), Duration::from_millis(40)),
        ];
        let expected = "\
fuzz       61.2 s  passed
no-std      0.0 s  SKIPPED: no target
total      61.3 s
";
        assert_eq!(table(&rows, Duration::from_millis(61_290)), expected);
    }
}
