//! `include/laxity.h` is what cbindgen makes of the sources.

use std::fs;
use std::path::Path;

use cbindgen::{Builder, Config, DocumentationStyle, ExportConfig, Language, Style};

/// What the header has, in its order.
const SOURCES: [&str; 23] = [
    "status",
    "error",
    "pointer",
    "plan",
    "proof",
    "packet",
    "reason",
    "scheduler",
    "classify",
    "police",
    "pacer",
    "engine/settings",
    "engine/event",
    "engine",
    "producer",
    "deadline_queue/datagram",
    "deadline_queue",
    "udp/settings",
    "udp/datagram",
    "udp",
    "udp/producer",
    "book/request",
    "book",
];

/// Enums whose values cross as numbers, so that any number may come.
const ENUMS: [&str; 10] = [
    "lx_ecn",
    "lx_drop_reason",
    "lx_criterion",
    "lx_entry",
    "lx_event_kind",
    "lx_send_mode",
    "lx_unsent_reason",
    "lx_group_order",
    "lx_transmit_time",
    "lx_loss",
];

#[test]
fn the_header_is_that_of_the_sources() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = Config {
        language: Language::C,
        cpp_compat: true,
        header: Some(include_str!("header/head.txt").trim_end().to_string()),
        include_guard: Some("LAXITY_H".into()),
        no_includes: true,
        sys_includes: vec!["stddef.h".into(), "stdint.h".into()],
        after_includes: Some(include_str!("header/macros.txt").trim_end().to_string()),
        documentation_style: DocumentationStyle::Doxy,
        style: Style::Type,
        line_length: 100,
        usize_is_size_t: true,
        export: ExportConfig {
            include: ENUMS.map(String::from).to_vec(),
            ..ExportConfig::default()
        },
        ..Config::default()
    };
    let mut builder = Builder::new().with_config(config);
    for name in SOURCES {
        builder = builder.with_src(folder.join("src").join(name).with_extension("rs"));
    }
    let mut made = Vec::new();
    builder.generate().expect("the sources are read").write(&mut made);
    let made = String::from_utf8(made).expect("text");
    let path = folder.join("include/laxity.h");
    if std::env::var_os("LAXITY_RECORD").is_some() {
        fs::write(&path, &made).expect("it can be written");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let differs = made.lines().zip(kept.lines().chain([""])).position(|(a, b)| a != b);
    assert!(
        made == kept,
        "include/laxity.h differs from line {:?} on: put LAXITY_RECORD=1 before this test",
        differs.map(|line| line + 1)
    );
}
