//! What a script issued as it ran, read as a script that consists of that alone.

use laxity_plan::PlanError;
use laxity_plan::error::Fault;

use crate::assembly::Commands;
use crate::contract::Contract;
use crate::contract::MARK;
use crate::error::plain;
use crate::import::{Import, Options, plan_of, take_all};
use crate::netfilter::restore;
use crate::notes::{Note, Notes};
use crate::shell;
use crate::words::command::Command;
use crate::words::texts::Texts;

/// The most of what was asked that is told.
const MOST_ASKED: usize = 20;

/// A script that was run, with what came of it.
#[derive(Clone, Debug, Default)]
pub struct Ran<'a> {
    /// Its text.
    pub script: &'a str,
    /// What it issued, in order.
    pub issued: Vec<Issued>,
    /// What else is to be said of it, in sentences without their full stops.
    pub told: Vec<String>,
}

/// One command that a script issued.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Issued {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// What the command reads beside them.
    pub input: Option<String>,
    /// How far the script had been read then, in bytes.
    pub at: Option<u64>,
}

/// Writes the plan for the set-up that a script issued, as [`import`](crate::import) does for one
/// that is read. Of the options, the rate and the interface count; lines in notes are those up to which the
/// script had been read.
///
/// # Errors
/// As of [`import`](crate::import). They show the command as it was issued.
pub fn import_ran(ran: &Ran<'_>, name: &str, options: &Options) -> Result<Import, PlanError> {
    let written = Written::new(ran);
    let shown = format!("{name}, as it ran");
    let texts = Texts::new(&written.text, &shown, &[])?;
    let imported = import(ran, &written, name, options);
    // What became of the script may be why.
    let told: String = ran.told.iter().map(|text| format!(" {}.", capitalized(text))).collect();
    imported.map_err(|fault| texts.error(fault.more_help(&told)))
}

fn import(
    ran: &Ran<'_>,
    written: &Written,
    name: &str,
    options: &Options,
) -> Result<Import, Fault> {
    let mut commands = Commands::new(options.device.clone());
    for text in &ran.told {
        commands.notes.reading(0, text);
    }
    for (at, (_, text)) in written.asked.iter().enumerate() {
        let text = format!(
            "the script asked `{text}` and was told nothing, as by a machine that has nothing yet"
        );
        commands.notes.reading(written.lines.len() + at + 1, text);
    }
    let found = commands_of(written, &mut commands.notes)?;
    if !found.iter().any(Command::sets_up) {
        let count = ran.issued.len();
        let message = format!("as it ran, the script set nothing up: it issued {count} commands");
        let help =
            "say what it is called with behind its name, and its variables as in --set NAME=VALUE.";
        return Err(Fault::new(None, message).help(help));
    }
    take_all(&mut commands, found)?;
    let contract = Contract::read(ran.script);
    plan_of(commands, contract, name, options, |note| written.located(note))
}

fn capitalized(text: &str) -> String {
    let mut signs = text.chars();
    signs.next().map_or(String::new(), |first| first.to_uppercase().chain(signs).collect())
}

/// The words of every command of tc, and of those beside it that count, which a script issued.
///
/// # Errors
/// If there are more than are read.
pub fn words_issued(issued: &[Issued]) -> Result<Vec<Vec<String>>, PlanError> {
    let written = Written::new(&Ran { issued: issued.to_vec(), ..Ran::default() });
    let commands = commands_of(&written, &mut Notes::default());
    let commands = commands.map_err(|fault| PlanError::new("", &written.text, fault))?;
    Ok(commands.iter().map(Command::texts).collect())
}

fn commands_of(written: &Written, notes: &mut Notes) -> Result<Vec<Command>, Fault> {
    let call = shell::Call { arguments: Some(Vec::new()), ..shell::Call::default() };
    shell::commands(&written.text, written.text.len(), "", &call, notes)
}

/// Issued commands as a script.
#[derive(Debug, Default)]
struct Written {
    text: String,
    /// The lines of the script that was run, by those of the text. Behind them in number are those of what was asked.
    lines: Vec<usize>,
    /// What the script asked, each once, with its line.
    asked: Vec<(usize, String)>,
}

impl Written {
    fn new(ran: &Ran<'_>) -> Self {
        let mut written = Written::default();
        let lines = Lines::new(ran.script);
        for (at, issued) in ran.issued.iter().enumerate() {
            let found = lines.of(issued);
            let line = found.map_or(0, |line| line.number);
            if asks(&issued.words) {
                written.ask(line, &issued.words);
                continue;
            }
            // A line with several commands has no comment on one of them.
            let alone = |other: Option<&Issued>| other.is_none_or(|other| other.at != issued.at);
            let before = at.checked_sub(1).and_then(|at| ran.issued.get(at));
            let is_alone = alone(before) && alone(ran.issued.get(at + 1));
            let comment = found.filter(|_| is_alone).and_then(|line| line.comment);
            written.push(line, &command(issued, comment));
        }
        written
    }

    fn push(&mut self, line: usize, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
        self.lines.extend(std::iter::repeat_n(line, text.matches('\n').count() + 1));
    }

    fn ask(&mut self, line: usize, words: &[String]) {
        let text = plain(&words.join(" "));
        if self.asked.len() < MOST_ASKED && !self.asked.iter().any(|(_, known)| *known == text) {
            self.asked.push((line, text));
        }
    }

    /// A note with the line of the script that was run.
    fn located(&self, note: Note) -> Note {
        let asked = self.asked.iter().map(|(line, _)| line);
        let line = note.line.checked_sub(1).and_then(|at| self.lines.iter().chain(asked).nth(at));
        Note { line: line.copied().unwrap_or(0), ..note }
    }
}

/// The lines of the script that was run in which anything stands.
struct Lines<'a> {
    length: u64,
    all: Vec<Line<'a>>,
}

struct Line<'a> {
    number: usize,
    /// Where its first sign stands in the script.
    begin: u64,
    /// The comment at its end.
    comment: Option<&'a str>,
}

impl<'a> Lines<'a> {
    fn new(script: &'a str) -> Self {
        let (mut all, mut passed) = (Vec::new(), 0);
        for (at, line) in script.split_inclusive('\n').enumerate() {
            if let Some(blank) = line.bytes().position(|byte| !byte.is_ascii_whitespace()) {
                let begin = (passed + blank) as u64;
                all.push(Line { number: at + 1, begin, comment: comment(line.trim_ascii_end()) });
            }
            passed += line.len();
        }
        Lines { length: script.len() as u64, all }
    }

    /// The line in which the command ends that issued this, if that is known.
    fn of(&self, issued: &Issued) -> Option<&Line<'a>> {
        let at = issued.at.filter(|at| *at <= self.length)?;
        self.all[..self.all.partition_point(|line| line.begin < at)].last()
    }
}

/// The comment at the end of a line.
fn comment(line: &str) -> Option<&str> {
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '#') if before.is_whitespace() => {
                let comment = &line[at..];
                return (!comment.starts_with(MARK)).then_some(comment);
            }
            _ => {}
        }
        before = c;
    }
    None
}

/// A command as a script has it.
fn command(issued: &Issued, comment: Option<&str>) -> String {
    let program = issued.words.first().map_or("", String::as_str);
    let words: Vec<String> = issued.words.iter().map(|word| quoted(word)).collect();
    let Some(input) = &issued.input else {
        let comment = comment.map(|comment| format!(" {comment}")).unwrap_or_default();
        return words.join(" ") + &comment;
    };
    let read = match program {
        "tc" => "tc -batch -".to_string(),
        "nft" => "nft -f -".to_string(),
        "ip" => {
            let words =
                |line: &str| line.split_whitespace().map(quoted).collect::<Vec<_>>().join(" ");
            let lines = input.lines().filter(|line| !line.trim_start().starts_with('#'));
            return lines.map(|line| format!("ip {}", words(line))).collect::<Vec<_>>().join("\n");
        }
        _ => {
            let mut words: Vec<&str> = issued.words[1..].iter().map(String::as_str).collect();
            if let Some(file) = restore::file(&words) {
                words.remove(file);
            }
            let words = words.into_iter().map(|word| format!(" {}", quoted(word)));
            format!("{program}{}", words.collect::<String>())
        }
    };
    let strokes = |line: &str| {
        let rest = line.strip_prefix("END")?;
        rest.bytes().all(|byte| byte == b'_').then_some(rest.len() + 1)
    };
    let end = format!("END{}", "_".repeat(input.lines().filter_map(strokes).max().unwrap_or(0)));
    let closed = if input.is_empty() || input.ends_with('\n') { "" } else { "\n" };
    format!("{read} <<'{end}'\n{input}{closed}{end}")
}

/// A word of which a shell makes the same word.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./:=,+@%-".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// Whether a command only has something shown, or asks whether something is there.
fn asks(words: &[String]) -> bool {
    let [program, rest @ ..] = words else { return true };
    let has = |names: &[&str]| rest.iter().any(|word| names.contains(&word.as_str()));
    let mut operands = rest.iter().filter(|word| !word.starts_with('-'));
    let (object, verb) = (operands.next(), operands.next());
    let shows = |verb: &String| {
        ["show", "list", "lst", "ls", "get", "help", "monitor"].contains(&verb.as_str())
    };
    match program.as_str() {
        "tc" | "ip" if has(&["-b", "-batch"]) => false,
        "tc" | "ip" => object.is_none() || verb.is_none_or(shows),
        "ifconfig" => verb.is_none(),
        "ethtool" => rest.first().is_none_or(|option| {
            !option.starts_with('-')
                || ["-k", "-i", "-S", "-g", "-c", "-l", "-a", "-T"].contains(&option.as_str())
        }),
        "sysctl" => !has(&["-w", "-p", "--system"]) && !rest.iter().any(|word| word.contains('=')),
        "nft" => object.is_some_and(shows),
        program if program.contains("tables") && program.ends_with("-save") => true,
        program if program.contains("tables") => {
            has(&["-L", "-S", "-C", "--list", "--list-rules", "--check", "-V", "--version"])
                || rest.iter().any(|word| word.starts_with("-nv") || word.starts_with("-vn"))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issued(text: &str, input: Option<&str>, at: Option<u64>) -> Issued {
        let words = text.split(' ').map(String::from).collect();
        Issued { words, input: input.map(String::from), at }
    }

    #[test]
    fn issued_commands_are_read_as_written_ones() {
        let head = "tc qdisc add dev eth0 root handle 1: hfsc default 20";
        let batch = "class add dev eth0 parent 1: classid 1:1 hfsc sc m2 10mbit ul m2 10mbit\n\
                     class add dev eth0 parent 1:1 classid 1:10 hfsc sc m2 1mbit # voice\nEND\n\n";
        let last = "tc class add dev eth0 parent 1:1 classid 1:20 hfsc ls m2 9mbit";
        let script = format!("{head}\ntc -b file\n{last} # rest\n");
        let at = |line: &str| {
            let end = script.find(line).map(|at| at + line.len() + 1);
            end.map(|end| end as u64)
        };
        let all = vec![
            issued("tc qdisc show dev eth0", None, at(&format!("{last} # rest"))),
            issued(head, None, at(head)),
            issued("tc -b file", Some(batch), at("tc -b file")),
            issued("ip link set dev eth0 txqueuelen 50", None, None),
            issued(last, None, at(&format!("{last} # rest"))),
            issued("modprobe sch_hfsc", None, Some(u64::MAX)),
        ];
        let ran = Ran { script: &script, issued: all, told: vec!["it was run".into()] };
        let import = import_ran(&ran, "folder/script.sh", &Options::default()).unwrap();
        let notes: Vec<String> =
            import.notes.iter().map(|note| format!("{}: {}", note.line, note.text)).collect();
        for part in
            ["0: it was run", "3: the script asked `tc qdisc show dev eth0`", "0: `modprobe"]
        {
            assert!(notes.iter().any(|note| note.starts_with(part)), "{part}: {notes:#?}");
        }
        for part in ["[class.voice]", "[class.rest]", "limit = 50", "Imported from script.sh"] {
            assert!(import.plan.contains(part), "{part}: {}", import.plan);
        }
    }

    #[test]
    fn a_fault_shows_the_command_as_it_was_issued() {
        let all =
            vec![issued("tc qdisc add dev eth0 root handle 1: hfsc default zz", None, Some(3))];
        let told = vec!["the script was ended after 10 s".to_string()];
        let ran = Ran { script: "tc $X\n", issued: all, told };
        let error = import_ran(&ran, "script.sh", &Options::default()).unwrap_err();
        assert!(error.help().unwrap().contains("The script was ended after 10 s."), "{error:?}");
        assert_eq!(error.name(), "script.sh, as it ran");
        let span = error.span().unwrap();
        assert_eq!(&error.text()[span], "zz");

        let ran = Ran { told: vec!["it ended with status 1".into()], ..Ran::default() };
        let error = import_ran(&ran, "script.sh", &Options::default()).unwrap_err();
        assert!(error.message().contains("set nothing up"), "{error}");
        assert!(error.help().unwrap().contains("status 1"), "{error:?}");
    }

    /// Whatever a script leaves behind is read in the time that its length takes.
    #[test]
    fn what_was_recorded_is_read_in_linear_time() {
        let begin = std::time::Instant::now();
        let ends: String = (0..2_000).map(|at| format!("END{}\n", "_".repeat(at))).collect();
        let script = format!("tc x{}\ntc y", " ".repeat(4_000_000));
        let asks = |at| issued("tc qdisc add", None, Some(at));
        let mut all: Vec<Issued> =
            (0..20_000).map(|at| asks(if at % 2 == 0 { 4_000_005 } else { 3 })).collect();
        all.push(issued("tc -batch -", Some(&ends), None));
        let written = Written::new(&Ran { script: &script, issued: all, told: Vec::new() });
        assert!(written.text.contains(&format!("<<'END{}'\n", "_".repeat(2_000))));
        assert_eq!(written.lines[..3], [1, 1, 1]);
        assert!(begin.elapsed() < std::time::Duration::from_secs(20), "{:?}", begin.elapsed());
    }

    #[test]
    fn what_a_table_is_restored_from_keeps_its_options() {
        let mut all =
            vec![issued("tc qdisc add dev eth0 root handle 1: hfsc default 1", None, None)];
        let text =
            "*mangle\n-A POSTROUTING -j MARK --set-mark 1\n*nat\n-A POSTROUTING -j MASQUERADE\n";
        for words in ["iptables-restore -w 5 /file", "ip6tables-nft-restore -T mangle"] {
            all.push(issued(words, Some(text), None));
        }
        let words: Vec<String> =
            words_issued(&all).unwrap().into_iter().map(|words| words.join(" ")).collect();
        let of = |head: &str| words.iter().filter(|words| words.starts_with(head)).count();
        assert_eq!((of("iptables -t mangle -A"), of("iptables -t nat -A")), (1, 1), "{words:#?}");
        let nft = (of("ip6tables-nft -t mangle -A"), of("ip6tables-nft -t nat"));
        assert_eq!(nft, (1, 0), "{words:#?}");
    }

    #[test]
    fn words_are_quoted_such_that_they_stay() {
        let all = [
            vec!["tc", "a b", "", "it's", "$(x) `y`", "#no", "two\nlines", "ü*"],
            vec!["tc", "qdisc", "{a,b}", "~", "\\", "\"", "x;y&z|<>"],
        ];
        let words = |words: &Vec<&str>| words.iter().map(|word| word.to_string()).collect();
        let all: Vec<Vec<String>> = all.iter().map(words).collect();
        let issued: Vec<Issued> =
            all.iter().map(|words| Issued { words: words.clone(), ..Issued::default() }).collect();
        assert_eq!(words_issued(&issued).unwrap(), all);
    }

    #[test]
    fn what_only_shows_is_told_apart() {
        let asks = |text: &str| asks(&issued(text, None, None).words);
        for text in [
            "tc qdisc show dev eth0",
            "tc -s qdisc",
            "ip -o link",
            "ip route get 1.1.1.1",
            "ip a",
            "ifconfig eth0",
            "ethtool eth0",
            "sysctl -n net.ipv4.ip_forward",
            "iptables -t mangle -C OUTPUT",
            "iptables-save",
            "nft list ruleset",
        ] {
            assert!(asks(text), "{text}");
        }
        for text in [
            "tc qdisc add dev eth0",
            "tc -b",
            "ip link set eth0 up",
            "ifconfig eth0 up",
            "ethtool -K eth0 tso off",
            "sysctl -w a=1",
            "sysctl a=1",
            "iptables -A OUTPUT",
            "nft add rule x",
            "nft -f x",
            "modprobe x",
        ] {
            assert!(!asks(text), "{text}");
        }
    }
}
