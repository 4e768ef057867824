//! Plans and arguments that are refused: where the fault is and what is accepted is said on
//! standard error, the exit code is 2, and nothing is printed or written.

use std::ffi::OsStr;
use std::fmt::Debug;
#[cfg(target_os = "linux")]
use std::fs;

use crate::folder::Folder;
use crate::kinds;

/// A sound plan. Each refused one is this with one thing changed.
pub(crate) const PLAN: &str = r#"version = 1
[link]
rate = "10mbit"
max-packet = "1536b"
[scheduler]
kind = "edf"
[class.voice]
deadline = "5ms"
arrival = { bucket = "300b", rate = "150kB/s", packet = "100b", peak = "250kB/s" }
match = "udp dport 4000"
[class.ftp]
weight = 0.5
match = "any"
[[source]]
class = "voice"
model = "constant"
rate = "800kbit"
packet = "100b"
"#;

/// Runs the command in a folder and holds it to what every refusal keeps to. `says` is what
/// standard error must contain, however it is wrapped.
pub(crate) fn refused(folder: &Folder, arguments: &[impl AsRef<OsStr> + Debug], says: &[&str]) {
    let before = folder.content();
    let ended = folder.laxity(arguments);
    let (text, case) = (plain(&ended.stderr), format!("{arguments:?}: {}", ended.stderr));
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{case}");
    for part in says {
        assert!(text.contains(&plain(part)), "`{part}` is missing in {case}");
    }
    assert!(folder.content() == before, "files were written: {case}");
}

/// A text without spaces, line breaks and the frame that is drawn around messages.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !"│×╰╭─├▶".contains(*c)).collect()
}

/// Every command that reads a plan refuses the one with `old` changed to `new`.
fn plan_refused(old: &str, new: &str, says: &[&str]) {
    assert!(PLAN.contains(old), "{old}");
    let folder = Folder::with_plan(&PLAN.replacen(old, new, 1));
    refused(&folder, &["run", "plan.toml", "--out", "out"], says);
    refused(&folder, &["check", "plan.toml"], says);
    refused(&folder, &["compare", "plan.toml", "--schedulers", "fifo", "--out", "a/b"], says);
    refused(&folder, &["fit", "plan.toml"], says);
}

#[test]
fn the_plan_that_is_changed_is_sound() {
    let folder = Folder::with_plan(PLAN);
    assert!(folder.laxity(&["check", "plan.toml"]).printed(0).contains("Admitted."));
    folder.laxity(&["run", "plan.toml", "--duration", "100ms", "--out", "a/b"]).printed(0);
    assert!(folder.path("a/b/packets.csv").exists());
}

#[test]
fn a_plan_that_is_no_plan() {
    let folder = Folder::new();
    for file in ["none.toml", "no/folder/plan.toml"] {
        let says = [file, "there is no such file"];
        refused(&folder, &["run", file, "--out", "out"], &says);
        refused(&folder, &["check", file], &says);
    }
    refused(&folder, &["check", "."], &["this is a folder, not a file"]);
    plan_refused("[link]", "[link", &["plan.toml:2:6", "this is not TOML"]);
    plan_refused(PLAN, "", &["plan.toml", "the plan is empty", "begins with `version = 1`"]);
    plan_refused("1", "2", &["plan.toml:1:11", "`version` is not 1", "`version = 1`"]);
    let binary = Folder::new().with("plan.toml", b"version = 1\n\xff");
    refused(&binary, &["check", "plan.toml"], &["plan.toml:2:1", "0xff is not UTF-8 text"]);
}

#[test]
fn a_wrong_key_or_name() {
    plan_refused(
        "weight",
        "wieght",
        &["plan.toml:12:1", "unknown key `wieght`", "did you mean `weight`?"],
    );
    plan_refused("rate = \"10mbit\"\n", "", &["plan.toml:2:1", "`rate` is missing", "\"10mbit\""]);
    plan_refused("ftp", "voice", &["plan.toml:11:8", "`voice` is written twice"]);
    plan_refused(
        "class = \"voice\"",
        "class = \"vioce\"",
        &["plan.toml:15:9", "there is no class `vioce`", "did you mean `voice`?"],
    );
    plan_refused(
        "\"edf\"",
        "\"edff\"",
        &[
            "plan.toml:6:8",
            "unknown word `edff`",
            "did you mean `edf`?",
            &kinds().iter().map(|kind| format!("`{kind}`")).collect::<Vec<_>>().join(", "),
        ],
    );
}

#[test]
fn a_wrong_hierarchy_or_curve() {
    let ftp = |new: &str, says: &[&str]| plan_refused("weight = 0.5", new, says);
    let says = ["plan.toml:12:10", "there is no class `vioce`", "did you mean `voice`?"];
    ftp("parent = \"vioce\"", &says);
    ftp("parent = \"ftp\"", &["plan.toml:12:10", "class `ftp` is its own ancestor"]);
    ftp(
        "parent = \"voice\"",
        &["plan.toml:8:12", "`deadline` on class `voice`, which has classes"],
    );
    let convex = "curve = { m1 = \"1mbit\", d = \"5ms\", m2 = \"2mbit\" }";
    let says = ["plan.toml:12:16", "`m1` is 1mbit, between zero and `m2`", "write \"0bit\""];
    ftp(convex, &says);
    ftp(
        "upper-limit = \"1mbit\"",
        &["plan.toml:12:15", "`upper-limit` means nothing under `edf`", "it is for `hfsc`"],
    );
}

#[test]
fn a_wrong_quantity() {
    let rate = |new: &str, says: &str| plan_refused("\"10mbit\"", new, &["plan.toml:3:8", says]);
    rate("10", "`10` has no unit: write a rate such as `10mbit` or `1.25MB/s`");
    rate("\"10\"", "`10` has no unit: write a rate such as `10mbit` or `1.25MB/s`");
    rate("\"10mbps\"", "tc reads `bps` as bytes a second; write `bit` for bits");
    rate("\"-10mbit\"", "`-10mbit` is negative: a rate is not");
    rate("\"0mbit\"", "`0mbit` is zero: a rate must be more than that");
    rate("\"fast\"", "`fast` is not a rate: write a plain decimal number and a unit");
    rate("\"nanmbit\"", "is not a rate");
    rate("\"1e3mbit\"", "`e3mbit` is not a unit of a rate: the units are");
    rate("\"99999999gbit\"", "is too large: the largest rate is 10000gbit");
    rate("\"10parsec\"", "is not a unit of a rate: the units are");
    let size = |new: &str, says: &str| plan_refused("\"1536b\"", new, &["plan.toml:4:14", says]);
    size("1536", "`1536` has no unit: write a size such as `1536b` or `30kB`");
    size("\"99999999GB\"", "is too large: the largest size is");
    size("\"2GB\"", "`max-packet` is 2GB, above the largest, 1GB");
    size("\"0b\"", "`max-packet` is zero: it must be more");
    let time = |new: &str, says: &str| plan_refused("\"5ms\"", new, &["plan.toml:8:12", says]);
    time("5", "`5` has no unit: write a time such as `5ms` or `250us`");
    time("\"-5ms\"", "`-5ms` is negative: a time is not");
    time("\"99999999999s\"", "is too large: the largest time is 1000000000s");
    time("\"50us\"", "(100b) alone takes 80us on the link");
    plan_refused("0.5", "nan", &["plan.toml:12:10", "`NaN` is not a finite number"]);
    plan_refused("0.5", "-1", &["plan.toml:12:10", "`weight` is negative: -1", "at most 4000"]);
}

#[test]
fn a_malformed_match() {
    plan_refused(
        "udp dport 4000",
        "udp dprt 4000",
        &["plan.toml:10:14", "`match`: `dprt` does not belong here", "accepted here"],
    );
    plan_refused(
        "udp dport 4000",
        "udp dport 70000",
        &["plan.toml:10:20", "`70000` does not belong here", "a port 0-65535"],
    );
}

#[test]
fn a_source_that_cannot_send() {
    let says = ["plan.toml:18:10", "`packet` is 200b, above 100b, the largest packet of class"];
    plan_refused("packet = \"100b\"\n", "packet = \"200b\"\n", &says);
    let none = Folder::with_plan(&PLAN[..PLAN.find("[[source]]").unwrap()]);
    refused(&none, &["run", "plan.toml", "--out", "out"], &["no [[source]]", "--arrivals FILE"]);
    refused(&none, &["fit", "plan.toml"], &["not one recording", "--arrivals FILE"]);
}

#[test]
fn a_folder_that_cannot_be_written() {
    let folder = Folder::with_plan(PLAN).with("occupied", "by a file");
    for out in ["occupied", "occupied/out", "occupied/a/b"] {
        let says = ["cannot write to the output folder", out, "give --out a folder that can be"];
        refused(&folder, &["run", "plan.toml", "--out", out], &says);
        refused(&folder, &["compare", "plan.toml", "--schedulers", "wfq", "--out", out], &says);
        refused(&folder, &["reproduce", "--duration", "1s", "--out", out], &says);
    }
}

#[test]
fn a_wrong_argument() {
    let folder = Folder::with_plan(PLAN);
    let run = |more: &[&str], says: &[&str]| {
        refused(&folder, &[&["run", "plan.toml", "--out", "out"], more].concat(), says);
    };
    let kinds = [
        "`edff` is not a scheduler, did you mean `edf`?",
        "fifo, wfq, wf2q, drr, qfq, hfsc, priority, fq-codel, dualpi2, cake, edf",
        "two-line-fast, exact",
    ];
    run(&["--scheduler", "edff"], &kinds);
    refused(&folder, &["check", "plan.toml", "--scheduler", "edff"], &kinds);
    let compare = ["compare", "plan.toml", "--out", "out", "--schedulers"];
    refused(&folder, &[&compare[..], &["fifo,edff"]].concat(), &kinds);
    run(&["--duration", "0s"], &["a duration of zero is nothing at all", "--duration"]);
    run(&["--duration", "10"], &["--duration", "`10` has no unit", "`5ms`"]);
    run(&["--duration", "-1s"], &["--duration", "`-1s` is negative: a time is not"]);
    run(&["--seed", "one"], &["--seed"]);
    run(&["--seed", "-1"], &["--seed", "'-1'"]);
    run(&["--packets", "xml"], &["--packets", "csv, parquet, none"]);
    run(&["--fast"], &["unexpected argument '--fast'"]);
    run(&["another.toml"], &["unexpected argument 'another.toml'"]);
    refused(&folder, &["runs"], &["unrecognized subcommand 'runs'", "'run'"]);
    refused(&folder, &["run"], &["<PLAN>"]);
    refused(&folder, &[""; 0], &["Usage: laxity <COMMAND>"]);
    refused(&folder, &["compare", "plan.toml"], &["--schedulers"]);
    let paper = ["reproduce", "no-such-paper", "--out", "out"];
    refused(&folder, &paper, &["no-such-paper", "low-delay-best-effort"]);
    refused(&folder, &["reproduce", "--seeds", "0"], &["--seeds", "from 1 to 1000"]);
    refused(&folder, &["reproduce", "--duration", "0s", "--out", "out"], &["duration of zero"]);
    refused(&folder, &["bench", "--only", "edff"], &["edff", "fifo", "heap-edf"]);
    refused(&folder, &["bench", "--classes", "0"], &["--classes", "from 1 to 10000000"]);
}

/// Nobody reads what is said where standard error is full: the exit code says it.
#[cfg(target_os = "linux")]
#[test]
fn standard_error_that_cannot_be_written() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let folder = Folder::new();
    let ended = folder.command(&["check", "nix"]).stderr(full).status().unwrap();
    assert_eq!(ended.code(), Some(2));
}

/// What is asked for with a number, a name or a place in a study is answered with what is accepted,
/// where it stands.
#[test]
fn what_is_accepted_is_said_at_its_place() {
    let folder = Folder::with_plan(PLAN);
    let refused = |study: &str, at: &str, what: &str| {
        let text = format!("version = 1\nplan = \"plan.toml\"\n{study}\n");
        fs::write(folder.path("study.toml"), text).unwrap();
        let ended = folder.laxity(&["sweep", "study.toml", "--out", "out"]);
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        for said in [&format!("study.toml:{at}"), what] {
            assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
        }
        assert!(!folder.path("out").exists());
    };
    refused("[grid]\nscheduler = [\"edf\", \"nix\"]", "4:21", "accepted are fifo, wfq");
    refused("[grid]\n\"class.nobody.weight\" = [1, 2]", "4:26", "the plan has no `class.nobody`");
    refused("[[list]]\n\"class.nobody.weight\" = 1", "4:25", "the plan has no `class.nobody`");
    let range = "points = 4\n[sample.over]\n\"link.rate\" =";
    refused(
        &format!("[sample]\n{range} {{ from = 0, to = 2, log = true }}"),
        "6:15",
        "with `log` above 0",
    );
    for (arguments, accepted) in [
        (&["run", "plan.toml", "--threads", "1.5"][..], "whole numbers from 1 to 256"),
        (&["run", "plan.toml", "--seeds", "x"], "whole numbers from 1 to 10000"),
        (&["live", "plan.toml", "--in", "a", "--out", "b", "--duration", "0s"], "nothing at all"),
    ] {
        let ended = folder.laxity(arguments);
        assert!(ended.code == Some(2) && ended.stderr.contains(accepted), "{}", ended.stderr);
    }
    for command in [
        &["live", "plan.toml", "--in", "nowhere", "--out", "lo"][..],
        &["watch", "plan.toml", "--in", "nowhere", "--out", "lo"],
        &["apply", "--undo", "--dev", "nowhere"],
        &["import", "kernel", "--dev", "nowhere"],
    ] {
        let ended = folder.laxity(command);
        assert_eq!(ended.code, Some(2), "{command:?}: {}", ended.stderr);
        assert!(ended.stderr.contains("there are lo"), "{command:?}: {}", ended.stderr);
    }
}
