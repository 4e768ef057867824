//! Plans whose calls come and go.

use crate::folder::{Folder, repository};

#[test]
fn calls_are_refused_and_promises_kept() {
    let plan = repository("examples/calls/one-kind.toml");
    let folder = Folder::new();
    let answer = folder.laxity(&["run", &plan, "--out", "out", "--json"]).json(0);
    let calls = &answer["requests"][0];
    let [offered, granted] = ["offered", "granted"].map(|key| calls[key].as_u64().unwrap());
    assert!(granted < offered && granted > offered / 2, "{calls}");
    assert_eq!(calls["alone"], calls["most"]);
    assert_eq!((&calls["late"], &answer["kept"]), (&0.into(), &true.into()));
    let longest = calls["longest_ns"].as_u64().unwrap();
    assert!(longest > 15_000_000 && longest <= 25_000_000, "{longest}");
    let link = answer["used"].as_f64().unwrap() * 2e6
        + answer["classes"][0]["throughput_bps"].as_f64().unwrap();
    assert!((link / 2e6 - 1.0).abs() < 0.01, "the download takes what is left: {link}");
    assert!(folder.text("out/report.html").contains("Calls at once"));
    let again = folder.laxity(&["run", &plan, "--json"]).json(0);
    assert_eq!(again, answer);
}

/// Calls that a run wrote are those of another one. A line that is none of a call is said.
#[test]
fn recorded_calls_are_answered_alike() {
    let plan = std::fs::read_to_string(repository("examples/calls/one-kind.toml")).unwrap();
    let folder = Folder::with_plan(&plan);
    folder.laxity(&["run", "plan.toml", "--out", "drawn"]).printed(0);
    let times = |line: &&str| line.starts_with("every =") || line.starts_with("holding =");
    let times: Vec<&str> = plan.lines().filter(times).collect();
    let recorded = plan.replace(times[0], "calls = \"drawn/calls.csv\"").replace(times[1], "");
    std::fs::write(folder.path("recorded.toml"), recorded).unwrap();
    let summary = folder.laxity(&["run", "recorded.toml", "--out", "again", "--json"]).json(0);
    let calls = folder.text("drawn/calls.csv");
    assert_eq!(folder.text("again/calls.csv"), calls);
    let drawn: serde_json::Value =
        serde_json::from_str(&folder.text("drawn/summary.json")).unwrap();
    let of_calls = |summary: &serde_json::Value, key: &str| summary["requests"][0][key].clone();
    for key in ["offered", "granted", "most", "packets", "longest_ns"] {
        assert_eq!(of_calls(&summary, key), of_calls(&drawn, key), "{key}");
    }
    let mut rows = calls.lines();
    let header = rows.next().unwrap();
    assert_eq!(header, "at_ns,holding_ns,class,answer,begins_ns,ends_ns,bound_ns");
    let refused = rows.filter(|row| row.ends_with(",refused,,,")).count() as u64;
    let counted = |key: &str| of_calls(&drawn, key).as_u64().unwrap();
    assert_eq!(refused, counted("offered") - counted("granted"));

    std::fs::write(folder.path("drawn/calls.csv"), "at_ns,holding_ns\n5,1\n4,1\n").unwrap();
    let said = folder.laxity(&["run", "recorded.toml"]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("calls.csv: line 3: it asks before"), "{}", said.stderr);
    std::fs::write(folder.path("plan.toml"), plan.replace(times[1], "calls = \"c.csv\"")).unwrap();
    let said = folder.laxity(&["run", "plan.toml"]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("leave out `every` and `holding`"), "{}", said.stderr);
}

/// The same calls ask under every discipline.
#[test]
fn disciplines_are_compared_by_what_they_carry() {
    let plan = repository("examples/calls/two-kinds.toml");
    let folder = Folder::new();
    let compare = ["compare", &plan, "--schedulers", "edf,wfq", "--duration", "5min", "--json"];
    let answer = folder.laxity(&[&compare[..], &["--out", "out"]].concat()).json(0);
    let [edf, wfq] = [0, 1].map(|at| &answer[at]);
    let offered = |of: &serde_json::Value| of["requests"][0]["offered"].clone();
    assert_eq!(offered(edf), offered(wfq));
    let region = |of: &serde_json::Value| -> Vec<u64> {
        of["region"].as_array().unwrap().iter().map(|most| most.as_u64().unwrap()).collect()
    };
    assert!(region(edf).iter().zip(region(wfq)).all(|(edf, wfq)| *edf >= wfq));
    assert!(region(edf).iter().sum::<u64>() > 2 * region(wfq).iter().sum::<u64>());
    assert!(folder.text("out/report.html").contains("Schedulable region"));
}

#[test]
fn other_questions_say_that_calls_come_and_go() {
    let plan = repository("examples/calls/one-kind.toml");
    let folder = Folder::new();
    for words in [
        &["run", &plan, "--seeds", "2"][..],
        &["run", &plan, "--threads", "2"],
        &["run", &plan, "--trace", "trace"],
        &["why", &plan, "--slowest", "1"],
    ] {
        let said = folder.laxity(words);
        assert_eq!(said.code, Some(2), "{words:?}");
        assert!(said.stderr.contains("[[request]]"), "{words:?}: {}", said.stderr);
    }
}
