//! What a process prints. A slow reader does not hold it up.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

use laxity_linux::sandbox::Sandbox;

use crate::confined;
use crate::error::StartError;

/// The most bytes of text that wait to be printed.
const ROOM: usize = 8 << 20;

/// Text for one of the two outputs of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are two outputs")]
pub enum Text {
    /// A result, for standard output.
    Result(String),
    /// A remark, for standard error.
    Remark(String),
}

/// Prints texts in order on a thread without privileges. A caller waits for a reader only at the
/// end. Where a text waits, and 8 MB would wait with the next one, that is left out, and a remark
/// says how many were.
pub struct Printer<E> {
    /// `None` once nothing more comes.
    texts: Option<Sender<Text>>,
    /// How many bytes wait.
    waiting: Arc<AtomicUsize>,
    /// How many texts were left out since the last one that was not.
    left_out: u64,
    thread: Option<JoinHandle<Option<Result<(), E>>>>,
}

impl<E: Send + 'static> Printer<E> {
    /// Starts a thread that prints each text by this function. Its first error is the one of
    /// [`finish`](Self::finish); what follows is printed nevertheless.
    ///
    /// # Errors
    /// If there is no such thread.
    pub fn start(
        print: impl FnMut(Text) -> Result<(), E> + Send + 'static,
    ) -> Result<Self, StartError> {
        let (texts, printed) = mpsc::channel();
        let waiting = Arc::<AtomicUsize>::default();
        let theirs = Arc::clone(&waiting);
        let run = move || print_all(&printed, &theirs, print);
        let thread = Some(confined::spawn("printer", Sandbox::new().terminal(), run)?);
        Ok(Printer { texts: Some(texts), waiting, left_out: 0, thread })
    }

    /// Prints a text after all others, or leaves it out.
    pub fn print(&mut self, text: Text) {
        let waiting = self.waiting.load(Ordering::Relaxed);
        if waiting > 0 && waiting + text.length() > ROOM {
            self.left_out += 1;
            return;
        }
        if self.left_out > 0 {
            let count = std::mem::take(&mut self.left_out);
            self.hand_over(Text::Remark(left_out(count)));
        }
        self.hand_over(text);
    }

    /// Waits until all is printed.
    ///
    /// # Errors
    /// The first one of printing.
    pub fn finish(mut self) -> Result<(), E> {
        self.end()
    }
}

impl<E> Printer<E> {
    fn hand_over(&self, text: Text) {
        self.waiting.fetch_add(text.length(), Ordering::Relaxed);
        // The thread ends only after this.
        let _taken = self.texts.as_ref().map(|texts| texts.send(text));
    }

    fn end(&mut self) -> Result<(), E> {
        if self.left_out > 0 {
            self.hand_over(Text::Remark(left_out(self.left_out)));
            self.left_out = 0;
        }
        self.texts = None;
        let ended = self.thread.take().and_then(|thread| thread.join().ok().flatten());
        ended.unwrap_or(Ok(()))
    }
}

impl<E> Drop for Printer<E> {
    fn drop(&mut self) {
        let _unheard = self.end();
    }
}

impl Text {
    fn length(&self) -> usize {
        match self {
            Text::Result(text) | Text::Remark(text) => text.len(),
        }
    }
}

fn left_out(count: u64) -> String {
    format!("{count} texts were left out here: what was printed before was not read in time")
}

fn print_all<E>(
    texts: &Receiver<Text>,
    waiting: &AtomicUsize,
    mut print: impl FnMut(Text) -> Result<(), E>,
) -> Result<(), E> {
    let mut all = Ok(());
    for text in texts {
        let length = text.length();
        let printed = print(text);
        waiting.fetch_sub(length, Ordering::Relaxed);
        all = all.and(printed);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    fn result(length: usize) -> Text {
        Text::Result("a".repeat(length))
    }

    #[test]
    fn nobody_waits_for_a_reader_and_what_is_left_out_is_said() {
        let (read, reads) = channel::<()>();
        let (tell, told) = channel();
        let print = move |text: Text| {
            tell.send(text).expect("heard");
            reads.recv().map_err(|_| ())
        };
        let mut printer = Printer::start(print).expect("a thread");
        // The first is printed, however long it is.
        printer.print(result(ROOM + 1));
        printer.print(result(1));
        printer.print(Text::Remark("also".into()));
        assert_eq!(told.recv(), Ok(result(ROOM + 1)));
        read.send(()).expect("it waits");
        while printer.waiting.load(Ordering::Relaxed) > 0 {
            std::thread::yield_now();
        }
        printer.print(result(2));
        assert_eq!(told.recv(), Ok(Text::Remark(left_out(2))));
        read.send(()).expect("it waits");
        assert_eq!(told.recv(), Ok(result(2)));
        read.send(()).expect("it waits");
        printer.print(result(3));
        drop(read);
        assert_eq!(printer.finish(), Err(()));
        assert_eq!(told.iter().collect::<Vec<_>>(), [result(3)]);
    }

    #[test]
    fn the_first_error_is_kept_and_the_rest_is_printed() {
        let (tell, told) = channel();
        let print = move |text: Text| {
            let length = text.length();
            tell.send(length).expect("heard");
            if length > 1 { Err(length) } else { Ok(()) }
        };
        let mut printer = Printer::start(print).expect("a thread");
        [1, 2, 3].into_iter().for_each(|length| printer.print(result(length)));
        assert_eq!(printer.finish(), Err(2));
        assert_eq!(told.iter().collect::<Vec<_>>(), [1, 2, 3]);
    }
}
