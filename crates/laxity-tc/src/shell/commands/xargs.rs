//! `xargs`: a command for the words of what it reads.

use laxity_plan::error::Fault;

use crate::error::plain;
use crate::shell::expansion::escapes::escapes;
use crate::shell::run::{Flow, Shell, undecided};
use crate::shell::syntax::Node;
use crate::shell::values::{Input, Status};
use crate::words::command::{RUN, Word};

/// What its options say.
#[derive(Default)]
struct Options {
    replaced: Option<String>,
    words: Option<usize>,
    lines: Option<usize>,
    separator: Option<char>,
    not_without: bool,
}

impl Shell<'_> {
    pub(crate) fn xargs(&mut self, fields: &[Word], node: &Node) -> Result<Flow, Fault> {
        let mut behind = &fields[1..];
        let mut options = Options::default();
        while let [option, rest @ ..] = behind
            && option.text.starts_with('-')
        {
            behind = rest;
            let text = option.text.as_str();
            if matches!(text, "-r" | "--no-run-if-empty") {
                options.not_without = true;
            } else if matches!(text, "-t" | "--verbose" | "-x") {
            } else if matches!(text, "-0" | "--null") {
                options.separator = Some('\0');
            } else if matches!(text, "-i") {
                options.replaced = Some("{}".into());
            } else if let Some(letter) = text.get(..2).filter(|two| "-I-n-L-P-d-s-E".contains(*two))
            {
                let mut value = text[2..].to_string();
                if value.is_empty() {
                    let Some((next, rest)) = behind.split_first() else { break };
                    (value, behind) = (next.text.clone(), rest);
                }
                match letter {
                    "-I" => options.replaced = Some(value),
                    "-n" => options.words = value.parse().ok().filter(|count| *count > 0),
                    "-L" => options.lines = value.parse().ok().filter(|count| *count > 0),
                    "-d" => options.separator = escapes(&value).0.chars().next(),
                    _ => {}
                }
            } else {
                let message = format!("`{}` of xargs is not read", plain(text));
                return Err(Fault::at(&option.span, message)
                    .help(format!("read are -I, -n, -L, -d, -0, -r, -P and -t; {RUN}")));
            }
        }
        let input = self.reading().map(Input::rest).unwrap_or_default();
        if let Some(doubt) = input.unknown_because() {
            if behind.iter().any(|word| word.program() == "tc") {
                return Err(undecided(&node.span, doubt));
            }
            return self.other(fields, node);
        }
        let echo = [Word::new("echo", &node.span)];
        let behind = if behind.is_empty() { &echo[..] } else { behind };
        self.status = Status::SUCCESS;
        self.step(&node.span, input.text.len())?;
        for arguments in shared_out(&input.text, &options) {
            let fields: Vec<Word> = match &options.replaced {
                None => {
                    let arguments = arguments.into_iter().map(|text| Word::new(text, &node.span));
                    behind.iter().cloned().chain(arguments).collect()
                }
                Some(replaced) => {
                    let line = arguments.concat();
                    let text = |word: &Word| word.text.replace(replaced.as_str(), &line);
                    behind.iter().map(|word| Word { text: text(word), ..word.clone() }).collect()
                }
            };
            self.behind(&fields, node)?;
        }
        Ok(Flow::Next)
    }
}

/// The words for each of the commands.
fn shared_out(text: &str, options: &Options) -> Vec<Vec<String>> {
    let lines: Vec<Vec<String>> = match options.separator {
        Some(separator) => {
            let parts = text.strip_suffix(separator).unwrap_or(text).split(separator);
            if text.is_empty() { Vec::new() } else { parts.map(|part| vec![part.into()]).collect() }
        }
        None if options.replaced.is_some() => {
            let lines = text.lines().map(|line| line.trim_start_matches([' ', '\t']));
            let lines = lines.filter(|line| !line.is_empty());
            lines.map(|line| vec![unquoted(line, false).concat()]).collect()
        }
        None => text.lines().map(|line| unquoted(line, true)).collect(),
    };
    let lines = lines.into_iter().filter(|words| !words.is_empty());
    if options.replaced.is_some() {
        return lines.collect();
    }
    if let Some(count) = options.lines {
        let lines: Vec<_> = lines.collect();
        return lines.chunks(count).map(<[_]>::concat).collect();
    }
    let words: Vec<String> = lines.flatten().collect();
    if words.is_empty() {
        return if options.not_without { Vec::new() } else { vec![Vec::new()] };
    }
    let count = options.words.unwrap_or(usize::MAX);
    words.chunks(count).map(<[_]>::to_vec).collect()
}

/// The words of a line without quotes; the line as one word if it is not split.
fn unquoted(line: &str, splits: bool) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, ' ' | '\t') if splits => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
