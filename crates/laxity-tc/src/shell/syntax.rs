//! What a script is made of, as it is read and before any of it is carried out.

pub(super) mod assignment;
pub(super) mod braced;
pub(super) mod compound;
pub(super) mod parser;
pub(super) mod redirect;
pub(super) mod words;

use crate::error::Span;
use std::rc::Rc;

/// Commands one after the other.
pub(super) type List = Vec<AndOr>;

/// `a && b || c`: each further pipeline with whether it follows a success.
#[derive(Clone, Debug)]
pub(super) struct AndOr {
    pub first: Pipeline,
    pub rest: Vec<(bool, Pipeline)>,
}

/// `! a | b`.
#[derive(Clone, Debug)]
pub(super) struct Pipeline {
    pub negated: bool,
    pub commands: Vec<Node>,
}

/// One command and its redirections.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub kind: Kind,
    pub redirects: Vec<Redirect>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Assignments, words, and the arrays that `declare` and the like fill.
    Simple(Vec<Assignment>, Vec<RawWord>, Vec<Assignment>),
    /// Conditions with what they lead to, and what is done otherwise.
    If(Vec<(List, List)>, List),
    /// `for NAME in WORDS`; the positional parameters without words.
    For(String, Option<Vec<RawWord>>, List),
    /// `for ((a; b; c))`.
    Counted(Box<[Text; 3]>, List),
    /// `while`, or with `true` `until`.
    While(bool, List, List),
    /// A word, and patterns with what they lead to.
    Case(RawWord, Vec<Branch>),
    Group(List),
    Subshell(List),
    Function(String, Rc<Node>),
    /// A command that is not followed, such as `select`.
    NotFollowed(&'static str),
    /// `[[ … ]]`.
    Test(Vec<TestWord>),
    /// `((…))`.
    Arithmetic(Text),
}

/// One way of a `case`.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub patterns: Vec<RawWord>,
    pub body: List,
    pub then: CaseEnd,
}

/// What follows a way of a `case`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CaseEnd {
    /// `;;`: the end.
    Ends,
    /// `;&`: what the next way does.
    NextBody,
    /// `;;&`: the next way whose pattern matches.
    NextMatch,
}

/// A part of `[[ … ]]`: a sign such as `&&` or `(`, or a word.
#[derive(Clone, Debug)]
pub(super) enum TestWord {
    Sign(&'static str),
    Word(RawWord),
}

#[derive(Clone, Debug)]
pub(super) struct Assignment {
    pub name: String,
    /// The element of an array that is set.
    pub index: Option<Text>,
    pub adds: bool,
    pub value: AssignedValue,
}

#[derive(Clone, Debug)]
pub(super) enum AssignedValue {
    Word(RawWord),
    Array(Vec<RawWord>),
}

#[derive(Clone, Debug)]
pub(super) struct Redirect {
    pub fd: Option<u32>,
    pub kind: Redirection,
}

#[derive(Clone, Debug)]
pub(super) enum Redirection {
    /// `>`, `>>`, `>|`, `>&`, `&>`: whether it adds to the file, and which.
    Out { adds: bool, word: RawWord },
    /// `>&N`.
    Like(u32),
    /// `< FILE`.
    In(RawWord),
    /// The text after `<<`, by its number in the script.
    Here(usize),
    /// `<<< WORD`.
    HereWord(RawWord),
}

/// The text after `<<` and the line that it begins in.
#[derive(Clone, Debug)]
pub(super) struct HereText {
    pub text: Text,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(super) struct RawWord {
    pub parts: Text,
    pub span: Span,
}

impl RawWord {
    /// The word if it is written without quotes and expansions.
    pub(super) fn plain(&self) -> Option<&str> {
        match &self.parts[..] {
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }
}

/// Text and what is to be put into it.
pub(super) type Text = Vec<Part>;

#[derive(Clone, Debug)]
pub(super) enum Part {
    Text(String),
    /// Text in which no sign means anything.
    Quoted(String),
    Parameter {
        parameter: Box<Parameter>,
        quoted: bool,
        span: Span,
    },
    Command {
        list: List,
        quoted: bool,
        span: Span,
    },
    /// `<(…)`.
    Process {
        list: List,
        span: Span,
    },
    /// `>(…)`.
    Reader {
        span: Span,
    },
    Arithmetic {
        text: Text,
        quoted: bool,
        span: Span,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub name: String,
    pub index: Option<Text>,
    pub operation: Operation,
}

#[derive(Clone, Debug)]
pub(super) enum Operation {
    Value,
    /// `${#NAME}`.
    Length,
    /// `${!NAME}`.
    Indirect,
    /// `${!NAME[@]}`.
    Keys,
    /// `${NAME:-word}` and the like.
    Default(Fallback),
    Strip(Strip),
    Replace(Replacement),
    Slice(Slice),
    /// `^`, `,` and both twice.
    Case {
        upper: bool,
        all: bool,
    },
}

/// `#` or `%`; twice for the longest part that matches.
#[derive(Clone, Debug)]
pub(super) struct Strip {
    pub from_end: bool,
    pub longest: bool,
    pub pattern: Text,
}

/// `/`, `//`, `/#` and `/%`.
#[derive(Clone, Debug)]
pub(super) struct Replacement {
    pub all: bool,
    pub anchor: Option<char>,
    pub pattern: Text,
    pub with: Text,
}

/// `:offset` and `:offset:length`.
#[derive(Clone, Debug)]
pub(super) struct Slice {
    pub offset: Text,
    pub length: Option<Text>,
}

/// What stands for a parameter without a value.
#[derive(Clone, Debug)]
pub(super) struct Fallback {
    /// `-`, `=`, `+` or `?`.
    pub sign: char,
    /// After a colon the empty value counts as none.
    pub or_empty: bool,
    pub word: Text,
}

/// Commands of the shell whose words may be assignments.
pub(super) const DECLARATIONS: [&str; 5] = ["local", "export", "readonly", "declare", "typeset"];

/// How long the name is that a text begins with.
pub(super) fn name_length(text: &str) -> usize {
    let part = |c: char| c == '_' || c.is_ascii_alphanumeric();
    text.find(|c| !part(c)).unwrap_or(text.len())
}

/// The file of `< FILE` as the one command of a list.
pub(super) fn contents_of(list: &List) -> Option<&Redirection> {
    let [AndOr { first: Pipeline { negated: false, commands }, rest }] = &list[..] else {
        return None;
    };
    let [Node { kind: Kind::Simple(before, words, _), redirects, .. }] = &commands[..] else {
        return None;
    };
    match &redirects[..] {
        [Redirect { fd: None, kind: kind @ Redirection::In(_) }] => {
            (before.is_empty() && words.is_empty() && rest.is_empty()).then_some(kind)
        }
        _ => None,
    }
}
