//! GML (Himsolt 1997), as the Internet Topology Zoo and NetworkX write it.
//!
//! A file is a list of keys, each with a number, a text or another list in brackets. Of `graph` the
//! lists `node` and `edge` count, and of these the keys that GraphML has, too.

use super::graph::{self, Edge, Site};
use super::{MOST, Topology, TopologyError, place, quantity, raw_speed};

/// The most brackets within one another.
const DEEPEST: usize = 64;

/// Whether a text may be GML: it begins with a key, and has a graph.
pub(super) fn is_gml(text: &str) -> bool {
    let mut tokens = Tokens::new(text);
    let is_key = matches!(tokens.next(), Some(Ok(Token { kind: Kind::Word(word), .. }))
        if word.starts_with(|first: char| first.is_ascii_alphabetic()) && !word.contains(','));
    let mut before = "";
    is_key
        && Tokens::new(text).map_while(Result::ok).any(|token| {
            let is_graph = token.kind == Kind::Open && before == "graph";
            before = if let Kind::Word(word) = token.kind { word } else { "" };
            is_graph
        })
}

/// The topology of a text.
pub(super) fn parse(text: &str) -> Result<Topology, TopologyError> {
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    let mut path: Vec<&str> = Vec::new();
    let mut tokens = Tokens::new(text);
    while let Some(token) = tokens.next().transpose()? {
        let key = match token.kind {
            Kind::Close if path.pop().is_some() => continue,
            Kind::Word(key) => key,
            _ => return Err(TopologyError::new(token.line, "a key is expected here")),
        };
        let wrong = || {
            TopologyError::new(token.line, format!("`{}` has no value", crate::error::shown(key)))
        };
        let value = tokens.next().transpose()?.ok_or_else(wrong)?;
        match value.kind {
            Kind::Close => return Err(wrong()),
            Kind::Open if path.len() == DEEPEST => {
                let message = format!("more than {DEEPEST} lists within one another");
                return Err(TopologyError::new(value.line, message));
            }
            Kind::Open => {
                path.push(key);
                match path[..] {
                    ["graph", "node"] => nodes.push(List::new(token.line)),
                    ["graph", "edge"] => edges.push(List::new(token.line)),
                    _ => {}
                }
                if nodes.len().max(edges.len()) > MOST {
                    return Err(TopologyError::new(
                        token.line,
                        format!("more than {MOST} nodes or links"),
                    ));
                }
            }
            Kind::Word(text) | Kind::Text(text) => match path[..] {
                ["graph", "node"] => {
                    nodes.last_mut().into_iter().for_each(|list| list.add(key, text))
                }
                ["graph", "edge"] => {
                    edges.last_mut().into_iter().for_each(|list| list.add(key, text))
                }
                _ => {}
            },
        }
    }
    if let Some(open) = path.last() {
        let message = format!("the list `{}` does not end", crate::error::shown(open));
        return Err(TopologyError::new(text.lines().count().max(1), message));
    }
    let sites: Result<Vec<_>, _> = nodes.iter().map(List::site).collect();
    let edges: Result<Vec<_>, _> = edges.iter().map(List::edge).collect();
    graph::topology(&sites?, &edges?, ["source", "target"])
}

/// The keys of a node or an edge that are of use.
struct List<'a> {
    line: usize,
    known: Vec<(&'a str, &'a str)>,
}

impl<'a> List<'a> {
    const KEYS: [&'static str; 9] = [
        "id",
        "label",
        "latitude",
        "longitude",
        "source",
        "target",
        "rate",
        "delay",
        "linkspeedraw",
    ];

    fn new(line: usize) -> Self {
        List { line, known: Vec::new() }
    }

    fn add(&mut self, key: &'a str, text: &'a str) {
        let is_known = Self::KEYS.iter().any(|known| known.eq_ignore_ascii_case(key));
        if is_known && self.get(key).is_none() {
            self.known.push((key, text));
        }
    }

    fn get(&self, key: &str) -> Option<&'a str> {
        let known = self.known.iter().find(|(known, _)| known.eq_ignore_ascii_case(key));
        known.map(|(_, text)| text.trim())
    }

    fn site(&self) -> Result<Site<'a>, TopologyError> {
        let line = self.line;
        let id = self.get("id").ok_or_else(|| TopologyError::new(line, "a node without `id`"))?;
        let place = place(|name| self.get(name), line)?;
        Ok(Site { id, label: unescaped(self.get("label").unwrap_or_default()), place, line })
    }

    fn edge(&self) -> Result<Edge<'a>, TopologyError> {
        let line = self.line;
        let text = |key| self.get(key).unwrap_or_default();
        let rate = match quantity(text("rate"), line)? {
            Some(rate) => Some(rate),
            None => raw_speed(text("LinkSpeedRaw"), line)?,
        };
        let delay = quantity(text("delay"), line)?;
        Ok(Edge { id: self.get("id"), ends: ["source", "target"].map(text), rate, delay, line })
    }
}

/// A text whose characters beyond ASCII, quotes and ampersands are written as in HTML.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, entity)) = rest.split_once('&') {
        plain.push_str(before);
        let found =
            entity.split_once(';').and_then(|(name, after)| Some((character(name)?, after)));
        (rest, _) = match found {
            Some((character, after)) => (after, plain.push(character)),
            None => (entity, plain.push('&')),
        };
    }
    plain + rest
}

fn character(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "lt" => Some('<'),
        "gt" => Some('>'),
        _ => match name.strip_prefix('#')? {
            hex if hex.starts_with(['x', 'X']) => u32::from_str_radix(&hex[1..], 16).ok(),
            decimal => decimal.parse().ok(),
        }
        .and_then(char::from_u32),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind<'a> {
    Open,
    Close,
    /// A key or a number.
    Word(&'a str),
    /// What stands in quotes.
    Text(&'a str),
}

struct Token<'a> {
    kind: Kind<'a>,
    line: usize,
}

struct Tokens<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a str) -> Self {
        Tokens { rest: text.trim_start_matches('\u{feff}'), line: 1 }
    }

    /// Advances by `bytes` bytes, and returns the text that it passed.
    fn pass(&mut self, bytes: usize) -> &'a str {
        let (passed, rest) = self.rest.split_at(bytes);
        self.line += passed.bytes().filter(|byte| *byte == b'\n').count();
        self.rest = rest;
        passed
    }

    /// Passes spaces, and lines that begin with `#`.
    fn pass_spaces(&mut self) {
        loop {
            self.pass(self.rest.len() - self.rest.trim_start().len());
            if self.rest.starts_with('#') {
                self.pass(self.rest.find('\n').unwrap_or(self.rest.len()))
            } else {
                return;
            };
        }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Result<Token<'a>, TopologyError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.pass_spaces();
        let line = self.line;
        let kind = match self.rest.chars().next()? {
            '[' => {
                self.pass(1);
                Kind::Open
            }
            ']' => {
                self.pass(1);
                Kind::Close
            }
            '"' => {
                let Some(length) = self.rest[1..].find('"') else {
                    self.rest = "";
                    return Some(Err(TopologyError::new(line, "a text without its second quote")));
                };
                Kind::Text(&self.pass(length + 2)[1..=length])
            }
            _ => {
                let ends = |c: char| c.is_whitespace() || "[]\"".contains(c);
                Kind::Word(self.pass(self.rest.find(ends).unwrap_or(self.rest.len())))
            }
        };
        Some(Ok(Token { kind, line }))
    }
}
