//! Plans that are read and proved again while others are followed.

use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread;

use laxity_linux::sandbox::Sandbox;

use crate::confined;
use crate::error::StartError;

/// Who waits for the answer to a reload.
pub(crate) type Answer = Sender<Result<(), String>>;

/// A thread that reads and proves plans: a large one takes many seconds, in which packets are
/// counted and statuses answered as ever. It alone may open files.
pub(crate) struct Prover<N> {
    ask: Sender<()>,
    proved: Receiver<N>,
    /// Who waits for what is being proved now, if anything is.
    underway: Option<Vec<Answer>>,
    /// Who asked since, when files may have been changed again.
    next: Option<Vec<Answer>>,
}

/// The thread has ended.
#[derive(Debug)]
pub(crate) struct Gone;

impl<N: Send + 'static> Prover<N> {
    /// Starts the thread. `prove` is called there for each reload, and may read these files and
    /// folders. Each time, the calling thread is unparked.
    ///
    /// # Errors
    /// If the thread cannot be had, or does not get rid of its privileges.
    pub(crate) fn start(
        readable: Vec<PathBuf>,
        mut prove: impl FnMut() -> N + Send + 'static,
    ) -> Result<Self, StartError> {
        let (ask, asked) = mpsc::channel();
        let (tell, proved) = mpsc::channel();
        let asker = thread::current();
        // What is refused is told in tables that fit the terminal.
        let sandbox = readable.into_iter().fold(Sandbox::new().terminal(), Sandbox::read);
        confined::spawn("prover", sandbox, move || {
            while let Ok(()) = asked.recv() {
                if tell.send(prove()).is_err() {
                    return;
                }
                asker.unpark();
            }
        })?;
        Ok(Prover { ask, proved, underway: None, next: None })
    }

    /// Has plans read again, at once or after those that are being proved, and `answer` told what
    /// comes of it. All who ask in the meantime are told of the same.
    pub(crate) fn ask(&mut self, answer: Option<Answer>) {
        if self.underway.is_some() {
            self.next.get_or_insert_default().extend(answer);
        } else {
            self.underway = Some(answer.into_iter().collect());
            // A thread that is gone is noticed where its answer is looked for.
            let _ = self.ask.send(());
        }
    }

    /// What has been proved since, with those who wait for it.
    ///
    /// # Errors
    /// If it never will be, with the same.
    pub(crate) fn proved(&mut self) -> Option<(Result<N, Gone>, Vec<Answer>)> {
        self.underway.as_ref()?;
        let proved = match self.proved.try_recv() {
            Ok(next) => Ok(next),
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => Err(Gone),
        };
        let answers = self.underway.take()?;
        if let Some(next) = self.next.take() {
            self.underway = Some(next);
            let _ = self.ask.send(());
        }
        Some((proved, answers))
    }

    /// Whether something is being proved.
    pub(crate) fn is_busy(&self) -> bool {
        self.underway.is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn wait<N: Send + 'static>(prover: &mut Prover<N>) -> (Result<N, Gone>, Vec<Answer>) {
        let begun = Instant::now();
        loop {
            if let Some(proved) = prover.proved() {
                return proved;
            }
            assert!(begun.elapsed() < Duration::from_secs(60));
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn nobody_waits_while_it_proves_and_whoever_asks_meanwhile_is_told_of_the_next() {
        let (go_on, may_go_on) = mpsc::channel::<()>();
        let mut calls = 0;
        let proving = move || {
            calls += 1;
            may_go_on.recv().unwrap();
            calls
        };
        let mut prover = Prover::start(Vec::new(), proving).unwrap();
        assert!(prover.proved().is_none() && !prover.is_busy());
        let answer = || Some(mpsc::channel().0);
        prover.ask(answer());
        (0..100).for_each(|_| prover.ask(answer()));
        prover.ask(None);
        assert!(prover.proved().is_none() && prover.is_busy());
        (0..2).for_each(|_| go_on.send(()).unwrap());
        let (first, answers) = wait(&mut prover);
        assert_eq!((first.unwrap(), answers.len()), (1, 1));
        let (second, answers) = wait(&mut prover);
        assert_eq!((second.unwrap(), answers.len()), (2, 100));
        assert!(!prover.is_busy());
    }

    #[test]
    fn files_elsewhere_are_out_of_its_reach() {
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let paths = folders.each_ref().map(|folder| folder.path().join("plan.toml"));
        paths.iter().for_each(|path| std::fs::write(path, "text").unwrap());
        let readable = vec![folders[0].path().to_path_buf()];
        let reads = move || paths.each_ref().map(|path| std::fs::read(path).is_ok());
        let mut prover = Prover::start(readable, reads).unwrap();
        prover.ask(None);
        assert_eq!(wait(&mut prover).0.unwrap(), [true, false]);
        assert!(std::fs::read(folders[1].path().join("plan.toml")).is_ok(), "but within ours");
    }

    #[test]
    fn one_that_has_ended_is_noticed() {
        // Without the words of a panic, which take calls that are shut off.
        let ends = || -> u8 { std::panic::resume_unwind(Box::new("on purpose")) };
        let mut prover = Prover::start(Vec::new(), ends).unwrap();
        prover.ask(None);
        assert!(wait(&mut prover).0.is_err());
        prover.ask(None);
        assert!(wait(&mut prover).0.is_err(), "again");
    }
}
