//! What the kernel shows of traffic control, and what may be made of it.
#![no_main]

use laxity_tc::netlink::{Known, Object, Statistics, known, parameters, shown};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((kind, payload)) = bytes.split_first() else { return };
    let Some(object) = Object::read(36 + u16::from(kind % 3) * 4, payload, 0) else { return };
    let _ = (Statistics::of(&object), parameters(&object));
    let Some(settable) = shown(&object) else { return };
    // What was brought into one form stays in it, but for times that the kernel keeps in ticks and shows a microsecond
    // short.
    let is_ticked = ["codel", "fq_codel"].contains(&object.kind().as_str());
    if !is_ticked && !matches!(known(&object), None | Some(Known::Filter(_))) {
        assert_eq!(shown(&settable).as_ref(), Some(&settable));
    }
});
