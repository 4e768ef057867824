use super::*;
use crate::tests::matches::{expressions, headers};
use laxity_plan::matching::{Headers, Match};
use std::path::Path;

use proptest::prelude::*;

fn takes(packets: &Packets, headers: &Headers) -> bool {
    let matching: Match = packets.expression().to_string().parse().unwrap();
    matching.matches(headers)
}

proptest! {
    /// The first rule that a packet is among sends it to the first class whose match holds.
    #[test]
    fn rules_are_the_matches(
        exprs in prop::collection::vec(expressions(), 1..4),
        packets in prop::collection::vec(headers(), 20),
    ) {
        let class = |(at, expr): (usize, &Expr)| format!("[class.c{at}]\nmatch = \"{expr}\"\n");
        let classes: String = exprs.iter().enumerate().map(class).collect();
        let text = format!(
            "version = 1\nlink.rate = \"1mbit\"\nscheduler.kind = \"drr\"\n{classes}[class.rest]\nmatch = \"any\"\n"
        );
        let plan = Plan::parse(&text, "plan.toml", Path::new("")).unwrap();
        let numbers = vec![Handle::new(2, 1); plan.classes.len()];
        let Ok(rules) = rules(&plan, &numbers, &mut Vec::new()) else { return Ok(()) };
        for headers in packets {
            let rule = rules.iter().find(|rule| takes(&rule.packets, &headers));
            let expected = laxity_plan::classify::Classifier::new(&plan).class(&headers);
            prop_assert_eq!(rule.map(|rule| rule.class), expected, "{}\n{:?}", text, headers);
        }
    }
}
