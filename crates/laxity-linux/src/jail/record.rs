//! What a tool was told to do, and how it is written down: a line of JSON for each command.

use serde::{Deserialize, Serialize};

/// One command that a script issued.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// The program and its arguments, as they were given.
    pub words: Vec<String>,
    /// What it would have read: its standard input, or the file that it was given.
    pub input: Option<String>,
    /// How far the script's shell had read its file, in bytes: to the end of the command, or of the
    /// loop or the like around it. Shells but bash do not tell.
    pub at: Option<u64>,
}

impl Record {
    /// All that are whole. What a script wrote there itself is read as far as it has their form.
    pub fn read_all(bytes: &[u8]) -> Vec<Record> {
        let lines = bytes.split(|byte| *byte == b'\n');
        lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_are_written() {
        let words = ["tc", "", "a b\n\u{fffd}"].map(String::from).to_vec();
        let records = [
            Record { words: words.clone(), input: None, at: Some(7) },
            Record { words, input: Some("qdisc\n".into()), at: None },
        ];
        let bytes = records.each_ref().map(|record| serde_json::to_vec(record).unwrap());
        let bytes = bytes.join(&b'\n');
        assert_eq!(Record::read_all(&bytes), records);
        for end in 0..bytes.len() {
            assert!(Record::read_all(&bytes[..end]).len() < 2);
        }
        assert_eq!(Record::read_all(&[0xff; 4096]), []);
    }
}
