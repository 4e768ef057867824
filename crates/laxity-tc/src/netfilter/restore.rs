//! What `iptables-restore` reads, as commands of iptables.

/// Whether a program is `iptables-restore`, for either version of IP and with either backend.
pub(crate) fn is_program(name: &str) -> bool {
    let kind = name.strip_suffix("-restore");
    kind.is_some_and(|kind| {
        ["", "-nft", "-legacy"].iter().any(|of| {
            kind.strip_suffix(of).is_some_and(|tables| ["iptables", "ip6tables"].contains(&tables))
        })
    })
}

/// The place of the file among the words behind `iptables-restore`, after options and their values.
pub(crate) fn file(words: &[&str]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += match *word {
            "-T" | "--table" | "-M" | "--modprobe" | "-W" | "--wait-interval" => 2,
            "-w" | "--wait" => {
                let value = words.get(at + 1);
                let is_number = |value: &&str| value.bytes().all(|byte| byte.is_ascii_digit());
                if value.is_some_and(is_number) { 2 } else { 1 }
            }
            option if option.starts_with('-') => 1,
            _ => return Some(at),
        };
    }
    None
}

/// The commands that a text of `iptables-restore` comes to, with these words behind it. Without
/// `--noflush` they take away the rules that were there before; with `--table` they are those of
/// one table.
pub(crate) fn commands(program: &str, words: &[&str], text: &str) -> Vec<Vec<String>> {
    let keeps = words.iter().any(|word| ["-n", "--noflush"].contains(word));
    let named = words.iter().position(|word| ["-T", "--table"].contains(word));
    let only = named.and_then(|at| words.get(at + 1)).copied();
    let program = program.trim_end_matches("-restore");
    let mut table = "filter".to_string();
    let mut commands = Vec::new();
    let mut add = |table: &str, words: Vec<String>| {
        if only.is_some_and(|only| only != table) {
            return;
        }
        let head = [program, "-t", table].map(String::from);
        commands.push(head.into_iter().chain(words).collect());
    };
    for line in text.lines().map(str::trim) {
        match line.chars().next() {
            None | Some('#') => {}
            Some('*') => {
                table = line[1..].trim().to_string();
                if !keeps {
                    add(&table, vec!["-F".into()]);
                }
            }
            Some(':') => {
                let mut words = line[1..].split_whitespace();
                if let (Some(chain), Some("-")) = (words.next(), words.next()) {
                    add(&table, vec!["-N".into(), chain.into()]);
                }
            }
            // Counters of packets may stand before a rule.
            Some('[') => {
                if let Some((_, rule)) = line.split_once(']') {
                    add(&table, quoted_words(rule));
                }
            }
            Some('-') => add(&table, quoted_words(line)),
            Some(_) => {}
        }
    }
    commands
}

/// Words that may be in double quotes.
fn quoted_words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), None::<String>, false);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            '\\' if quoted => word.get_or_insert_default().extend(chars.next()),
            c if c.is_whitespace() && !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests;
