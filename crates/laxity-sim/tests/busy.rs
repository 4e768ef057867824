//! Threads on a machine that has other work.
#![cfg(target_os = "linux")]

use std::fs::read_dir;
use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use laxity_plan::Plan;
use laxity_sim::network::NetworkRun;
use laxity_sim::to_the_end;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use nix::unistd::Pid;

/// The processor time of all threads of this process while it does something.
fn processor_time(does: impl FnOnce()) -> Duration {
    let used = || {
        let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
        let micros = |time: TimeVal| (time.tv_sec() * 1_000_000 + time.tv_usec()) as u64;
        Duration::from_micros(micros(usage.user_time()) + micros(usage.system_time()))
    };
    let before = used();
    does();
    used() - before
}

/// Lets all threads of this process run on these cores only.
fn confine(cores: &CpuSet) {
    for thread in read_dir("/proc/self/task").unwrap() {
        let number = thread.unwrap().file_name().to_str().unwrap().parse().unwrap();
        // It may have ended.
        let _ = sched_setaffinity(Pid::from_raw(number), cores);
    }
}

/// Threads that lose their cores in the middle of a run do not wait for one another at the expense
/// of the work: all together take little more processor time than one thread. On a core that
/// nothing else uses that is what the clock says, too.
#[test]
fn threads_that_share_a_core_cost_little() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/src/peers/fast.toml");
    let plan = Plan::read(&path).unwrap();
    let on = plan.network_plan().unwrap().analysis();
    let run = NetworkRun::new(&on, plan.run.duration, 1);
    let cores = sched_getaffinity(Pid::from_raw(0)).unwrap();
    let mut allowed = (0..CpuSet::count()).filter(|core| cores.is_set(*core) == Ok(true));
    let mut one = CpuSet::new();
    one.set(allowed.next().unwrap()).unwrap();
    if allowed.next().is_none() {
        eprintln!("skipped: two threads need two cores to begin with, and here is one");
        return;
    }
    // What others do to the caches is different each time.
    let least = |measure: &dyn Fn() -> Duration| (0..3).map(|_| measure()).min().unwrap();
    let alone = least(&|| processor_time(|| drop(run.simulate(&mut (), &mut to_the_end).unwrap())));
    let together = least(&|| {
        let taken = processor_time(|| {
            let progress = &mut |_| {
                confine(&one);
                ControlFlow::Continue(())
            };
            let two = NonZeroU32::new(2).unwrap();
            let (_, how) = run.simulate_in_parallel(two, &mut (), progress).unwrap();
            assert_eq!(how.parts, 2);
        });
        confine(&cores);
        taken
    });
    assert!(together < alone.mul_f64(1.5), "{together:?}, and {alone:?} alone");
}
