//! The kernel's table of connections, read as a file by a thread of its own.
//!
//! Asking by netlink takes a privilege; a file that is open does not. What is told while it is read
//! is applied to what was read, so that nothing is older than what was heard.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek};
use std::net::IpAddr;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use super::{Connection, Known, MOST, News, Tuple, learn};
use crate::sandbox::Sandbox;

/// The table of the network namespace of the thread that opens it.
const FILE: &str = "/proc/thread-self/net/nf_conntrack";

/// What reads the table. Its thread ends when this is dropped.
pub(super) struct Table {
    /// What is read into, or was read before.
    requests: Sender<Known>,
    answers: Receiver<Known>,
    /// `None` while it is being read.
    spare: Option<Known>,
    /// What was told meanwhile.
    since: Vec<News>,
    /// Whether what is being read is already known to be too old.
    again: bool,
}

impl Table {
    /// Opens the file and starts the thread.
    ///
    /// # Errors
    /// If there is no such file or thread.
    pub(super) fn open() -> io::Result<Table> {
        let file = File::open(FILE)?;
        let (requests, requested) = mpsc::channel();
        let (answer, answers) = mpsc::channel();
        thread::Builder::new().name("connections".into()).spawn(move || {
            if Sandbox::new().enter().is_ok() {
                serve(&file, &requested, &answer);
            }
        })?;
        let (spare, since) = (Some(Known::new()), Vec::new());
        Ok(Table { requests, answers, spare, since, again: false })
    }

    /// Has the table read.
    pub(super) fn read_anew(&mut self) {
        match self.spare.take() {
            // A thread that has ended leaves what is known as it is.
            Some(spare) => drop(self.requests.send(spare)),
            None => self.again = true,
        }
    }

    /// Notes what is told while the table is being read.
    pub(super) fn note(&mut self, news: News) {
        if self.spare.is_none() && !self.again {
            self.again = self.since.len() == MOST;
            self.since.push(news);
        }
    }

    /// Puts what was read in the place of what is known.
    pub(super) fn follow(&mut self, known: &mut Known) {
        let Ok(mut read) = self.answers.try_recv() else { return };
        let is_old = std::mem::take(&mut self.again);
        let since = std::mem::take(&mut self.since);
        if is_old {
            self.spare = Some(read);
            return self.read_anew();
        }
        since.iter().for_each(|news| news.apply(&mut read));
        self.spare = Some(std::mem::replace(known, read));
    }
}

fn serve(file: &File, requested: &Receiver<Known>, answer: &Sender<Known>) {
    while let Ok(mut known) = requested.recv() {
        known.clear();
        // A table that cannot be read to its end is known as far as it was.
        let _cut_off = read(file, &mut known);
        if answer.send(known).is_err() {
            return;
        }
    }
}

fn read(mut file: &File, known: &mut Known) -> io::Result<()> {
    file.rewind()?;
    let mut lines = BufReader::new(file);
    let mut line = String::new();
    while lines.read_line(&mut line)? > 0 {
        if let Some(connection) = connection(&line) {
            learn(known, &connection);
        }
        line.clear();
    }
    Ok(())
}

/// A connection as a line shows it (Linux, net/netfilter/nf_conntrack_standalone.c, `ct_seq_show`).
fn connection(line: &str) -> Option<Connection> {
    let protocol = line.split_whitespace().nth(3)?.parse().ok()?;
    let (mut tuples, mut mark) = (Vec::with_capacity(2), 0);
    for (name, value) in line.split_whitespace().filter_map(|word| word.split_once('=')) {
        let address = || value.parse::<IpAddr>().ok();
        if name == "src" {
            let none = (address()?, 0);
            tuples.push(Tuple { protocol, source: none, destination: none });
            continue;
        }
        let tuple: Option<&mut Tuple> = tuples.last_mut();
        match (name, tuple) {
            ("dst", Some(tuple)) => tuple.destination.0 = address()?,
            ("sport", Some(tuple)) => tuple.source.1 = value.parse().ok()?,
            ("dport", Some(tuple)) => tuple.destination.1 = value.parse().ok()?,
            ("id", Some(tuple)) => {
                let id = value.parse().ok()?;
                (tuple.source.1, tuple.destination.1) = (id, id);
            }
            ("mark", _) => mark = value.parse().ok()?,
            _ => {}
        }
    }
    let [original, reply] = tuples[..] else { return None };
    Some(Connection { original, reply, mark })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tuple(protocol: u8, from: (&str, u16), to: (&str, u16)) -> Tuple {
        let [source, destination] =
            [from, to].map(|(address, port)| (address.parse().expect("an address"), port));
        Tuple { protocol, source, destination }
    }

    #[test]
    fn lines_are_connections() {
        let tcp = "ipv4     2 tcp      6 431995 ESTABLISHED src=10.0.0.7 dst=198.51.100.1 sport=5000 dport=53 \
                   packets=3 bytes=180 src=198.51.100.1 dst=192.0.2.1 sport=53 dport=6000 [ASSURED] mark=7 use=2\n";
        let (inside, far, outside) =
            (("10.0.0.7", 5000), ("198.51.100.1", 53), ("192.0.2.1", 6000));
        let expected =
            Connection { original: tuple(6, inside, far), reply: tuple(6, far, outside), mark: 7 };
        assert_eq!(connection(tcp), Some(expected));
        let ping = "ipv6     10 icmpv6   58 29 src=fd07::11 dst=fd51::1 type=128 code=0 id=77 [UNREPLIED] \
                    src=fd51::1 dst=fd51::2 type=129 code=0 id=78 mark=0 use=2";
        let expected = Connection {
            original: tuple(58, ("fd07::11", 77), ("fd51::1", 77)),
            reply: tuple(58, ("fd51::1", 78), ("fd51::2", 78)),
            mark: 0,
        };
        assert_eq!(connection(ping), Some(expected));
    }

    #[test]
    fn lines_that_are_cut_off_or_something_else_are_none() {
        for line in [
            "",
            "ipv4",
            "ipv4 2 tcp 6 9 src=10.0.0.7",
            "ipv4 2 tcp 600 src=::1 src=::2",
            "= = = 6 =",
        ] {
            assert_eq!(connection(line), None, "{line}");
        }
    }
}
