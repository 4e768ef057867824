//! What a script is made of, as it is read and before any of it is carried out.

use std::ops::Range;
use std::rc::Rc;

/// Commands one after the other.
pub type List = Vec<AndOr>;

/// `a && b || c`: each further pipeline with whether it follows a success.
#[derive(Debug)]
pub struct AndOr {
    pub first: Pipeline,
    pub rest: Vec<(bool, Pipeline)>,
}

/// `! a | b`.
#[derive(Debug)]
pub struct Pipeline {
    pub negated: bool,
    pub commands: Vec<Node>,
}

/// One command and its redirections.
#[derive(Debug)]
pub struct Node {
    pub kind: Kind,
    pub redirects: Vec<Redirect>,
    pub span: Range<usize>,
}

#[derive(Debug)]
pub enum Kind {
    /// Assignments and words.
    Simple(Vec<Assignment>, Vec<RawWord>),
    /// Conditions with what they lead to, and what is done otherwise.
    If(Vec<(List, List)>, List),
    /// `for NAME in WORDS`; the positional parameters without words.
    For(String, Option<Vec<RawWord>>, List),
    /// `for ((a; b; c))`.
    Counted(Box<[Text; 3]>, List),
    /// `while`, or with `true` `until`.
    While(bool, List, List),
    /// A word, and patterns with what they lead to.
    Case(RawWord, Vec<(Vec<RawWord>, List)>),
    Group(List),
    Subshell(List),
    Function(String, Rc<Node>),
    /// `[[ … ]]`.
    Test(Vec<TestWord>),
    /// `((…))`.
    Arithmetic(Text),
}

/// A part of `[[ … ]]`: a sign such as `&&` or `(`, or a word.
#[derive(Debug)]
pub enum TestWord {
    Sign(&'static str),
    Word(RawWord),
}

#[derive(Debug)]
pub struct Assignment {
    pub name: String,
    /// The element of an array that is set.
    pub index: Option<Text>,
    pub adds: bool,
    pub value: Assigned,
}

#[derive(Debug)]
pub enum Assigned {
    Word(RawWord),
    Array(Vec<RawWord>),
}

#[derive(Debug)]
pub struct Redirect {
    pub fd: Option<u32>,
    pub kind: Redirection,
}

#[derive(Debug)]
pub enum Redirection {
    /// `>`, `>>`, `>|`, `>&`, `&>`.
    Out,
    /// `< FILE`.
    In(RawWord),
    /// The text after `<<`, by its number in the script.
    Here(usize),
    /// `<<< WORD`.
    HereWord(RawWord),
}

/// The text after `<<` and the line that it begins in.
#[derive(Debug)]
pub struct Here {
    pub text: Text,
    pub span: Range<usize>,
}

#[derive(Debug)]
pub struct RawWord {
    pub parts: Text,
    pub span: Range<usize>,
}

impl RawWord {
    /// The word if it is written without quotes and expansions.
    pub fn plain(&self) -> Option<&str> {
        match &self.parts[..] {
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }
}

/// Text and what is to be put into it.
pub type Text = Vec<Part>;

#[derive(Debug)]
pub enum Part {
    Text(String),
    /// Text in which no sign means anything.
    Quoted(String),
    Parameter {
        parameter: Box<Parameter>,
        quoted: bool,
        span: Range<usize>,
    },
    Command {
        list: List,
        quoted: bool,
        span: Range<usize>,
    },
    Arithmetic {
        text: Text,
        quoted: bool,
        span: Range<usize>,
    },
}

#[derive(Debug)]
pub struct Parameter {
    pub name: String,
    pub index: Option<Text>,
    pub operation: Operation,
}

#[derive(Debug)]
pub enum Operation {
    Value,
    /// `${#NAME}`.
    Length,
    /// `${!NAME}`.
    Indirect,
    /// `-`, `=`, `+` or `?`; with a colon the empty value counts as none.
    Default {
        sign: char,
        or_empty: bool,
        word: Text,
    },
    /// `#` or `%`; twice for the longest part that matches.
    Strip {
        from_end: bool,
        longest: bool,
        pattern: Text,
    },
    /// `/`, `//`, `/#` and `/%`.
    Replace {
        all: bool,
        anchor: Option<char>,
        pattern: Text,
        with: Text,
    },
    /// `:offset` and `:offset:length`.
    Slice {
        offset: Text,
        length: Option<Text>,
    },
    /// `^`, `,` and both twice.
    Case {
        upper: bool,
        all: bool,
    },
}

/// How long the name is that a text begins with.
pub fn name_length(text: &str) -> usize {
    let part = |c: char| c == '_' || c.is_ascii_alphanumeric();
    text.find(|c| !part(c)).unwrap_or(text.len())
}
