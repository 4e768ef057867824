//! Notes on scripts, and their lines.

use laxity::aqm::Limit;
use laxity_plan::model::QueueSpec;

use super::{HEAD, NoteKind, class, import, notes, plan, refusal};

#[test]
fn what_hangs_at_no_discipline_is_one_note() {
    let lines: String = (1..300)
        .map(|at| {
            format!(
                "tc class add dev eth0 parent 17: classid 17:{at:x} htb rate 1mbit\n\
                 tc qdisc add dev eth0 parent 17:{at:x} sfq\n\
                 tc filter add dev eth0 parent 17: protocol ip prio 1 u32 match ip dport {at} 0xffff flowid 17:{at:x}\n"
            )
        })
        .collect();
    let told = notes(&import(&format!("{HEAD}{lines}")), NoteKind::NotMapped);
    let of_17: Vec<&String> = told.iter().filter(|note| note.contains("17:")).collect();
    assert_eq!(
        of_17,
        [
            "5: 299 classes, 299 qdiscs, 299 filters of 17:, which is neither the root nor a discipline at a class that is \
          read"
        ]
    );
}

#[test]
fn a_function_that_calls_tc_is_told_by_its_calls() {
    let script = format!(
        "add() {{\n    tc class add dev eth0 parent $1 classid $2 hfsc ls m2 $3\n}}\n{HEAD}\
         add 1:1 1:30 1mbit\nadd 1:1 1:40 1mbit\n"
    );
    let told = notes(&import(&script), NoteKind::NotMapped);
    for line in ["8: 1:30 has no filter", "9: 1:40 has no filter"] {
        assert!(told.iter().any(|note| note.starts_with(line)), "{told:?}");
    }
    let (line, message, _) = refusal(&script.replace("1:40 1mbit", "1:40 1parsec"));
    assert_eq!((line, message.contains("in a function that line 9 calls")), (2, true), "{message}");
    let (line, message, _) = refusal(&script.replace("add 1:1 1:40", "add 1:9 1:40"));
    assert!(
        line == 2 && message.contains("no class 1:9") && message.contains("line 9 calls"),
        "{line} {message}"
    );
}

#[test]
fn a_variable_that_ends_a_script_is_named() {
    for begin in [
        "if [ -z \"$DEV\" ]; then echo usage; exit 1; fi\n",
        "[[ -n $DEV ]] || exit 1\n",
        "test \"$DEV\" != '' || { echo >&2 no; exit; }\n",
        "set -e\n[ -n \"$DEV\" ]\n",
        "case $DEV in eth*) ;; *) exit 3 ;; esac\n",
    ] {
        let (line, message, help) = refusal(&format!("{begin}{HEAD}"));
        assert!(message.contains("does not set `$DEV`") && line > 0, "{begin}: {line} {message}");
        assert!(help.contains("--set DEV=VALUE"), "{help}");
    }
    let (_, message, _) = refusal(&format!("[ -n \"$A\" ]\n[ 1 = 1 ] && exit 1\n{HEAD}"));
    assert!(!message.contains("$A"), "{message}");
}

#[test]
fn pie_is_kept() {
    let line = "tc qdisc add dev eth0 parent 1:10 pie limit 200 target 20ms tupdate 30ms alpha 4 beta 8 ecn\n";
    let plan = plan(&format!("{HEAD}{line}"));
    let Some(QueueSpec::Pie(pie)) = class(&plan, "voice").queue.as_deref() else {
        panic!("{plan:?}")
    };
    assert_eq!(
        (pie.limit, pie.alpha, pie.beta, pie.ecn),
        (Limit::Packets(200), 250_000, 500_000, true)
    );
}
