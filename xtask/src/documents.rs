//! Documents for developers name files that are there.

use std::fs;
use std::path::Path;

use crate::comments::{FOLDERS, sources};

/// The documents, from the root of the repository.
const DOCUMENTS: [&str; 2] = ["ARCHITECTURE.md", "CONTRIBUTING.md"];

/// The source files that a document names in code spans. Names with a part in capitals stand for
/// any name.
fn named_files(text: &str) -> impl Iterator<Item = &str> {
    let spans = text.split('`').skip(1).step_by(2);
    let is_file = |span: &&str| {
        let is_path = span.chars().all(|c| c.is_ascii_alphanumeric() || "/_-.".contains(c));
        is_path && span.ends_with(".rs") && !span.contains("NAME")
    };
    spans.filter(is_file)
}

#[test]
fn documents_name_files_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let found = FOLDERS.map(|folder| sources(&root.join(folder)).unwrap()).concat();
    let mut named = 0;
    for document in DOCUMENTS {
        let text = fs::read_to_string(root.join(document)).unwrap();
        for file in named_files(&text) {
            named += 1;
            let is_there = found.iter().any(|path| path.ends_with(file));
            assert!(is_there, "{document} names {file}, which is not there");
        }
    }
    assert!(named > 100, "{named} files are named");
}
