//! Ten thousand classes.

use std::time::{Duration, Instant};

use crate::kills::of;
use crate::lab::{cable, plan, run, says};
use crate::uml::{inside, whole};

const LIMIT: Duration = Duration::from_secs(300);

#[test]
fn many_classes_are_applied_and_shown() {
    inside("scale::many_classes_are_applied_and_shown", LIMIT, || {
        cable();
        for kind in ["hfsc", "drr"] {
            applied_and_shown(kind, whole(1_000, 10_000));
        }
    });
}

fn applied_and_shown(kind: &str, classes: usize) {
    let path = plan("many.toml", &of(classes, kind));
    let timed = |what: &str, arguments: &[&str]| {
        let since = Instant::now();
        let said = says(0, arguments);
        println!("{kind}, {what} of {classes} classes: {:.2} s", since.elapsed().as_secs_f64());
        said
    };
    timed("dry run", &["apply", &path, "--dev", "left", "--dry-run"]);
    timed("apply", &["apply", &path, "--dev", "left"]);
    timed("nothing, with the program's start,", &["--version"]);
    let status = timed("status", &["status", "--dev", "left", "--json"]);
    assert!(status.contains(&format!("\"c{}\"", classes - 1)));
    let again = timed("apply again", &["apply", &path, "--dev", "left"]);
    assert!(again.contains("Nothing to change"), "{again}");

    // What of it is the kernel's, without reading and proving the plan.
    let mut session = laxity_kernel::apply::Session::begin("left", false).unwrap();
    let all = session.shown().setup.clone();
    let none = laxity_kernel::setup::Setup::default();
    for (what, wanted) in [("taken away", &none), ("applied", &all)] {
        let since = Instant::now();
        let change = session.change(wanted);
        session.take(&change, wanted).unwrap();
        println!(
            "{kind}, {what}, {} steps, and read back: {:.2} s",
            change.egress.steps.len(),
            since.elapsed().as_secs_f64()
        );
    }
    let since = Instant::now();
    let status = laxity_kernel::status::KernelStatus::new("left", None).unwrap();
    println!("{kind}, status of {}: {:.2} s", status.classes.len(), since.elapsed().as_secs_f64());
    let change = session.change(&none);
    session.take(&change, &none).unwrap();

    let commands: Vec<String> = all
        .egress
        .in_order()
        .into_iter()
        .map(|object| laxity_tc::netlink::command(object, "left"))
        .collect();
    let batch = plan("many.batch", &commands.join("\n"));
    let since = Instant::now();
    run("tc", &format!("-batch {batch}"));
    println!("{kind}, the same by tc -batch: {:.2} s", since.elapsed().as_secs_f64());
    run("tc", "qdisc del dev left root");
}
