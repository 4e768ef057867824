//! The streams of DWCS and what their windows need, as columns and details.

use laxity_answers::link::Windows;

use super::column::Column;
use crate::quantity;

/// The streams of classes.
pub(super) fn columns<'a>() -> Vec<Column<'a>> {
    vec![
        Column::text("streams", |(class, _)| {
            Some(quantity::count(class.streams.as_ref()?.count.into()))
        }),
        Column::time("gap", |(class, _)| Some(class.streams.as_ref()?.gap_ns? as f64)),
        Column::text("may lose", |(class, _)| Some(class.streams.as_ref()?.loss.clone())),
    ]
}

/// What the windows need, each result a name and a value.
pub(super) fn details(windows: &Windows) -> Vec<(String, String)> {
    let needed = (windows.services_needed * 10.0).ceil() / 10.0;
    let mut details = vec![
        (
            "Streams cannot do without".to_string(),
            quantity::percent(windows.utilization) + " of the link",
        ),
        ("Services needed in a gap".to_string(), format!("{needed}")),
    ];
    details.extend(windows.services.map(|services| {
        ("Services sure to begin in a gap".to_string(), quantity::count(services))
    }));
    details
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use laxity_answers::link::Admission;
    use laxity_plan::Plan;

    use crate::words::statement;

    /// On a link where a packet of 1000 bytes takes 1 ms.
    fn plan(options: &str, classes: &str) -> Plan {
        let text = format!(
            "version = 1\nlink = {{ rate = '8mbit', max-packet = '1000b' }}\n\
             [scheduler]\nkind = 'dwcs'\n{options}\n{classes}"
        );
        let plan = Plan::parse(&text, "test.toml", Path::new("."));
        plan.unwrap_or_else(|error| panic!("{error:?}"))
    }

    fn answer(options: &str, classes: &str) -> Admission {
        let plan = plan(options, classes);
        Admission::test(&plan).expect("DWCS has a test")
    }

    const DEADLINE_FIRST: &str = "precedence = 'deadline-first'";

    fn streams(name: &str, count: u32, gap: u32, loss: &str) -> String {
        format!("[class.{name}]\ncount = {count}\ngap = '{gap}ms'\nloss = '{loss}'\n")
    }

    fn two(count: u32) -> String {
        streams("strict", 10, 40, "1/20") + &streams("loose", count, 40, "1/2")
    }

    #[test]
    fn what_fits_is_admitted() {
        // 9.5 services and 30.
        let admission = answer(DEADLINE_FIRST, &two(60));
        assert_eq!(admission.admitted(), Some(true));
        let said = statement(&admission.reasons);
        assert!(
            said.contains("need 39.5 services on average") && said.contains("at least 40"),
            "{said}"
        );
        assert!(said.contains("twice its tolerance"), "{said}");
        let all = answer(DEADLINE_FIRST, &streams("all", 40, 40, "0/9"));
        assert_eq!(all.admitted(), Some(true));
        assert!(!statement(&all.reasons).contains("twice"));
    }

    #[test]
    fn what_does_not_fit_is_told_what_to_shed() {
        let admission = answer(DEADLINE_FIRST, &two(70));
        assert_eq!(admission.admitted(), Some(false));
        let said = statement(&admission.reasons);
        assert!(said.contains("No scheduler keeps all windows"), "{said}");
        // 44.5 of 40: five of 0.95.
        assert!(said.contains("without 5 of the 10 streams of strict."), "{said}");
        // It does not matter what comes first.
        assert_eq!(answer("", &two(70)).admitted(), Some(false));
    }

    #[test]
    fn long_packets_of_others_cost_services() {
        let short = "arrival = { bucket = '3kB', rate = '1mbit', packet = '500b' }\n";
        let classes = streams("short", 80, 40, "0/9") + short;
        assert_eq!(answer(DEADLINE_FIRST, &classes).admitted(), Some(true));
        let admission = answer(DEADLINE_FIRST, &(classes + "[class.rest]"));
        assert_eq!(admission.admitted(), Some(false));
        let said = statement(&admission.reasons);
        assert!(said.contains("counting every packet as long as the longest"), "{said}");
        assert!(said.contains("without 1 of the 80 streams of short."), "{said}");
    }

    #[test]
    fn what_has_no_proof_is_neither_admitted_nor_refused() {
        let not_proved = |options: &str, classes: &str, says: &str| {
            let admission = answer(options, classes);
            assert_eq!(admission.admitted(), None);
            let said = statement(&admission.reasons);
            assert!(said.contains("Not proved") && said.contains(says), "{said}");
        };
        not_proved("", &two(6), "deadline-first has a proof");
        not_proved("precedence = 'deadline-first'\ncheck-every = 3", &two(6), "every 3 services");
        let unequal = two(6) + &streams("other", 1, 50, "1/2");
        not_proved(DEADLINE_FIRST, &unequal, "(class other)");
        not_proved(DEADLINE_FIRST, &(two(6) + "late = 'send'"), "(class loose)");
    }

    #[test]
    fn a_deadline_is_no_promise_under_dwcs() {
        let due = "deadline = '40ms'\narrival = { bucket = '3kB', rate = '1mbit' }\nlate = 'drop'";
        let admission = answer(DEADLINE_FIRST, &(two(6) + "[class.due]\n" + due));
        assert_eq!(admission.admitted(), None);
        assert!(statement(&admission.reasons).contains("the deadline of due is no promise"));
    }

    #[test]
    fn packets_dropped_in_time_are_not_the_proofs() {
        let policed = "arrival = { bucket = '9kB', rate = '1mbit' }\npolice = 'drop'";
        for limit in ["queue = { kind = 'droptail', limit = 3 }", policed] {
            let classes = two(6) + limit;
            let admission = answer(DEADLINE_FIRST, &classes);
            assert_eq!(admission.admitted(), None);
            let said = statement(&admission.reasons);
            assert!(said.contains("What loose drops before it is late"), "{said}");
            let plan = plan(DEADLINE_FIRST, &classes);
            assert!(!plan.keeps_windows());
        }
        let plan = plan(DEADLINE_FIRST, &two(6));
        assert!(plan.keeps_windows());
    }
}
