//! Tests of `basic`, and which packets they take.

use proptest::prelude::*;

use super::filters::{matched, one_filter, unmapped};

#[test]
fn tests_of_basic() {
    let basic = |tests: &str| matched("ip", &format!("basic match '{tests}' classid 1:10"));
    assert_eq!(basic("cmp(u8 at 9 layer network eq 17)"), "ip and udp");
    assert_eq!(
        basic("cmp(u8 at 9 eq 6) and cmp(u16 at 2 layer transport eq 443)"),
        "ip and tcp dport 443"
    );
    assert_eq!(
        basic("cmp(u16 at 2 layer 2 eq 53) or cmp(u16 at 2 layer 2 eq 80)"),
        "ip and dport {53, 80}"
    );
    assert_eq!(basic("u32(u32 0x0a000000 0xff000000 at 12)"), "ip saddr 10.0.0.0/8");
    assert_eq!(basic("cmp(u8 at 1 mask 0xfc eq 0xb8)"), "ip and dscp ef");
    assert_eq!(basic("cmp(u8 at 23 layer link eq 17)"), "ip and udp");
    // What stands behind a link is one.
    assert_eq!(
        basic("cmp(u8 at 9 eq 17) and cmp(u16 at 22 eq 53) or cmp(u16 at 22 eq 123)"),
        "ip and udp dport {53, 123}"
    );
    let six = "basic match 'cmp(u16 at 2 layer transport eq 53)' classid 1:10";
    assert_eq!(matched("ipv6", six), "ip6 and dport 53");
    assert_eq!(matched("ip", "basic classid 1:10"), "ip");
}

#[test]
fn what_basic_asks_for_besides_is_told() {
    let unread = |test: &str| unmapped("ip", &format!("basic match '{test}' classid 1:10"));
    let said = unread("meta(priority eq 1)");
    assert_eq!(said, "5: filter for 1:10: `meta(priority eq 1)` has no counterpart");
    for test in [
        "cmp(u16 at 2 layer transport gt 80)",
        "cmp(u16 at 2 layer transport mask 0xff eq 0x100)",
        "cmp(u16 at 0 trans eq 80)",
        "not cmp(u8 at 9 eq 17)",
        "nbyte(\"GET\" at 0)",
        "u32(u16 80 0xffff at nexthdr+2)",
        "cmp(u8 at 8 eq 64)",
        "cmp(u8 at 9 eq 17) and",
        "(cmp(u8 at 9 eq 17)",
    ] {
        assert!(unread(test).starts_with("5: filter for 1:10: "), "{test}");
    }
    assert!(unmapped("all", "basic match 'cmp(u8 at 9 eq 17)' classid 1:10").contains("cmp("));
}

proptest! {
    #[test]
    fn any_tests_of_basic_are_read_or_told(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "cmp", "u32", "meta", "(", ")", "u8", "u16", "at", "9", "99999999999999999999", "9223372036854775807",
                "65535", "layer", "link", "transport", "mask", "0xff", "eq", "gt", "17", "and", "or", "not", "nf_mark",
                "cmp(u8 at 9 eq 17)", "meta(nf_mark eq 6)", "or",
            ]),
            0..40,
        ),
        protocol in prop::sample::select(vec!["ip", "ipv6", "all", "802.1q"]),
    ) {
        one_filter(protocol, &format!("basic match '{}' classid 1:10", words.join(" ")));
    }
}

#[test]
fn tests_of_basic_have_limits() {
    let many = |count: usize, join: &str| vec!["cmp(u8 at 9 eq 17)"; count].join(join);
    let unread = |test: &str| unmapped("ip", &format!("basic match '{test}' classid 1:10"));
    assert!(unread(&many(65, " or ")).contains("more than 64 alternatives"));
    assert!(unread(&many(1_000, " and ")).contains("too deep or too many"));
    let deep = "(".repeat(1_000) + &many(1, "") + &")".repeat(1_000);
    assert!(unread(&deep).contains("too deep or too many"));
}
