//! Documents for developers name files that are there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

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

/// The paths of all source files below a folder, from the root of the repository.
fn sources(root: &Path, folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            sources(root, &path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.insert(format!("/{}", path.strip_prefix(root).unwrap().display()));
        }
    }
}

#[test]
fn documents_name_files_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = BTreeSet::new();
    for folder in ["crates", "fuzz", "xtask"] {
        sources(root, &root.join(folder), &mut found);
    }
    let mut named = 0;
    for document in DOCUMENTS {
        let text = fs::read_to_string(root.join(document)).unwrap();
        for file in named_files(&text) {
            named += 1;
            let is_there = found.iter().any(|path| path.ends_with(&format!("/{file}")));
            assert!(is_there, "{document} names {file}, which is not there");
        }
    }
    assert!(named > 100, "{named} files are named");
}
