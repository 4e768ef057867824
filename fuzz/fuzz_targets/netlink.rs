//! What the kernel shows of traffic control, and what may be made of it.
#![no_main]

use laxity_tc::netlink::{Object, Statistics, item, parameters, shown};
use laxity_tc::setup::Item;
use laxity_tc::{Options, import_objects};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((kind, payload)) = bytes.split_first() else { return };
    let Some(object) = Object::read(36 + u16::from(kind % 3) * 4, payload, 0) else { return };
    let _ = (Statistics::new(&object), parameters(&object));
    let _ = import_objects(&[&object], "", "eth0", &Options::default());
    let Some(settable) = shown(&object) else { return };
    // What was brought into one form stays in it, but for times that the kernel keeps in ticks and
    // shows a microsecond short.
    let is_ticked = ["codel", "fq_codel"].contains(&object.kind().as_str());
    if !is_ticked && !matches!(item(&object), None | Some(Item::Filter(_))) {
        assert_eq!(shown(&settable).as_ref(), Some(&settable));
    }
});
