//! `laxity import tc`: scripts in, plans out, and what is said about them.

use std::io::Write;
use std::process::Stdio;

use crate::bad_input::refused;
use crate::folder::{Folder, repository};

const SCRIPT: &str = "\
tc qdisc add dev eth0 root handle 1: hfsc default 20
tc class add dev eth0 parent 1: classid 1:1 hfsc sc m2 10mbit ul m2 10mbit
tc class add dev eth0 parent 1:1 classid 1:10 hfsc sc m2 1mbit # voice
tc class add dev eth0 parent 1:1 classid 1:20 hfsc ls m2 9mbit # rest
tc qdisc add dev eth0 parent 1:20 sfq limit 100
tc filter add dev eth0 protocol ip u32 match ip dport 4000 0xffff flowid 1:10
";

/// A file of the examples, read as it is in the repository.
fn example(name: &str) -> String {
    std::fs::read_to_string(repository(&format!("examples/{name}"))).unwrap()
}

/// A plan without what was added by hand: each such block begins with a comment that says so and
/// ends with an empty line.
fn imported_part(plan: &str) -> String {
    let mut added = false;
    let lines = plan.lines().filter(|line| {
        added = if added { !line.is_empty() } else { line.starts_with("# Added by hand") };
        !added
    });
    lines.collect::<Vec<_>>().join("\n").trim_end().to_string() + "\n"
}

#[test]
fn the_example_is_what_its_script_says() {
    let folder = Folder::new().with("gateway.tc", example("gateway.tc"));
    folder.laxity(&["import", "tc", "gateway.tc", "--out", "gateway.toml"]);
    assert_eq!(imported_part(&example("gateway.toml")), folder.text("gateway.toml"));
}

#[test]
fn a_plan_comes_out_with_notes_beside_it() {
    let folder = Folder::new().with("script.sh", SCRIPT);
    let printed = folder.laxity(&["import", "tc", "script.sh"]);
    assert_eq!(printed.code, Some(0));
    let sfq = "5: 1:20: sfq: its limit of 100 packets is kept";
    for part in ["Read as:\n", "the link's rate is 10mbit", "Not mapped:\n", sfq] {
        assert!(printed.stderr.contains(part), "`{part}` is missing in {}", printed.stderr);
        assert!(printed.stdout.contains(part), "`{part}` is missing in {}", printed.stdout);
    }
    assert!(printed.stderr.contains(&format!("script.sh:{sfq}")));

    let written = folder.laxity(&["import", "tc", "script.sh", "--out", "plan.toml"]);
    assert_eq!((written.code, written.stdout.as_str()), (Some(0), "Plan: plan.toml\n"));
    assert_eq!(written.stderr, printed.stderr);
    assert_eq!(folder.text("plan.toml"), printed.stdout);
    let checked = folder.laxity(&["check", "plan.toml"]);
    assert_eq!((checked.code, checked.stderr.as_str()), (Some(0), ""), "{}", checked.stdout);
}

#[test]
fn a_script_on_standard_input() {
    let folder = Folder::new().with("script.sh", SCRIPT);
    let mut command = folder.command(&["import", "tc", "-"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(SCRIPT.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let named = folder.laxity(&["import", "tc", "script.sh"]).stdout;
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(printed, named.replace("script.sh", "<stdin>"));
}

#[test]
fn options_say_what_the_script_does_not() {
    let folder = Folder::new()
        .with("flat.sh", SCRIPT.replace("parent 1:1 ", "parent 1: "))
        .with("two.sh", format!("{SCRIPT}{}", SCRIPT.replace("eth0", "ifb0")));
    let rate = ["import", "tc", "flat.sh"];
    refused(&folder, &rate, &["flat.sh:1:1", "3 classes are at the top", "--link-rate 10mbit"]);
    let given = folder.laxity(&[&rate[..], &["--link-rate", "20mbit"]].concat());
    assert!(given.stdout.contains("[link]\nrate = \"20mbit\""), "{}", given.stderr);
    let two = ["import", "tc", "two.sh"];
    refused(&folder, &two, &["two.sh:7:1", "sets up eth0 and ifb0", "--dev eth0"]);
    assert_eq!(folder.laxity(&[&two[..], &["--dev", "ifb0"]].concat()).code, Some(0));
    refused(
        &folder,
        &[&two[..], &["--dev", "eth1"]].concat(),
        &["no hfsc, htb, qfq, drr, prio, fq_codel, cake or tbf set-up of eth1"],
    );
}

#[test]
fn what_a_script_is_called_with() {
    let script = SCRIPT.replace("eth0", "$1").replace("10mbit", "${UP}kbit");
    let folder = Folder::new()
        .with("called.sh", script.replacen("tc ", ". /etc/qos/rates.conf\ntc ", 1))
        .with("rates.conf", "UP=10000\n");
    let import = ["import", "tc", "called.sh"];
    refused(&folder, &import, &["called.sh:3", "--set UP=VALUE"]);
    let plan = |more: &[&str]| folder.laxity(&[&import[..], more].concat()).stdout;
    assert!(plan(&["--set", "UP=10000"]).contains("[link]\nrate = \"10mbit\""));
    assert!(plan(&["--arg", "eth0", "--source", "rates.conf"]).contains("rate = \"10mbit\""));
    refused(&folder, &[&import[..], &["--set", "2=x"]].concat(), &["--set", "UPLINK=9500"]);
    refused(&folder, &[&import[..], &["--source", "none"]].concat(), &["no such file"]);
}

#[test]
fn a_script_that_tc_would_refuse() {
    let folder = Folder::new();
    let script = |old: &str, new: &str, says: &[&str]| {
        assert!(SCRIPT.contains(old), "{old}");
        let folder = Folder::new().with("script.sh", SCRIPT.replacen(old, new, 1));
        refused(&folder, &["import", "tc", "script.sh", "--out", "plan.toml"], says);
    };
    script("m2 1mbit", "m2 1parsec", &["script.sh:3:58", "`1parsec` is not a rate", "kbit, mbit"]);
    script("m2 1mbit", "m2 ${RATE}kbit", &["script.sh:3:58", "--set RATE=VALUE"]);
    script("parent 1:1 ", "parent 1:7 ", &["script.sh:3:30", "there is no class 1:7"]);
    script("u32 match", "u32 mtach", &["script.sh:6:40", "`mtach` does not belong to u32"]);
    for file in ["none.sh", "."] {
        refused(&folder, &["import", "tc", file], &[file]);
    }
}

#[test]
fn a_line_that_is_too_long_to_show() {
    let long = " ".repeat(70_000);
    let folder = Folder::new()
        .with("script.sh", format!("{SCRIPT}:{long}; tc class add dev eth0 classid 1:x hfsc\n"))
        .with("plan.toml", format!("version = 1\nlink = {{{long}rate = 5 }}\n"));
    let short = |arguments: &[&str], says: &str| {
        refused(&folder, arguments, &[says]);
        assert!(folder.laxity(arguments).stderr.len() < 1000);
    };
    short(&["import", "tc", "script.sh"], "script.sh:7:70034: `1:x` is not the name of a class");
    short(&["check", "plan.toml"], "plan.toml:2:70016: `5` has no unit");
}

#[test]
fn a_plan_is_not_written_over_another() {
    let folder = Folder::new().with("script.sh", SCRIPT).with("plan.toml", "mine");
    let import = |out: &str, says: &[&str]| {
        refused(&folder, &["import", "tc", "script.sh", "--out", out], says);
    };
    import("plan.toml", &["plan.toml is there already and is not written over"]);
    import("no/folder/plan.toml", &["cannot write no/folder/plan.toml", "--out"]);
    import("plan.toml/below", &["cannot write plan.toml/below", "--out"]);
    assert_eq!(folder.text("plan.toml"), "mine");
}

#[test]
fn a_wrong_argument() {
    let folder = Folder::new().with("script.sh", SCRIPT);
    refused(&folder, &["import"], &["Usage: laxity import <COMMAND>"]);
    refused(&folder, &["import", "nft", "script.sh"], &["unrecognized subcommand 'nft'"]);
    refused(&folder, &["import", "tc"], &["<FILE>"]);
    let rate = |rate| ["import", "tc", "script.sh", "--link-rate", rate];
    refused(&folder, &rate("10"), &["--link-rate", "`10` has no unit"]);
    refused(&folder, &rate("10mbps"), &["--link-rate", "tc reads `bps` as bytes"]);
    refused(&folder, &rate("-1mbit"), &["--link-rate", "is negative"]);
    refused(&folder, &rate("3bit"), &["a link of 3bit", "at least 4bit"]);
}
