//! Shapes of scripts, run by bash in a sandbox and interpreted. Where the interpreter answers, the
//! commands are those that bash issued; where it does not, it says so. No harness of tests, as this
//! program is the sandbox's tools, too.

use std::process::ExitCode;

/// Shapes behind lines of `---`; what is written begins with `$T`, which is a folder.
const SHAPES: &str = include_str!("shapes.sh");

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    println!("skipped: the sandbox is of Linux, and with it {} bytes of shapes", SHAPES.len());
    ExitCode::SUCCESS
}

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    match laxity_linux::jail::role() {
        Some(code) => code.into(),
        None if std::env::args().any(|word| word == "--list") => {
            println!("shapes: test");
            ExitCode::SUCCESS
        }
        None => linux::compare(),
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::path::Path;
    use std::process::ExitCode;

    use laxity_linux::Error;
    use laxity_linux::jail::Jail;
    use laxity_tc::{RecordedCommand, words, words_recorded};

    use super::SHAPES;

    type Commands = Vec<Vec<String>>;

    /// Prints the table, and fails where the interpreter answers and is wrong.
    pub(crate) fn compare() -> ExitCode {
        if !Path::new("/bin/bash").exists() {
            println!("skipped: this machine has no bash");
            return ExitCode::SUCCESS;
        }
        let folder = std::env::temp_dir().join(format!("laxity-shapes-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let (mut same, mut refused, mut different) = (0, 0, Vec::new());
        for shape in SHAPES.split("\n---\n").skip(1) {
            let shape = shape.trim_end_matches('\n');
            let theirs = match issued(&folder, shape) {
                Ok(theirs) => theirs,
                Err(error) if same + refused == 0 && different.is_empty() => {
                    println!("skipped: {error}");
                    break;
                }
                Err(error) => panic!("{shape}\n{error}"),
            };
            let first = shape.lines().next().unwrap_or_default();
            match words(
                &format!("T=/tmp/t\n{shape}\n"),
                &folder.join("script.sh").to_string_lossy(),
            ) {
                Ok(ours) if bare(&ours) == bare(&theirs) => {
                    println!("same       {first}");
                    same += 1;
                }
                Ok(ours) => {
                    println!("DIFFERENT  {first}");
                    different.push(format!(
                        "{shape}\n  bash: {:?}\n  here: {:?}",
                        bare(&theirs),
                        bare(&ours)
                    ));
                }
                Err(error) => {
                    println!("refused    {first}\n           {error}");
                    let help = error.help().unwrap_or_default();
                    // Where a shell ends, running it does not help.
                    let ends = ["has no value", "readonly", "the script needs"];
                    let ends = ends.iter().any(|end| error.message().contains(end));
                    assert!(ends || help.contains("--run"), "{shape}\n{error}: {help}");
                    refused += 1;
                }
            }
        }
        std::fs::remove_dir_all(&folder).expect("the folder");
        let count = same + refused + different.len();
        println!("{count} shapes: {same} same, {refused} refused, {} different", different.len());
        println!("{}", different.join("\n"));
        ExitCode::from(u8::from(!different.is_empty()))
    }

    /// What bash issues.
    fn issued(folder: &Path, shape: &str) -> Result<Commands, Error> {
        let script = folder.join("script.sh");
        let text = format!("#!/bin/bash\nmkdir /tmp/t\nT=/tmp/t\n{shape}\n");
        std::fs::write(&script, text).expect("a script");
        let ran = Jail::new(script).run()?;
        let records = ran.records.into_iter();
        let issued = records.map(|record| RecordedCommand {
            words: record.words,
            input: record.input,
            at: record.at,
        });
        Ok(words_recorded(&issued.collect::<Vec<_>>()).expect("few commands"))
    }

    /// Commands without the folder of their program, `tc`, and what sets nothing up.
    fn bare(commands: &Commands) -> Commands {
        let mut bare = Vec::new();
        for command in commands {
            let mut words = command.clone();
            if let Some(first) = words.first_mut() {
                *first = first.rsplit('/').next().unwrap_or_default().to_string();
            }
            if words.first().is_some_and(|first| first == "tc") {
                words.remove(0);
            }
            // What is deleted counts for nothing.
            let shows = |word: &String| matches!(&word[..], "show" | "list" | "ls" | "del");
            if !words.get(1).is_some_and(shows) {
                bare.push(words);
            }
        }
        bare
    }
}
