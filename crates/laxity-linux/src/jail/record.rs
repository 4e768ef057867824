//! What a tool was told to do, and how it is written down: a line of JSON for each command, and
//! behind it what the tool read.

use std::io;

/// One command that a script issued.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

/// The line before what a tool read: its words, the length of what follows, and the place.
type Head = (Vec<String>, Option<usize>, Option<u64>);

impl Record {
    /// A record as it is written.
    pub fn bytes(words: Vec<String>, input: Option<&[u8]>, at: Option<u64>) -> io::Result<Vec<u8>> {
        let head: Head = (words, input.map(<[u8]>::len), at);
        Ok([&serde_json::to_vec(&head)?, &b"\n"[..], input.unwrap_or_default()].concat())
    }

    /// All that are whole. What a script wrote there itself is read as far as it has their form.
    pub fn read_all(bytes: &[u8]) -> Vec<Record> {
        let mut rest = bytes;
        std::iter::from_fn(|| {
            let (head, behind) =
                rest.split_at_checked(rest.iter().position(|byte| *byte == b'\n')?)?;
            let (words, length, at): Head = serde_json::from_slice(head).ok()?;
            let (input, behind) = behind[1..].split_at_checked(length.unwrap_or(0))?;
            rest = behind;
            let input = length.map(|_| String::from_utf8_lossy(input).into_owned());
            Some(Record { words, input, at })
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_are_written() {
        let words = || ["tc", "", "a b\n"].map(String::from).to_vec();
        let bytes = [
            Record::bytes(words(), None, Some(7)).unwrap(),
            Record::bytes(words(), Some(b"qdisc\n\xff"), None).unwrap(),
        ]
        .concat();
        let input = Some("qdisc\n\u{fffd}".into());
        let records = [
            Record { words: words(), input: None, at: Some(7) },
            Record { words: words(), input, at: None },
        ];
        assert_eq!(Record::read_all(&bytes), records);
        for end in 0..bytes.len() {
            assert!(Record::read_all(&bytes[..end]).len() < 2);
        }
        assert_eq!(Record::read_all(&[0xff; 4096]), []);
    }
}
