//! Compiling programs in C and C++, and running them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Werror", "-pedantic"];

/// What looks for faults while a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tools {
    /// The static library, with the sanitizers for addresses and undefined behaviour.
    Sanitizers,
    /// The static library, with valgrind.
    Valgrind,
    /// The shared library, with nothing.
    Shared,
}

/// A program that was compiled.
pub(crate) struct Program {
    folder: TempDir,
    tools: Tools,
}

/// The folder of this crate.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder in which cargo has put the libraries.
pub(crate) fn libraries() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    test.parent().expect("it is in a folder").to_path_buf()
}

/// Whether a tool is there; says so if not.
pub(crate) fn is_there(tool: &str, version: &str) -> bool {
    let found = Command::new(tool).arg(version).output();
    let is_there = found.is_ok_and(|output| output.status.success());
    if !is_there {
        eprintln!("SKIPPED: {tool} is not installed");
    }
    is_there
}

impl Program {
    /// Compiles a program of this folder.
    pub(crate) fn compile(source: &str, tools: Tools, flags: &[&str]) -> Program {
        let folder = tempfile::tempdir().expect("a folder for the program");
        let (compiler, standard) =
            if source.ends_with(".c") { ("gcc", "c99") } else { ("g++", "c++17") };
        let mut command = Command::new(compiler);
        command.arg(format!("-std={standard}")).args(WARNINGS).args(["-g", "-O1"]).args(flags);
        command.arg("-I").arg(root().join("include")).arg(root().join("tests/c").join(source));
        command.arg("-o").arg(folder.path().join("program"));
        let libraries = libraries();
        match tools {
            Tools::Sanitizers => {
                command.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
                command.arg(libraries.join("liblaxity_c.a"));
            }
            Tools::Valgrind => {
                command.arg(libraries.join("liblaxity_c.a"));
            }
            Tools::Shared => {
                // As `install.sh` names it.
                let name = folder.path().join("liblaxity.so.0");
                std::fs::copy(libraries.join("liblaxity_c.so"), &name).expect("it is built");
                command.arg(name).arg(format!("-Wl,-rpath,{}", folder.path().display()));
            }
        }
        succeed(command.args(["-lpthread", "-ldl", "-lm"]), "");
        Program { folder, tools }
    }

    /// Runs it; it has to succeed. Returns what it prints.
    pub(crate) fn run(&self, arguments: &[&str], input: &str) -> String {
        let program = self.folder.path().join("program");
        let mut command = match self.tools {
            Tools::Valgrind => {
                let mut valgrind = Command::new("valgrind");
                // Rust keeps the handle of a thread by a pointer into it: "possibly lost".
                valgrind.args(["-q", "--error-exitcode=9", "--leak-check=full"]);
                valgrind.args(["--errors-for-leak-kinds=definite", "--fair-sched=yes"]);
                let known = root().join("tests/c/valgrind.supp");
                valgrind.arg(format!("--suppressions={}", known.display())).arg(program);
                valgrind
            }
            Tools::Sanitizers | Tools::Shared => Command::new(program),
        };
        succeed(command.args(arguments), input)
    }
}

/// A text compiles in a language, without a warning.
pub(crate) fn compiles(text: &str, language: &str) {
    let compiler = if language.starts_with("c++") { ["g++", "-xc++"] } else { ["gcc", "-xc"] };
    let mut command = Command::new(compiler[0]);
    command.arg(compiler[1]).arg(format!("-std={language}")).args(WARNINGS);
    command.arg("-fsyntax-only").arg("-I").arg(root().join("include")).arg("-");
    succeed(&mut command, text);
}

/// Runs a command that has to succeed. Returns what it prints.
pub(crate) fn succeed(command: &mut Command, input: &str) -> String {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (mut stdin, input) = (child.stdin.take().expect("piped"), input.to_string());
    let writer = std::thread::spawn(move || {
        // One that ends before it has read everything says why by itself.
        let _ = stdin.write_all(input.as_bytes());
    });
    let Output { status, stdout, stderr } = child.wait_with_output().expect("it ends");
    writer.join().expect("no panic");
    let stderr = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{command:?}: {status}\n{stderr}");
    String::from_utf8(stdout).expect("text")
}
