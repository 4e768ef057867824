use super::*;
use crate::setup::{Class, ClassKind, Filter, FilterKind, Protocol, Qdisc};

fn tree(names: &[&str]) -> Setup {
    let qdisc = |handle, parent, kind| Qdisc { handle, parent, kind, stab: None };
    let top = Handle::new(2, 0);
    let mut tree = Setup {
        qdiscs: vec![qdisc(top, Handle::ROOT, QdiscKind::Hfsc { default: 0x10 })],
        ..Setup::default()
    };
    for (name, minor) in names.iter().zip(0x10..) {
        let (handle, name) = (Handle::new(2, minor), Some(name.to_string()));
        let kind = ClassKind::Drr { quantum: minor.into() };
        tree.classes.push(Class { handle, parent: top, kind, name });
        tree.qdiscs.push(qdisc(Handle::new(minor, 0), handle, QdiscKind::Pfifo { limit: Some(1) }));
        tree.filters.push(Filter {
            parent: top,
            priority: minor,
            number: 1,
            protocol: Protocol::All,
            kind: FilterKind::Matchall,
            class: Some(handle),
            police: Vec::new(),
            is_gone: false,
        });
    }
    tree
}

#[test]
fn who_stays_keeps_its_number() {
    let had = tree(&["a", "b", "c"]).names();
    let mut now = tree(&["new", "c", "b"]);
    now.keep_numbers(&had);
    let names = now.names();
    assert_eq!([names["b"], names["c"]], [had["b"], had["c"]]);
    assert_eq!(names["new"], Handle::new(2, 0x10));
    for (class, (queue, filter)) in now.classes.iter().zip(now.qdiscs[1..].iter().zip(&now.filters))
    {
        assert_eq!((queue.parent, queue.handle.major()), (class.handle, class.handle.minor()));
        assert_eq!(filter.class, Some(class.handle));
    }
    let again = now.clone();
    now.keep_numbers(&again.names());
    assert_eq!(now, again);
}
