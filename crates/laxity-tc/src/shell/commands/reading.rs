//! `read` and `mapfile` (POSIX.1-2017, Shell and Utilities; bash).

use std::rc::Rc;

use laxity_plan::error::Fault;

use crate::error::plain;
use crate::shell::run::{Shell, not_followed};
use crate::shell::syntax::Node;
use crate::shell::values::{Array, Input, Status, Value, Variable};
use crate::words::command::{Doubt, Word};

/// What `read` or `mapfile` is to do: options, and names after them.
struct Request<'a> {
    /// Letters with their values, in order.
    options: Vec<(char, &'a str)>,
    names: Vec<String>,
}

impl<'a> Request<'a> {
    fn new(rest: &'a [Word], valued: &str) -> Self {
        let (mut options, mut names) = (Vec::new(), Vec::new());
        let mut words = rest.iter().map(|word| word.text.as_str());
        while let Some(word) = words.next() {
            let Some(letters) = word.strip_prefix('-').filter(|_| names.is_empty()) else {
                names.push(word.to_string());
                continue;
            };
            for (at, letter) in letters.char_indices() {
                let after = &letters[at + letter.len_utf8()..];
                if valued.contains(letter) {
                    let value = if after.is_empty() { words.next() } else { Some(after) };
                    options.push((letter, value.unwrap_or_default()));
                    break;
                }
                options.push((letter, ""));
            }
        }
        Request { options, names }
    }

    fn value(&self, letter: char) -> Option<&'a str> {
        self.options.iter().rev().find(|(known, _)| *known == letter).map(|(_, value)| *value)
    }

    /// The sign that ends a line.
    fn end(&self) -> char {
        self.value('d').map_or('\n', |signs| signs.chars().next().unwrap_or('\0'))
    }
}

impl Shell<'_> {
    /// `read`: the next line, word by word.
    pub(crate) fn read(&mut self, rest: &[Word], node: &Node) -> Result<(), Fault> {
        let request = Request::new(rest, "pdtnNuia");
        let array = request.value('a').map(str::to_string);
        let mut names = array.clone().map_or(request.names.clone(), |name| vec![name]);
        if names.is_empty() {
            names.push("REPLY".into());
        }
        if request.value('n').or(request.value('N')).is_some() {
            return Err(not_followed(&node.span, "`read` of so many characters"));
        }
        if let Some(doubt) = self.unread(&names, &request, node) {
            self.asked = Some(Rc::clone(&doubt));
            for name in names {
                let value = Value { text: format!("${name}"), doubt: Some(Rc::clone(&doubt)) };
                self.assign(&name, Variable::One(value), &node.span)?;
            }
            self.status = Status::Unknown(doubt);
            return Ok(());
        }
        let raw = request.value('r').is_some();
        let (line, ended) =
            self.reading().map_or_else(Default::default, |input| input.until(request.end(), raw));
        self.status = Status::from_truth(ended);
        let whole = request.names.is_empty() && array.is_none();
        let separators = if whole { String::new() } else { self.separators() };
        let most = if array.is_some() { usize::MAX } else { names.len() };
        let mut words = words(&line, &separators, most).into_iter().map(Value::new);
        match array {
            Some(name) => {
                let values = Variable::Many(Array::numbered(words));
                self.assign(&name, values, &node.span)
            }
            None => names.into_iter().try_for_each(|name| {
                let value = words.next().unwrap_or_default();
                self.assign(&name, Variable::One(value), &node.span)
            }),
        }
    }

    /// Why what is read next is not known.
    fn unread(&mut self, names: &[String], request: &Request, node: &Node) -> Option<Rc<Doubt>> {
        let read = plain(self.written(&node.span));
        let foreign = request.value('u').is_some();
        let reading = self.reading().filter(|_| !foreign);
        match reading {
            Some(input) => input.unknown_because().cloned(),
            None => {
                let name = names.first()?;
                let why = format!("`{read}` asks a person for `{name}`");
                Some(Rc::new(Doubt::settable(true, why, name)))
            }
        }
    }

    /// `mapfile` and `readarray`: all lines, each an element.
    pub(crate) fn mapfile(&mut self, rest: &[Word], node: &Node) -> Result<(), Fault> {
        let request = Request::new(rest, "dnOsucC");
        let name = request.names.first().cloned().unwrap_or_else(|| "MAPFILE".into());
        let names = [name.clone()];
        if let Some(doubt) = self.unread(&names, &request, node) {
            let value = Value { text: format!("${name}"), doubt: Some(doubt) };
            return self.assign(&name, Variable::One(value), &node.span);
        }
        let number = |letter| request.value(letter).and_then(|text| text.parse::<usize>().ok());
        let end = request.end();
        let text = self.reading().map(Input::rest).unwrap_or_default();
        let lines = text.text.split_inclusive(end).skip(number('s').unwrap_or(0));
        let lines = lines.take(number('n').filter(|most| *most > 0).unwrap_or(usize::MAX));
        let first = number('O').unwrap_or(0);
        let mut array = match self.state.variable(&name) {
            Some(Variable::Many(array)) if request.value('O').is_some() => array.clone(),
            _ => Array::default(),
        };
        for (at, line) in lines.enumerate() {
            let cut = request.value('t').is_some();
            let line = if cut { line.strip_suffix(end).unwrap_or(line) } else { line };
            array.set(&first.saturating_add(at).to_string(), Value::new(line));
        }
        self.assign(&name, Variable::Many(array), &node.span)
    }
}

/// Words of a line whose signs may be plain; the last one is all that is left.
fn words(line: &[(char, bool)], separators: &str, most: usize) -> Vec<String> {
    let ends = |(c, is_plain): &(char, bool)| !is_plain && separators.contains(*c);
    let space = |part: &(char, bool)| ends(part) && " \t\n".contains(part.0);
    let skip = |mut rest: usize| {
        while line.get(rest).is_some_and(space) {
            rest += 1;
        }
        rest
    };
    let text = |part: &[(char, bool)]| part.iter().map(|(c, _)| c).collect::<String>();
    let mut last = line.len();
    while last > 0 && space(&line[last - 1]) {
        last -= 1;
    }
    let (mut words, mut at) = (Vec::new(), skip(0).min(last));
    while at < last {
        let length = line[at..last].iter().position(ends).unwrap_or(last - at);
        let mut after = skip(at + length);
        if after < last && ends(&line[after]) && !space(&line[after]) {
            after = skip(after + 1);
        }
        if words.len() + 1 == most && after < last {
            words.push(text(&line[at..last]));
            break;
        }
        words.push(text(&line[at..at + length]));
        at = after;
    }
    words
}
