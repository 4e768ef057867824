//! qfq at the root: weights, and what they are shown as.

use laxity::units::Rate;
use laxity_plan::model::{SchedulerSpec, Weight};

use super::{NoteKind, import_at, notes, read, refusal};

const MBIT: u64 = 1_000_000;

/// A script, what is printed of it, and its JSON.
const FORMS: [&str; 3] = [
    "tc qdisc add dev eth0 root handle 1: qfq
tc class add dev eth0 parent 1: classid 1:1 qfq weight 30 maxpkt 1514
tc class add dev eth0 parent 1: classid 1:2 qfq weight 1 maxpkt 600
tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dport 80 0xffff flowid 1:1
",
    "qdisc qfq 1: root refcnt 2 
class qfq 1:1 root weight 30 maxpkt 1514 
class qfq 1:2 root weight 1 maxpkt 600 
",
    r#"[{"kind":"qfq","handle":"1:","root":true,"refcnt":2,"options":{}}]
[{"class":"qfq","handle":"1:1","root":true,"weight":30,"maxpkt":1514},
{"class":"qfq","handle":"1:2","root":true,"weight":1,"maxpkt":600}]
"#,
];

#[test]
fn weights_are_read_in_every_form() {
    for form in FORMS {
        let import = import_at(50 * MBIT, form);
        let plan = read(&import);
        assert_eq!((plan.scheduler, plan.link.rate), (SchedulerSpec::Qfq, Rate(50 * MBIT)));
        let mut weights: Vec<_> = plan.classes.iter().map(|class| class.weight).collect();
        weights.sort_unstable();
        assert_eq!(weights, [Weight::ONE, Weight(30_000_000)], "{form}");
        let lost = notes(&import, NoteKind::NotMapped);
        assert!(lost.iter().any(|text| text.contains("1:2: maxpkt 600")), "{lost:?}");
        assert!(!lost.iter().any(|text| text.contains("1:1: maxpkt")), "{lost:?}");
        assert!(lost.iter().any(|text| text.contains("which Linux drops")), "{lost:?}");
    }
}

#[test]
fn what_linux_refuses_is_refused() {
    let class = |words: &str| {
        let head = "tc qdisc add dev eth0 root handle 1: qfq\n";
        refusal(&format!("{head}tc class add dev eth0 parent 1: classid 1:1 qfq {words}\n")).1
    };
    assert!(class("weight 1025").contains("a weight"));
    assert!(class("weight 0").contains("a weight"));
    assert!(class("maxpkt 100").contains("a largest packet"));
    assert!(class("rate 1mbit").contains("rate"));
}
