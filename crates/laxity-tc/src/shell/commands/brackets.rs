//! `test`, `[` and `[[` (POSIX.1-2017, Shell and Utilities, test; and bash).

use std::rc::Rc;

use laxity_plan::error::Fault;

use crate::error::{Span, plain};
use crate::shell::expansion::arithmetic::signed_number;
use crate::shell::expansion::pattern::{Pattern, regex};
use crate::shell::run::Shell;
use crate::shell::syntax::TestWord;
use crate::shell::values::{Array, Status, Value, Variable};
use crate::words::command::Word;

/// How deep brackets may stand inside each other.
const DEEPEST: usize = 64;

/// A word of a test: text, or a sign that is none.
#[derive(Debug)]
enum Token {
    Sign(&'static str),
    /// A text, and in `[[` the pattern that it is.
    Word(Value, Option<Value>),
}

struct Test<'a, 's> {
    shell: &'a mut Shell<'s>,
    tokens: Vec<Token>,
    at: usize,
    span: &'a Span,
    depth: usize,
}

const FALSE: Status = Status::FAILURE;
const WRONG: Status = Status::Known(2);

impl Shell<'_> {
    /// `test …` or `[ … ]`.
    pub(crate) fn single_test(&mut self, fields: &[Word], span: &Span) -> Result<Status, Fault> {
        let mut words = &fields[1..];
        if fields[0].text == "[" {
            match words.split_last() {
                Some((last, rest)) if last.text == "]" => words = rest,
                _ => return Ok(WRONG),
            }
        }
        self.tests(words.iter().map(|word| word.doubt.as_ref()), span);
        let tokens = words.iter().map(|word| Token::Word(word.into(), None)).collect();
        Test { shell: self, tokens, at: 0, span, depth: 0 }.whole()
    }

    /// `[[ … ]]`.
    pub(crate) fn double_test(&mut self, words: &[TestWord], span: &Span) -> Result<Status, Fault> {
        let mut tokens = Vec::with_capacity(words.len());
        for word in words {
            tokens.push(match word {
                TestWord::Sign(sign) => Token::Sign(sign),
                TestWord::Word(word) => {
                    let pattern = self.pattern(&word.parts, &word.span)?;
                    Token::Word(self.text(&word.parts, &word.span)?, Some(pattern))
                }
            });
        }
        let doubts = tokens.iter().map(|token| match token {
            Token::Word(value, _) => value.doubt.as_ref(),
            Token::Sign(_) => None,
        });
        self.tests(doubts, span);
        Test { shell: self, tokens, at: 0, span, depth: 0 }.whole()
    }
}

impl Test<'_, '_> {
    fn whole(mut self) -> Result<Status, Fault> {
        if self.tokens.is_empty() {
            return Ok(FALSE);
        }
        let status = self.either()?;
        Ok(if self.at < self.tokens.len() { WRONG } else { status })
    }

    fn text(&self, ahead: usize) -> Option<&str> {
        match self.tokens.get(self.at + ahead)? {
            Token::Sign(sign) => Some(sign),
            Token::Word(value, _) => Some(&value.text),
        }
    }

    fn eat(&mut self, words: [&str; 2]) -> bool {
        let found = self.text(0).is_some_and(|text| words.contains(&text));
        self.at += usize::from(found);
        found
    }

    fn either(&mut self) -> Result<Status, Fault> {
        self.joined(["-o", "||"], &[Status::SUCCESS, WRONG], Self::both)
    }

    fn both(&mut self) -> Result<Status, Fault> {
        self.joined(["-a", "&&"], &[WRONG, FALSE], Self::negated)
    }

    /// Tests with one of these signs between them. The first of some statuses that one of them has
    /// is that of all.
    fn joined(
        &mut self,
        signs: [&str; 2],
        strongest: &[Status],
        test: fn(&mut Self) -> Result<Status, Fault>,
    ) -> Result<Status, Fault> {
        let mut status = test(self)?;
        while self.eat(signs) {
            let right = test(self)?;
            let decides = strongest.iter().find(|one| **one == status || **one == right);
            status = match (decides, &status) {
                (Some(one), _) => one.clone(),
                (None, Status::Known(_)) => right,
                (None, Status::Unknown(_)) => status,
            };
        }
        Ok(status)
    }

    fn negated(&mut self) -> Result<Status, Fault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Ok(WRONG);
        }
        self.shell.step(self.span, 0)?;
        let left = self.tokens.len() - self.at;
        let compares = self.text(1).is_some_and(is_binary) && left >= 3;
        let status = if !compares && left > 1 && self.eat(["!", "!"]) {
            match self.negated()? {
                WRONG => WRONG,
                status => status.negated(),
            }
        } else if !compares && left > 2 && self.eat(["(", "("]) {
            let status = self.either()?;
            if self.eat([")", ")"]) { status } else { WRONG }
        } else {
            self.single(compares)?
        };
        self.depth -= 1;
        Ok(status)
    }

    fn next(&mut self) -> (Value, Option<Value>) {
        let token = self.tokens.get(self.at);
        self.at += 1;
        match token {
            Some(Token::Word(value, pattern)) => (value.clone(), pattern.clone()),
            Some(Token::Sign(sign)) => (Value::new(*sign), None),
            None => (Value::default(), None),
        }
    }

    fn single(&mut self, compares: bool) -> Result<Status, Fault> {
        if self.at >= self.tokens.len() {
            return Ok(WRONG);
        }
        let (left, _) = self.next();
        if compares {
            let (operator, _) = self.next();
            let (right, pattern) = self.next();
            return self.compared(&left, &operator.text, &right, pattern);
        }
        let is_unary = left.text.len() == 2 && left.text.starts_with('-');
        let follows =
            self.text(0).is_some_and(|next| !matches!(next, "-a" | "-o" | "&&" | "||" | ")"));
        let alone = left.unknown_because().is_none() && is_unary;
        if alone && (follows || self.text(1).is_some_and(is_binary)) && self.at < self.tokens.len()
        {
            let (value, _) = self.next();
            return Ok(self.unary(&left.text, &value));
        }
        Ok(truth(&[&left], || !left.text.is_empty()))
    }

    fn unary(&self, operator: &str, value: &Value) -> Status {
        match operator {
            "-n" => truth(&[value], || !value.text.is_empty()),
            "-z" => truth(&[value], || value.text.is_empty()),
            "-t" => FALSE,
            "-v" if value.text.contains('[') => {
                let written = format!("[[ -v {} ]]", plain(&value.text));
                Status::unknown(&written, "")
            }
            "-v" => truth(&[value], || self.shell.state.variable(&value.text).is_some()),
            "-e" | "-f" | "-r" | "-s" | "-x" | "-d" | "-L" | "-h" | "-w" | "-b" | "-c" | "-p"
            | "-S" | "-u" | "-g" | "-k" | "-O" | "-G" | "-N" => {
                if value.unknown_because().is_none() && value.text.is_empty() {
                    return FALSE;
                }
                let is_file = matches!(operator, "-e" | "-f" | "-r" | "-s");
                let is_tc = value.text.rsplit('/').next() == Some("tc");
                if is_tc && operator == "-x" || is_file && self.shell.file(&value.text).is_some() {
                    return Status::SUCCESS;
                }
                let written = format!("[ {operator} {} ]", plain(&value.text));
                let help = "files are not looked for; give those that the script reads with \
                            --source, or write what holds into the script";
                Status::unknown(&written, help)
            }
            _ => WRONG,
        }
    }

    fn compared(
        &mut self,
        left: &Value,
        operator: &str,
        right: &Value,
        pattern: Option<Value>,
    ) -> Result<Status, Fault> {
        let both = [left, right];
        let numbers = || signed_number(left.text.trim()).zip(signed_number(right.text.trim()));
        Ok(match operator {
            "=" | "==" | "!=" => {
                let equal = match pattern.filter(|pattern| pattern.unknown_because().is_none()) {
                    None => left.text == right.text,
                    Some(pattern) => {
                        let pattern = Pattern::new(&pattern.text);
                        let chars: Vec<char> = left.text.chars().collect();
                        self.shell.work(self.span, pattern.work(chars.len()))?;
                        pattern.matches(&chars)
                    }
                };
                truth(&both, || equal == (operator != "!="))
            }
            "<" => truth(&both, || left.text < right.text),
            ">" => truth(&both, || left.text > right.text),
            "=~" => match regex(&right.text, true, false) {
                Some(regex) => {
                    let work = right.text.len().saturating_mul(left.text.len());
                    self.shell.work(self.span, work)?;
                    if let Some(unknown) = unknown(&both) {
                        return Ok(unknown);
                    }
                    let found = regex.captures(&left.text);
                    let part = |part: Option<regex_lite::Match<'_>>| {
                        Value::new(part.map_or("", |part| part.as_str()))
                    };
                    let parts = found.iter().flat_map(|found| found.iter().map(part));
                    let parts = Variable::Many(Array::numbered(parts));
                    self.shell.state.set_variable("BASH_REMATCH", Some(parts));
                    Status::from_truth(found.is_some())
                }
                None => {
                    let written = format!("{} =~ {}", left.text, right.text);
                    Status::unknown(&written, "this regular expression is not read")
                }
            },
            "-nt" | "-ot" | "-ef" => Status::unknown("times of files", "files are not looked at"),
            _ => match numbers() {
                None => unknown(&both).unwrap_or(WRONG),
                Some((left, right)) => truth(&both, || match operator {
                    "-eq" => left == right,
                    "-ne" => left != right,
                    "-lt" => left < right,
                    "-le" => left <= right,
                    "-gt" => left > right,
                    _ => left >= right,
                }),
            },
        })
    }
}

fn is_binary(word: &str) -> bool {
    let known = [
        "=", "==", "!=", "<", ">", "=~", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot",
        "-ef",
    ];
    known.contains(&word)
}

fn unknown(values: &[&Value]) -> Option<Status> {
    let doubt = values.iter().find_map(|value| value.unknown_because());
    doubt.map(|doubt| Status::Unknown(Rc::clone(doubt)))
}

/// Whether something holds, if the values that it is about are known.
fn truth(values: &[&Value], holds: impl FnOnce() -> bool) -> Status {
    unknown(values).unwrap_or_else(|| Status::from_truth(holds()))
}
