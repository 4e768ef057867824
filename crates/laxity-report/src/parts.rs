//! Pages of parts, each with sentences, a figure and a table.

use maud::html;

use crate::chart::Figure;
use crate::html::{facts, figure, grid, page};

/// A part of a page.
pub struct Part {
    /// The heading.
    pub heading: String,
    /// Paragraphs.
    pub sentences: Vec<String>,
    /// A figure.
    pub figure: Option<Figure<'static>>,
    /// The head of a table; empty without one.
    pub header: Vec<String>,
    /// The rows of the table.
    pub rows: Vec<Vec<String>>,
    /// The last column of the table with words; columns behind it hold numbers.
    pub words: usize,
}

/// A page as an HTML file. Its figures share a caption; `note` stands at the end.
pub fn html(
    title: &str,
    about: &[(&'static str, String)],
    parts: &[Part],
    caption: &str,
    note: Option<&str>,
) -> String {
    page(
        title,
        &html! {
            (facts(about))
            @for part in parts {
                section {
                    h2 { (part.heading) }
                    @for sentence in &part.sentences { p { (sentence) } }
                    @if let Some(drawn) = &part.figure { (figure(drawn, caption)) }
                    @if !part.header.is_empty() { (grid(&part.header, &part.rows, part.words)) }
                }
            }
            @if let Some(note) = note { p.note { (note) } }
        },
    )
}
