//! `--trace`: a file for Perfetto, whole or not at all. What is in it is tested where it is made,
//! and in `python/tests` by Perfetto's own trace processor.

use std::fs;
use std::path::Path;

use crate::bad_input::{PLAN, refused};
use crate::folder::Folder;

const RUN: [&str; 4] = ["run", "plan.toml", "--trace", "out.perfetto-trace"];

fn trace(folder: &Folder) -> Vec<u8> {
    fs::read(folder.path("out.perfetto-trace")).unwrap()
}

fn ledger() -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/ledger");
    let file = fs::read_dir(folder).unwrap().next().unwrap().unwrap();
    fs::read(file.path()).unwrap()
}

#[test]
fn a_trace_stands_alone_in_its_folder_and_replaces_an_earlier_one() {
    let folder = Folder::with_plan(PLAN).with("out.perfetto-trace", "earlier");
    let printed = folder.laxity(&RUN).printed(0);
    assert_eq!(printed, folder.laxity(&["run", "plan.toml"]).printed(0));
    assert_eq!(folder.content().len(), 2, "the plan and the trace: {:?}", folder.content().keys());
    let first = trace(&folder);
    // Field 1 of the message `Trace`, a packet.
    assert_eq!(first[0], 0x0a);
    folder.laxity(&RUN).printed(0);
    assert!(trace(&folder) == first, "a run writes the same bytes again");
    folder.laxity(&[&RUN[..], &["--duration", "70ms"]].concat()).printed(0);
    assert!(trace(&folder) != first, "another run");
}

#[test]
fn a_trace_may_go_with_results() {
    let folder = Folder::with_plan(PLAN);
    folder.laxity(&RUN).printed(0);
    let alone = trace(&folder);
    for packets in ["csv", "parquet", "none"] {
        let results = ["--out", "results", "--packets", packets];
        folder.laxity(&[&RUN[..], &results].concat()).printed(0);
        assert!(trace(&folder) == alone, "{packets}");
        assert!(folder.path("results/summary.json").exists(), "{packets}");
    }
}

#[test]
fn a_run_that_fails_leaves_an_earlier_trace() {
    let folder = Folder::with_plan(PLAN).with("out.perfetto-trace", "earlier");
    let folder = folder.with("in.csv", "time_ns,class,length\n5,voice,100\n6,nobody,100\n");
    refused(&folder, &[&RUN[..], &["--arrivals", "in.csv"]].concat(), &["in.csv"]);
}

#[test]
fn traces_that_cannot_be_had_are_refused() {
    let folder = Folder::with_plan(PLAN).with("in.csv", "time_ns,class,length\n5,voice,100\n");
    fs::create_dir(folder.path("folder")).unwrap();
    let run = |trace, others: &[&str], says: &[&str]| {
        refused(&folder, &[&["run", "plan.toml", "--trace", trace], others].concat(), says);
    };
    let other = "give --trace another file";
    run("plan.toml", &[], &["the plan", other]);
    run("./folder/../in.csv", &["--arrivals", "in.csv"], &["--arrivals", other]);
    run("folder", &[], &["folder", "give --trace a file that can be created"]);
    run("missing/out", &[], &["missing/out", "give --trace a file that can be created"]);
    run("out", &["--seeds", "3"], &["--seeds", "--trace"]);
    run("out", &["--threads", "2"], &["--threads", "--trace"]);
}

#[test]
fn a_replayed_ledger_is_traced() {
    let folder = Folder::new();
    fs::write(folder.path("link.ledger"), ledger()).unwrap();
    let replay = ["replay", "link.ledger", "--trace", "out.perfetto-trace"];
    let printed = folder.laxity(&replay).printed(0);
    assert_eq!(printed, folder.laxity(&["replay", "link.ledger"]).printed(0));
    assert_eq!(trace(&folder)[0], 0x0a);
    refused(
        &folder,
        &["replay", "link.ledger", "--trace", "./link.ledger"],
        &["the ledger", "give --trace another file"],
    );

    let folder = Folder::new().with("link.ledger", "no ledger");
    refused(&folder, &replay, &["link.ledger"]);
}
