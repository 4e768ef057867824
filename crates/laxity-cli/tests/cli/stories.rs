//! The pictures of the guide are those that the commands below them write.
//!
//! After an intended change, `LAXITY_RECORD=1 cargo test -p laxity-cli --test cli stories` writes
//! them again.

use std::fs;

use crate::folder::{Folder, repository};

/// A picture of the guide: its file below `docs`, the command that draws it, and the file that the
/// command calls it.
struct Picture {
    file: String,
    arguments: Vec<String>,
    figure: String,
}

/// Every picture of the guide, with the command below it.
fn pictures() -> Vec<Picture> {
    let guide = fs::read_to_string(repository("docs/why.md")).unwrap();
    let parts = guide.split("](images/").skip(1);
    let picture = |part: &str| {
        let (file, rest) = part.split_once(')').unwrap();
        let command = rest.lines().find(|line| line.starts_with("laxity why")).unwrap();
        let (command, figure) = command.split_once(" # ").unwrap();
        let (command, _) = command.split_once(" --out ").unwrap();
        let arguments = command.split(' ').skip(1).map(|word| match word {
            plan if plan.starts_with("examples/") => repository(plan),
            word => word.to_string(),
        });
        let (file, figure) = (format!("docs/images/{file}"), figure.trim().to_string());
        Picture { file, arguments: arguments.collect(), figure }
    };
    parts.map(picture).collect()
}

#[test]
fn pictures_are_those_of_their_commands() {
    let pictures = pictures();
    assert!(pictures.len() >= 6);
    for Picture { file, arguments, figure } in pictures {
        let folder = Folder::new();
        let mut words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        words.extend(["--out", "out"]);
        folder.laxity(&words).printed(0);
        let drawn = folder.text(&format!("out/{figure}"));
        if std::env::var_os("LAXITY_RECORD").is_some() {
            fs::write(repository(&file), drawn).unwrap();
            continue;
        }
        let kept = fs::read_to_string(repository(&file)).unwrap_or_default();
        assert!(drawn == kept, "{file} is not what `laxity {}` draws", arguments.join(" "));
    }
}
