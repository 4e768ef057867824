//! What fuzzing starts from is read whole: a seed of an older form would be refused at its first
//! bytes, and nothing behind them ever be looked at.

use std::collections::BTreeSet;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use laxity_api::repeat;
use laxity_plan::Plan;
use laxity_plan::model::Recording;
use laxity_sim::source::read_recording;

fn seeds(kind: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(kind);
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let seeds: Vec<_> = files.map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    assert!(!seeds.is_empty());
    seeds
}

#[test]
fn ledgers_are_repeated_to_their_ends() {
    for (path, bytes) in seeds("ledger") {
        let repeated = repeat(Cursor::new(bytes)).unwrap();
        assert!(!repeated.cut_short && repeated.arrived > 0, "{}", path.display());
        assert!(repeated.difference.is_none(), "{}", path.display());
    }
}

#[test]
fn captures_are_read_to_their_ends() {
    let text = "version = 1\nlink = { rate = '10mbit', max-packet = '9000b' }\n\
                scheduler.kind = 'fifo'\n[class.all]\nmatch = 'any'\n";
    let plan = Plan::parse(text, "seeds", Path::new("")).unwrap();
    let recording =
        Recording { file: "in".into(), path: Default::default(), filter: None, sort: false };
    let mut read = BTreeSet::new();
    for (path, bytes) in seeds("capture") {
        let mut arrivals = read_recording(&bytes[..], &recording, &plan, None).unwrap();
        let mut count = 0;
        while let Some(_arrival) = arrivals.next_arrival().unwrap() {
            count += 1;
        }
        assert!(count > 0, "{}", path.display());
        read.insert(path);
    }
    assert!(read.len() > 3);
}

#[test]
fn plans_are_plans() {
    for (path, bytes) in seeds("plan") {
        let text = String::from_utf8(bytes).unwrap();
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        if let Err(error) = Plan::parse(&text, "seed", &examples) {
            panic!("{}: {error}", path.display());
        }
    }
}
