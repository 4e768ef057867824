//! Exit codes: 0 when every promise was kept, 1 when one was not.

use crate::bad_input::PLAN;
use crate::folder::{Folder, repository};
use crate::packets::BUSY;

#[test]
fn the_example_keeps_its_promises() {
    let plan = repository("examples/home-uplink.toml");
    let folder = Folder::new();
    assert!(folder.laxity(&["check", &plan]).printed(0).contains("Admitted."));
    let told = folder.laxity(&["run", &plan, "--out", "out"]).printed(0);
    assert!(told.contains("Every promise was kept.") && told.contains("out/report.html"), "{told}");
    let told = folder.laxity(&["run", &plan, "--scheduler", "fifo"]).printed(1);
    assert!(told.contains("LATE: audio"), "{told}");
}

#[test]
fn a_plan_that_does_not_fit() {
    let plan = PLAN.replace("rate = \"10mbit\"", "rate = \"1mbit\"");
    let folder = Folder::with_plan(&plan);
    assert!(folder.laxity(&["check", "plan.toml"]).printed(1).contains("NOT ADMITTED."));
    let answer = folder.laxity(&["check", "plan.toml", "--json"]).json(1);
    assert_eq!(answer["admitted"], false);
    assert!(
        answer["binding"]["demand_bytes"].as_u64() > answer["binding"]["capacity_bytes"].as_u64()
    );
    // Its traffic is harmless, but a plan without proof is no promise kept.
    folder.laxity(&["run", "plan.toml", "--duration", "10ms"]).printed(1);
    // First come, first served proves nothing, so there is nothing to refuse.
    let answer = folder.laxity(&["check", "plan.toml", "--scheduler", "fifo", "--json"]).json(0);
    assert!(answer["admitted"].is_null());
}

#[test]
fn a_missed_deadline() {
    let folder = Folder::with_plan(BUSY);
    let kept = folder.laxity(&["run", "plan.toml"]).printed(0);
    assert!(kept.contains("Every promise was kept."), "{kept}");
    for scheduler in ["fifo", "wfq"] {
        let missed = folder.laxity(&["run", "plan.toml", "--scheduler", scheduler]).printed(1);
        assert!(missed.contains("LATE: video"), "{missed}");
    }
}

#[test]
fn a_comparison_holds_nobody_to_a_promise_that_was_not_made() {
    let folder = Folder::with_plan(BUSY);
    folder.laxity(&["compare", "plan.toml", "--schedulers", "fifo,wfq,edf"]).printed(0);
}
