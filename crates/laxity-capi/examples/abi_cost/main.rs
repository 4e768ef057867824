//! What the binary interface adds to a packet: `abi_cost.c` through the library, beside the same
//! in Rust, in turns.
//!
//! Both push a packet and pop one, behind a standing backlog, under WF²Q+ with a hundred classes.

use std::env;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use laxity::packet::{ClassId, Packet};
use laxity::scheduler::{DropReason, Scheduler};
use laxity::units::Nanos;
use laxity_plan::Plan;

const CLASSES: u32 = 100;
/// Packets that are queued before anything is measured.
const BACKLOG: u64 = 1_000;
const PACKETS: u64 = 2_000_000;
const ROUNDS: usize = 11;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = env::temp_dir().join(format!("laxity-abi-cost-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let measured = measure(&folder);
    std::fs::remove_dir_all(&folder)?;
    let [mut rust, mut c] = measured?;
    let [rust, c] = [&mut rust, &mut c].map(|rounds| {
        rounds.sort_by(f64::total_cmp);
        (rounds[ROUNDS / 2], rounds[0], rounds[ROUNDS - 1])
    });
    println!("ns for a push and a pop: median (least to most) of {ROUNDS} rounds in turns");
    println!("Rust  {:6.1} ({:.1} to {:.1})", rust.0, rust.1, rust.2);
    println!("C     {:6.1} ({:.1} to {:.1})", c.0, c.1, c.2);
    println!("more  {:6.1}, {:.1} a call", c.0 - rust.0, (c.0 - rust.0) / 2.0);
    Ok(())
}

/// Every round of both.
fn measure(folder: &Path) -> Result<[Vec<f64>; 2], Box<dyn std::error::Error>> {
    let text = plan();
    let path = folder.join("plan.toml");
    std::fs::write(&path, &text)?;
    let program = compiled(folder)?;
    let plan = Plan::parse(&text, "plan.toml", Path::new(""))?;
    let (mut rust, mut c) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        rust.push(in_rust(&plan));
        let mut run = Command::new(&program);
        run.arg(&path).args([BACKLOG, PACKETS].map(|number| number.to_string()));
        let output = run.output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
        c.push(String::from_utf8(output.stdout)?.trim().parse()?);
    }
    Ok([rust, c])
}

/// A hundred classes with different weights.
fn plan() -> String {
    let head = "version = 1\nlink.rate = '10gbit'\nscheduler.kind = 'wf2q'\n".to_string();
    let classes = (0..CLASSES).map(|class| format!("class.c{class}.weight = {}\n", 1 + class % 7));
    classes.fold(head, |text, class| text + &class)
}

/// `abi_cost.c`, against the static library beside this program.
fn compiled(folder: &Path) -> Result<std::path::PathBuf, Box<dyn std::error::Error>> {
    let program = folder.join("abi_cost");
    let library = env::current_exe()?.with_file_name("../deps/liblaxity_c.a");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut compile = Command::new(env::var("CC").unwrap_or("cc".into()));
    compile.args(["-std=c99", "-O2", "-D_POSIX_C_SOURCE=199309L", "-I"]).arg(here.join("include"));
    compile.arg(here.join("examples/abi_cost/abi_cost.c")).arg(library);
    let status = compile.args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&program).status()?;
    if status.success() { Ok(program) } else { Err("abi_cost.c does not compile".into()) }
}

/// The time of a packet in Rust, in ns, with the draws of `abi_cost.c`.
fn in_rust(plan: &Plan) -> f64 {
    let mut scheduler = plan.build_scheduler(1);
    let mut random = 1u32;
    let mut push = |scheduler: &mut dyn Scheduler, now: u64| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let class = ClassId((random >> 8) % CLASSES);
        let length = 64 + (random >> 16) % 1400;
        let packet =
            Packet { class, length, arrival: Nanos(now), handle: now, ..Packet::default() };
        scheduler.enqueue(Nanos(now), packet, &mut |_: Packet, _: DropReason| {});
    };
    for now in 0..BACKLOG {
        push(&mut *scheduler, now);
    }
    let begin = Instant::now();
    let mut sum = 0;
    for now in BACKLOG..BACKLOG + PACKETS {
        push(&mut *scheduler, now);
        let dispatch = scheduler.dequeue(Nanos(now), &mut |_: Packet, _: DropReason| {});
        sum += dispatch.map_or(0, |dispatch| dispatch.packet.handle);
    }
    let taken = begin.elapsed().as_nanos() as f64 / PACKETS as f64;
    assert!(std::hint::black_box(sum) > 0, "packets were sent");
    taken
}
