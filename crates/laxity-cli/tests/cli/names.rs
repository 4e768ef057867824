//! Names of files that are not UTF-8, or odd in other ways.

use std::ffi::{OsStr, OsString};
use std::fs;

use serde_json::{Value, json};

use crate::bad_input::PLAN;
use crate::folder::Folder;
use crate::packets::BUSY;

const ARRIVALS: &str = "time_ns,class,length\n5,voice,100\n6,ftp,1500\n";

/// Names that most systems allow: bytes that are no UTF-8, spaces, quotes, signs that shells, CSV,
/// JSON or patterns give a meaning, control characters, and a leading hyphen.
fn odd_names() -> Vec<OsString> {
    let texts = [
        "a b",
        "it's \"so\"",
        "a,b;c",
        "{}%s\\n",
        "*[a]?",
        "ünï – 文",
        "line\nbreak",
        "-x",
        "a\u{1b}[31m",
    ];
    let mut names: Vec<OsString> = texts.map(OsString::from).into();
    #[cfg(unix)]
    for bytes in [&b"caf\xe9"[..], b"\xff\xfe", b"half\xf0\x9f", b"\xc0\xafx"] {
        use std::os::unix::ffi::OsStrExt;
        names.push(OsStr::from_bytes(bytes).to_os_string());
    }
    names
}

/// As the manifest writes a name.
fn as_json(name: &OsStr) -> Value {
    match name.to_str() {
        Some(text) => json!(text),
        None => json!(name.as_encoded_bytes()),
    }
}

fn with_end(name: &OsStr, end: &str) -> OsString {
    let mut name = OsString::from_iter([OsStr::new("./"), name]);
    name.push(end);
    name
}

#[test]
fn every_path_of_every_command_may_have_any_name() {
    for name in odd_names() {
        let folder = Folder::new();
        let [plan, arrivals, script] = [".toml", ".csv", ".sh"].map(|end| with_end(&name, end));
        let root = folder.path("");
        fs::write(root.join(&plan), PLAN).unwrap();
        fs::write(root.join(&arrivals), ARRIVALS).unwrap();
        let tc = "tc qdisc add dev eth0 root handle 1: htb default 10\n\
                  tc class add dev eth0 parent 1: classid 1:10 htb rate 10mbit\n";
        fs::write(root.join(&script), tc).unwrap();
        let out = with_end(&name, " out");
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let recorded = [OsString::from("--arrivals"), arrivals.clone()];
        let written = [OsString::from("--out"), out.clone()];

        let check = [words(&["check"]), vec![plan.clone()]].concat();
        folder.laxity(&check).printed(0);
        let fit = [words(&["fit"]), vec![plan.clone()], recorded.to_vec()].concat();
        folder.laxity(&fit).printed(0);
        let compare = words(&["compare", "--schedulers", "fifo,edf"]);
        let compare = [compare, vec![plan.clone()], recorded.to_vec(), written.to_vec()].concat();
        folder.laxity(&compare).printed(0);
        let run =
            [words(&["run"]), vec![plan.clone()], recorded.to_vec(), written.to_vec()].concat();
        folder.laxity(&run).printed(0);

        let manifest = fs::read_to_string(root.join(&out).join("manifest.json")).unwrap();
        let manifest: Value = serde_json::from_str(&manifest).unwrap();
        assert_eq!(manifest["plan"], as_json(&plan));
        let command = manifest["command"].as_array().unwrap();
        let given: Vec<Value> = run.iter().map(|word| as_json(word)).collect();
        assert_eq!(command[1..], given[..]);

        let imported = with_end(&name, " imported.toml");
        let import = [words(&["import", "tc"]), vec![script, "--out".into(), imported.clone()]];
        let ended = folder.laxity(&import.concat());
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        folder.laxity(&[OsString::from("check"), imported]).printed(0);
        let paper = [words(&["reproduce", "no-such-paper"]), written.to_vec()].concat();
        assert_eq!(folder.laxity(&paper).code, Some(2));
    }
}

#[test]
fn what_is_not_there_is_told_whatever_its_name_is() {
    for name in odd_names() {
        let folder = Folder::with_plan(PLAN);
        let missing = with_end(&name, ".toml");
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        for command in [
            words(&["check"]),
            words(&["run"]),
            words(&["fit"]),
            words(&["compare", "--schedulers", "fifo"]),
            words(&["import", "tc"]),
            words(&["run", "plan.toml", "--out", "out", "--arrivals"]),
            words(&["compare", "plan.toml", "--schedulers", "fifo", "--arrivals"]),
            words(&["fit", "plan.toml", "--arrivals"]),
            // Without the command it is no command's name.
            words(&[]),
        ] {
            let ended = folder.laxity(&[command, vec![missing.clone()]].concat());
            assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{}", ended.stderr);
        }
        assert_eq!(folder.content().len(), 1);
    }
}

#[test]
fn classes_may_have_odd_names() {
    for name in
        ["it's", "a,b", "a \\\" b", "\\\\", "<b>&amp;", "{}", "%s", "=1+1", "文 – ü", "\u{202e}ab"]
    {
        let plan = BUSY.replace("[class.voice]", &format!("[class.\"{name}\"]"));
        let plan = plan.replace("class = \"voice\"", &format!("class = \"{name}\""));
        let folder = Folder::with_plan(&plan);
        for packets in ["csv", "parquet"] {
            let run = ["run", "plan.toml", "--json", "--duration", "400ms", "--packets", packets];
            let summary = folder.laxity(&[&run[..], &["--out", "out"]].concat()).json(0);
            let told = summary["classes"][0]["name"].as_str().unwrap();
            let plain: toml::Table = toml::from_str(&format!("name = \"{name}\"")).unwrap();
            assert_eq!(told, plain["name"].as_str().unwrap());
            assert_eq!(folder.json("out/summary.json"), summary);
        }
        folder.laxity(&["check", "plan.toml"]).printed(0);
    }
}
