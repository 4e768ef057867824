//! Messages: JSON, and bytes behind it.

/// JSON, and the bytes of files that it names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// The JSON.
    pub json: Vec<u8>,
    /// The bytes of its files, one after the other.
    pub bytes: Vec<u8>,
}

/// Bytes that are shorter than they say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misread;

/// How many bytes say how long the JSON is.
const HEAD: usize = 4;

impl Message {
    /// The message of these bytes.
    ///
    /// # Errors
    /// If the JSON is shorter than they say.
    pub fn read(bytes: &[u8]) -> Result<Message, Misread> {
        let (length, rest) = bytes.split_first_chunk::<HEAD>().ok_or(Misread)?;
        let length = u32::from_le_bytes(*length) as usize;
        let (json, bytes) = rest.split_at_checked(length).ok_or(Misread)?;
        Ok(Message { json: json.to_vec(), bytes: bytes.to_vec() })
    }

    /// Its bytes.
    pub fn written(&self) -> Vec<u8> {
        let length = u32::try_from(self.json.len()).unwrap_or(u32::MAX);
        [&length.to_le_bytes(), &self.json[..], &self.bytes[..]].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_as_it_was_written() {
        let message = Message { json: b"{}".to_vec(), bytes: vec![1, 2, 3] };
        let mut bytes = message.written();
        assert_eq!(Message::read(&bytes), Ok(message));
        bytes[0] = 9;
        assert_eq!(Message::read(&bytes), Err(Misread));
        assert_eq!(Message::read(&bytes[..3]), Err(Misread));
    }
}
