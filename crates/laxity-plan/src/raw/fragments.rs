//! Plans of very many sources, read one source at a time.
//!
//! A TOML table of ten keys takes some kilobytes while it is taken apart. Of a hundred thousand
//! sources only one at a time is, if each is written as a `[[source]]` of its own.

use serde::Deserialize;
use toml_parser::Source as Text;
use toml_parser::lexer::{Lexer, Token, TokenKind};

use super::{At, Source, Sources, Table, toml_error};
use crate::error::{Fault, Span};

/// Fewer sources than this are read with everything else.
const MANY: usize = 1000;

/// A plan's text in pieces, each a whole TOML document.
pub(crate) struct Fragments<'a> {
    /// All but the sources.
    pub rest: String,
    /// One `[[source]]` each.
    pub sources: Vec<&'a str>,
}

/// What is written of the sources.
pub(crate) enum SourceTables<'a> {
    /// Read with the plan.
    Whole(Sources),
    /// One document for each source. Its errors do not say where in the plan it stands.
    Fragments(Vec<&'a str>),
}

impl SourceTables<'_> {
    /// One source after another, and where it is written.
    pub(crate) fn each(
        &self,
        mut read: impl FnMut(&Source, &Span) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        match self {
            SourceTables::Whole(sources) => {
                sources.0.iter().try_for_each(|At { value: Table(raw), span }| read(raw, span))
            }
            SourceTables::Fragments(pieces) => pieces.iter().try_for_each(|piece| {
                let At { value: Table(raw), span } = &source(piece)?;
                read(raw, span)
            }),
        }
    }
}

/// The source of a piece.
fn source(piece: &str) -> Result<At<Table<Source>>, Fault> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Piece {
        source: Sources,
    }

    let read: Result<Piece, _> = toml::from_str(piece);
    let mut sources = read.map_err(|error| toml_error::content(&error, piece))?.source.0;
    match (sources.pop(), sources.is_empty()) {
        (Some(source), true) => Ok(source),
        _ => Err(Fault::new(None, "a piece of a plan is one source")),
    }
}

impl<'a> Fragments<'a> {
    /// The pieces of a plan with many sources; none where sources are few, or written in another
    /// way than each under its own `[[source]]`.
    pub(crate) fn cut(text: &'a str) -> Option<Self> {
        text.matches("[[source]]").nth(MANY)?;
        let (mut rest, mut sources) = (String::new(), Vec::new());
        let (mut begin, mut in_source) = (0, false);
        let mut cut = |begin: usize, end: usize, in_source: bool| {
            if in_source {
                sources.push(&text[begin..end])
            } else {
                rest.push_str(&text[begin..end])
            }
        };
        let mut tokens = Text::new(text).lex();
        while let Some(first) = tokens.next() {
            match first.kind() {
                TokenKind::Whitespace | TokenKind::Comment | TokenKind::Newline => continue,
                TokenKind::LeftSquareBracket => {}
                _ => {
                    to_end_of_value(&mut tokens);
                    continue;
                }
            }
            let header = Header::read(&mut tokens, text)?;
            if header == Header::OfSource && !in_source {
                return None;
            }
            if header != Header::OfSource {
                let at = first.span().start();
                cut(begin, at, in_source);
                (begin, in_source) = (at, header == Header::Source);
            }
        }
        cut(begin, text.len(), in_source);
        Some(Fragments { rest, sources })
    }
}

/// What a line with a table's name in brackets begins.
#[derive(PartialEq, Eq)]
enum Header {
    /// `[[source]]`.
    Source,
    /// A table within the source before.
    OfSource,
    Other,
}

impl Header {
    /// Reads the rest of the line behind a first bracket. None where the first part of the name is
    /// quoted, and may be any.
    fn read(tokens: &mut Lexer<'_>, text: &str) -> Option<Self> {
        let kind = |token: &Token| token.kind();
        let line = tokens.take_while(|token| token.kind() != TokenKind::Newline);
        let line: Vec<_> = line.filter(|token| token.kind() != TokenKind::Whitespace).collect();
        let is_array = line.first().map(kind) == Some(TokenKind::LeftSquareBracket);
        let mut name = line.iter().skip(usize::from(is_array));
        let first = name.next().filter(|token| token.kind() == TokenKind::Atom)?;
        let is_whole = name.next().map(kind) == Some(TokenKind::RightSquareBracket);
        Some(match text.get(first.span().start()..first.span().end()) {
            Some("source") if is_array && is_whole => Header::Source,
            Some("source") => Header::OfSource,
            _ => Header::Other,
        })
    }
}

/// Passes over a key and its value, which may have brackets and lines within these.
fn to_end_of_value(tokens: &mut Lexer<'_>) {
    let mut depth = 0u32;
    for token in tokens {
        match token.kind() {
            TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => depth += 1,
            TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => {
                depth = depth.saturating_sub(1);
            }
            TokenKind::Newline if depth == 0 => return,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
