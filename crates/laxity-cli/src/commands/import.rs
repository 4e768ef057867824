//! `laxity import`: plans from what shapes a link today.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

use laxity_plan::import::{self, Import, LARGEST_SCRIPT, NoteKind, Options};

use crate::args::{ImportFrom, ImportTc};
use crate::failure::Failure;
use crate::{Promises, print};

/// Carries the command out.
pub fn run(from: &ImportFrom) -> Result<Promises, Failure> {
    match from {
        ImportFrom::Tc(tc) => from_tc(tc),
    }
}

fn from_tc(arguments: &ImportTc) -> Result<Promises, Failure> {
    let (name, script) = script(&arguments.script)?;
    let options = Options { link_rate: arguments.link_rate, device: arguments.dev.clone() };
    let import = import::tc(&script, &name, &options)?;
    match &arguments.out {
        None => print(&import.plan)?,
        Some(out) => {
            write(out, &import.plan)?;
            print(&format!("Plan: {}", out.display()))?;
        }
    }
    // Like every reader that has gone away, one of this list is no failure.
    let _ = io::stderr().lock().write_all(told(&import, &name).as_bytes());
    Ok(Promises::Kept)
}

/// The script's name and text; `-` is standard input.
fn script(path: &Path) -> Result<(String, String), Failure> {
    let limit = LARGEST_SCRIPT as u64 + 1;
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        let read = io::stdin().lock().take(limit).read_to_end(&mut bytes);
        read.map_err(|error| Failure::refused("standard input", &error))?;
        return Ok(("standard input".into(), text(&bytes)));
    }
    let name = path.display().to_string();
    let read = File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes));
    match read.map_err(|error| (error.kind(), error)) {
        Ok(_) => Ok((name, text(&bytes))),
        Err((ErrorKind::NotFound, _)) => {
            Err(Failure::input(format!("{name}: there is no such file")))
        }
        Err((ErrorKind::IsADirectory, _)) => {
            Err(Failure::input(format!("{name}: this is a folder, not a script")))
        }
        Err((_, error)) => Err(Failure::refused(name, &error)),
    }
}

/// Comments may be in any encoding; what counts is ASCII.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Writes a plan, but never over another file: what was added to an earlier import would be gone.
fn write(out: &Path, plan: &str) -> Result<(), Failure> {
    let shown = out.display();
    let mut file = File::create_new(out).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::input(format!(
            "{shown} is there already and is not written over: give --out another name, or remove it"
        )),
        _ => Failure::input(format!(
            "cannot write {shown}: {error}; give --out a file that can be created"
        )),
    })?;
    file.write_all(plan.as_bytes()).map_err(|error| {
        let _ = std::fs::remove_file(out);
        Failure::refused(shown, &error)
    })
}

/// The notes as a list.
fn told(import: &Import, name: &str) -> String {
    let mut text = String::new();
    for kind in NoteKind::ALL {
        let mut of_kind = import.notes.iter().filter(|note| note.kind == kind).peekable();
        if of_kind.peek().is_some() {
            text += &format!("{kind}:\n");
        }
        for note in of_kind {
            text += &match note.line {
                0 => format!("  {}\n", note.text),
                line => format!("  {name}:{line}: {}\n", note.text),
            };
        }
    }
    text
}
