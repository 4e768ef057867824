//! What a script does to an interface beside its traffic control (ip-link(8), ifconfig(8)).

use crate::words::command::{Command, Word};

/// The interface and how many packets its queues hold, of `ip link set` and `ifconfig`.
pub(super) fn queue_length(command: &Command) -> Option<(String, u64)> {
    let words = &command.words[1..];
    let is = |word: &Word, names: &[&str]| names.contains(&word.text.as_str());
    let at = words.iter().position(|word| is(word, &["txqueuelen", "qlen"]))?;
    let length = words.get(at + 1)?.text.parse().ok().filter(|length| *length > 0)?;
    let named = words.iter().position(|word| is(word, &["dev"])).map(|at| at + 1);
    let device = match command.program() {
        "ifconfig" => 0,
        _ => named.or_else(|| {
            let keywords = ["link", "l", "set", "txqueuelen", "qlen", "up", "down"];
            (0..words.len()).find(|place| {
                *place != at + 1
                    && !is(&words[*place], &keywords)
                    && !words[*place].text.starts_with('-')
            })
        })?,
    };
    let device = words.get(device)?;
    let is_known = device.doubt.is_none() && words[at + 1].doubt.is_none();
    is_known.then(|| (device.text.clone(), length))
}
