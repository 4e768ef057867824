//! One verdict: over random plans, what `check`, `run` and `compare` say in the terminal, in JSON,
//! in the report and by their exit code agrees, and is true of what was measured.

use std::collections::BTreeMap;

use laxity_plan::discipline::Kind;
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg32;
use serde_json::Value;

use crate::folder::Folder;
use crate::kinds;

/// Number of plans of each kind.
const PLANS: u64 = 12;

#[test]
fn one_link() {
    let heard = agreement(1, &|rng| {
        let kind = if rng.random_ratio(1, 4) { "edf" } else { pick(rng, &kinds()) };
        (link(rng, kind), ["edf", "wfq"])
    });
    for outcome in ["refused", "kept", "late", "excused"] {
        assert!(heard[outcome] > 0, "no plan was {outcome}: {heard:?}");
    }
}

#[test]
fn hierarchies() {
    let has_levels = |kind: &&Kind| kind.room().has_levels;
    let hierarchical: Vec<_> =
        Kind::ALL.iter().filter(has_levels).map(|kind| kind.word()).collect();
    agreement(2, &|rng| {
        let kind = pick(rng, &hierarchical);
        let plan = link(rng, kind).replacen("[class.b]\n", "[class.b]\nparent = \"above\"\n", 1);
        let rate = rng.random_range(1..=4);
        let curve = if kind == "hfsc" { "link-share" } else { "curve" };
        (plan + &format!("[class.above]\n{curve} = \"{rate}mbit\"\n"), ["edf", "drr"])
    });
}

#[test]
fn networks() {
    let heard = agreement(3, &|rng| {
        let kind = pick(rng, &kinds());
        (network(rng, kind), ["hfsc", "fifo"])
    });
    for outcome in ["refused", "kept", "late", "excused"] {
        assert!(heard[outcome] > 0, "no plan was {outcome}: {heard:?}");
    }
}

#[test]
fn frames() {
    let heard = agreement(4, &|rng| (framed(rng), ["fifo", "edf"]));
    assert!(heard["refused"] > 0 && heard["kept"] > 0, "{heard:?}");
    assert_eq!(heard["disproved"], 0, "{heard:?}");
}

/// Two flows of 400 bytes in every frame of 1000 leave no room for what is longer than 200, as
/// which it waits for a cycle and is dropped; shorter packets find room.
#[test]
fn a_packet_that_finds_no_frame_is_a_broken_promise() {
    let flow = |name: &str, promise: &str, bytes: u32| {
        format!(
            "[class.{name}]\n{promise}\n[[source]]\nclass = \"{name}\"\nmodel = \"constant\"\n\
             rate = \"{}kbit\"\npacket = \"{bytes}b\"\npath = [\"x\", \"y\", \"z\"]\n",
            8 * bytes
        )
    };
    for (bytes, is_dropped) in [(400, true), (201, true), (200, false), (100, false)] {
        let gap = "gap = \"1ms\"\nend-to-end = \"20s\"";
        let head = framed(&mut Pcg32::seed_from_u64(1));
        let head = head.split_once("[class.").unwrap().0.to_string();
        let plan = head + &flow("a", gap, 400) + &flow("b", gap, 400) + &flow("c", gap, bytes);
        let verdict = run(&Folder::with_plan(&plan), "tdp", &plan)["verdict"].clone();
        let broken = verdict["broken"].as_array().unwrap();
        let unframed: Vec<_> =
            broken.iter().filter(|one| one["promise"] == "frame" && one["at"] == "x → y").collect();
        assert_eq!(verdict["admitted"], false);
        assert_eq!(!unframed.is_empty(), is_dropped, "{bytes}: {verdict}");
        for one in unframed {
            assert!(one["class"] == "c" && one["proved"] == false, "{one}");
            assert!(one["dropped"].as_u64().is_some_and(|dropped| dropped > 10), "{one}");
        }
    }
}

fn pick<'a>(rng: &mut impl Rng, of: &[&'a str]) -> &'a str {
    of[rng.random_range(0..of.len())]
}

/// Two classes that are promised something and one that is not, on a link that may or may not
/// carry them, from sources that may or may not keep to their contracts.
fn link(rng: &mut impl Rng, kind: &str) -> String {
    let mut plan = format!(
        "version = 1\nlink = {{ rate = \"4mbit\", max-packet = \"1000b\" }}\nscheduler.kind = \"{kind}\"\n\
         run.duration = \"300ms\"\n"
    );
    for name in ["a", "b"] {
        let (kilobits, rates) = contract(rng);
        let bucket = rng.random_range(1000..4000);
        let promise = match (kind, rng.random_range(0..4)) {
            ("dwcs", _) => format!(
                "gap = \"{}ms\"\nloss = \"1/{}\"\n",
                rng.random_range(2..12),
                rng.random_range(2..9)
            ),
            (_, 0) => String::new(),
            (_, _) => format!("deadline = \"{}us\"\n", rng.random_range(3_000..40_000)),
        };
        plan += &format!(
            "[class.{name}]\n{promise}arrival = {{ bucket = \"{bucket}b\", rate = \"{kilobits}kbit\" }}\n"
        );
        if rng.random_ratio(1, 4) {
            let limit = rng.random_range(1..20);
            plan += &format!("queue = {{ kind = \"droptail\", limit = {limit} }}\n");
        }
        plan += &source(name, rates, "");
    }
    plan + "[class.rest]\n" + &source("rest", rng.random_range(100..5000), "")
}

/// A rate in kbit/s that a class says it sends at, and one that it does send at.
fn contract(rng: &mut impl Rng) -> (u32, u32) {
    let told = rng.random_range(200..2500);
    (told, if rng.random_ratio(1, 3) { told * 3 / 2 } else { told * 4 / 5 })
}

fn source(class: &str, kilobits: u32, more: &str) -> String {
    format!(
        "[[source]]\nclass = \"{class}\"\nmodel = \"poisson\"\nrate = \"{kilobits}kbit\"\n\
         packet = \"500b\"\n{more}"
    )
}

/// Much the same over two links in a row, promised at each of them or from end to end.
fn network(rng: &mut impl Rng, kind: &str) -> String {
    let mut plan = format!(
        "version = 1\nlink = {{ rate = \"4mbit\", delay = \"1ms\", max-packet = \"1000b\" }}\n\
         scheduler.kind = \"{kind}\"\nrun.duration = \"300ms\"\n\
         network.first.between = [\"x\", \"y\"]\nnetwork.second.between = [\"y\", \"z\"]\n"
    );
    for name in ["a", "b"] {
        let (told, sent) = contract(rng);
        let bucket = rng.random_range(1000..4000);
        let deadline = rng.random_range(3_000..60_000);
        let promise = match rng.random_range(0..4) {
            0 => String::new(),
            1 => format!("deadline = \"{deadline}us\"\n"),
            2 => format!("deadline = \"{deadline}us\"\nend-to-end = \"{}us\"\n", 2 * deadline),
            _ => format!("end-to-end = \"{deadline}us\"\n"),
        };
        plan += &format!("[class.{name}]\n{promise}");
        if rng.random_ratio(5, 6) {
            plan += &format!("arrival = {{ bucket = \"{bucket}b\", rate = \"{told}kbit\" }}\n");
        }
        if rng.random_ratio(1, 4) {
            let limit = rng.random_range(1..20);
            plan += &format!("queue = {{ kind = \"droptail\", limit = {limit} }}\n");
        }
        plan += &source(name, sent, "path = [\"x\", \"y\", \"z\"]\n");
    }
    let rest = source("rest", rng.random_range(100..5000), "path = [\"y\", \"z\"]\n");
    plan + "[class.rest]\n" + &rest
}

/// Flows in reserved frames.
fn framed(rng: &mut impl Rng) -> String {
    let mut plan = String::from(
        "version = 1\nlink = { rate = \"8mbit\", delay = \"100us\", max-packet = \"400b\" }\n\
         scheduler = { kind = \"tdp\", frame = \"1ms\", frames = 10 }\nrun.duration = \"300ms\"\n\
         network.first.between = [\"x\", \"y\"]\nnetwork.second.between = [\"y\", \"z\"]\n",
    );
    for flow in 0..rng.random_range(1..5) {
        let promised = rng.random_range(3..12);
        let packet = rng.random_range(100..400);
        plan += &format!(
            "[class.f{flow}]\ngap = \"1ms\"\nend-to-end = \"{promised}ms\"\n\
             [[source]]\nclass = \"f{flow}\"\nmodel = \"constant\"\nrate = \"{}kbit\"\n\
             packet = \"{packet}b\"\npath = [\"x\", \"y\", \"z\"]\n",
            8 * packet
        );
    }
    plan + "[class.rest]\n"
        + &source("rest", 2000, "path = [\"y\", \"z\"]\n").replace("500b", "100b")
}

/// Draws plans, has them checked, run and compared under their own scheduler and two others, and
/// tells how often which outcome was heard.
fn agreement(
    kind: u64,
    draw: &dyn Fn(&mut Pcg32) -> (String, [&'static str; 2]),
) -> BTreeMap<&'static str, u32> {
    let mut heard = BTreeMap::new();
    for seed in 0..PLANS {
        let (plan, others) = draw(&mut Pcg32::seed_from_u64(kind << 32 | seed));
        let folder = Folder::with_plan(&plan);
        let own = plan.split("kind = \"").nth(1).unwrap().split('"').next().unwrap();
        let mut schedulers = vec![own];
        schedulers.extend(others.into_iter().filter(|other| *other != own));
        let alone: Vec<_> = schedulers.iter().map(|one| run(&folder, one, &plan)).collect();
        for (name, verdict) in compared(&folder, &schedulers, &alone, &plan) {
            let late = !verdict["broken"].as_array().unwrap().is_empty();
            let refused = verdict["admitted"] == false;
            let kept = verdict["kept"] == true;
            let mut broken = verdict["broken"].as_array().unwrap().iter();
            for (outcome, heard_of) in [
                ("disproved", broken.any(|one| one["proved"] == true)),
                ("refused", refused),
                ("late", late),
                ("excused", late && kept),
                ("kept", kept && !late && !refused),
            ] {
                *heard.entry(outcome).or_default() += u32::from(heard_of);
            }
            let is_held = Kind::named(name).unwrap().room().is_held_to_promises || name == own;
            assert!(verdict["held_to"] == "plan" || !is_held);
        }
    }
    heard
}

/// Runs a plan under a scheduler and returns the summary, after checking that all forms agree.
fn run(folder: &Folder, scheduler: &str, plan: &str) -> Value {
    let of = |of: &[&str]| folder.laxity(&[of, &["plan.toml", "--scheduler", scheduler]].concat());
    let told = of(&["run", "--out", "out"]);
    let summary = folder.json("out/summary.json");
    let verdict = &summary["verdict"];
    let code = Some(i32::from(verdict["kept"] == false));
    assert_eq!((told.code, told.stderr.as_str()), (code, ""), "{plan}");
    let printed = of(&["run", "--json"]);
    assert_eq!(printed.code, code);
    assert_eq!(serde_json::from_str::<Value>(&printed.stdout).unwrap(), summary);

    assert_eq!(boxes(&folder.text("out/report.html")), [spoken(&told.stdout, "")], "{plan}");
    agrees(verdict, &spoken(&told.stdout, ""), plan);
    measured(&summary, plan);

    let checked = of(&["check", "--json"]);
    let answer: Value = serde_json::from_str(&checked.stdout).expect(plan);
    assert_eq!(answer["admitted"], verdict["admitted"], "{scheduler}: {plan}");
    assert_eq!(checked.code, Some(i32::from(verdict["admitted"] == false)), "{plan}");
    let checked = of(&["check"]);
    assert_eq!(checked.code, Some(i32::from(verdict["admitted"] == false)));
    assert_eq!(checked.stdout.contains("NOT ADMITTED."), verdict["admitted"] == false);
    summary
}

/// The verdicts of a comparison by scheduler, which are those of the runs alone.
fn compared<'a>(
    folder: &Folder,
    schedulers: &[&'a str],
    alone: &[Value],
    plan: &str,
) -> Vec<(&'a str, Value)> {
    let compare = ["compare", "plan.toml", "--schedulers", &schedulers.join(","), "--out", "both"];
    let told = folder.laxity(&compare);
    let runs = folder.json("both/summary.json");
    let runs = runs.as_array().unwrap();
    let boxes = boxes(&folder.text("both/report.html"));
    assert_eq!((runs.len(), boxes.len()), (schedulers.len(), schedulers.len()));
    for ((run, alone), shown) in runs.iter().zip(alone).zip(&boxes) {
        let spoken = spoken(&told.stdout, &format!("{}: ", run["scheduler"].as_str().unwrap()));
        assert_eq!(spoken, *shown, "{plan}");
        agrees(&run["verdict"], &spoken, plan);
        for same in ["admitted", "statement", "promised", "broken"] {
            assert_eq!(run["verdict"][same], alone["verdict"][same], "{plan}");
        }
        let proved = run["verdict"]["broken"].as_array().unwrap().iter();
        let proved = proved.filter(|broken| broken["proved"] == true).count();
        let kept = match run["verdict"]["held_to"].as_str().unwrap() {
            "plan" => alone["verdict"]["kept"] == true,
            _ => proved == 0,
        };
        assert_eq!(run["verdict"]["kept"], kept, "{plan}");
    }
    let kept = runs.iter().all(|run| run["verdict"]["kept"] == true);
    assert_eq!((told.code, told.stderr.as_str()), (Some(i32::from(!kept)), ""), "{plan}");
    let verdicts = runs.iter().map(|run| run["verdict"].clone());
    schedulers.iter().copied().zip(verdicts).collect()
}

/// What is spoken in a terminal of promises, behind `prefix`.
fn spoken(text: &str, prefix: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(prefix));
    let begins =
        ["NOT ADMITTED. ", "BROKEN: ", "LATE: ", "Every promise", "No class was", "This time"];
    lines
        .filter(|line| begins.iter().any(|begin| line.starts_with(begin)))
        .map(str::to_owned)
        .collect()
}

/// The same in the boxes of a report.
fn boxes(html: &str) -> Vec<Vec<String>> {
    let parts = html.split("<div class=\"verdict").skip(1);
    let lines = |part: &str| {
        let inside = part.split("</div>").next().unwrap();
        let inside = inside.split_once('>').unwrap().1;
        let lines = inside.split(['<', '>']).map(|line| line.trim_start_matches(['✓', '✗', ' ']));
        let lines = lines.filter(|line| !["", "p", "/p", "ul", "/ul", "li", "/li"].contains(line));
        lines
            .map(|line| {
                line.replace("&quot;", "\"")
                    .replace("&lt;", "<")
                    .replace("&gt;", ">")
                    .replace("&amp;", "&")
            })
            .collect()
    };
    parts.map(lines).collect()
}

/// Whether JSON and lines say the same.
fn agrees(verdict: &Value, lines: &[String], plan: &str) {
    let broken = verdict["broken"].as_array().unwrap();
    let refused = verdict["admitted"] == false;
    let head = lines.first().is_some_and(|line| line.starts_with("NOT ADMITTED. "));
    assert_eq!(head, refused, "{lines:?}: {plan}");
    if refused {
        let statement = verdict["statement"].as_str().unwrap();
        assert!(lines[0].contains(statement), "{lines:?}: {plan}");
    }
    let listed: Vec<_> = lines
        .iter()
        .filter(|line| line.starts_with("BROKEN") || line.starts_with("LATE"))
        .collect();
    assert_eq!(listed.len(), broken.len(), "{plan}");
    for (line, one) in listed.into_iter().zip(broken) {
        let word = if one["proved"] == true { "BROKEN" } else { "LATE" };
        let at = one["at"].as_str().map_or(String::new(), |at| format!(" at {at}"));
        let begins = format!("{word}: {}{at}: ", one["class"].as_str().unwrap());
        assert!(line.starts_with(&begins), "{line} {one}");
    }
    let kept = lines.iter().any(|line| line == "Every promise was kept.");
    let promised = verdict["promised"] == true;
    assert_eq!(kept, promised && !refused && broken.is_empty(), "{lines:?}: {plan}");
}

/// Whether the broken promises are those that the measurements tell of.
fn measured(summary: &Value, plan: &str) {
    let broken = summary["verdict"]["broken"].as_array().unwrap();
    let said = |class: &Value, at: Option<&str>, promise: &str| {
        broken.iter().any(|one| {
            one["class"] == class["name"] && one["at"].as_str() == at && one["promise"] == promise
        })
    };
    let some = |count: &Value| count.as_u64().is_some_and(|count| count > 0);
    for class in summary["classes"].as_array().unwrap() {
        let windows = &class["windows"];
        let late = some(&class["deadline_misses"]) && windows.is_null();
        assert_eq!(said(class, None, "deadline"), late, "{plan}");
        assert_eq!(said(class, None, "windows"), some(&windows["violations"]), "{plan}");
        let owed = class["deadline_ns"].is_u64() || class["nonconforming"] == 0;
        assert_eq!(said(class, None, "bound"), owed && some(&class["bound_misses"]), "{plan}");
        if summary["hops"].is_null() {
            let full = some(&class["dropped"]["queue-full"]) && class["deadline_ns"].is_u64();
            assert_eq!(said(class, None, "room"), full && windows.is_null(), "{plan}");
        }
    }
    for hop in summary["hops"].as_array().into_iter().flatten() {
        let at = [&hop["from"], &hop["to"]].map(|node| node.as_str().unwrap()).join(" → ");
        for class in hop["classes"].as_array().unwrap() {
            let name = class["name"].as_str().unwrap();
            let own = plan.split(&format!("[class.{name}]\n")).nth(1).unwrap();
            let own = own.split("[[source]]").next().unwrap();
            let promised = class["deadline_ns"].is_u64() && own.contains("arrival");
            let late = promised && some(&class["deadline_misses"]);
            assert_eq!(said(class, Some(&at), "deadline"), late, "{plan}");
            let whole = own.contains("end-to-end");
            let full = some(&class["dropped"]["queue-full"]) && (promised || whole);
            assert_eq!(said(class, Some(&at), "room"), full, "{plan}");
            let unframed = some(&class["dropped"]["frame"]) && (promised || whole);
            assert_eq!(said(class, Some(&at), "frame"), unframed, "{plan}");
        }
    }
}
