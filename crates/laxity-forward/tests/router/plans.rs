//! Random networks in time frames: a ring of routers, a host at each, reserved flows and best
//! effort.

use std::fmt::Write;
use std::path::Path;

use laxity_plan::Plan;
use laxity_search::Generator;
use rand::RngExt;

/// A plan that is admitted. All packets arrive at different times, for no two links are alike.
pub(crate) fn draw(draw: &mut Generator) -> Plan {
    Plan::parse(&draw_text(draw), "plan.toml", Path::new("")).expect("a plan")
}

/// The text of such a plan.
pub(crate) fn draw_text(draw: &mut Generator) -> String {
    loop {
        let text = text(draw);
        let plan = Plan::parse(&text, "plan.toml", Path::new("")).expect("a plan");
        let analysis = plan.network_plan().expect("a network").analysis();
        let framing = analysis.framing.as_ref().expect("frames");
        if !framing.bounds().is_empty() && framing.bounds().values().all(Result::is_ok) {
            return text;
        }
    }
}

/// The port that a class's packets go to.
pub(crate) fn port(class: usize) -> u16 {
    5000 + class as u16
}

fn text(draw: &mut Generator) -> String {
    let routers = draw.random_range(3..=5usize);
    let frame = [125, 250, 500][draw.random_range(0..3usize)];
    let frames = draw.random_range(5..=40u32);
    let guard = [0, 30][draw.random_range(0..2usize)];
    let spare = draw.random_range(0..3u32);
    let late = ["send", "drop"][draw.random_range(0..2usize)];
    let mut text = format!(
        "version = 1\n\
         link = {{ rate = '100mbit', max-packet = '700b', min-packet = '64b' }}\n\
         scheduler = {{ kind = 'tdp', frame = '{frame}us', frames = {frames}, cycles = 2, guard = '{guard}us', \
         spare = {spare}, late = '{late}' }}\n[network]\n"
    );
    for router in 0..routers {
        let next = (router + 1) % routers;
        let delay = draw.random_range(1_000..400_000u32);
        let access = draw.random_range(1_000..20_000u32);
        let _ = writeln!(
            text,
            "r{router} = {{ between = ['r{router}', 'r{next}'], delay = '{delay}ns' }}"
        );
        let _ = writeln!(
            text,
            "h{router} = {{ between = ['h{router}', 'r{router}'], delay = '{access}ns', private = true }}"
        );
    }
    let classes = draw.random_range(2..=7usize);
    for class in 0..classes {
        let hops = draw.random_range(1..routers);
        let first = draw.random_range(0..routers);
        let mut path = vec![format!("h{first}")];
        path.extend((0..=hops).map(|hop| format!("r{}", (first + hop) % routers)));
        path.push(format!("h{}", (first + hops) % routers));
        let length = draw.random_range(64..=600u32);
        let _ = writeln!(text, "[class.c{class}]\nmatch = 'udp dport {}'", port(class));
        let start = draw.random_range(0..3_000_000u32);
        if draw.random_range(0..3u32) > 0 {
            let gap = frame * draw.random_range(2..=8u32) + draw.random_range(1..50u32);
            let rate = u64::from(length) * 8_000_000 / u64::from(gap);
            let _ = writeln!(
                text,
                "gap = '{gap}us'\narrival = {{ bucket = '{length}b', rate = '{rate}bit', packet = '{length}b' }}\n\
                 [[source]]\nclass = 'c{class}'\nmodel = 'constant'\nrate = '{rate}bit'\npacket = '{length}b'\n\
                 start = '{start}ns'\npath = {path:?}"
            );
        } else {
            let _ = writeln!(
                text,
                "[[source]]\nclass = 'c{class}'\nmodel = 'poisson'\nrate = '{}mbit'\n\
                 packet = {{ uniform = ['64b', '700b'] }}\nstart = '{start}ns'\npath = {path:?}",
                draw.random_range(1..20u32)
            );
        }
    }
    text + "[class.rest]\n"
}
