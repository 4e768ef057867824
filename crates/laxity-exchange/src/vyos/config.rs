//! The configuration of VyOS, as `set` commands or with braces: a tree of words, each with the
//! values and nodes below it.

use std::collections::BTreeMap;

use crate::Error;
use crate::error::shown;

/// A node of the tree. A value is a node with nothing below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Node {
    /// The line of the first statement about it, from 1.
    pub line: usize,
    /// What is below it, in the order of the words.
    pub below: BTreeMap<String, Node>,
}

/// The deepest statement, in words.
const DEEPEST: usize = 64;
/// The most statements.
const MOST: usize = 200_000;

impl Node {
    /// The node at a path below this one.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, word| node.below.get(*word))
    }

    /// The one value below a path.
    pub(super) fn value(&self, path: &[&str]) -> Option<(&str, usize)> {
        let (word, node) = self.at(path)?.below.iter().next()?;
        Some((word, node.line))
    }

    /// All nodes below a path.
    pub(super) fn all(&self, path: &[&str]) -> impl Iterator<Item = (&str, &Node)> {
        let below = self.at(path).into_iter().flat_map(|node| &node.below);
        below.map(|(word, node)| (word.as_str(), node))
    }

    fn add(&mut self, words: &[String], line: usize) {
        let mut node = self;
        for word in words {
            node =
                node.below.entry(word.clone()).or_insert_with(|| Node { line, ..Node::default() });
        }
    }

    fn remove(&mut self, words: &[String]) {
        match words {
            [] => {}
            [word] => _ = self.below.remove(word),
            [word, rest @ ..] => {
                if let Some(node) = self.below.get_mut(word) {
                    node.remove(rest);
                }
            }
        }
    }
}

/// Reads a configuration. Comments of both forms are left out.
///
/// # Errors
/// At the first line whose quotes or braces do not match, or that is neither form.
pub(super) fn read(text: &str) -> Result<Node, Error> {
    let mut root = Node::default();
    let mut above: Vec<(Vec<String>, usize)> = Vec::new();
    let mut in_comment = false;
    for (at, text) in text.lines().enumerate() {
        let line = at + 1;
        if line > MOST {
            return Err(Error::at(line, format!("a configuration has at most {MOST} lines")));
        }
        let words = words(text, line, &mut in_comment)?;
        let Some((last, before)) = words.split_last() else { continue };
        let depth: usize = above.iter().map(|(words, _)| words.len()).sum::<usize>() + words.len();
        if depth > DEEPEST {
            return Err(Error::at(line, format!("a statement of more than {DEEPEST} words")));
        }
        let path = |words: &[String]| -> Vec<String> {
            above.iter().flat_map(|(words, _)| words).chain(words).cloned().collect()
        };
        match (words[0].as_str(), last.as_str()) {
            (_, "{") if !before.is_empty() => {
                root.add(&path(before), line);
                above.push((before.to_vec(), line));
            }
            ("}", "}") if words.len() == 1 => {
                above.pop().ok_or_else(|| Error::at(line, "a `}` too many"))?;
            }
            ("set", _) if above.is_empty() && words.len() > 1 => root.add(&words[1..], line),
            ("delete", _) if above.is_empty() && words.len() > 1 => root.remove(&words[1..]),
            _ if !above.is_empty() => root.add(&path(&words), line),
            // Prompts and other commands of a session.
            ("configure" | "commit" | "save" | "exit" | "edit" | "top", _) => {}
            _ => {
                let said = shown(&words.join(" "));
                return Err(Error::at(
                    line,
                    format!("`{said}` is neither `set …` nor a node with braces"),
                ));
            }
        }
    }
    match above.pop() {
        Some((_, line)) => Err(Error::at(line, "its brace is never closed")),
        None => Ok(root),
    }
}

/// The words of a line, without quotes and comments.
fn words(text: &str, line: usize, in_comment: &mut bool) -> Result<Vec<String>, Error> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = text;
    loop {
        if *in_comment {
            let Some(end) = rest.find("*/") else { break };
            (*in_comment, rest) = (false, &rest[end + 2..]);
        }
        if word.is_none() && rest.starts_with("/*") {
            (*in_comment, rest) = (true, &rest[2..]);
            continue;
        }
        if word.is_none() && (rest.starts_with('#') || rest.starts_with("//")) {
            break;
        }
        let Some(letter) = rest.chars().next() else { break };
        rest = &rest[letter.len_utf8()..];
        match letter {
            '\'' | '"' => {
                let end = rest.find(letter);
                let end = end.ok_or_else(|| Error::at(line, "a quote that is never closed"))?;
                word.get_or_insert_default().push_str(&rest[..end]);
                rest = &rest[end + 1..];
            }
            space if space.is_whitespace() => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_forms_are_one_tree() {
        let set = "set qos policy shaper WAN bandwidth '10mbit'\n\
                   set qos policy shaper WAN class 10 description \"two words\"\n\
                   set qos policy shaper WAN class 10 match VOICE ip dscp 'EF'\n";
        let braces = "qos {\n  policy {\n    shaper WAN {\n      /* a comment */\n      bandwidth 10mbit\n      class 10 {\n        \
                      description \"two words\"\n        match VOICE {\n          ip {\n            dscp EF\n          }\n        }\n      }\n    }\n  }\n}\n";
        let without_lines = |text| {
            fn clear(node: &mut Node) {
                node.line = 0;
                node.below.values_mut().for_each(clear);
            }
            let mut root = read(text).unwrap();
            clear(&mut root);
            root
        };
        assert_eq!(without_lines(set), without_lines(braces));
        let root = read(braces).unwrap();
        assert_eq!(
            root.value(&["qos", "policy", "shaper", "WAN", "bandwidth"]),
            Some(("10mbit", 5))
        );
    }

    #[test]
    fn errors_have_their_line() {
        for (text, place) in [
            ("qos {\n policy {\n", "2"),
            ("qos {\n}\n}\n", "3"),
            ("set a 'b\n", "1"),
            ("\nshow interfaces\n", "2"),
        ] {
            assert_eq!(read(text).unwrap_err().place(), Some(place), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a-c {}'\"/*#\\n]{0,60}") {
            let _ = read(&text);
        }
    }
}
