//! Outputs at which packets are held to their arrival curves first.

use super::*;

/// Six nodes in a ring with fast wires. A class from each node goes over five links at `rate`
/// kbit/s. `regulated` lists the links with a regulator.
fn ring(rate: u64, regulated: &[usize]) -> String {
    let mut text = format!("{LINK}scheduler.kind = \"fifo\"\n");
    for at in 0..6 {
        text += &format!(
            "network.l{at} = {{ between = [\"n{at}\", \"n{}\"], peak = \"1gbit\", regulate = {} }}\n\
             class.c{at}.arrival = {{ bucket = \"2000b\", rate = \"{rate}kbit\" }}\n",
            (at + 1) % 6,
            regulated.contains(&at),
        );
    }
    for at in 0..6 {
        let path: Vec<String> = (at..at + 6).map(|node| format!("n{}", node % 6)).collect();
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        text += &source(&format!("c{at}"), &path);
    }
    text
}

/// Five bursts of 2 ms meet at every output whatever happened before, up to what the links send.
#[test]
fn rings_have_bounds_at_any_load() {
    let found = paths(&ring(1_000, &[]));
    assert!(found.routes.iter().all(|route| route.bound() == Err(BoundError::CyclicDependency)));
    for rate in [1_000, 1_600] {
        let found = paths(&ring(rate, &[0, 1, 2, 3, 4, 5]));
        assert!(found.cyclic.is_empty());
        for route in &found.routes {
            assert_eq!(route.regulated, [1, 2, 3, 4]);
            assert_eq!(route.bound(), Ok(Nanos(5 * (10 + 2) * MS)), "{route:?}");
        }
        let passing = found.outputs.iter().flat_map(|output| &output.classes);
        let bucket = TokenBucket { bucket: Bytes(2_000), rate: Rate(rate * 1_000) };
        for class in passing {
            assert_eq!(class.arrival.as_deref(), Some(&[bucket][..]));
        }
    }
    let found = paths(&ring(1_601, &[0, 1, 2, 3, 4, 5]));
    assert!(found.routes.iter().all(|route| route.bound().is_err()), "more than a link sends");
}

/// Where one link of a ring is regulated, nothing goes all the way round it.
#[test]
fn one_link_breaks_a_ring() {
    let found = paths(&ring(1_000, &[2]));
    assert!(found.cyclic.is_empty());
    assert!(found.routes.iter().all(|route| route.bound().is_ok()), "{:?}", found.routes);
    let held: Vec<_> = found.routes.iter().map(|route| &route.regulated[..]).collect();
    assert_eq!(held, [&[2][..], &[1], &[], &[], &[4], &[3]]);
}

/// Behind a regulator packets come under their own curve, each way with all of it, and no further
/// apart than that; between two of them outputs are one server.
#[test]
fn arrival_curves_begin_anew() {
    let text = |regulate: bool| {
        format!(
            "{LINK}scheduler.kind = \"fifo\"
            class.a.arrival = {{ bucket = \"4000b\", rate = \"1mbit\" }}
            class.b.arrival = {{ bucket = \"4000b\", rate = \"1mbit\" }}
            network.one.between = [\"a\", \"b\"]
            network.way-in.between = [\"e\", \"b\"]
            network.two = {{ between = [\"b\", \"c\"], regulate = {regulate} }}
            network.three.between = [\"c\", \"d\"]\n{}{}{}",
            source("a", &["a", "b", "c", "d"]),
            source("b", &["a", "b"]),
            source("a", &["e", "b", "c", "d"]),
        )
    };
    let buckets = |paths: &Paths, output: usize| {
        let lines = paths.outputs[output].classes[0].arrival.clone().unwrap();
        lines.iter().map(|line| line.bucket.0).max().unwrap()
    };
    let (free, held) = (paths(&text(false)), paths(&text(true)));
    // The burst takes 8 ms at the first link, less the 40 us of the shortest packet.
    assert_eq!(buckets(&free, 1), 4_996);
    let long_run = |lines: &[TokenBucket]| *lines.iter().min_by_key(|line| line.rate).unwrap();
    let lines = held.outputs[1].classes[0].arrival.as_deref().unwrap();
    // Together, both ways carry no more than the class does, delayed by as much as each may be
    // late.
    assert_eq!(long_run(lines), TokenBucket { bucket: Bytes(4_996), rate: Rate(1_000_000) });
    let second = held.outputs[1].classes[0].bound;
    assert_eq!(second, Ok(Nanos(4_996_000)));
    // One way has no more than its own burst.
    let text = text(true);
    let other = source("a", &["e", "b", "c", "d"]);
    let alone = paths(text.strip_suffix(&other).unwrap());
    let lines = alone.outputs[1].classes[0].arrival.as_deref().unwrap();
    assert_eq!(lines, [TokenBucket { bucket: Bytes(4_000), rate: Rate(1_000_000) }]);
    let Route { regulated, path, .. } = &held.routes[0];
    assert_eq!((&regulated[..], path.len()), (&[1][..], 3));
    // What the first link may take, and from there on both outputs as one.
    let first = held.outputs[0].classes[0].bound.unwrap();
    assert_eq!(first, Nanos(8 * MS));
    let bound = held.routes[0].bound();
    assert!(about(bound, 4_996_000 + (8 + 2 + 2 + 1 + 2) * MS), "{bound:?}");
}

/// What has come over links of its own is in no order, and what is at the beginning of its path
/// enters there.
#[test]
fn only_what_comes_over_shared_links_is_held() {
    let text = format!(
        "{LINK}scheduler.kind = \"fifo\"
        class.a.arrival = {{ bucket = \"4000b\", rate = \"1mbit\" }}
        class.b = {{}}
        network.access = {{ between = [\"h\", \"a\"], private = true }}
        network.one = {{ between = [\"a\", \"b\"], regulate = true }}
        network.two = {{ between = [\"b\", \"c\"], regulate = true }}
        network.three = {{ between = [\"c\", \"d\"], regulate = true, private = true }}\n{}{}{}",
        source("a", &["h", "a", "b", "c"]),
        source("a", &["a", "b", "c", "d"]),
        source("b", &["a", "b", "c", "d"]),
    );
    let found = paths(&text);
    let held: Vec<_> = found.routes.iter().map(|route| &route.regulated[..]).collect();
    assert_eq!(held, [&[][..], &[1, 2], &[]]);
}

/// A class whose delay is unknown before a regulator is known behind it.
#[test]
fn nothing_before_a_regulator_matters_behind_it() {
    let text = format!(
        "{LINK}scheduler.kind = \"fifo\"
        class.a.arrival = {{ bucket = \"4000b\", rate = \"1mbit\" }}
        class.b = {{}}
        network.one.between = [\"a\", \"b\"]
        network.two = {{ between = [\"b\", \"c\"], regulate = true }}\n{}{}",
        source("a", &["a", "b", "c"]),
        source("b", &["a", "b"]),
    );
    let found = paths(&text);
    assert_eq!(found.outputs[0].classes[0].bound, Err(BoundError::UnknownCrossTraffic));
    assert_eq!(found.outputs[1].classes[0].bound, Ok(Nanos(4 * MS)));
    assert_eq!(found.routes[0].bound(), Err(BoundError::UnknownCrossTraffic));
}
