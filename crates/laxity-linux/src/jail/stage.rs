//! A jail as it is built: a process that makes the namespaces, and in them the first process, which
//! starts the script and watches over it.

use std::ffi::{OsStr, OsString, c_int};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{fchown, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::recorder::{FULL, MOST, RECORDS, SCRIPT};
use super::{Ending, Limits, Order, Record, mounts, walls};
use crate::error::{Doing, Error, refused};
use crate::namespace::become_root;
use crate::sys::{check, done};

/// Who root of the machine is in a jail's place: a user who owns nothing.
const NOBODY: u32 = 65534;
/// How long processes may go on behind a script that has ended.
const AFTERWARDS: Duration = Duration::from_secs(1);
/// How often the processes are looked at.
const TURN: Duration = Duration::from_millis(2);
/// How many turns pass between counts of memory and processes.
const COUNTED: u32 = 10;

/// Builds the jail that standard input orders. What becomes of it is reported on standard output.
pub fn build() -> u8 {
    // The parent may ignore SIGCHLD, and the children here are waited for.
    // SAFETY: the default way to take a signal is no function.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    // Descriptors that the parent left open would be the script's, too.
    // SAFETY: takes integers only, and nothing here has opened anything yet.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0) };
    let done = match serde_json::from_reader(io::stdin().take(64 << 20)) {
        _ if closed < 0 => Err(io::Error::last_os_error()).doing("close what is open"),
        Ok(order) => apart(&order),
        Err(_) => Err(refused("read what to run", "it is not whole")),
    };
    match done {
        Ok(()) => 0,
        Err(error) => {
            let _ = io::stdout().write_all(&Report::NoJail(error.to_string()).line());
            1
        }
    }
}

/// Makes the namespaces, and waits for the first process in them.
fn apart(order: &Order) -> Result<(), Error> {
    // Rather these processes than others, where the machine's memory ends.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    own_user()?;
    let others = libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNET
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWCGROUP;
    // SAFETY: takes an integer only.
    check(unsafe { libc::unshare(others) }).doing("make namespaces")?;
    dies_with_parent().doing("watch over the sandbox")?;
    let (script, folder) = (Path::new(&order.script), Path::new(&order.folder));
    let called = folder.join(&order.name);
    let beside = script.parent().filter(|beside| beside.components().count() > 2);
    mounts::lay_out(&[beside.unwrap_or(script), script, folder, &called])?;
    symlink(script, SCRIPT).doing("name the script")?;
    match fork().doing("start a process")? {
        0 => {
            let (code, report) = match first(order, script, folder) {
                Ok(report) => (0, report),
                Err(error) => (1, Report::NoJail(error.to_string()).line()),
            };
            let _ = io::stdout().write_all(&report);
            // With it all processes of its namespace end.
            std::process::exit(code)
        }
        process => {
            let mut status = 0;
            // SAFETY: `status` lives as long as the call.
            check(unsafe { libc::waitpid(process, &mut status, 0) }).doing("wait")?;
            Ok(())
        }
    }
}

/// A user namespace, in which this process is root.
fn own_user() -> Result<(), Error> {
    // SAFETY: takes nothing and cannot fail.
    let is_root = unsafe { libc::geteuid() } == 0;
    let making = "make a user namespace";
    let users = if is_root { all_users() } else { None };
    if is_root && users.is_none() && is_machines_root() {
        return Err(refused(making, "this is the machine's root where few other users are"));
    }
    let Some(users) = users else { return become_root().doing(making) };
    // What the script writes to is to be its own.
    fchown(io::stderr(), Some(NOBODY), Some(NOBODY)).doing("give standard error away")?;
    // From within a user can be given one name only.
    let (mut reads, writes) = io::pipe().doing("make a pipe")?;
    let this = std::process::id();
    let helper = fork().doing("start a process")?;
    if helper == 0 {
        drop(writes);
        let mut sign = [0];
        let written = reads
            .read_exact(&mut sign)
            .and_then(|()| fs::write(format!("/proc/{this}/uid_map"), &users))
            .and_then(|()| fs::write(format!("/proc/{this}/gid_map"), &users));
        std::process::exit(i32::from(written.is_err()));
    }
    drop(reads);
    // SAFETY: takes an integer only.
    check(unsafe { libc::unshare(libc::CLONE_NEWUSER) }).doing(making)?;
    (&writes).write_all(b"x").doing(making)?;
    let mut status = 0;
    // SAFETY: `status` lives as long as the call.
    check(unsafe { libc::waitpid(helper, &mut status, 0) }).doing("wait")?;
    if status != 0 {
        return Err(refused(making, "the names of users in it cannot be written"));
    }
    // SAFETY: no groups are pointed to, as their number says; the others take integers only.
    let done = unsafe {
        [libc::setgroups(0, std::ptr::null()), libc::setresgid(0, 0, 0), libc::setresuid(0, 0, 0)]
    };
    done.into_iter().try_for_each(|done| check(done).map(drop)).doing(making)
}

/// All users with `NOBODY` in the place of root, so that a script is no user to whom anything
/// belongs; `None` where not all users are there.
fn all_users() -> Option<String> {
    let map = fs::read_to_string("/proc/self/uid_map").ok()?;
    let mut words = map.split_whitespace().map(|word| word.parse::<u32>().ok());
    let (0, _, count) = (words.next()??, words.next()??, words.next()??) else { return None };
    let rest = count.checked_sub(NOBODY + 1)?;
    let mut text = format!("0 {NOBODY} 1\n1 1 {}\n{NOBODY} 0 1\n", NOBODY - 1);
    if rest > 0 {
        text += &format!("{0} {0} {rest}\n", NOBODY + 1);
    }
    Some(text)
}

/// Whether the user 0 is that outside of this namespace, too.
fn is_machines_root() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.split_whitespace().take(2).eq(["0", "0"])
}

/// The first process of the jail: starts the script, and reports what became of it.
fn first(order: &Order, script: &Path, folder: &Path) -> Result<Vec<u8>, Error> {
    dies_with_parent().doing("watch over the sandbox")?;
    // SAFETY: takes nothing.
    check(unsafe { libc::setsid() }).doing("leave the terminal")?;
    mounts::processes()?;
    walls::hide_from_children().and_then(|()| walls::limit(&order.limits)).doing("set limits")?;
    let records = File::open(RECORDS).doing("open the records")?;
    let is_seen = folder.is_dir() && folder.join(&order.name).exists();
    let name = if is_seen { Path::new(&order.name) } else { script };
    walls::restrict()?;
    let run = || {
        let mut command =
            command(order, script, name).doing(format!("read {}", script.display()))?;
        command.current_dir(if folder.is_dir() { folder } else { Path::new("/") });
        let shell = command.get_program().display().to_string();
        let doing = format!("start {shell}, the shell of {}", script.display());
        let started = command.spawn().doing(doing)?;
        watch(started.id() as libc::pid_t, &order.limits).doing("wait")
    };
    let (ending, left_running) = match run() {
        Ok(ended) => ended,
        Err(error) => return Ok(Report::NotStarted(error.to_string()).line()),
    };
    let mut report = Report::Ended { ending, left_running, full: Path::new(FULL).exists() }.line();
    records.take(MOST).read_to_end(&mut report).doing("read the records")?;
    Ok(report)
}

/// The script's shell, with the script and its arguments.
fn command(order: &Order, script: &Path, name: &Path) -> io::Result<Command> {
    let mut beginning = Vec::new();
    File::open(script)?.take(4096).read_to_end(&mut beginning)?;
    let shell = ["/bin/bash", "/usr/bin/bash"].into_iter().find(|path| Path::new(path).exists());
    let words = shebang(&beginning).unwrap_or_else(|| vec![shell.unwrap_or("/bin/sh").into()]);
    let mut words = words.iter();
    let mut command = Command::new(words.next().map_or(OsStr::new("/bin/sh"), OsString::as_os_str));
    command.args(words).arg(name).args(&order.arguments);
    command.env_clear().env("PATH", mounts::PATH).env("LANG", "C.UTF-8");
    for (name, value) in
        [("HOME", "/root"), ("USER", "root"), ("LOGNAME", "root"), ("SHELL", "/bin/sh")]
    {
        command.env(name, value);
    }
    command.envs(order.environment.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(Stdio::null());
    Ok(command)
}

/// The interpreter of a `#!` line and its one argument.
fn shebang(text: &[u8]) -> Option<Vec<OsString>> {
    let line = text.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = line.trim_ascii();
    let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    let (program, argument) = (&line[..end], line[end..].trim_ascii());
    let words = [program, argument].into_iter().filter(|word| !word.is_empty());
    let words: Vec<OsString> = words.map(|word| OsStr::from_bytes(word).to_os_string()).collect();
    (!words.is_empty()).then_some(words)
}

/// Waits for the script and what it starts. How it ended, and whether something had to be ended
/// after it.
fn watch(script: libc::pid_t, limits: &Limits) -> io::Result<(Ending, bool)> {
    let longest = Duration::from_secs(1 << 32);
    let mut until = Instant::now() + limits.time.min(longest);
    let mut ending = None;
    for turn in 0_u32.. {
        loop {
            let mut status = 0;
            // SAFETY: `status` lives as long as the call.
            match check(unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) }) {
                Ok(0) => break,
                Ok(process) if process == script => {
                    ending = Some(if libc::WIFSIGNALED(status) {
                        Ending::Signal(libc::WTERMSIG(status))
                    } else {
                        Ending::Exited(libc::WEXITSTATUS(status))
                    });
                    until = until.min(Instant::now() + AFTERWARDS);
                }
                Ok(_) => {}
                Err(error) => match (error.raw_os_error(), ending) {
                    (Some(libc::ECHILD), Some(ending)) => return Ok((ending, false)),
                    _ => return Err(error),
                },
            }
        }
        if Instant::now() >= until {
            return Ok((ending.unwrap_or(Ending::Time), ending.is_some()));
        }
        if turn % COUNTED == 0 {
            let (processes, memory) = taken()?;
            if memory > limits.memory {
                return Ok((Ending::Memory, false));
            }
            if processes > limits.processes {
                return Ok((Ending::Processes, false));
            }
        }
        sleep(TURN);
    }
    Err(io::ErrorKind::TimedOut.into())
}

/// How many processes there are, and the memory that they take.
fn taken() -> io::Result<(u64, u64)> {
    let (mut processes, mut pages) = (0, 0);
    for entry in fs::read_dir("/proc")? {
        let entry = entry?;
        // One that has ended in the meantime takes nothing.
        let Ok(text) = fs::read_to_string(entry.path().join("statm")) else { continue };
        if entry.file_name().as_bytes().iter().all(u8::is_ascii_digit) {
            processes += 1;
            let resident = text.split(' ').nth(1).and_then(|word| word.parse::<u64>().ok());
            pages += resident.unwrap_or(0);
        }
    }
    // SAFETY: takes an integer only.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    Ok((processes, pages * u64::try_from(page).unwrap_or(4096)))
}

/// Makes this process end when the one ends that started it.
fn dies_with_parent() -> io::Result<()> {
    // SAFETY: this operation takes integers only.
    done(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong, 0, 0, 0) })
}

/// Forks: the number of the new process, or 0 in the new process.
fn fork() -> io::Result<c_int> {
    // SAFETY: this process was started to build a jail and has no other threads, so that nothing is
    // held in the new one by a thread that is not there.
    check(unsafe { libc::fork() })
}

/// What became of a script, as a line before the records.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Report {
    /// It was started.
    Ended { ending: Ending, left_running: bool, full: bool },
    /// It was not, for a reason of its own.
    NotStarted(String),
    /// There is no jail for it.
    NoJail(String),
}

impl Report {
    fn line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).expect("texts and numbers can be written");
        line.push(b'\n');
        line
    }
}

/// What became of a script, and the records.
pub fn read_report(report: &[u8]) -> (Report, Vec<Record>) {
    let end = report.iter().position(|byte| *byte == b'\n').unwrap_or(report.len());
    let (line, records) = report.split_at(end);
    let records = records.strip_prefix(b"\n").unwrap_or_default();
    let lost = |_| Report::NotStarted("the sandbox ended early".to_string());
    (serde_json::from_slice(line).unwrap_or_else(lost), Record::read_all(records))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_as_it_is_written() {
        let record = Record { words: vec!["tc".into()], ..Record::default() };
        for ending in
            [Ending::Exited(3), Ending::Signal(9), Ending::Time, Ending::Memory, Ending::Processes]
        {
            let ended = || Report::Ended { ending, left_running: true, full: false };
            let bytes = Record::bytes(record.words.clone(), None, None).unwrap();
            let report = [ended().line(), bytes].concat();
            assert_eq!(read_report(&report), (ended(), vec![record.clone()]));
        }
        let why = || Report::NoJail("why".into());
        assert_eq!(read_report(&why().line()), (why(), Vec::new()));
        let lost = Report::NotStarted("the sandbox ended early".into());
        assert_eq!(read_report(b""), (lost, Vec::new()));
    }

    #[test]
    fn the_first_line_says_the_shell() {
        let words = |text: &str| shebang(text.as_bytes()).unwrap_or_default();
        assert_eq!(words("#!/bin/sh\necho"), ["/bin/sh"]);
        assert_eq!(words("#! /usr/bin/env  bash -e \n"), ["/usr/bin/env", "bash -e"]);
        assert!(words("#!\n").is_empty() && words("echo").is_empty() && words("").is_empty());
    }

    #[test]
    fn root_is_nobody() {
        if let Some(map) = all_users() {
            assert!(map.starts_with("0 65534 1\n1 1 65533\n65534 0 1\n"), "{map}");
        }
    }
}
