//! Frames that a sender left to the interface to cut.
#![no_main]

use laxity_forward::segment::{Offload, Segments};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((header, frame)) = bytes.split_first_chunk::<10>() else { return };
    let Ok(segments) = Segments::new(frame, &Offload::from_header(header)) else { return };
    assert!(segments.longest() <= frame.len());
    let mut room = vec![0; segments.longest()];
    assert!(segments.count() <= frame.len().max(1));
    for number in 0..segments.count() {
        let part = segments.write(number, &mut room).expect("there is room for the longest");
        assert!(!part.is_empty());
    }
});
