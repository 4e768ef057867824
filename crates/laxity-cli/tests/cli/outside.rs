//! Files from outside that are none: every command says the same of them, at once, and writes
//! nothing.

use std::fs;

use crate::bad_input::{PLAN, refused};
use crate::folder::Folder;

/// Every command that reads a file of text, with the name of that file.
fn commands(odd: &str) -> Vec<Vec<&str>> {
    vec![
        vec!["check", odd],
        vec!["run", odd],
        vec!["compare", odd, "--schedulers", "fifo,edf"],
        vec!["fit", odd],
        vec!["sweep", odd, "--out", "out"],
        vec!["sweep", "study.toml", "--out", "out"],
        vec!["tune", odd, "--out", "out"],
        vec!["tune", "tuned.toml", "--out", "out"],
        vec!["export", "tc", odd, "--dev", "eth0"],
    ]
}

fn folder(odd: &str) -> Folder {
    let study = format!("version = 1\nplan = '{odd}'\n");
    let tuned = format!("{study}minimise.'link.rate' = {{ from = '1mbit', to = '2mbit' }}\n");
    Folder::with_plan(PLAN).with("study.toml", study).with("tuned.toml", tuned)
}

#[test]
fn what_is_not_there() {
    for command in commands("odd") {
        refused(&folder("odd"), &command, &["odd", "there is no such file"]);
    }
}

#[test]
fn folders() {
    for command in commands("odd") {
        let folder = folder("odd");
        fs::create_dir(folder.path("odd")).unwrap();
        refused(&folder, &command, &["odd", "this is a folder, not a file"]);
    }
}

#[test]
fn text_that_is_not_utf8() {
    for command in commands("odd") {
        let folder = folder("odd").with("odd", b"version = 1\n# caf\xe9\n");
        refused(&folder, &command, &["odd:2", "the byte 0xe9 is not UTF-8 text"]);
    }
}

/// No more is read than the limit: otherwise this would end without memory.
#[cfg(unix)]
#[test]
fn files_without_end() {
    for command in commands("/dev/zero") {
        refused(&folder("/dev/zero"), &command, &["/dev/zero", "the file is larger than 16 MiB"]);
    }
}
