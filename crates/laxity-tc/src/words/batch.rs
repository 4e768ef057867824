//! Batches of commands, one a line, as `tc -batch` and `ip -batch` read them.

/// A command of a batch.
pub(crate) struct BatchCommand {
    /// The lines that it stands in, the first and the last, from 0.
    pub lines: (usize, usize),
    /// Its words without quotes.
    pub words: Vec<String>,
    /// The comment behind it.
    pub comment: Option<String>,
}

/// The commands of a batch. A line goes on in the next one behind a backslash.
pub(crate) fn commands(text: &str) -> Vec<BatchCommand> {
    let (mut all, mut whole, mut first) = (Vec::new(), String::new(), None);
    for (at, line) in text.lines().enumerate() {
        let lines = (*first.get_or_insert(at), at);
        if let Some(begun) = line.trim_end_matches('\r').strip_suffix('\\') {
            whole.push_str(begun);
            continue;
        }
        whole.push_str(line);
        let parts = whole.split_once(" #");
        let (command, comment) =
            parts.map_or((whole.as_str(), None), |(command, comment)| (command, Some(comment)));
        let words = command.split_whitespace().map(|word| word.trim_matches(['"', '\'']).into());
        let words: Vec<String> = words.collect();
        if words.first().is_some_and(|word| !word.starts_with('#')) {
            let comment = comment.map(|text| text.trim_matches([' ', '#']).to_string());
            all.push(BatchCommand { lines, words, comment });
        }
        whole.clear();
        first = None;
    }
    all
}
