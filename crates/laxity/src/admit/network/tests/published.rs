//! Against closed forms and figures that are published.

use super::simulated::{greedy, longest};
use super::*;

/// A flow over `n` links of the rate R, and another `b + r t` over each of them alone: the least
/// upper delay bound is `n b / R + b / (R - r)`, or `2 n b / R` if that is less, and the programme
/// of polynomial size finds no more. Every link but the last adds a packet (Lenzini, Mingozzi, Stea
/// 2008, section 4, with the best theta worked out by hand).
#[test]
fn one_hop_cross_traffic_has_its_closed_form() {
    const RATE: u64 = 10_000_000;
    let takes = |bytes: f64, rate: f64| 8e9 * bytes / rate;
    let cases = [(2, 10), (2, 90), (3, 40), (5, 90), (10, 90), (20, 95)];
    for ((servers, percent), shortest) in cases.into_iter().flat_map(|of| [(of, 1), (of, 1_000)]) {
        let line = TokenBucket { bucket: Bytes(6_000), rate: Rate(RATE * percent / 200) };
        let packet = Bytes(1_000);
        let mut flows = vec![(0..servers, line, packet)];
        flows.extend((0..servers).map(|server| (server..server + 1, line, packet)));
        let rates = vec![Rate(RATE); servers];
        let links = Links { rates, flows, shortest: Bytes(shortest) };
        let bounds = links.tandem().unwrap().bounds(&Simplex);
        let (n, rate, left) = (servers as f64, RATE as f64, (RATE - line.rate.0) as f64);
        let bursts = n * takes(6_000.0, rate);
        // The last packet goes at the rate of the link.
        let last = shortest as f64;
        let own = takes(6_001.0 - last, left) + takes(last - 1.0, rate);
        let expected = (bursts + own).min(2.0 * bursts);
        let expected = expected + (n - 1.0) * takes(1_000.0, rate);
        // A nanosecond for each server, and that of rounding theta and the bound.
        let ludb = by(&bounds, Method::Ludb).unwrap().0 as f64;
        let is_close = ludb + 1.0 >= expected && ludb <= expected + 3.0 * n + 2.0;
        assert!(is_close, "{servers} at {percent} %: {expected}, {bounds:?}");
        assert_eq!(by(&bounds, Method::Sfa), by(&bounds, Method::Ludb));
        // Twenty links are too many variables.
        let plp = by(&bounds, Method::Plp);
        assert_eq!(plp.is_some(), servers <= 10, "{bounds:?}");
        assert!(plp.is_none_or(|plp| plp.0 as f64 <= ludb + 3.0 * n), "{bounds:?}");
    }
}

/// Over ten links at 90 %, every burst of others comes with the last packet of the flow's own. That
/// happens, and the least bound is no more than a tenth longer.
#[test]
fn ten_links_at_90_percent_are_nearly_as_slow_as_said() {
    const MICROS: u64 = 1_000;
    let line = TokenBucket { bucket: Bytes(10_000), rate: Rate(4_500_000) };
    let mut flows = vec![(0..10, line, Bytes(1_000))];
    flows.extend((0..10).map(|server| (server..server + 1, line, Bytes(1_000))));
    let links = Links { rates: vec![Rate(10_000_000); 10], flows, shortest: Bytes(1) };
    let mut entering = greedy(0, line, 0, &[1_000; 10]);
    let mut comes = 0;
    for server in 0..10 {
        entering.extend(greedy(1 + server, line, comes, &[1_000; 10]));
        // Both bursts at the first link, then one and the packet.
        comes += if server == 0 { 16_000 * MICROS } else { 8_800 * MICROS };
    }
    let happens = longest(&links, &entering);
    assert_eq!(happens, 95_200 * MICROS);
    let bounds = links.tandem().unwrap().bounds(&Simplex);
    let least = bounds.iter().map(|bound| bound.delay.0).min().unwrap();
    assert!(happens <= least && 10 * least <= 11 * happens, "{bounds:?}");
    assert!(by(&bounds, Method::Hops).unwrap().0 > 5 * least, "{bounds:?}");
}

/// Flows that join a flow at one link after another and stay with it. That its last packet waits
/// for the burst of another flow at every link happens, and the bound is no more than one and a
/// half times that.
#[test]
fn sink_trees_pay_a_burst_once() {
    const RATE: u64 = 10_000_000;
    for servers in [2, 5, 10] {
        let line = TokenBucket { bucket: Bytes(6_000), rate: Rate(RATE * 9 / 10 / servers as u64) };
        let packet = Bytes(1_000);
        let mut flows = vec![(0..servers, line, packet)];
        flows.extend((1..servers).map(|server| (server..servers, line, packet)));
        let links = Links { rates: vec![Rate(RATE); servers], flows, shortest: Bytes(1) };
        let bounds = links.tandem().unwrap().bounds(&Simplex);
        let least = bounds.iter().map(|bound| bound.delay.0).min().unwrap();
        let takes = |bytes: u64| 8 * bytes * 1_000_000_000 / RATE;
        let happens = servers as u64 * takes(6_000) + (servers as u64 - 1) * takes(1_000);
        assert!(least >= happens, "{servers}: {bounds:?}");
        assert!(2 * least <= 3 * happens, "{servers}: {bounds:?}");
    }
}

/// The network `demo` of Saihu (Tsai, Thomas, Le Boudec 2023), a thousand times as large and as
/// fast so that bytes need no rounding. f0 and f1 each pass two servers and share the first. Their
/// delays are those that Saihu gives for total flow analysis.
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
        link_rate: None,
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
    ];
    for (name, servers, flows, best) in cases {
        let count = servers.len() as u64;
        let tandem = Tandem { servers, flows, groups: vec![], shortest: Bytes(1) };
        let bounds = tandem.bounds(&Simplex);
        let least = bounds.iter().map(|bound| bound.delay.0).min().unwrap();
        // Each server adds a nanosecond, between which packets leave, and the bound is rounded up.
        assert!(least <= best + count + 1, "{name}: {bounds:?}");
    }
}
