//! XML, within limits.

use roxmltree::{Document, Node, ParsingOptions};

use super::{MOST, TopologyError};
use crate::error::shown;

/// A document, without declarations of its own.
pub(super) fn parse(text: &str) -> Result<Document<'_>, TopologyError> {
    let options = ParsingOptions { nodes_limit: 4 * MOST as u32, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|error| {
        let message = format!("this is no XML that is read here: {}", shown(&error.to_string()));
        // What is missing at the end is missing on the last line.
        let last = text.lines().count().max(1);
        TopologyError::new((error.pos().row as usize).min(last), message)
    })
}

/// The line where a node begins.
pub(super) fn line(document: &Document<'_>, node: Node<'_, '_>) -> usize {
    document.text_pos_at(node.range().start).row as usize
}

/// The elements of this name in another, in any namespace.
pub(super) fn elements<'a, 'i>(
    of: Node<'a, 'i>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'i>> + use<'a, 'i> {
    of.children().filter(move |node| node.tag_name().name() == name)
}
