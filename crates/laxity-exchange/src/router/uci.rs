//! UCI, the files in `/etc/config` of OpenWrt (openwrt.org/docs/techref/uci).

use crate::Error;
use crate::error::shown;

/// Files have no more lines than this: far more than any router's.
const MOST_LINES: usize = 100_000;

/// A section: `config TYPE [NAME]` and what stands below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    pub kind: String,
    pub name: Option<String>,
    /// Where it begins, from 1.
    pub line: usize,
    pub options: Vec<UciOption>,
}

/// `option NAME VALUE`, or one value of a `list`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UciOption {
    pub name: String,
    pub value: String,
    pub line: usize,
}

impl Section {
    /// The option of this name. Of several the last one counts, as for OpenWrt.
    pub(crate) fn option(&self, name: &str) -> Option<&UciOption> {
        self.options.iter().rev().find(|option| option.name == name)
    }

    /// The value of an option, if it is there and not empty.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.option(name).map(|option| option.value.as_str()).filter(|value| !value.is_empty())
    }

    /// All values of a list.
    pub(crate) fn list(&self, name: &str) -> impl Iterator<Item = &UciOption> {
        self.options.iter().filter(move |option| option.name == name)
    }

    /// A switch: `1`, `yes`, `on`, `true` or `enabled`, or the opposite.
    ///
    /// # Errors
    /// If the value is another one.
    pub(crate) fn switch(&self, name: &str) -> Result<Option<bool>, Error> {
        let Some(option) = self.option(name).filter(|option| !option.value.is_empty()) else {
            return Ok(None);
        };
        match option.value.as_str() {
            "1" | "yes" | "on" | "true" | "enabled" => Ok(Some(true)),
            "0" | "no" | "off" | "false" | "disabled" => Ok(Some(false)),
            other => Err(Error::at(
                option.line,
                format!("`{name}` is `{}`: a switch is 1 or 0", shown(other)),
            )),
        }
    }
}

/// Reads a file.
///
/// # Errors
/// At the first line that is none of `config`, `option` and `list`, or whose quotes are not closed.
pub(crate) fn read(text: &str) -> Result<Vec<Section>, Error> {
    let mut sections: Vec<Section> = Vec::new();
    for (line, words) in lines(text)? {
        let texts: Vec<&str> = words.iter().map(String::as_str).collect();
        match texts[..] {
            ["package", _] => {}
            ["config", kind] => sections.push(Section::new(kind, None, line)),
            ["config", kind, name] => sections.push(Section::new(kind, Some(name), line)),
            ["option" | "list", name, value] => {
                let section = sections.last_mut().ok_or_else(|| {
                    Error::at(
                        line,
                        "an option before the first `config`: write `config TYPE` above it",
                    )
                })?;
                let (name, value) = (name.to_owned(), value.to_owned());
                section.options.push(UciOption { name, value, line });
            }
            _ => {
                let said = shown(&texts.join(" "));
                return Err(Error::at(
                    line,
                    format!(
                        "`{said}` is none of config TYPE [NAME], option NAME VALUE and list NAME VALUE"
                    ),
                ));
            }
        }
    }
    Ok(sections)
}

impl Section {
    fn new(kind: &str, name: Option<&str>, line: usize) -> Section {
        Section { kind: kind.into(), name: name.map(Into::into), line, options: Vec::new() }
    }
}

/// The words of each line that has any. A quoted word may go on over lines.
fn lines(text: &str) -> Result<Vec<(usize, Vec<String>)>, Error> {
    let mut all = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let (mut line, mut begin) = (1, 1);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            quote @ ('\'' | '"') => {
                let opened = line;
                let word = word.get_or_insert_default();
                loop {
                    match letters.next() {
                        None => return Err(Error::at(opened, "a quote that is never closed")),
                        Some(end) if end == quote => break,
                        Some('\\') if quote == '"' => word.extend(letters.next()),
                        Some(inner) => {
                            line += usize::from(inner == '\n');
                            word.push(inner);
                        }
                    }
                }
            }
            '\\' => match letters.next() {
                Some('\n') => line += 1,
                Some(escaped) => word.get_or_insert_default().push(escaped),
                None => {}
            },
            '#' if word.is_none() => {
                while letters.peek().is_some_and(|letter| *letter != '\n') {
                    letters.next();
                }
            }
            '\n' | ';' => {
                words.extend(word.take());
                if !words.is_empty() {
                    all.push((begin, std::mem::take(&mut words)));
                }
                line += usize::from(letter == '\n');
                begin = line;
                if line > MOST_LINES {
                    return Err(Error::at(line, format!("a file has at most {MOST_LINES} lines")));
                }
            }
            space if space.is_whitespace() => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word.take());
    if !words.is_empty() {
        all.push((begin, words));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sections_have_options_and_lists() {
        let text = "\
# a comment
config queue 'eth1'
\toption enabled '1'   # behind a value
\toption script \"piece of\"'_cake'
\tlist port 80
\tlist port 443
\toption enabled 0

config queue
";
        let sections = read(text).unwrap();
        assert_eq!(sections.len(), 2);
        let [first, second] = &sections[..] else { panic!() };
        assert_eq!(
            (first.kind.as_str(), first.name.as_deref(), first.line),
            ("queue", Some("eth1"), 2)
        );
        assert_eq!(first.switch("enabled").unwrap(), Some(false));
        assert_eq!(first.value("script"), Some("piece of_cake"));
        let ports: Vec<_> = first.list("port").map(|port| port.value.as_str()).collect();
        assert_eq!(ports, ["80", "443"]);
        assert_eq!((second.name.as_deref(), second.line), (None, 9));
    }

    #[test]
    fn errors_have_their_line() {
        for (text, line) in [
            ("option a b\n", "1"),
            ("config a\n\noption b\n", "3"),
            ("config a\noption b 'c\n\n", "2"),
            ("config a\noptoin b c\n", "2"),
        ] {
            assert_eq!(read(text).unwrap_err().place(), Some(line), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[ \\t\\n'\"\\\\#;a-c]{0,60}") {
            let _ = read(&text);
        }
    }
}
