//! What a tool was told to do, and how it is written down.

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

/// Texts as bytes: how many, then each behind its length.
pub fn list(texts: &[Vec<u8>]) -> Vec<u8> {
    let length = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    let mut bytes = length(texts.len()).to_vec();
    for text in texts {
        bytes.extend(length(text.len()));
        bytes.extend(text);
    }
    bytes
}

/// Takes texts off the beginning; `None` if they are not whole.
pub fn read_list(bytes: &mut &[u8]) -> Option<Vec<Vec<u8>>> {
    let count = take(bytes, 4)?;
    let count = u32::from_le_bytes(count.try_into().ok()?);
    (0..count)
        .map(|_| {
            let length = u32::from_le_bytes(take(bytes, 4)?.try_into().ok()?);
            take(bytes, usize::try_from(length).ok()?).map(<[u8]>::to_vec)
        })
        .collect()
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

impl Record {
    /// As a list: the place, what was read behind a sign whether anything was, then the words.
    pub fn bytes(words: &[Vec<u8>], input: Option<&[u8]>, at: Option<u64>) -> Vec<u8> {
        let sign: &[u8] = if input.is_some() { b"<" } else { b"" };
        let at = at.map(|at| at.to_le_bytes().to_vec()).unwrap_or_default();
        let head = [at, sign.to_vec(), input.unwrap_or_default().to_vec()];
        list(&[&head[..], words].concat())
    }

    /// All that are whole. What a script wrote there itself is read as far as it has their form.
    pub fn read_all(mut bytes: &[u8]) -> Vec<Record> {
        let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
        let mut records = Vec::new();
        while let Some(texts) = read_list(&mut bytes) {
            let [at, sign, input, words @ ..] = &texts[..] else { continue };
            let at = at[..].try_into().ok().map(u64::from_le_bytes);
            let input = (!sign.is_empty()).then(|| text(input));
            records.push(Record { words: words.iter().map(text).collect(), input, at });
        }
        records
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_are_written() {
        let words = [b"tc".to_vec(), b"".to_vec(), b"a b\n".to_vec()];
        let bytes = [
            Record::bytes(&words, None, Some(7)),
            Record::bytes(&words[..1], Some(b"qdisc\n"), None),
        ]
        .concat();
        let records = Record::read_all(&bytes);
        assert_eq!(records[0].words, ["tc", "", "a b\n"]);
        assert_eq!((records[0].input.as_deref(), records.len()), (None, 2));
        assert_eq!((records[0].at, records[1].at), (Some(7), None));
        assert_eq!(records[1].input.as_deref(), Some("qdisc\n"));
        for end in 0..bytes.len() {
            assert!(Record::read_all(&bytes[..end]).len() < 2);
        }
        assert_eq!(Record::read_all(&[0xff; 4096]), []);
    }
}
