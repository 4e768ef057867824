//! The packets of a run, as a file in memory.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// The largest file of packets in bytes: a page's memory is limited, and shared with the run.
const LIMIT: usize = 192 << 20;

/// A file in memory. Its clones are the same file.
#[derive(Clone, Debug, Default)]
pub(super) struct MemoryFile(Arc<Mutex<Vec<u8>>>);

impl MemoryFile {
    /// What was written.
    pub(super) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for MemoryFile {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if file.len() + piece.len() > LIMIT {
            return Err(io::Error::other(format!(
                "the packets take more than {} MiB, the most that a page holds: simulate a shorter duration, or use \
                 `laxity run --out`",
                LIMIT >> 20
            )));
        }
        file.extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_limited() {
        let mut file = MemoryFile::default();
        let piece = vec![0; LIMIT - 1];
        file.write_all(&piece).unwrap();
        file.clone().write_all(&[1]).unwrap();
        assert!(file.write_all(&[2]).unwrap_err().to_string().contains("192 MiB"));
        assert_eq!(file.take().len(), LIMIT);
        assert!(file.take().is_empty());
    }
}
