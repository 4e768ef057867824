//! fq_codel at the root: one class of all traffic, by flows.

use laxity::aqm::Limit;
use laxity::sched::fq_codel::FqCodelSettings;
use laxity::units::{Nanos, Rate};
use laxity_plan::Plan;
use laxity_plan::model::SchedulerSpec;

use super::{HEAD, NoteKind, import, import_at, notes, read, refusal};
use crate::Import;

const MBIT: u64 = 1_000_000;

fn root(options: &str) -> Import {
    import_at(50 * MBIT, &format!("tc qdisc add dev eth0 root handle 1: fq_codel {options}\n"))
}

fn settings(plan: &Plan) -> FqCodelSettings {
    match plan.scheduler {
        SchedulerSpec::FqCodel(settings) => settings,
        other => panic!("{other:?}"),
    }
}

#[test]
fn defaults_are_those_of_the_rfc() {
    let import = root("");
    let plan = read(&import);
    assert_eq!(plan.scheduler, SchedulerSpec::FQ_CODEL);
    assert_eq!(plan.link.rate, Rate(50 * MBIT));
    let [class] = &plan.classes[..] else { panic!("{:?}", plan.classes) };
    assert_eq!((class.name.as_str(), class.level, &class.queue), ("all", None, &None));
    assert_eq!(class.matching.as_ref().unwrap().to_string(), "any");
    assert!(import.notes.is_empty(), "{:?}", import.notes);
}

#[test]
fn options() {
    let import = root(
        "limit 1000 flows 2048 quantum 300 target 20ms interval 300ms noecn ce_threshold 1ms \
         memory_limit 4Mb drop_batch 32",
    );
    let FqCodelSettings { queues, quantum, codel } = settings(&read(&import));
    assert_eq!((queues, quantum, codel.limit), (2048, 300, Limit::Packets(1000)));
    let ms = |ms: u64| Nanos(ms * 1_000_000);
    assert_eq!((codel.target, codel.interval, codel.ecn), (ms(20), ms(300), false));
    assert_eq!(
        notes(&import, NoteKind::NotMapped),
        [
            "1: fq_codel: ce_threshold 1ms: no packet is marked by it",
            "1: fq_codel: memory_limit: a plan limits by packets alone",
            "1: fq_codel: drop_batch: at its limit a plan drops packet by packet",
        ]
    );
    // What is written and Linux has anyway is nothing to be told.
    assert!(root("memory_limit 32Mb drop_batch 64 ecn").notes.is_empty());
    assert_eq!(settings(&read(&root("quantum 100"))).quantum, 256);
}

#[test]
fn a_script_that_changes_it() {
    let script = r#"#!/bin/bash
IF=${IF:-wan0}
sysctl -w net.core.default_qdisc=fq_codel
tc qdisc replace dev "$IF" root fq_codel limit 600 target 15ms   # slow uplink
tc qdisc change dev "$IF" root fq_codel interval 200ms noecn
tc filter add dev "$IF" protocol ip prio 1 u32 match ip dport 22 0xffff flowid :7
"#;
    let import = import_at(2 * MBIT, script);
    let FqCodelSettings { codel, .. } = settings(&read(&import));
    let ms = |ms: u64| Nanos(ms * 1_000_000);
    assert_eq!((codel.target, codel.interval, codel.ecn), (ms(15), ms(200), false));
    assert_eq!(codel.limit, Limit::Packets(600));
    assert_eq!(
        notes(&import, NoteKind::NotMapped),
        ["6: filter: it chooses a queue of fq_codel, into which a plan hashes flows"]
    );
}

#[test]
fn what_is_shown() {
    // iproute2, tc/q_fq_codel.c, fq_codel_print_opt.
    let text = "qdisc fq_codel 8001: dev wan0 root refcnt 2 limit 600p flows 512 quantum 300 \
                target 15ms ce_threshold 1ms interval 200ms memory_limit 4Mb drop_batch 64 \n";
    let json = r#"[{"kind":"fq_codel","handle":"8001:","dev":"wan0","root":true,"refcnt":2,"options":{"limit":600,"flows":512,"quantum":300,"target":14999,"ce_threshold":1000,"interval":199999,"memory_limit":4194304,"drop_batch":64}}]"#;
    let script = "tc qdisc add dev wan0 root fq_codel limit 600 flows 512 quantum 300 target 15ms \
                  interval 200ms ce_threshold 1ms memory_limit 4Mb noecn\n";
    let expected = import_at(MBIT, script);
    assert_eq!(settings(&read(&expected)).queues, 512);
    for shown in [text, json] {
        let shown = import_at(MBIT, shown);
        assert_eq!(settings(&read(&shown)), settings(&read(&expected)));
        assert_eq!(notes(&shown, NoteKind::NotMapped), notes(&expected, NoteKind::NotMapped));
    }
    // As Linux gives it to an interface.
    let usual = "qdisc noqueue 0: dev lo root refcnt 2 \n\
                 qdisc fq_codel 0: dev eth0 root refcnt 2 limit 10240p flows 1024 quantum 1514 \
                 target 5ms interval 100ms memory_limit 32Mb ecn drop_batch 64 \n";
    let plan = read(&import_at(MBIT, usual));
    assert_eq!(plan.scheduler, SchedulerSpec::FQ_CODEL);
    // Beside another set-up it is not what is meant.
    let both = format!("{HEAD}tc qdisc add dev wlan0 root fq_codel\n");
    assert_eq!(read(&import(&both)).scheduler, SchedulerSpec::Hfsc);
}

#[test]
fn refused() {
    let refused = |options: &str| {
        let (_, message, help) =
            refusal(&format!("tc qdisc add dev eth0 root handle 1: fq_codel {options}\n"));
        format!("{message}; {help}")
    };
    let told = refused("");
    assert!(told.starts_with("the link's rate is not known: fq_codel has none; say it"), "{told}");
    assert!(refused("limit 0").contains("`0` is not a number of packets; a plan takes one above"));
    assert!(refused("flows 70000").contains("fq_codel has 1 to 65536"));
    assert!(refused("target 0").contains("`0` is not a time to wait"));
    assert!(refused("quantum").contains("`quantum` has no value"));
    assert!(refused("perturb 10").contains("`perturb` does not belong to qdisc fq_codel"));
    let class = "tc class add dev eth0 parent 1: classid 1:5 fq_codel";
    let (line, message, _) =
        refusal(&format!("tc qdisc add dev eth0 root handle 1: fq_codel\n{class}\n"));
    assert_eq!((line, message.as_str()), (2, "fq_codel has classes of its own making only"));
}
