//! Plans that are found: what is written, what is said, what is not run again, and what is refused.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::bad_input::refused;
use crate::folder::Folder;

const PLAN: &str = "version = 1
link.rate = '2mbit' # of the modem
scheduler.kind = 'edf'
[class.voice]
deadline = '10ms'
arrival = { bucket = '400b', rate = '64kbit', packet = '200b' }
[class.web]
[[source]]
class = 'voice'
model = 'constant'
packet = '200b'
rate = '53kbit'
[[source]]
class = 'web'
model = 'poisson'
packet = '1000b'
rate = '1.2mbit'
";

const SOUGHT: &str = "version = 1
plan = 'plan.toml'
seeds = 3
duration = '2s'
[minimise]
'link.rate' = { from = '1mbit', to = '8mbit' }
'class.voice.deadline' = { from = '1ms', to = '60ms' }
[[goal]]
class = 'web'
figure = 'delay_ns.p99'
at_most = '30ms'
";

const TUNE: [&str; 4] = ["tune", "sought.toml", "--out", "found"];

fn folder() -> Folder {
    Folder::with_plan(PLAN).with("sought.toml", SOUGHT)
}

fn tuned_json(folder: &Folder) -> Value {
    folder.laxity(&[&TUNE[..], &["--json"]].concat()).json(0)
}

#[test]
fn a_plan_is_found_and_holds() {
    let folder = folder();
    let said = folder.laxity(&TUNE).printed(0);
    let found = tuned_json(&folder);
    assert_eq!(found["found"], true);
    let [rate, deadline] = &found["minimised"].as_array().unwrap()[..] else { panic!("{found}") };
    assert_eq!((&rate["key"], &rate["bound"]), (&json!("link.rate"), &json!("measured")));
    let value = rate["value"].as_str().unwrap();
    for part in ["Found, of ", value, "too small (measured): web delay_ns.p99 is ", "Admitted. "] {
        assert!(said.contains(part), "{part}: {said}");
    }

    // The plan is the old one with other values, and is admitted as `check` says.
    let plan = folder.text("found/plan.toml");
    let shortest = deadline["value"].as_str().unwrap();
    let expected = PLAN.replace("'2mbit'", &format!("{value:?}"));
    assert_eq!(plan, expected.replace("'10ms'", &format!("{shortest:?}")));
    assert_eq!(folder.laxity(&["check", "found/plan.toml", "--json"]).json(0), found["proof"]);
    let run = ["run", "found/plan.toml", "--seeds", "3", "--duration", "2s", "--json"];
    let run = folder.laxity(&run).json(0);
    let figures = run["figures"].as_array().unwrap();
    let is_web = |one: &&Value| one["class"] == "web" && one["figure"] == "delay_ns.p99";
    let max = figures.iter().find(is_web).unwrap()["max"].as_f64().unwrap();
    assert!(max <= 30e6, "{max}");
    assert_eq!(found["best"]["goals"][0]["worst"], max);

    let page = folder.text("found/report.html");
    assert!(page.contains("too small (measured)") && page.contains("all holds"), "{page}");
    assert!(folder.text("found/goal-1.svg").starts_with("<svg"));
}

#[test]
fn nothing_found_tells_what_came_nearest() {
    let sought = SOUGHT.replace("'30ms'", "'10us'") + "[search]\ntrials = 5\n";
    let folder = Folder::with_plan(PLAN).with("sought.toml", sought);
    let said = folder.laxity(&TUNE).printed(1);
    for part in ["NOT FOUND: none of 6 ", "Nearest, with link.rate = ", "at most 10"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!folder.path("found/plan.toml").exists());
    let found = folder.laxity(&[&TUNE[..], &["--json"]].concat()).json(1);
    assert_eq!((&found["found"], &found["proof"]), (&json!(false), &Value::Null));
}

/// What was run before a kill counts: the same is found, and no run is made twice.
#[test]
fn it_goes_on_after_a_kill() {
    let folder = folder();
    let sought = SOUGHT.replace("seeds = 3", "seeds = 20").replace("'2s'", "'6s'");
    fs::write(folder.path("sought.toml"), sought).unwrap();
    let (mut kills, mut runs) = (0, Vec::new());
    for wait in [30, 90, 200, 400] {
        let mut tune = folder.command(&TUNE);
        let mut tune = tune.stdout(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        kills += usize::from(tune.try_wait().unwrap().is_none());
        let _ = tune.kill();
        tune.wait().unwrap();
        runs.push(made(&folder));
    }
    assert!(kills > 0, "all were faster");
    let found = tuned_json(&folder);
    let after = made(&folder);
    for (name, written) in runs.last().unwrap() {
        assert_eq!(after.get(name), Some(written), "made once");
    }
    let whole = tuned_json(&folder);
    assert_eq!((made(&folder), &whole), (after, &found));
    fs::remove_dir_all(folder.path("found")).unwrap();
    assert_eq!(tuned_json(&folder), whole);
}

/// The runs in the folder, and when they were written.
fn made(folder: &Folder) -> std::collections::BTreeMap<String, std::time::SystemTime> {
    let runs = fs::read_dir(folder.path("found/runs/scheduler=edf%2Fexact"));
    let runs = runs.into_iter().flatten().map(Result::unwrap);
    let runs = runs.filter(|run| run.path().extension().is_some_and(|end| end == "parquet"));
    let run = |run: fs::DirEntry| {
        let written = run.metadata().unwrap().modified().unwrap();
        (run.file_name().into_string().unwrap(), written)
    };
    runs.map(run).collect()
}

#[test]
fn recordings_are_found_from_the_new_folder() {
    let plan = PLAN.split("[[source]]").next().unwrap().to_owned()
        + "[[source]]\nmodel = 'csv'\nfile = 'data/arrivals.csv'\n";
    let sought = SOUGHT.split("[[goal]]").next().unwrap();
    let folder = Folder::with_plan(&plan).with("sought.toml", sought);
    fs::create_dir(folder.path("data")).unwrap();
    fs::write(folder.path("data/arrivals.csv"), "time_ns,class,length\n0,voice,200\n9,web,900\n")
        .unwrap();
    let said = folder.laxity(&TUNE).printed(0);
    assert!(said.contains("(proved): NOT ADMITTED. "), "{said}");
    assert!(folder.text("found/plan.toml").contains("\"../data/arrivals.csv\""));
    folder.laxity(&["run", "found/plan.toml"]).printed(0);
}

#[test]
fn bad_questions_are_refused_and_nothing_is_written() {
    let goal = |old: &str, new: &str| SOUGHT.replace(old, new);
    for (sought, said) in [
        (goal("plan.toml", "nothing.toml"), "nothing.toml"),
        (goal("version = 1\n", ""), "what is sought begins with `version = 1`"),
        (goal("seeds = 3", "seed = 3"), "unknown key `seed`"),
        (goal("'link.rate'", "'lnk.rate'"), "the plan has no `lnk`, in which `lnk.rate` would lie"),
        (goal("'1mbit'", "'9mbit'"), "`link.rate` takes a range here"),
        (goal("'1mbit'", "'9ms'"), "`link.rate` takes a range here"),
        (goal("'class.voice.deadline'", "'link.rate'"), "duplicate key"),
        (
            format!("{SOUGHT}[choose]\n'link.rate' = {{ from = '1mbit', to = '2mbit' }}\n"),
            "`link.rate` is sought in two places",
        ),
        (goal("class = 'web'", "class = 'wep'"), "the plan measures no class `wep`"),
        (
            goal("figure = 'delay_ns.p99'", "figure = 'delay_ns.p98'"),
            "there is no figure `delay_ns.p98`",
        ),
        (goal("'30ms'", "30"), "a limit of `delay_ns.p99` has a unit, as \"20ms\""),
        (goal("at_most = '30ms'", ""), "a goal has a `at_most` or `at_least`"),
        (goal("at_most", "most"), "unknown key `most`"),
        (format!("{SOUGHT}[search]\ntrials = 0\n"), "`trials` is a number from 1 to"),
        (format!("{SOUGHT}[search]\nprecision = 2.0\n"), "`precision` is a part from"),
        ("version = 1\nplan = 'plan.toml'\n".into(), "nothing is sought: name keys in"),
        (
            "version = 1\nplan = 'plan.toml'\nminimise.'link.loss' = { from = 0.1, to = 0.5 }\n"
                .into(),
            "`link.loss` has no least step",
        ),
        (goal("'8mbit'", "'999999999tbit'"), "`link.rate` takes a range here"),
        (goal("class = 'web'", "class = 'web'\nat = 'a → b'"), "the plan has no output `a → b`"),
        ("version =".into(), "sought.toml:1"),
    ] {
        let folder = folder().with("sought.toml", &sought);
        refused(&folder, &TUNE, &[said]);
    }
}

/// A plan that is read is never written over.
#[test]
fn the_plan_itself_is_not_replaced() {
    refused(&folder(), &["tune", "sought.toml", "--out", "."], &["give --out another folder"]);
}
