//! Answers as a page gets them.

use laxity_web::{Message, answer};
use serde_json::{Value, json};

const PLAN: &str = r#"version = 1
title = "Ünïcode – 🙂"
link = { rate = "10mbit" }
scheduler = { kind = "edf" }

[class.voice]
deadline = "5ms"
arrival = { bucket = "300b", rate = "80kB/s", packet = "300b" }

[class.web]

[[source]]
class = "voice"
model = "constant"
packet = "200b"
rate = "64kB/s"

[[source]]
class = "web"
model = "poisson"
packet = "1500b"
rate = "1MB/s"
"#;

/// Asks with these files, and gives the answer and its bytes.
fn ask(question: Value, files: &[(&str, &[u8])]) -> (Value, Vec<u8>) {
    let mut question = question;
    question["files"] =
        files.iter().map(|(name, bytes)| json!({ "name": name, "bytes": bytes.len() })).collect();
    let bytes = files.iter().flat_map(|(_, bytes)| bytes.to_vec()).collect();
    let message = Message { json: question.to_string().into_bytes(), bytes };
    let answered = answer(&message.written(), &mut |_| {});
    let Message { json, bytes } = Message::read(&answered).unwrap();
    (serde_json::from_slice(&json).unwrap(), bytes)
}

#[test]
fn a_plan_is_proved() {
    let (answer, _) = ask(json!({ "verb": "check", "plan": PLAN }), &[]);
    let result = &answer["result"];
    assert_eq!(result["kept"], true, "{answer}");
    let json: Value = serde_json::from_str(result["json"].as_str().unwrap()).unwrap();
    assert_eq!(json["classes"][0]["bound_ns"], 5_000_000);
    let page = result["page"].as_str().unwrap();
    assert!(page.contains("<h1>Ünïcode – 🙂</h1>") && page.contains("voice"), "{page}");
}

#[test]
fn a_mistake_has_its_place_as_browsers_count() {
    let plan = PLAN.replace("\"edf\"", "\"edd\"");
    let (answer, _) = ask(json!({ "verb": "check", "plan": plan }), &[]);
    let fault = &answer["fault"];
    assert!(fault["help"].as_str().unwrap().contains("did you mean `edf`?"), "{answer}");
    let units: Vec<u16> = plan.encode_utf16().collect();
    let at = |key: &str| fault["place"][key].as_u64().unwrap() as usize;
    assert_eq!(String::from_utf16(&units[at("from")..at("to")]).unwrap(), "\"edd\"");
    assert_eq!((at("line"), at("column")), (4, 22));
}

#[test]
fn a_run_tells_its_progress_and_is_the_same_again() {
    let question =
        json!({ "verb": "run", "plan": PLAN, "duration": "500s", "seed": "18446744073709551615" });
    let message = Message { json: question.to_string().into_bytes(), bytes: Vec::new() };
    let mut shares = Vec::new();
    let first = answer(&message.written(), &mut |share| shares.push(share));
    assert!(!shares.is_empty() && shares.is_sorted() && shares.iter().all(|it| *it <= 1.0));
    assert_eq!(first, answer(&message.written(), &mut |_| {}));
    let (answer, _) = ask(question, &[]);
    assert_eq!(answer["result"]["kept"], true);
    assert!(answer["result"]["page"].as_str().unwrap().contains("Promised and measured"));
    assert!(answer["result"]["json"].as_str().unwrap().contains("18446744073709551615"));
}

#[test]
fn schedulers_are_compared() {
    let question = json!({ "verb": "compare", "plan": PLAN, "duration": "500s", "schedulers": ["fifo", "edf"] });
    let mut last = 0.0;
    let message = Message { json: question.to_string().into_bytes(), bytes: Vec::new() };
    answer(&message.written(), &mut |share| {
        assert!(share >= last, "{share} after {last}");
        last = share;
    });
    assert!(last > 0.5, "{last}");
    let (answer, _) = ask(question.clone(), &[]);
    let json: Value = serde_json::from_str(answer["result"]["json"].as_str().unwrap()).unwrap();
    let names: Vec<_> = json.as_array().unwrap().iter().map(|run| &run["scheduler"]).collect();
    assert_eq!(names, ["fifo", "edf/exact"]);
    let mut none = question;
    none["schedulers"] = json!([]);
    assert!(ask(none, &[]).0["fault"]["message"].as_str().unwrap().contains("at least one"));
}

#[test]
fn packets_are_files() {
    let run = |packets: &str| {
        ask(json!({ "verb": "run", "plan": PLAN, "duration": "1s", "packets": packets }), &[])
    };
    let (answer, csv) = run("csv");
    assert_eq!(answer, json!("packets"));
    let csv = String::from_utf8(csv).unwrap();
    assert!(csv.starts_with("seq,class,flow,length,arrival_ns"));
    assert!(csv.lines().count() > 900, "{}", csv.lines().count());
    let (_, parquet) = run("parquet");
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
}

#[test]
fn files_lie_beside_the_plan() {
    let trace: &[u8] = b"time_ns,class,length\n0,voice,100\n1000000,web,1500\n";
    let question = json!({ "verb": "run", "plan": PLAN, "arrivals": "trace.csv" });
    let (answer, _) = ask(question.clone(), &[("other.csv", b"x"), ("trace.csv", trace)]);
    let json: Value = serde_json::from_str(answer["result"]["json"].as_str().unwrap()).unwrap();
    assert_eq!(json["classes"][0]["arrived"], 1, "{json}");
    let (answer, _) = ask(question, &[]);
    assert!(answer["fault"]["message"].as_str().unwrap().contains("trace.csv"), "{answer}");

    let recorded = PLAN[..PLAN.find("[[source]]").unwrap()].to_string()
        + "[[source]]\nmodel = \"capture\"\nfile = \"trace.csv\"\n";
    let question = json!({ "verb": "run", "plan": recorded });
    let (answer, _) = ask(question.clone(), &[("trace.csv", trace)]);
    assert!(answer["result"]["json"].is_string(), "{answer}");
    let (answer, _) = ask(question, &[]);
    assert!(answer["fault"]["message"].as_str().unwrap().contains("drop that file"), "{answer}");
}

#[test]
fn a_file_that_a_plan_names_is_found_by_its_name() {
    let plan = "version = 1\nlink = { rate = \"1mbit\", rate-trace = \"rate.csv\" }\n\
                scheduler = { kind = \"fifo\" }\nclass.a = {}\n";
    let question = json!({ "verb": "check", "plan": plan });
    let (answer, _) = ask(question.clone(), &[]);
    assert!(answer["fault"]["message"].as_str().unwrap().contains("there is no such file"));
    let (answer, _) = ask(question, &[("rate.csv", b"time,rate\n0ms,1mbit\n1s,500kbit\n")]);
    assert!(answer["result"].is_object(), "{answer}");
}

#[test]
fn what_is_given_wrongly_is_told() {
    for (key, value, expected) in [
        ("seed", "-1", "no whole number"),
        ("duration", "10", "the duration:"),
        ("duration", "0s", "is zero"),
    ] {
        let mut question = json!({ "verb": "run", "plan": PLAN });
        question[key] = value.into();
        let (answer, _) = ask(question, &[]);
        let message = answer["fault"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(expected), "{key} = {value}: {answer}");
    }
}

#[test]
fn whatever_is_asked_has_an_answer() {
    let whole =
        Message { json: json!({ "verb": "about" }).to_string().into_bytes(), bytes: vec![] };
    let whole = whole.written();
    for bytes in [&[][..], b"abc", &[255; 40], b"\x02\0\0\0{}", &whole[..whole.len() - 1]] {
        let answered = Message::read(&answer(bytes, &mut |_| {})).unwrap();
        assert!(String::from_utf8(answered.json).unwrap().contains("fault"), "{bytes:?}");
    }
    let about = Message::read(&answer(&whole, &mut |_| {})).unwrap();
    let about: Value = serde_json::from_slice(&about.json).unwrap();
    let schedulers = about["about"]["schedulers"].as_array().unwrap();
    assert!(schedulers.contains(&json!("edf")) && schedulers.contains(&json!("hfsc")));
    let schema: Value = serde_json::from_str(about["about"]["schema"].as_str().unwrap()).unwrap();
    assert!(schema["properties"]["class"].is_object());
}
