use super::*;
use laxity_plan::Plan;
use std::path::Path;

/// The words of a hint are read in a plan.
#[test]
fn hints_are_words_of_plans() {
    for (kind, hint) in hints() {
        let quoted: Vec<&str> = hint.split('`').skip(1).step_by(2).collect();
        let scheduler = quoted.iter().find_map(|words| words.strip_prefix("[scheduler] kind = "));
        let queue = quoted.iter().find(|words| words.starts_with("queue = {"));
        let text = format!(
            "version = 1\nlink.rate = \"1mbit\"\n[scheduler]\nkind = {}\n[class.a]\n{}\n",
            scheduler.unwrap_or("\"fifo\""),
            queue.unwrap_or(&"")
        );
        let plan = Plan::parse(&text, "plan.toml", Path::new(""));
        assert!(plan.is_ok(), "{kind}: {plan:?}");
        let others = ["netem", "mq", "gred"];
        assert!(scheduler.is_some() || others.contains(&kind), "{kind}: {hint}");
    }
}
