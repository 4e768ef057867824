//! Programs whose output follows from what they are given: `expr`, `seq`, `cat`, `cut`, `tr`,
//! `head`, `tail`, `wc`, `grep`, `basename`, `dirname`, `id`.

use std::rc::Rc;

use laxity_plan::error::Fault;

use crate::shell::expansion::escapes::escapes;
use crate::shell::expansion::pattern::regex;
use crate::shell::run::Shell;
use crate::shell::syntax::Node;
use crate::shell::values::{Status, Value};
use crate::words::command::Word;

impl Shell<'_> {
    /// Carries one of them out; `false` if it is another program, or is used in another way.
    pub(crate) fn program(&mut self, fields: &[Word], node: &Node) -> Result<bool, Fault> {
        let (name, words) = (fields[0].program(), &fields[1..]);
        let done = match name {
            "mktemp" => {
                let folder = words.iter().any(|word| word.text == "-d");
                let name = self.files.unnamed(if folder { "/tmp/folder." } else { "/tmp/file." });
                self.print(&Value::new(format!("{name}\n")), &node.span)?;
                true
            }
            "rm" | "unlink" => {
                let files = words.iter().filter(|word| !word.text.starts_with('-'));
                files.filter(|file| self.files.remove(&file.text)).count() > 0
            }
            _ => false,
        };
        if done {
            self.status = Status::SUCCESS;
            return Ok(true);
        }
        let reads = ["cat", "tee", "cut", "tr", "head", "tail", "wc", "grep"].contains(&name);
        let computes = ["expr", "seq", "basename", "dirname", "id", "whoami"].contains(&name);
        if !reads && !computes {
            return Ok(false);
        }
        let unknown = words.iter().find_map(Word::unknown_because).cloned();
        let input = if reads { self.read_all(name, words) } else { Some(Value::default()) };
        let Some(input) = input else { return Ok(false) };
        if name == "tee" {
            let adds = words.iter().any(|word| word.text == "-a");
            for file in words.iter().filter(|word| !word.text.starts_with('-')) {
                if adds {
                    self.files.append(&file.text, &input);
                } else {
                    self.files.write(&file.text, input.clone());
                }
            }
        }
        if let Some(doubt) = unknown.or(input.unknown_because().cloned()) {
            if let Some(printed) = self.printed.last_mut() {
                printed.push(&Value { text: "?".into(), doubt: Some(Rc::clone(&doubt)) });
            }
            self.status = if name == "cat" { Status::SUCCESS } else { Status::Unknown(doubt) };
            return Ok(true);
        }
        self.step(&node.span, input.text.len())?;
        if name == "grep" {
            let pattern: usize = words.iter().map(|word| word.text.len()).sum();
            self.work(&node.span, pattern.saturating_mul(input.text.len()))?;
        }
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        let succeeds = |text: String| (text, Status::SUCCESS);
        let done = match name {
            "expr" => expr(&texts, 0).map(|text| {
                let status = Status::from_truth(!matches!(text.as_str(), "" | "0"));
                (text + "\n", status)
            }),
            "seq" => self.seq(&texts, node)?.map(succeeds),
            "id" if texts == ["-u"] => Some(succeeds("0\n".into())),
            "whoami" => Some(succeeds("root\n".into())),
            "basename" | "dirname" => Some(succeeds(path(name, &texts))),
            "cat" | "tee" => Some(succeeds(input.text.clone())),
            "grep" => {
                let found = grep(&texts, &input.text);
                found.map(|(text, is_found)| (text, Status::from_truth(is_found)))
            }
            _ => filtered(name, &texts, &input.text).map(succeeds),
        };
        let Some((text, status)) = done else { return Ok(false) };
        self.status = status;
        let doubt = words.iter().find_map(|word| word.doubt.clone()).or(input.doubt);
        self.print(&Value { text, doubt }, &node.span)?;
        Ok(true)
    }

    /// All that is left to read; `None` if a file is named that is not there.
    fn read_all(&mut self, name: &str, words: &[Word]) -> Option<Value> {
        let is_file = |word: &&Word| word.text == "-" || !word.text.starts_with('-');
        let files: Vec<&Word> = words.iter().filter(is_file).filter(|_| name == "cat").collect();
        if files.is_empty() {
            return Some(self.reading()?.rest());
        }
        let mut all = Value::default();
        for file in files {
            let part = if file.text == "-" {
                self.reading()?.rest()
            } else {
                self.contents(&file.into())?
            };
            all.push(&part);
        }
        Some(all)
    }

    fn seq(&mut self, words: &[&str], node: &Node) -> Result<Option<String>, Fault> {
        let (separator, words) = match words {
            ["-s", separator, words @ ..] => (*separator, words),
            words => ("\n", words),
        };
        let numbers: Option<Vec<i64>> = words.iter().map(|word| word.parse().ok()).collect();
        let (first, step, last) = match numbers.as_deref() {
            Some([last]) => (1, 1, *last),
            Some([first, last]) => (*first, 1, *last),
            Some([first, step, last]) if *step != 0 => (*first, *step, *last),
            _ => return Ok(None),
        };
        let (mut text, mut number) = (String::new(), first);
        while if step > 0 { number <= last } else { number >= last } {
            self.step(&node.span, 8)?;
            if !text.is_empty() {
                text.push_str(separator);
            }
            text.push_str(&number.to_string());
            let Some(next) = number.checked_add(step) else { break };
            number = next;
        }
        text.push('\n');
        Ok(Some(text))
    }
}

/// The value of an expression of `expr`, its operators one by one from the weakest.
fn expr(words: &[&str], depth: usize) -> Option<String> {
    if depth > 64 {
        return None;
    }
    if let [one] = words {
        return Some(one.to_string());
    }
    let levels: [&[&str]; 5] =
        [&["|"], &["&"], &["=", "!=", "<", "<=", ">", ">="], &["+", "-"], &["*", "/", "%"]];
    for operators in levels {
        let mut open = 0usize;
        // The last operator of a level is done last.
        for at in (1..words.len().saturating_sub(1)).rev() {
            match words[at] {
                ")" => open += 1,
                "(" => open = open.checked_sub(1)?,
                operator if open == 0 && operators.contains(&operator) => {
                    let left = expr(&words[..at], depth + 1)?;
                    let right = expr(&words[at + 1..], depth + 1)?;
                    return applied(&left, operator, &right);
                }
                _ => {}
            }
            if at + 1 == words.len() - 1 && words[at + 1] == ")" {
                open += usize::from(open == 0);
            }
        }
    }
    match words {
        ["(", inside @ .., ")"] => expr(inside, depth + 1),
        ["length", text] => Some(text.chars().count().to_string()),
        _ => None,
    }
}

fn applied(left: &str, operator: &str, right: &str) -> Option<String> {
    let is_none = |text: &str| matches!(text, "" | "0");
    let decimal = |text: &str| text.parse::<i64>().ok();
    let holds = |holds: bool| Some(i64::from(holds).to_string());
    let order = match decimal(left).zip(decimal(right)) {
        Some((left, right)) => left.cmp(&right),
        None => left.cmp(right),
    };
    match operator {
        "|" => return Some(if is_none(left) { right.into() } else { left.into() }),
        "&" => return Some(if is_none(left) || is_none(right) { "0".into() } else { left.into() }),
        "=" => return holds(order.is_eq()),
        "!=" => return holds(order.is_ne()),
        "<" => return holds(order.is_lt()),
        "<=" => return holds(order.is_le()),
        ">" => return holds(order.is_gt()),
        ">=" => return holds(order.is_ge()),
        _ => {}
    }
    let (left, right) = (decimal(left)?, decimal(right)?);
    let value = match operator {
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "/" => left.checked_div(right),
        _ => left.checked_rem(right),
    };
    value.map(|value| value.to_string())
}

fn path(name: &str, words: &[&str]) -> String {
    let path = words.first().copied().unwrap_or_default().trim_end_matches('/');
    let (folder, file) = path.rsplit_once('/').unwrap_or((".", path));
    let file = words.get(1).map_or(file, |end| file.strip_suffix(*end).unwrap_or(file));
    let folder = if folder.is_empty() { "/" } else { folder };
    format!("{}\n", if name == "basename" { file } else { folder })
}

/// What `grep` prints, and whether it finds anything.
fn grep(words: &[&str], input: &str) -> Option<(String, bool)> {
    let (mut options, mut pattern) = (String::new(), None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            Some("e") => pattern = Some(*words.next()?),
            Some(letters) => options.push_str(letters),
            None if pattern.is_none() => pattern = Some(*word),
            None => return None,
        }
    }
    if !options.chars().all(|letter| "qvFEiow".contains(letter)) {
        return None;
    }
    let has = |letter| options.contains(letter);
    let mut expression = if has('F') { regex_lite::escape(pattern?) } else { pattern?.to_string() };
    if has('w') {
        expression = format!("\\b{expression}\\b");
    }
    let regex = regex(&expression, has('E') || has('F'), has('i'))?;
    let mut text = String::new();
    let mut found = false;
    for line in input.lines().filter(|line| regex.is_match(line) != has('v')) {
        found = true;
        let parts = regex.find_iter(line).map(|part| part.as_str());
        for part in if has('o') { parts.collect() } else { vec![line] } {
            text.push_str(part);
            text.push('\n');
        }
    }
    Some((if has('q') { String::new() } else { text }, found))
}

fn filtered(name: &str, words: &[&str], input: &str) -> Option<String> {
    let count = |words: &[&str]| match words {
        [] => Some(10),
        ["-n", count] => count.parse().ok(),
        [count] => count.strip_prefix("-n").or(count.strip_prefix('-'))?.parse().ok(),
        _ => None,
    };
    match name {
        "head" | "tail" => {
            let (count, lines): (usize, Vec<&str>) = (count(words)?, input.lines().collect());
            let count = count.min(lines.len());
            let kept = if name == "head" { &lines[..count] } else { &lines[lines.len() - count..] };
            Some(kept.iter().map(|line| format!("{line}\n")).collect())
        }
        "wc" => match words {
            ["-l"] => Some(format!("{}\n", input.matches('\n').count())),
            ["-w"] => Some(format!("{}\n", input.split_whitespace().count())),
            _ => None,
        },
        "tr" => match words.iter().map(|word| escapes(word).0).collect::<Vec<_>>().as_slice() {
            [option, signs] if option == "-d" && plain_signs(signs) => {
                Some(input.chars().filter(|c| !signs.contains(*c)).collect())
            }
            [from, to] if plain_signs(from) && plain_signs(to) && !to.is_empty() => {
                let to: Vec<char> = to.chars().collect();
                let place = |c: char| from.chars().position(|sign| sign == c);
                let change = |c: char| place(c).map_or(c, |at| to[at.min(to.len() - 1)]);
                Some(input.chars().map(change).collect())
            }
            _ => None,
        },
        _ => cut(words, input),
    }
}

/// Signs of `tr` that stand for themselves.
fn plain_signs(signs: &str) -> bool {
    !signs.contains(['[', '\\']) && !signs.get(1..).is_some_and(|rest| rest.contains('-'))
}

/// `cut -d C -f LIST`.
fn cut(words: &[&str], input: &str) -> Option<String> {
    let (mut separator, mut list) = ('\t', None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (option, value) = (word.get(..2)?, word.get(2..)?);
        let value = if value.is_empty() { *words.next()? } else { value };
        match option {
            "-d" => separator = value.chars().next()?,
            "-f" => list = Some(value),
            _ => return None,
        }
    }
    let mut ranges = Vec::new();
    for part in list?.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first: usize = if first.is_empty() { 1 } else { first.parse().ok()? };
        let last: usize = if last.is_empty() { usize::MAX } else { last.parse().ok()? };
        ranges.push(first..=last);
    }
    let line = |line: &str| {
        if !line.contains(separator) {
            return format!("{line}\n");
        }
        let parts = line.split(separator).enumerate();
        let kept = parts.filter(|(at, _)| ranges.iter().any(|range| range.contains(&(at + 1))));
        let kept: Vec<&str> = kept.map(|(_, part)| part).collect();
        format!("{}\n", kept.join(&separator.to_string()))
    };
    Some(input.lines().map(line).collect())
}
