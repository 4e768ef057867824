//! A plan with keys of several disciplines, where it is put under them.

use crate::folder::Folder;

const PLAN: &str = "version = 1\nlink.rate = '2mbit'\nrun.duration = '100ms'\n\
                    [scheduler]\nkind = 'priority'\n[class.a]\nlevel = 1\nweight = 3\n[class.b]\nlevel = 2\n\
                    [[source]]\nclass = 'a'\nmodel = 'poisson'\nrate = '1.5mbit'\npacket = '500b'\n\
                    [[source]]\nclass = 'b'\nmodel = 'poisson'\nrate = '1.5mbit'\npacket = '500b'\n";

const STUDY: &str = "version = 1\nplan = 'plan.toml'\n\
                     [grid]\nscheduler = ['priority', 'drr']\n'class.a.weight' = [1, 9]\n";

#[test]
fn keys_of_each_scheduler_that_is_named_are_taken() {
    let folder = Folder::with_plan(PLAN).with("study.toml", STUDY);
    for command in [
        &["compare", "plan.toml", "--schedulers", "priority,drr"][..],
        &["run", "plan.toml", "--scheduler", "drr"],
        &["check", "plan.toml", "--scheduler", "wfq"],
        &["sweep", "study.toml", "--out", "out"],
    ] {
        let ended = folder.laxity(command);
        assert!(matches!(ended.code, Some(0 | 1)), "{command:?}: {}", ended.stderr);
    }
}

#[test]
fn keys_that_mean_nothing_to_any_of_them_are_refused() {
    let folder = Folder::with_plan(PLAN);
    for command in [
        &["check", "plan.toml"][..],
        &["run", "plan.toml"],
        &["run", "plan.toml", "--scheduler", "fifo"],
        &["compare", "plan.toml", "--schedulers", "priority,fifo"],
    ] {
        let ended = folder.laxity(command);
        assert_eq!(ended.code, Some(2), "{command:?}: {}", ended.stderr);
        assert!(
            ended.stderr.contains("`weight` means nothing under `priority`"),
            "{}",
            ended.stderr
        );
        assert!(ended.stderr.contains("plan.toml:8:10"), "{}", ended.stderr);
    }
}
