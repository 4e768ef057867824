use super::*;
extern crate std;

#[test]
fn tandems() {
    for (n, load) in [(10usize, 90u64), (5, 90), (3, 40)] {
        for shape in 0..4 {
            for (b, l) in [(1500u64, 1500u64), (3000, 1500), (6000, 1000)] {
                let rate = 10_000_000u64;
                let line = |r: u64| TokenBucket { bucket: Bytes(b), rate: Rate(r) };
                let r = rate * load / 100;
                let mut flows = vec![];
                match shape {
                    0 => {
                        flows.push((0..n, line(r / 2), Bytes(l)));
                        flows.extend((0..n).map(|s| (s..s + 1, line(r / 2), Bytes(l))));
                    }
                    1 => {
                        flows.push((0..n, line(r / 3), Bytes(l)));
                        flows.push((0..1, line(r / 3), Bytes(l)));
                        flows.extend((0..n).map(|s| (s..(s + 2).min(n), line(r / 3), Bytes(l))));
                    }
                    2 => {
                        flows.push((0..n, line(r / n as u64), Bytes(l)));
                        flows.extend((1..n).map(|s| (s..n, line(r / n as u64), Bytes(l))));
                    }
                    _ => {
                        flows.push((0..n, line(r / 4), Bytes(l)));
                        flows.extend((0..n).map(|s| (s..s + 1, line(r * 3 / 4), Bytes(l))));
                    }
                }
                let links = Links { rates: vec![Rate(rate); n], flows };
                let Some(tandem) = links.tandem() else {
                    std::println!("unstable");
                    continue;
                };
                let start = std::time::Instant::now();
                let bounds = tandem.bounds(&Simplex);
                let shown: Vec<_> = bounds
                    .iter()
                    .map(|b| std::format!("{} {:.3}", b.method.name(), b.delay.0 as f64 / 1e6))
                    .collect();
                std::println!(
                    "n {n} load {load} shape {shape} b {b} l {l}: {shown:?} {:?}",
                    start.elapsed()
                );
            }
        }
    }
}

/// The network `demo` of Saihu (Tsai, Thomas, Le Boudec 2023), a thousand times as large and as fast so that bytes
/// need no rounding: two servers for f0 and f1, of which the first is shared.
#[test]
fn the_demo_of_saihu() {
    let line = |bytes: u64, bits: u64| TokenBucket {
        bucket: Bytes(1_000 * bytes),
        rate: Rate(1_000 * bits),
    };
    let server = |delay: u64| Server {
        service: Some(Service {
            curve: Curve::rate_latency(Rate(4_000_000_000), Nanos(10_000))
                .maximum(&Curve::rate_latency(Rate(50_000_000_000), Nanos(1_000_000))),
            late: Nanos::ZERO,
        }),
        order: Order::Fifo,
        packet: Bytes(0),
        delay: Nanos(delay),
    };
    let flow = |class: usize, path: Range<usize>, arrival: &[TokenBucket]| Flow {
        class,
        arrivals: vec![arrival.to_vec(); path.len()],
        path,
        packet: Bytes(0),
    };
    let f0 = [line(10, 10_000), line(2_000, 500)];
    let other = [line(10, 10_000)];
    // What f0 is behind the first server, by its delay of 50 us.
    let later = [TokenBucket { bucket: Bytes(10_063), rate: Rate(10_000_000) }];
    let mut first = flow(0, 0..2, &f0);
    first.arrivals[1] = later.to_vec();
    let cases = [
        (
            "f0",
            vec![server(50_000), server(49_325)],
            vec![first, flow(1, 0..1, &other), flow(2, 1..2, &other)],
            80_050,
        ),
        (
            "f1",
            vec![server(50_000), server(29_325)],
            vec![flow(1, 0..2, &other), flow(0, 0..1, &f0)],
            60_050,
        ),
        ("f2", vec![server(49_325)], vec![flow(2, 0..1, &other), flow(0, 0..1, &later)], 49_280),
    ];
    for (name, servers, flows, best) in cases {
        let bounds = Tandem { servers, flows, groups: vec![] }.bounds(&Simplex);
        let least = bounds.iter().map(|bound| bound.delay.0).min().unwrap();
        std::println!("{name}: {best} published, {bounds:?}");
        // Each server adds a nanosecond between which packets leave.
        assert!(least <= best + best / 1_000, "{name}: {bounds:?}");
    }
}
