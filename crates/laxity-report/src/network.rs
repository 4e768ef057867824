//! Results of networks: tables, figures and the HTML report.

mod cells;
pub mod drawing;
mod figures;
pub mod frames;
mod html;
pub mod limits;
mod profile;
pub mod proof;
mod tables;
mod time_frames;

pub use figures::{flows, goodput};
pub(crate) use html::{drawings, scheduler_section, sections, topology_drawings};
pub use profile::text as profile;
pub(crate) use tables::{compared, text as tables};

use std::collections::BTreeMap;

use laxity_sim::summary::{NetworkSummary, Summary};

use crate::fate;

/// Why packets were dropped, of each class at all outputs.
pub(crate) fn dropped(summary: &Summary, network: &NetworkSummary) -> Vec<String> {
    let classes = network.classes.iter().filter_map(|class| {
        let at_hops = summary.hops.iter().flat_map(|hop| &hop.classes);
        let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
        for (reason, packets) in
            at_hops.filter(|at| at.name == class.name).flat_map(|at| &at.dropped)
        {
            *reasons.entry(*reason).or_default() += packets;
        }
        fate::dropped(&class.name, &reasons)
    });
    fate::sentences(classes)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use laxity::units::Nanos;
    use laxity_plan::Plan;
    use laxity_sim::network::NetworkRun;
    use laxity_sim::series::{Series, SeriesRecorder};

    use super::*;
    use crate::comparison;
    use laxity_answers::Proof;
    use laxity_answers::verdict::{HeldTo, JudgedRun, broken};

    use crate::admission::AdmissionView;
    use crate::run::{Report, html};

    /// Two connections and a constant stream over one link.
    const ONE_LINK: &str = r#"
        version = 1
        link = { rate = "10mbit", delay = "5ms", max-packet = "1000b" }
        scheduler.kind = "edf"
        class."<tcp>" = {}
        class.voice.deadline = "20ms"
        network.only.between = ["a", "b"]
        [[source]]
        class = "<tcp>"
        model = "tcp"
        count = 2
        packet = "1000b"
        transfer = "50kB"
        window = 20
        path = ["a", "b"]
        [[source]]
        class = "voice"
        model = "constant"
        rate = "64kbit"
        packet = "160b"
        path = ["a", "b"]
    "#;

    /// A flow in reserved frames over two links that lose packets now and then.
    const FRAMES: &str = r#"
        version = 1
        link = { rate = "10mbit", max-packet = "500b" }
        scheduler = { kind = "tdp", frame = "1ms", frames = 10 }
        class."<cam>" = { gap = "2ms" }
        class.rest = {}
        network.one = { between = ["a", "b"], loss = { share = 0.01 } }
        network.two = { between = ["b", "c"] }
        [[source]]
        class = "<cam>"
        model = "constant"
        rate = "2mbit"
        packet = "500b"
        path = ["a", "b", "c"]
        [[source]]
        class = "rest"
        model = "poisson"
        rate = "2mbit"
        packet = "200b"
        path = ["a", "b"]
    "#;

    fn plan(text: &str) -> Plan {
        Plan::parse(text, "plan.toml", Path::new("")).unwrap()
    }

    fn tables(summary: &Summary) -> String {
        super::tables(summary, summary.network.as_ref().unwrap())
    }

    fn run(plan: &Plan) -> (Summary, Series) {
        let mut series = SeriesRecorder::new(plan);
        let duration = Nanos(2_000_000_000);
        let on = plan.network_plan().unwrap().analysis();
        let run = NetworkRun::new(&on, Some(duration), 1);
        (run.simulate(&mut series, &mut laxity_sim::to_the_end).unwrap().summary, series.finish())
    }

    /// The page of a run, and the run with its verdict.
    fn page(plan: &Plan, summary: Summary, series: &Series) -> (String, JudgedRun) {
        let on = plan.network_plan().unwrap().analysis();
        let proof = Proof::network(&on);
        let judged = JudgedRun::new(plan, HeldTo::Plan, Some(&proof), summary);
        let report = Report {
            judged: &judged,
            admission: Some(AdmissionView::new(plan, &proof)),
            curves: Vec::new(),
            network: Some(&on),
            explanation: None,
            remarks: Vec::new(),
        };
        (html(&report, series), judged)
    }

    #[test]
    fn frames_and_losses_are_shown_where_there_are_any() {
        let (summary, _) = run(&plan(FRAMES));
        let text = tables(&summary);
        for wanted in ["padding sent", "out of step", "lost", "from the first link on"] {
            assert!(text.contains(wanted), "{wanted} in\n{text}");
        }
        assert!(summary.hops[0].lost > 10 && summary.hops[1].lost == 0);
        assert!(!tables(&run(&plan(ONE_LINK)).0).contains("padding"));
    }

    #[test]
    fn tables_show_ends_and_hops() {
        let (summary, _) = run(&plan(ONE_LINK));
        let text = tables(&summary);
        for wanted in ["end to end", "a → b", "b → a", "voice", "edf/exact", "transfers"] {
            assert!(text.contains(wanted), "{wanted} in\n{text}");
        }
        let text = compared(&[&summary, &summary]).text();
        assert_eq!(text.matches("edf/exact").count(), 2);
        assert_eq!(compared(&[]).text(), "");
    }

    #[test]
    fn completion_times_are_shown_of_flows_that_are_asked_for_by_time() {
        let on_demand = ONE_LINK.replace("window = 20", "every = { exponential = \"500ms\" }");
        let plan = plan(&on_demand);
        let (summary, series) = run(&plan);
        let text = tables(&summary);
        for wanted in ["flow completion", "waited", "unfinished"] {
            assert!(text.contains(wanted), "{wanted} in\n{text}");
        }
        assert!(page(&plan, summary, &series).0.contains("Flow completion times"));
        assert!(!tables(&run(&self::plan(ONE_LINK)).0).contains("flow completion"));
    }

    #[test]
    fn what_exceeds_its_bound_is_a_broken_promise() {
        let plan = plan(ONE_LINK);
        let (mut summary, _) = run(&plan);
        assert!(
            broken(&plan, &summary).is_empty()
                && !JudgedRun::new(&plan, HeldTo::Plan, None, summary.clone()).verdict.promised
        );
        let voice = &mut summary.network.as_mut().unwrap().classes[1];
        (voice.bound_ns, voice.bound_misses) = (Some(1_000_000), 2);
        let said = |summary: &Summary| -> Vec<String> {
            let broken = broken(&plan, summary);
            broken
                .iter()
                .map(|broken| crate::words::broken(broken).replace('\u{a0}', " "))
                .collect()
        };
        assert_eq!(said(&summary), ["voice: 2 packets exceeded the proved bound of 1 ms"]);
        assert!(tables(&summary).contains('!'));
        let voice = &mut summary.network.as_mut().unwrap().classes[1];
        voice.nonconforming = 1;
        assert!(broken(&plan, &summary).is_empty(), "it is owed nothing");
        let voice = &mut summary.network.as_mut().unwrap().classes[1];
        (voice.deadline_ns, voice.deadline_misses) = (Some(500_000), 3);
        let late = broken(&plan, &summary);
        assert_eq!(late.iter().map(|broken| broken.proved).collect::<Vec<_>>(), [false, true]);
        let hop = &mut summary.hops[0];
        let voice = hop.classes.iter_mut().find(|class| class.name == "voice").unwrap();
        (voice.bound_ns, voice.bound_misses) = (Some(1_000_000), 1);
        assert!(said(&summary)[2].starts_with("voice at a → b: 1 packet exceeded"));
    }

    #[test]
    fn reports_escape_names_and_load_nothing() {
        for (text, name) in [(ONE_LINK, "tcp"), (FRAMES, "cam")] {
            let plan = plan(text);
            let (summary, series) = run(&plan);
            let (one, judged) = page(&plan, summary, &series);
            let both = comparison::html(&[judged.clone(), judged], &[series.clone(), series]);
            for text in [one, both] {
                assert!(text.contains(&format!("&lt;{name}&gt;")));
                assert!(!text.contains(&format!("<{name}>")));
                let text = text.replace("http://www.w3.org/2000/svg", "");
                let outside =
                    ["http:", "https:", "url(", "@import", "src=", "<link", "<script", "NaN"];
                assert_eq!(outside.into_iter().find(|outside| text.contains(outside)), None);
            }
        }
        comparison::html(&[], &[]);
    }
}
