//! Scripts that try to get out of a jail, and what is recorded of others. No harness of tests, as
//! this program is a jail's tools, too: it must find that out before there are threads.

mod escapes;
mod limits;
mod recorded;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use laxity_linux::jail::{self, Ending, Jail, Limits, ScriptRun};

type Test = (&'static str, fn());

fn main() -> ExitCode {
    if let Some(code) = jail::role() {
        return code.into();
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    let tests: Vec<Test> = [recorded::TESTS, limits::TESTS, escapes::TESTS].concat();
    if words.iter().any(|word| word == "--list") {
        tests.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let folder = Folder::new("able");
    if let Err(error) = Jail::new(folder.script("")).run() {
        println!("skipped: {error}");
        return ExitCode::SUCCESS;
    }
    let filters: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let mut failed = false;
    for (name, test) in tests {
        if filters.iter().all(|filter| name.contains(filter.as_str())) {
            let passed = std::panic::catch_unwind(test).is_ok();
            println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
            failed |= !passed;
        }
    }
    ExitCode::from(u8::from(failed))
}

/// A folder that goes with the value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("laxity-jail-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("a file");
        path
    }

    fn script(&self, text: &str) -> PathBuf {
        self.write("script.sh", &format!("#!/bin/bash\n{text}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Limits that are met soon.
fn short() -> Limits {
    Limits { time: Duration::from_secs(3), ..Limits::default() }
}

fn run(text: &str) -> ScriptRun {
    let folder = Folder::new("script");
    Jail::new(folder.script(text)).run().expect("it runs")
}

/// The words of all that was recorded, in lines.
fn lines(ran: &ScriptRun) -> Vec<String> {
    ran.records.iter().map(|record| record.words.join(" ")).collect()
}

/// A script ended by itself; what it said otherwise.
#[track_caller]
fn ended(ran: &ScriptRun, status: i32) {
    let said = String::from_utf8_lossy(&ran.said);
    assert_eq!(ran.ending, Ending::Exited(status), "{said}");
}
