//! Nothing from outside panics, loops or takes more than its share.

use proptest::prelude::*;

use super::*;

/// Reads a text and, if it is refused, asks the error everything.
fn read(text: &str) {
    if let Err(error) = parse(text) {
        let _ = (error.to_string(), error.line_column(), error.help());
        assert!(error.span().is_none_or(|span| error.text().get(span).is_some()), "{error}");
        assert!(error.message().len() < 2000, "{error}");
    }
}

proptest! {
    #[test]
    fn any_text(text in any::<String>()) {
        read(&text);
    }

    #[test]
    fn any_text_of_tokens(
        tokens in prop::collection::vec(
            prop::sample::select(PLAN.split(' ').chain(["[", "]", "[[", "{", "}", "=", "\n", "\"", ",", "#"]).collect::<Vec<_>>()),
            0..40,
        )
    ) {
        read(&tokens.join(" "));
        read(&format!("version = 1\nlink.rate = '1mbit'\nscheduler.kind = 'edf'\n{}", tokens.join(" ")));
    }

    #[test]
    fn any_mutation_of_a_plan(
        edits in prop::collection::vec((0..PLAN.len(), 0..12usize, any::<prop::sample::Index>()), 1..4)
    ) {
        let words = ["", "\"", "0", "-", "9999999999999999999", "nan", "[", "]", "{", "}", "\n", "é", "=", "''", "1e400"];
        let mut text = PLAN.to_string();
        for (at, cut, word) in edits {
            let start = text.floor_char_boundary(at);
            let end = text.floor_char_boundary(at + cut);
            text.replace_range(start..end.max(start), word.get::<&str>(&words));
        }
        read(&text);
    }

    #[test]
    fn any_value_in_place_of_another(
        at in any::<prop::sample::Index>(),
        value in prop::sample::select(vec!["0", "-1", "nan", "\"\"", "\"0b\"", "[]", "{}", "true", "1979-05-27", "\"9\"", "[[]]", "\"1s\"", "\"1b\"", "\"1bit\"", "{ uniform = [] }", "1e300", "\"\\u0000\""]),
    ) {
        let lines: Vec<&str> = PLAN.lines().collect();
        let at = at.index(lines.len());
        let changed = lines[at].split_once(" = ").map(|(key, _)| format!("{key} = {value}"));
        let text: Vec<&str> = lines
            .iter()
            .enumerate()
            .map(|(line, old)| changed.as_deref().filter(|_| line == at).unwrap_or(old))
            .collect();
        read(&text.join("\n"));
    }
}

#[test]
fn deep_and_long_nonsense() {
    let head = "version = 1\nlink.rate = '1mbit'\nscheduler.kind = 'edf'\n";
    for unit in
        ["[", "{", "a.", "{a=", "\"", "a=1\n", "[[a]]\n", "[a]\n", "[class.", "#", "\\", "x=[{"]
    {
        let text = unit.repeat(200_000);
        read(&text);
        read(&format!("{head}class = {text}"));
        read(&format!("{head}{text}"));
    }
    for sign in ["(", "not ", "!", "udp and ", "udp or ", "{1,", "x"] {
        let text = sign.repeat(100_000);
        let error = parse(&format!("{head}[class.a]\nmatch = \"{text}\"")).unwrap_err();
        assert!(error.message().starts_with("`match`"), "{error}");
    }
    let name = "x".repeat(1_000_000);
    read(&format!("{name} = 1"));
    read(&format!("version = 1\n{name} = 1"));
    read(&format!(
        "{head}[class.a]\n[[source]]\nmodel = 'poisson'\nrate = '1mbit'\nclass = '{name}'"
    ));
    read(&format!("{head}title = 5\n[class.a]\ndeadline = '{name}'"));
}

#[test]
fn a_plan_that_is_too_large() {
    let error = parse(&" ".repeat((16 << 20) + 1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan.toml: the file is larger than 16 MiB, the most that is read"
    );
}

mod files {
    use std::io::ErrorKind;

    use super::*;

    fn message(path: &Path) -> (String, Option<ErrorKind>) {
        let error = Plan::read(path).unwrap_err();
        assert_eq!(error.name(), path.display().to_string());
        (error.message().to_string(), error.io_kind())
    }

    #[test]
    fn that_are_not_there_or_no_files() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let missing = message(&here.join("no-such.toml"));
        assert_eq!(missing, ("there is no such file".into(), Some(ErrorKind::NotFound)));
        let folder = message(here);
        assert_eq!(folder, ("this is a folder, not a file".into(), Some(ErrorKind::IsADirectory)));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn that_never_end() {
        let (message, _) = message(Path::new("/dev/zero"));
        assert_eq!(message, "the file is larger than 16 MiB, the most that is read");
    }

    #[test]
    fn that_are_not_utf8() {
        let path = std::env::temp_dir().join(format!("laxity-plan-{}.toml", std::process::id()));
        std::fs::write(&path, b"version = 1\ntitle = \"\xff\"\n").unwrap();
        let error = Plan::read(&path).unwrap_err();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(error.message(), "the byte 0xff is not UTF-8 text");
        assert_eq!(error.line_column(), Some((2, 10)));
    }

    #[test]
    fn that_are_plans() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/read/tests");
        let plan = Plan::read(&folder.join("plan.toml")).unwrap();
        let crate::model::Source::Recording(recording) = &plan.sources[6] else {
            panic!("a model")
        };
        assert_eq!(recording.file, folder.join("traffic.pcap"));
    }
}
