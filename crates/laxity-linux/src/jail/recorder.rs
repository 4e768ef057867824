//! The tools of a jail: they write down what they are told to do, and say that it is done.
//!
//! What only a machine can show is answered with nothing. Programs that run another one as somebody
//! else run it.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::record::Record;

/// Where the jail keeps what belongs to it.
pub const ROOM: &str = "/run/.laxity";
/// Where commands are written down.
pub const RECORDS: &str = "/run/.laxity/records";
/// There when something was not written down, for there was too much.
pub const FULL: &str = "/run/.laxity/full";
/// Where the script is named.
pub const SCRIPT: &str = "/run/.laxity/script";
/// The most that is written down, in bytes.
pub const MOST: u64 = 16 << 20;

/// The programs that are recorded, or carried out as another user would, in a jail.
pub const TOOLS: [&str; 30] = [
    "tc",
    "ip",
    "ifconfig",
    "ethtool",
    "modprobe",
    "insmod",
    "rmmod",
    "sysctl",
    "iptables",
    "ip6tables",
    "iptables-nft",
    "ip6tables-nft",
    "iptables-legacy",
    "ip6tables-legacy",
    "iptables-restore",
    "ip6tables-restore",
    "iptables-save",
    "ip6tables-save",
    "iptables-nft-restore",
    "ip6tables-nft-restore",
    "iptables-nft-save",
    "ip6tables-nft-save",
    "iptables-legacy-restore",
    "ip6tables-legacy-restore",
    "iptables-legacy-save",
    "ip6tables-legacy-save",
    "nft",
    "sudo",
    "doas",
    "su",
];

/// Carries out a tool of this name, if it is one and this is a jail.
pub fn run(name: &str) -> Option<u8> {
    let tool = TOOLS.iter().find(|tool| **tool == name)?;
    let records = match OpenOptions::new().append(true).open(RECORDS) {
        Ok(records) => records,
        Err(error) if Path::new(ROOM).exists() => {
            eprintln!("{tool}: cannot write down what it is told: {error}");
            return Some(1);
        }
        // Somewhere else the program itself may be called so.
        Err(_) => return None,
    };
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    Some(match *tool {
        "sudo" | "doas" => become_other(&words),
        "su" => become_shell(&words),
        "ip" if let Some(behind) = behind_ip(&words) => become_program(behind),
        _ => record(tool, &words, records),
    })
}

fn record(tool: &str, words: &[OsString], records: File) -> u8 {
    let input = input(tool, words);
    let input = match input.transpose() {
        Ok(input) => input,
        Err(error) => {
            eprintln!("{tool}: cannot read what it is given: {error}");
            return 1;
        }
    };
    let given = words.iter().map(|word| word.to_string_lossy().into_owned());
    let all = std::iter::once(tool.to_string()).chain(given).collect();
    let record = Record::bytes(all, input.as_deref(), place());
    if record.and_then(|record| write(&record, records)).is_err() {
        return 1;
    }
    // Whether a rule is there already: none is.
    let asks = |word: &OsString| word == "-C" || word == "--check";
    u8::from(tool.contains("tables") && words.iter().any(asks))
}

/// How far the shell that started this has read the script. Before it starts something, bash puts
/// its file where it has read to.
fn place() -> Option<u64> {
    let script = std::fs::read_link(SCRIPT).ok()?;
    let mut process = std::os::unix::process::parent_id();
    for _ in 0..32 {
        let folder = format!("/proc/{process}");
        if std::fs::read_link(format!("{folder}/fd/255")).is_ok_and(|file| file == script) {
            let told = std::fs::read_to_string(format!("{folder}/fdinfo/255")).ok()?;
            return told.split_whitespace().nth(1)?.parse().ok();
        }
        // Behind the name, which may hold anything.
        let told = std::fs::read_to_string(format!("{folder}/stat")).ok()?;
        process = told.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
    }
    None
}

/// One record after the other, as long as there is room.
fn write(record: &[u8], mut records: File) -> io::Result<()> {
    records.lock()?;
    if records.metadata()?.len().saturating_add(record.len() as u64) > MOST {
        File::create(FULL)?;
        return Err(io::ErrorKind::StorageFull.into());
    }
    records.write_all(record)
}

/// What a tool reads beside its words.
fn input(tool: &str, words: &[OsString]) -> Option<io::Result<Vec<u8>>> {
    let texts = words.iter().map(|word| word.to_str().unwrap_or(""));
    let value_of = |names: &dyn Fn(&str) -> bool| {
        texts.clone().position(names).map(|at| words.get(at + 1).map(OsString::as_os_str))
    };
    let file = match tool {
        "tc" => {
            let is_batch = |word: &str| word.len() > 1 && "-batch".starts_with(word);
            // Behind what it works on, words of this look are something else.
            let objects = ["qdisc", "class", "filter", "action", "chain", "monitor"];
            let object = texts.clone().position(|word| objects.contains(&word));
            let at = texts.clone().position(is_batch);
            let file = value_of(&is_batch)?;
            if object.is_some_and(|object| at.is_some_and(|at| object < at)) {
                return None;
            }
            file
        }
        "ip" => value_of(&|word| matches!(word, "-b" | "-batch"))?,
        "nft" => {
            let joined = texts.clone().find_map(|word| {
                word.strip_prefix("--file=")
                    .or(word.strip_prefix("-f"))
                    .filter(|rest| !rest.is_empty())
            });
            match joined {
                Some(file) => Some(OsStr::new(file)),
                None => value_of(&|word| matches!(word, "-f" | "--file"))?,
            }
        }
        tool if tool.ends_with("-restore") => restored(words),
        _ => return None,
    };
    let mut text = Vec::new();
    let read = match file {
        None => io::stdin().take(MOST + 1).read_to_end(&mut text),
        Some(name) if name == "-" || name == "/dev/stdin" => {
            io::stdin().take(MOST + 1).read_to_end(&mut text)
        }
        Some(name) => File::open(name).and_then(|file| file.take(MOST + 1).read_to_end(&mut text)),
    };
    Some(read.map(|_| text))
}

/// The file that `iptables-restore` reads: the word that is no option, and no value of one.
fn restored(words: &[OsString]) -> Option<&OsStr> {
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        match word.to_str().unwrap_or_default() {
            "-T" | "--table" | "-M" | "--modprobe" | "-W" | "--wait-interval" => {
                words.next();
            }
            "-w" | "--wait" => {
                let is_number =
                    |word: &&OsString| word.as_encoded_bytes().iter().all(u8::is_ascii_digit);
                words.next_if(is_number);
            }
            option if option.starts_with('-') => {}
            _ => return Some(word),
        }
    }
    None
}

/// `ip netns exec NAME COMMAND`: the command.
fn behind_ip(words: &[OsString]) -> Option<&[OsString]> {
    let start = words.iter().position(|word| !word.as_encoded_bytes().starts_with(b"-"))?;
    match &words[start..] {
        [object, exec, _, command @ ..]
            if (object == "netns" || object == "vrf") && exec == "exec" && !command.is_empty() =>
        {
            Some(command)
        }
        _ => None,
    }
}

/// `sudo OPTIONS NAME=VALUE COMMAND`.
fn become_other(words: &[OsString]) -> u8 {
    let valued = |letter: char| "ugCDhpRrTtU".contains(letter);
    let (mut rest, mut shell) = (words, false);
    while let [option, after @ ..] = rest
        && let Some(letters) = option.to_str().and_then(|text| text.strip_prefix('-'))
    {
        rest = after;
        match letters {
            "-" => break,
            "-shell" | "-login" => shell = true,
            "-user" | "-group" | "-chdir" | "-chroot" | "-host" | "-prompt" | "-close-from" => {
                rest = rest.get(1..).unwrap_or_default();
            }
            _ if letters.starts_with('-') => {}
            _ => {
                let end = letters.find(valued);
                let flags = &letters[..end.unwrap_or(letters.len())];
                shell |= flags.contains(['s', 'i']);
                if end.is_some_and(|end| end + 1 == letters.len()) {
                    rest = rest.get(1..).unwrap_or_default();
                }
            }
        }
    }
    let assignments = rest.iter().take_while(|word| {
        word.to_str()
            .and_then(|text| text.split_once('='))
            .is_some_and(|(name, _)| !name.is_empty())
    });
    let (assignments, rest) = rest.split_at(assignments.count());
    let mut words: Vec<OsString> = vec!["env".into()];
    words.extend(assignments.iter().cloned());
    if shell {
        words.push("sh".into());
        if !rest.is_empty() {
            words.extend(["-c".into(), in_one(rest)]);
        }
    } else if rest.is_empty() {
        return 0;
    } else {
        words.extend(rest.iter().cloned());
    }
    become_program(&words)
}

/// Words quoted as one text that a shell splits into the same words.
fn in_one(words: &[OsString]) -> OsString {
    let mut text = Vec::new();
    for word in words {
        if !text.is_empty() {
            text.push(b' ');
        }
        for byte in word.clone().into_vec() {
            // As sudo does it, which leaves `$` to the shell.
            if !byte.is_ascii_alphanumeric() && !b"_-$".contains(&byte) && byte.is_ascii() {
                text.push(b'\\');
            }
            text.push(byte);
        }
    }
    OsString::from_vec(text)
}

/// `su OPTIONS USER -c TEXT ARGUMENTS`.
fn become_shell(words: &[OsString]) -> u8 {
    let (mut text, mut shell) = (None, OsString::from("sh"));
    let mut words = words.iter();
    let mut arguments = Vec::new();
    let mut user = false;
    while let Some(word) = words.next() {
        match word.to_str().unwrap_or_default() {
            "-c" | "--command" => text = words.next().cloned(),
            "-s" | "--shell" => shell = words.next().cloned().unwrap_or(shell),
            word if word.starts_with("--command=") => text = Some(word[10..].into()),
            "-" | "-l" | "--login" | "-m" | "-p" | "-f" => {}
            _ if user => arguments.push(word.clone()),
            _ => user = true,
        }
    }
    let Some(text) = text else { return 0 };
    become_program(&[&[shell, "-c".into(), text], &arguments[..]].concat())
}

fn become_program(words: &[OsString]) -> u8 {
    let Some((program, arguments)) = words.split_first() else { return 0 };
    let error = Command::new(program).args(arguments).exec();
    eprintln!("{}: {error}", program.to_string_lossy());
    if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn what_tools_read_is_told_by_their_words() {
        let none = |tool: &str, text: &str| assert!(input(tool, &words(text)).is_none(), "{text}");
        none("tc", "qdisc add dev eth0 root handle 1: hfsc");
        none("tc", "filter add dev -b bpf");
        none("nft", "add rule ip t c");
        let file = |tool: &str, text: &str| input(tool, &words(text)).unwrap().unwrap_err();
        for (tool, text) in [
            ("tc", "-force -batch /none"),
            ("tc", "-b /none"),
            ("nft", "-f /none"),
            ("nft", "-f/none"),
            ("nft", "--file=/none"),
            ("ip", "-batch /none"),
            ("iptables-restore", "-n /none"),
            ("iptables-restore", "/none -w 5"),
            ("ip6tables-legacy-restore", "-T mangle --wait /none"),
        ] {
            assert_eq!(file(tool, text).kind(), io::ErrorKind::NotFound, "{tool} {text}");
        }
    }

    #[test]
    fn values_of_options_are_no_files() {
        for text in ["-w 5", "-n -T mangle", "-w", "-M /sbin/modprobe --wait 3 -W 100"] {
            assert_eq!(restored(&words(text)), None, "{text}");
        }
    }

    #[test]
    fn words_of_sudo_stay_apart() {
        let all = [OsString::from("tc"), "a b".into(), "$X".into(), "c;d".into()];
        assert_eq!(in_one(&all), "tc a\\ b $X c\\;d");
    }

    #[test]
    fn a_namespace_runs_the_command_in_it() {
        assert_eq!(behind_ip(&words("netns exec red tc qdisc")), Some(&words("tc qdisc")[..]));
        assert_eq!(behind_ip(&words("-4 vrf exec red tc")), Some(&words("tc")[..]));
        assert_eq!(behind_ip(&words("link set eth0 up")), None);
        assert_eq!(behind_ip(&words("netns exec red")), None);
    }
}
