//! The last packet of a path, whose bytes follow one another at the last link.

use super::*;

/// How much shorter the bound over two links is, in ns, if packets have 1000 bytes than if they may
/// have 40. Seven eighths of each link are of other classes.
fn gain(kind: &str, first: &str, last: &str) -> u64 {
    let bound = |shortest: &str| {
        let own = format!("packet = {{ at-least = \"{shortest}\", at-most = \"1000b\" }}");
        let text = format!(
            "{LINK}scheduler.kind = \"{kind}\"
            [class.a]
            level = 1
            arrival = {{ bucket = \"1000b\", rate = \"80kbit\", {own} }}
            [class.b]
            level = 0
            arrival = {{ bucket = \"1000b\", rate = \"7mbit\" }}
            [class.c]
            level = 0
            arrival = {{ bucket = \"1000b\", rate = \"7mbit\" }}
            [network.one]
            between = [\"a\", \"b\"]
            {first}
            [network.two]
            between = [\"b\", \"c\"]
            {last}
            {}{}{}",
            source("a", &["a", "b", "c"]),
            source("b", &["a", "b"]),
            source("c", &["b", "c"])
        );
        let paths = paths(&text);
        paths.routes[0].by(Method::Separate).expect("it applies").0
    };
    bound("40b") - bound("1000b")
}

#[test]
fn its_bytes_count_at_the_rate_of_the_last_link() {
    // 960 bytes at 8 Mbit/s instead of the one that is left.
    let all = 7_680_000 - 960_000;
    for kind in ["fifo", "priority"] {
        assert_eq!(gain(kind, "", ""), all, "{kind}");
    }
    // Of such a link it is not known when the last bytes follow.
    for link in ["latency = \"1ms\"", "peak = \"16mbit\""] {
        assert_eq!((gain("fifo", link, ""), gain("fifo", "", link)), (all, 0), "{link}");
    }
}
