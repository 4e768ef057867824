use laxity_plan::Plan;
use std::path::Path;
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let plan = Plan::read(Path::new(&args[0])).unwrap();
    match args.get(1).map(String::as_str) {
        Some("read") => {
            println!("{} {}", plan.classes.len(), plan.sources.len());
        }
        Some("limits") => {
            let on = plan.networked().unwrap();
            let outlook = on.outlook();
            let n = args[2].parse().unwrap();
            let mut all = 0u64;
            for class in 0..n {
                let mut other = plan.clone();
                let id = laxity::packet::ClassId(class);
                if let Some(a) = other.classes[class as usize].arrival.as_mut() {
                    a.buckets[0].bucket.0 *= 2;
                }
                let next = outlook.with_arrival(&other, id).unwrap();
                for o in &next.paths().outputs {
                    for c in &o.classes {
                        all = all.wrapping_mul(31).wrapping_add(c.bound.map_or(1, |b| b.0));
                    }
                }
            }
            println!("{all}");
        }
        _ => {
            let paths = plan.networked().unwrap().paths();
            let mut all = 0u64;
            for o in &paths.outputs {
                for c in &o.classes {
                    all = all.wrapping_mul(31).wrapping_add(c.bound.map_or(1, |b| b.0));
                }
            }
            for r in &paths.routes {
                all = all.wrapping_mul(31).wrapping_add(r.bound().map_or(1, |b| b.0));
            }
            println!("{} outputs {} routes {all}", paths.outputs.len(), paths.routes.len());
        }
    }
}
