//! What to change in the plan of a live link.

use laxity::police::TokenBucket;
use laxity_answers::advice::Advice;

use crate::quantity::{rate, size, time};

/// One sentence, which names what it follows from.
pub fn advice(advice: &Advice) -> String {
    match advice {
        Advice::SlowerLink { held, bound } => format!(
            "Write a lower `rate` for the link: frames waited up to {} in the interface's own queue, longer than the \
             shortest bound, {}, so it carries less than the plan says.",
            time(held.0 as f64),
            time(bound.0 as f64)
        ),
        Advice::Priority { late, bound } => format!(
            "Give the forwarder a real-time priority (`--priority`, CAP_SYS_NICE): without one it woke up to {} late, and \
             the shortest bound is {}.",
            time(late.0 as f64),
            time(bound.0 as f64)
        ),
        Advice::LongerPackets { longest, most } => format!(
            "Raise the link's `max-packet` to {} bytes: packets as long as that arrived, and those above {} bytes are \
             dropped.",
            longest.0, most.0
        ),
        Advice::Contract { class, has, needs, most } => contract(class, has, needs, *most),
        Advice::Shape { class } => format!(
            "{class} kept the rate and the bucket of its `arrival` and broke the rest: look at `peak` and `packet`."
        ),
        Advice::Room { class, used, more_bps } => format!(
            "Nothing has to be changed: {class} came nearest to its `arrival`, with {used} % of its bucket, and could have \
             {} more with everything proved.",
            rate(*more_bps as f64)
        ),
    }
}

fn contract(class: &str, has: &TokenBucket, needs: &TokenBucket, most: u64) -> String {
    let (value, more, free, fits) = if needs.rate > has.rate {
        let kilobits = needs.rate.0.div_ceil(1_000);
        let bucket = if needs.bucket > has.bucket {
            format!(" and `bucket = \"{}b\"`", needs.bucket.0)
        } else {
            String::new()
        };
        (
            format!("`rate = \"{kilobits}kbit\"`{bucket}"),
            rate((kilobits * 1_000 - has.rate.0) as f64),
            rate((most - has.rate.0) as f64),
            kilobits * 1_000 <= most,
        )
    } else {
        (
            format!("`bucket = \"{}b\"`", needs.bucket.0),
            size((needs.bucket.0 - has.bucket.0) as f64),
            size((most - has.bucket.0) as f64),
            needs.bucket.0 <= most,
        )
    };
    if fits {
        format!(
            "{class} needs {more} more; {free} are free: with {value} in its `arrival` all that it sent keeps it, and \
             everything is proved."
        )
    } else {
        format!(
            "{class} sent more than its `arrival` and would need {more} more, {value}, but only {free} are free with \
             everything proved: it has to send less, or another class or the link has to change."
        )
    }
}

#[cfg(test)]
mod tests {
    use laxity::units::{Bytes, Nanos, Rate};

    use super::*;

    #[test]
    fn every_kind_is_one_sentence_with_its_numbers() {
        let line = |bucket, rate| TokenBucket { bucket: Bytes(bucket), rate: Rate(rate) };
        let contract = |needs, most| {
            let (class, has) = ("call".to_string(), line(600, 256_000));
            Advice::Contract { class, has, needs, most }
        };
        for (kind, words) in [
            (
                Advice::SlowerLink { held: Nanos(30_000_000), bound: Nanos(5_000_000) },
                &["`rate`", "30 ms", "5 ms"][..],
            ),
            (
                Advice::Priority { late: Nanos(3_000_000), bound: Nanos(5_000_000) },
                &["--priority", "3 ms", "5 ms"],
            ),
            (
                Advice::LongerPackets { longest: Bytes(9_014), most: Bytes(1_514) },
                &["`max-packet`", "9014", "1514"],
            ),
            (
                contract(line(600, 319_900), 2_256_000),
                &[
                    "call needs 64 kbit/s more; 2 Mbit/s are free",
                    "rate = \"320kbit\"",
                    "is proved",
                ],
            ),
            (
                contract(line(1_200, 256_000), 4_600),
                &["call needs 600 B more; 4 kB are free", "bucket = \"1200b\"", "is proved"],
            ),
            (
                contract(line(600, 512_000), 300_000),
                &["would need 256 kbit/s more", "only 44 kbit/s are free", "send less"],
            ),
            (
                contract(line(700, 512_000), 2_256_000),
                &[
                    "256 kbit/s more; 2 Mbit/s are free",
                    "rate = \"512kbit\"` and `bucket = \"700b\"`",
                ],
            ),
            (Advice::Shape { class: "call".into() }, &["call kept the rate", "`peak`"]),
            (
                Advice::Room { class: "call".into(), used: 50, more_bps: 2_000_000 },
                &["Nothing", "50 %", "2 Mbit/s more"],
            ),
        ] {
            let said = advice(&kind).replace('\u{a0}', " ");
            assert!(said.ends_with('.') && !said[..said.len() - 1].contains(". "), "{said}");
            for word in words {
                assert!(said.contains(word), "{word}: {said}");
            }
        }
    }
}
