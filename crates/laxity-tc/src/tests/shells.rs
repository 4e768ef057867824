//! The interpreter beside the machine's own shell: scripts compute what `sh` computes.

use std::process::{Command, Stdio};

use proptest::prelude::*;

use super::{HEAD, plan, refusal};
use crate::shell::printed;
use crate::{Options, Source};

fn ours(script: &str) -> Vec<String> {
    let text = printed(script).unwrap_or_else(|fault| panic!("{script}\n{fault:?}"));
    text.lines().map(str::to_string).collect()
}

/// What `sh` prints; `None` where there is no shell.
fn theirs(script: &str) -> Option<Vec<String>> {
    let mut shell = Command::new("sh");
    shell.env_clear().args(["-c", script]).stdin(Stdio::null()).stderr(Stdio::null());
    let output = shell.output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(text.lines().map(str::to_string).collect())
}

fn same(script: &str) -> Result<(), TestCaseError> {
    match theirs(script) {
        Some(lines) => prop_assert_eq!(ours(script), lines, "{}", script),
        None => println!("skipped: this machine has no sh"),
    }
    Ok(())
}

#[test]
fn what_scripts_do() {
    for script in [
        "A=5; B=$((9*A/10)); echo rate ${B}kbit",
        "for i in 1 2 3; do echo 1:$i $((i*10)); done",
        "for a in $NONE; do echo never; done; echo after",
        "f() { local x=$1; shift; echo $x \"$@\" $#; }; f a b 'c d'",
        "X=eth0.7; echo ${X%.*} ${X#*.} ${#X} ${Y:-none} ${X%%[0-9]*} ${X##*.}",
        "case eth1 in wlan*) echo w;; eth[0-3]|lan) echo e;; *) echo x;; esac",
        "i=0; while [ $i -lt 3 ]; do i=$((i+1)); [ $i = 2 ] && continue; echo $i; done",
        "i=5; until [ $i -le 3 ]; do i=`expr $i - 1`; echo $i; done",
        "set -- a b c; while [ $# -gt 0 ]; do echo $1 $#; shift; done",
        "R=$(echo 10 20 | cut -d' ' -f2); echo $R",
        "[ -z \"\" -a 1 -lt 2 ] && echo yes || echo no",
        "echo one two | while read a b; do echo $b $a; done",
        "f() { return 3; }; f; echo $?; f || echo failed",
        "printf '%s:%03d\\n' a 7 b 12 | while read x; do echo $x; done",
        "printf 'a\\é b\\t%s\\n' c",
        "A='x  y'; echo $A; echo \"$A\"; IFS=:; B=a:b::c; for w in $B; do echo \"[$w]\"; done",
        "set -e; false || true; echo still; if false; then :; fi; echo on; false; echo never",
        "while getopts a:bc o; do echo $o $OPTARG; done; echo done",
        "set -- -a 1 -b x; while getopts a:b o; do echo $o; done; shift $((OPTIND-1)); echo $1",
        "f() { false; return; }; f; echo $?; x=$(false); echo $?; x=1; echo $? $(echo $?)",
        "echo f is a function | grep -q 'is .*function'; echo $?; echo 15ms | grep -o -e ^'[[:digit:]]\\+'; echo 15ms | grep -oE '[a-z]+$'; echo a+b | grep -q 'a+b' && echo plus",
        "x=1; (x=2; echo $x); echo $x; { x=3; }; echo $x",
        "eval \"A_1=7\"; n=1; eval \"v=\\$A_$n\"; echo $v",
        "cat <<EOF | while read l; do echo got $l; done\na ${U:-b}\nc\nEOF",
        "echo $((1+2*3)) $((7%4)) $((1<2)) $(( (1+2)*3 )) $((0x10)) $((010)) $((!0)) $((1?2:3))",
        "a=3; : $((a+=4)); echo $a; echo $((a>5&&a<9))",
        "f() { for x in \"$@\"; do echo $x; done; }; f 'a b' c; f",
        "for i in a b c; do for j in 1 2; do [ $j = 2 ] && continue 2; echo $i$j; [ $i = b ] && break 2; done; done",
    ] {
        same(script).unwrap();
    }
}

/// A part of a script whose only output is by `echo`.
fn part() -> impl Strategy<Value = String> {
    let value = prop::sample::select(vec![
        "7",
        "'a b'",
        "\"$A\"",
        "$B",
        "${A:-x y}",
        "${B:+z}",
        "${A#a}",
        "${B%?}",
        "${#A}",
        "$((A+1))",
        "\"$@\"",
        "$#",
        "`echo q $B`",
        "$(expr 3 + 4)",
        "${A%%b*}",
        "eth0",
        "\"\"",
        "$C",
    ]);
    let name = prop::sample::select(vec!["A", "B", "C"]);
    let number = prop::sample::select(vec!["1", "$((2*3))", "${#B}", "0", "9"]);
    let simple = prop_oneof![
        (value.clone(), value.clone()).prop_map(|(a, b)| format!("echo {a} {b}")),
        (name, prop::sample::select(vec!["1", "'x y'", "ab*c", "12", "''"]))
            .prop_map(|(name, value)| format!("{name}={value}")),
        (number.clone(), number.clone())
            .prop_map(|(a, b)| format!("[ {a} -lt {b} ] && echo less || echo more")),
        value.clone().prop_map(|value| format!("set -- {value} k")),
        value.clone().prop_map(|value| format!(
            "case {value} in a*) echo a;; *b) echo b;; 7|'') echo 7;; *) echo o;; esac"
        )),
    ];
    simple.prop_recursive(3, 12, 3, move |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}\n{b}")),
            inner.clone().prop_map(|a| format!("for i in 1 2 $B; do\n{a}\ndone")),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| format!("if [ -n \"$A\" ]; then\n{a}\nelse\n{b}\nfi")),
            inner.clone().prop_map(|a| format!("f() {{\n{a}\n}}\nf u v")),
            inner.clone().prop_map(|a| format!("(\n{a}\n)")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_script_does_what_it_does_in_the_shell(parts in prop::collection::vec(part(), 1..6)) {
        // Arithmetic on what is no number ends a shell; here it is a fault.
        let script = parts.join("\n").replace("$((A+1))", "$((2+1))");
        same(&script)?;
    }
}

#[test]
fn arguments_variables_and_files() {
    let script = format!(
        "case \"$1\" in\nstart)\n. /etc/qos.conf\n{}\n;;\nstop) tc qdisc del dev eth0 root;;\nesac\n",
        HEAD.replace("10mbit", "${{UP}}kbit").replace("{{", "{").replace("}}", "}")
    );
    let (_, message, help) = refusal(&script);
    assert!(message.contains("`$1` is not known"), "{message}");
    assert!(help.contains("--arg"), "{help}");
    let mut options = Options { arguments: Some(vec!["start".into()]), ..Options::default() };
    let error = crate::import(&script, "script.sh", &options).unwrap_err();
    assert!(error.to_string().contains("kbit"), "{error}");
    assert!(error.help().is_some_and(|help| help.contains("--set UP=VALUE")), "{error:?}");
    options.variables.insert("UP".into(), "10000".into());
    assert_eq!(super::read(&crate::import(&script, "script.sh", &options).unwrap()), plan(HEAD));
    options.variables.clear();
    options.sources.push(Source { name: "qos.conf".into(), text: "UP=10000\n".into() });
    assert_eq!(super::read(&crate::import(&script, "script.sh", &options).unwrap()), plan(HEAD));
    // A fault in that file carries its name.
    options.sources[0].text = "UP=10000\nif\n".into();
    let error = crate::import(&script, "script.sh", &options).unwrap_err();
    assert_eq!((error.name(), error.line()), ("qos.conf", Some(2)), "{error:?}");
}

#[test]
fn what_the_machine_knows() {
    let checks = "[ -x /sbin/tc ] || exit 1\nif ! lsmod | grep -q hfsc; then modprobe sch_hfsc; fi\n\
                  MTU=$(cat /sys/class/net/eth0/mtu)\n[ -f /etc/x ] && . /etc/x\n";
    assert_eq!(plan(&format!("{checks}{HEAD}")), plan(HEAD));
    let usage = "if [ $# -ne 1 ]; then tc -s qdisc show dev $1; exit; fi\n";
    assert_eq!(plan(&format!("{usage}{HEAD}")), plan(HEAD));
    let options = "while getopts u: o; do U=$OPTARG; done\n[ -z \"$U\" ] && exit 1\n";
    assert!(refusal(&format!("{options}{HEAD}")).2.contains("--arg start"));
    let line = "tc class add dev eth0 parent 1:1 classid 1:30 hfsc sc m2 ${MTU}kbit\n";
    let (_, message, help) = refusal(&format!("{checks}{HEAD}{line}"));
    assert!(message.contains("is not a rate"), "{message}");
    assert!(help.contains("--set MTU=VALUE"), "{help}");
    let line = "if ip link show eth0; then\ntc class add dev eth0 parent 1:1 classid 1:30 hfsc sc m2 1mbit\nfi\n";
    assert!(refusal(&format!("{HEAD}{line}")).1.contains("depends on it"));
}

#[test]
fn loops_and_nests_end() {
    for (script, says) in [
        ("while true; do :; done".into(), "steps"),
        ("f() { f; }; f".into(), "inside each other"),
        ("( ".repeat(100_000), "inside each other"),
        ("{ ".repeat(100_000), "inside each other"),
        ("a$(".repeat(100_000), "inside each other"),
        (format!("echo $(({}1", "(".repeat(100_000)), ""),
        ("if ".repeat(100_000), "inside each other"),
        ("A=aaaaaaaaaaaaaaaa; while :; do A=$A$A; done".into(), "come to more than"),
        ("A=$(seq 1 99999999)".into(), "steps"),
        (format!("A={}; echo ${{A%%*a*a*a*a*b}}", "a".repeat(100_000)), "too long"),
    ] {
        assert!(refusal(&script).1.contains(says), "{says}: {}", refusal(&script).1);
    }
}
