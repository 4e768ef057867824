//! The tests of every crate, and what of their output is worth reading last.

use std::io::{BufRead, BufReader, Write};

use crate::outcome::{Outcome, Status};
use crate::steps::Step;
use crate::workspace::Workspace;

/// A program of tests that hangs is ended after 15 minutes, and what it started with it.
const LIMITED: &str = r#"target."cfg(target_os = \"linux\")".runner = ["timeout", "900"]"#;

/// How long a counterexample is made smaller, in ms: a property that takes long would not end.
const SHRINKING: &str = "120000";

/// How many lines of one program's failures are repeated.
const LINES: usize = 80;

/// How many of the slowest programs of tests are named.
const SLOWEST: usize = 8;

/// Unit, property, integration and documentation tests of every crate.
pub(crate) fn step() -> Step {
    Step::new("tests", run)
}

fn run(workspace: &Workspace) -> Outcome {
    let unpiped = |error: std::io::Error| error.to_string();
    let (output, writer) = std::io::pipe().map_err(unpiped)?;
    let mut test = workspace.cargo();
    test.args(["--config", LIMITED, "test", "--workspace", "--no-fail-fast"]);
    test.env("PROPTEST_MAX_SHRINK_TIME", SHRINKING);
    test.stdout(writer.try_clone().map_err(unpiped)?).stderr(writer);
    let mut child = test.spawn().map_err(unpiped)?;
    // The command holds the pipe's other end, which would keep it open.
    drop(test);
    let mut log = Log::default();
    for line in BufReader::new(output).split(b'\n') {
        let line = line.map_err(unpiped)?;
        let line = String::from_utf8_lossy(&line);
        // A reader that is gone does not end the tests.
        let _ = writeln!(std::io::stdout(), "{line}");
        log.line(&line);
    }
    let status = child.wait().map_err(unpiped)?;
    println!("\n{}", log.slowest());
    if status.success() {
        return Ok(Status::Passed);
    }
    Err(format!("{status}\n{}", log.failures()))
}

/// What programs of tests print, as it comes.
#[derive(Default)]
struct Log {
    programs: Vec<Program>,
}

/// One program of tests.
#[derive(Default)]
struct Program {
    name: String,
    /// How long its tests took, as it says.
    seconds: Option<f64>,
    /// What it says of those that failed.
    failures: Vec<String>,
    /// Whether its lines are of failures.
    failing: bool,
    /// Tests that take long and are not over, as far as is known.
    slow: Vec<String>,
}

impl Log {
    fn line(&mut self, line: &str) {
        let line = line.trim_end();
        let words = line.trim_start();
        if let Some(name) = words.strip_prefix("Running ").or(words.strip_prefix("Doc-tests ")) {
            self.programs.push(Program { name: name.to_string(), ..Program::default() });
            return;
        }
        let Some(program) = self.programs.last_mut() else { return };
        if let Some(result) = line.strip_prefix("test result: ") {
            program.failing = false;
            program.seconds = finished(result);
        } else if line == "failures:" {
            program.failing = true;
        } else if program.failing || words.starts_with("error: ") {
            program.failures.push(line.to_string());
        } else if let Some(test) = line.strip_prefix("test ") {
            if let Some((name, _)) = test.split_once(" has been running for") {
                program.slow.push(name.to_string());
            } else if let Some((name, _)) = test.split_once(" ... ") {
                program.slow.retain(|slow| slow != name);
            }
        }
    }

    /// The programs that took longest, the slowest first.
    fn slowest(&self) -> String {
        let mut timed: Vec<(f64, &str)> =
            self.programs.iter().filter_map(|it| Some((it.seconds?, it.name.as_str()))).collect();
        timed.sort_by(|one, other| other.0.total_cmp(&one.0));
        timed.iter().take(SLOWEST).map(|(time, name)| format!("{time:>7.1} s  {name}\n")).collect()
    }

    /// The end of what each program says of its failures: the names of the tests stand there.
    fn failures(&self) -> String {
        let failed = self.programs.iter().filter(|program| !program.failures.is_empty());
        let text = |program: &Program| {
            let lines = &program.failures;
            let shown = lines[lines.len().saturating_sub(LINES)..].join("\n");
            let endless = program.slow.iter().map(|name| format!("{name} was not over\n"));
            format!("{}\n{shown}\n{}", program.name, endless.collect::<String>())
        };
        failed.map(text).collect()
    }
}

/// The seconds at the end of "ok. 3 passed; ...; finished in 0.25s".
fn finished(result: &str) -> Option<f64> {
    result.rsplit(' ').next()?.strip_suffix('s')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_and_times_are_repeated() {
        let printed = "\
   Compiling laxity v0.1.0
     Running unittests src/lib.rs (target/debug/deps/laxity-1)
test quick ... ok
test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.25s
     Running tests/cli/main.rs (target/debug/deps/cli-2)
test slow has been running for over 60 seconds
test endless has been running for over 60 seconds
test slow ... FAILED

failures:

---- slow stdout ----
3 is not 4

failures:
    slow

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 9.50s

error: test failed, to rerun pass `-p laxity-cli --test cli`
";
        let mut log = Log::default();
        printed.lines().for_each(|line| log.line(line));
        let slowest = "    9.5 s  tests/cli/main.rs (target/debug/deps/cli-2)\n    0.2 s  unittests src/lib.rs (target/debug/deps/laxity-1)\n";
        assert_eq!(log.slowest(), slowest);
        let failures = log.failures();
        assert!(failures.starts_with("tests/cli/main.rs"), "{failures}");
        assert!(failures.contains("3 is not 4") && failures.contains("    slow\n"), "{failures}");
        assert!(failures.ends_with("endless was not over\n"), "{failures}");
        assert!(!failures.contains("slow was"), "{failures}");
    }
}
