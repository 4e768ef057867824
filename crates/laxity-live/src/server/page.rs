//! The page: files that load nothing from elsewhere.

use std::sync::LazyLock;

use super::past::{EVERY, FINE, LINES, SPAN, SPARSE};
use crate::status::DelayStatus;

/// The kind of a style sheet.
pub(super) const CSS: &str = "text/css; charset=utf-8";

/// The kind and text of a file of the page.
pub(super) fn file(path: &str) -> Option<(&'static str, &'static str)> {
    Some(match path {
        "/" => ("text/html; charset=utf-8", include_str!("page/index.html")),
        "/page.css" => (CSS, include_str!("page/page.css")),
        "/page.js" => ("text/javascript; charset=utf-8", include_str!("page/page.js")),
        "/edges.js" => ("text/javascript; charset=utf-8", &EDGES),
        "/past.js" => ("text/javascript; charset=utf-8", include_str!("page/past.js")),
        "/promised.js" => ("text/javascript; charset=utf-8", include_str!("page/promised.js")),
        "/talkers.js" => ("text/javascript; charset=utf-8", include_str!("page/talkers.js")),
        "/chart.js" => ("text/javascript; charset=utf-8", include_str!("page/chart.js")),
        _ => return None,
    })
}

/// What a status does not say of its distributions, and what the page and the server both go by.
static EDGES: LazyLock<String> = LazyLock::new(|| {
    let edges = DelayStatus::EDGES;
    let (every, span) = (EVERY.as_millis(), SPAN.as_secs());
    let (fine, sparse) = (FINE.as_secs(), SPARSE.as_secs());
    format!(
        "\"use strict\";\n// Edges of the buckets in ns.\nconst EDGES = {edges:?};\n\
         // How often the link is asked what it is like, in ms.\nconst EVERY = {every};\n\
         // How far back charts go, in seconds.\nconst SPAN = {span};\n\
         // How far back every moment is kept, and how far apart those before are.\n\
         const FINE = {fine};\nconst SPARSE = {sparse};\n\
         // As many classes have a colour that everybody tells from the others.\n\
         const MOST_LINES = {LINES};\n"
    )
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_loaded_from_outside() {
        for path in [
            "/",
            "/page.css",
            "/page.js",
            "/edges.js",
            "/promised.js",
            "/talkers.js",
            "/past.js",
            "/chart.js",
        ] {
            let (_, text) = file(path).unwrap();
            let text = text.replace("http://www.w3.org/2000/svg", "");
            for outside in ["http:", "https:", "url(", "@import", "//cdn", "eval(", "innerHTML"] {
                assert!(!text.contains(outside), "{path}: {outside}");
            }
        }
        assert!(file("/edges.js").unwrap().1.contains("[10000, 12500, "));
        assert_eq!(file("/../Cargo.toml"), None);
    }
}
