use super::*;
use proptest::prelude::*;

fn word(text: &str) -> Word {
    Word { text: text.into(), span: 0..text.len(), doubt: None }
}

#[test]
fn rates_are_in_bits_a_second() {
    for (text, bits) in [
        ("64000", 64_000),
        ("1bit", 1),
        ("1kbit", 1_000),
        ("10Mbit", 10_000_000),
        ("1.5gbit", 1_500_000_000),
        ("1tbit", 1_000_000_000_000),
        ("1bps", 8),
        ("1kbps", 8_000),
        ("1mbps", 8_000_000),
        ("1MBPS", 8_000_000),
        ("1gbps", 8_000_000_000),
        ("1tbps", 8_000_000_000_000),
        ("1kibit", 1_024),
        ("1mibit", 1 << 20),
        ("1gibit", 1 << 30),
        ("1tibit", 1 << 40),
        ("1KiBps", 8 << 10),
        ("1mibps", 8 << 20),
        ("1gibps", 8 << 30),
        ("1tibps", 8 << 40),
        ("1e3kbit", 1_000_000),
        ("25e-1mbit", 2_500_000),
        (".5kbit", 500),
        ("5.kbit", 5_000),
        ("33.3333333bit", 33),
        ("0", 0),
        ("0e99mbit", 0),
        ("1e-99mbit", 0),
    ] {
        assert_eq!(rate(&word(text)), Ok(bits), "{text}");
    }
    for text in ["", ".", "mbit", "1 mbit", "-1", "+1", "1mb", "1mbits", "0x10", "1e", "inf"] {
        assert!(rate(&word(text)).is_err(), "{text}");
    }
}

#[test]
fn sizes_are_in_bytes_and_powers_of_1024() {
    for (text, bytes) in [
        ("1500", 1_500),
        ("1500b", 1_500),
        ("1k", 1_024),
        ("1.5KB", 1_536),
        ("2m", 2 << 20),
        ("2mb", 2 << 20),
        ("1g", 1 << 30),
        ("1gb", 1 << 30),
        ("8kbit", 1_024),
        ("8mbit", 1 << 20),
        ("8gbit", 1 << 30),
    ] {
        assert_eq!(size(&word(text)), Ok(Bytes(bytes)), "{text}");
    }
    assert!(size(&word("1kib")).is_err() && size(&word("2000gb")).is_err());
}

#[test]
fn times_are_in_microseconds() {
    for (text, micros) in [
        ("5000", 5_000),
        ("5ms", 5_000),
        ("5msec", 5_000),
        ("0.5msecs", 500),
        ("20us", 20),
        ("20usec", 20),
        ("20usecs", 20),
        ("2s", 2_000_000),
        ("2sec", 2_000_000),
        ("2secs", 2_000_000),
    ] {
        assert_eq!(time(&word(text)), Ok(Nanos(micros * 1_000)), "{text}");
    }
    assert!(time(&word("5ns")).is_err() && time(&word("1min")).is_err());
}

#[test]
fn numbers_as_c_reads_them() {
    assert_eq!(number("0x10", 0), Some(16));
    assert_eq!(number("010", 0), Some(8));
    assert_eq!(number("10", 0), Some(10));
    assert_eq!(number("0", 0), Some(0));
    assert_eq!((number("ff", 16), number("0xFF", 16)), (Some(255), Some(255)));
    for text in ["", "-1", "+1", "0x", "08", "1_0", "1 "] {
        assert_eq!(number::<u64>(text, 0), None, "{text}");
    }
}

#[test]
fn names_of_classes_are_hexadecimal() {
    let name = |text: &str| handle(&word(text)).map(|handle| handle.to_string()).ok();
    for (text, expected) in [
        ("1:10", "1:10"),
        ("1:", "1:"),
        (":1F", "0:1f"),
        ("10", "0:10"),
        ("0xa:0xB", "a:b"),
        ("ffff:fff1", "ffff:fff1"),
    ] {
        assert_eq!(name(text).as_deref(), Some(expected), "{text}");
    }
    for text in ["", ":", "1:10000", "1:2:3", "x", "-1:1"] {
        assert_eq!(name(text), None, "{text}");
    }
    assert_eq!((major(&word("1:")), major(&word("1"))), (Ok(1), Ok(1)));
    assert!(major(&word(":1")).is_err());
}

#[test]
fn networks_may_be_short() {
    let read = |text: &str| network(text).map(|(address, bits)| format!("{address}/{bits}"));
    for (text, expected) in [
        ("10.7.0.1", "10.7.0.1/32"),
        ("10/8", "10.0.0.0/8"),
        ("10.7/255.255.0.0", "10.7.0.0/16"),
        ("0/0", "0.0.0.0/0"),
        ("fd00::/8", "fd00::/8"),
        ("::1", "::1/128"),
    ] {
        assert_eq!(read(text).as_deref(), Some(expected), "{text}");
    }
    for text in ["", "10.0.0.0/33", "1.2.3.4.5", "256.1", "10/255.0.255.0", "fd00::/129", "a.b"] {
        assert_eq!(read(text), None, "{text}");
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in ".{0,30}", digits in "[0-9.e+-]{0,60}[kmgtbis]{0,5}") {
        for text in [text, digits] {
            let word = word(&text);
            let _ = (rate(&word), size(&word), time(&word), handle(&word), major(&word));
            let _ = (number::<u64>(&text, 0), number::<u64>(&text, 16), network(&text));
        }
    }

    #[test]
    fn decimals_are_exact(whole in 0u64..1_000_000, thousandths in 0u64..1_000) {
        let written = word(&format!("{whole}.{thousandths:03}kbit"));
        prop_assert_eq!(rate(&written), Ok(whole * 1_000 + thousandths));
    }
}
