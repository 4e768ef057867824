//! Files as plans, plans as files, and both ways round.

use std::path::Path;

use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::Plan;
use proptest::prelude::*;

use super::*;

fn plan(text: &str) -> Plan {
    Plan::parse(text, "plan.toml", Path::new("")).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The least bound of each class, by its name.
fn bounds(plan: &Plan) -> Vec<(String, Option<Nanos>)> {
    let paths = plan.network_plan().unwrap().paths();
    let of = |route: &laxity_plan::paths::Route| {
        (plan.classes[route.class.index()].name.clone(), route.bound().ok())
    };
    let mut bounds: Vec<_> = paths.routes.iter().map(of).collect();
    bounds.sort();
    bounds
}

/// Three ports, two of them behind the first, and flows with all that a file may say.
const PORTS: &str = r#"{
    "network": { "name": "three", "packetizer": true, "multiplexing": "FIFO", "analysis_option": ["IS"],
                 "time_unit": "us", "data_unit": "B", "rate_unit": "Mbps", "min_packet_length": 64 },
    "flows": [
        { "name": "f0", "path": ["a", "b"], "arrival_curve": { "bursts": [1500, "4kB"], "rates": ["8Mbps", 2.5] },
          "max_packet_length": "12kb" },
        { "name": "f1", "path": ["a", "c"], "arrival_curve": { "bursts": [1.5], "rates": [500] },
          "data_unit": "kB", "rate_unit": "kbps", "max_packet_length": 1, "min_packet_length": 0.1 },
        { "name": "f2", "path": ["b"], "arrival_curve": { "bursts": ["3000.5B"], "rates": ["1Mbps"] },
          "max_packet_length": 1500 }
    ],
    "servers": [
        { "name": "a", "service_curve": { "latencies": [10], "rates": [50] }, "capacity": "0.1Gbps" },
        { "name": "b", "service_curve": { "latencies": ["0.25ms"], "rates": [40] } },
        { "name": "c", "service_curve": { "latencies": [0], "rates": ["1GBps"] } }
    ]
}"#;

#[test]
fn ports_of_saihu_are_links() {
    let carried = import(PORTS, Format::Saihu).unwrap();
    assert_eq!(carried.notes, [""; 0]);
    let plan = plan(&carried.text);
    let network = plan.network.as_ref().unwrap();
    let links: Vec<_> =
        network.links.iter().map(|link| (link.rate, link.latency, link.peak())).collect();
    let mbit = |mbit: u64| Rate(mbit * 1_000_000);
    assert_eq!(
        links,
        [
            (mbit(50), Nanos(10_000), mbit(100)),
            (mbit(40), Nanos(250_000), mbit(40)),
            (mbit(8_000), Nanos(0), mbit(8_000)),
        ]
    );
    let [f0, f1, f2] = &plan.classes[..] else { panic!("three classes") };
    let lines = |at: usize| {
        let arrival = plan.classes[at].arrival.as_ref().unwrap();
        arrival.buckets.iter().map(|line| (line.bucket.0, line.rate.0)).collect::<Vec<_>>()
    };
    assert_eq!(lines(0), [(1_500, 8_000_000), (4_000, 2_500_000)]);
    assert_eq!((lines(1), lines(2)), (vec![(1_500, 500_000)], vec![(3_001, 1_000_000)]));
    let lengths = |class| (plan.min_packet(class), plan.max_packet(class));
    assert_eq!(lengths(f0), (Bytes(64), Bytes(1_500)));
    assert_eq!(lengths(f1), (Bytes(100), Bytes(1_000)));
    assert_eq!(lengths(f2), (Bytes(64), Bytes(1_500)));
    assert!(bounds(&plan).iter().all(|(_, bound)| bound.is_some()));
}

#[test]
fn what_a_plan_cannot_say_of_ports_is_refused() {
    let refused = |old: &str, new: &str, message: &str| {
        assert!(PORTS.contains(old), "{old}");
        let error = import(&PORTS.replacen(old, new, 1), Format::Saihu).expect_err(new);
        assert_eq!(error.to_string(), message);
    };
    refused(
        "\"FIFO\"",
        "\"ARBITRARY\"",
        "network.multiplexing: `ARBITRARY`: ports that are not FIFO cannot be said in a plan",
    );
    let curve = "\"latencies\": [10], \"rates\": [50]";
    let counts = "servers[0].service_curve: there are as many `latencies` as `rates`, one at least, and a rate that \
                  is not zero";
    refused(curve, "\"latencies\": [10], \"rates\": [50, 60]", counts);
    refused(curve, "\"latencies\": [], \"rates\": []", counts);
    refused(curve, "\"latencies\": [10], \"rates\": [0]", counts);
    let name = "cannot be a name in a plan: that has 1 to 64 characters, of one line";
    refused("\"name\": \"f1\"", "\"name\": \"f\\n1\"", &format!("flows[1].name: `f?1` {name}"));
    refused("\"name\": \"f1\"", "\"name\": \"\"", &format!("flows[1].name: `` {name}"));
    refused(
        "\"capacity\"",
        "\"capacities\"",
        "servers[0]: unknown key `capacities`: accepted are name, service_curve, capacity, time_unit, data_unit, rate_unit",
    );
    refused(
        "[\"a\", \"c\"]",
        "[\"a\", \"d\"]",
        "flows[1].path[1]: there is no such server in `servers`",
    );
    refused(
        "[\"a\", \"c\"]",
        "[\"a\", \"a\"]",
        "flows[1].path[1]: the flow has passed this server before",
    );
    refused("[\"a\", \"c\"]", "[]", "flows[1]: `path` is empty");
    refused(
        "\"0.1Gbps\"",
        "\"1Mbps\"",
        "servers[0].capacity: 1mbit is below the rate of the service curve, 50mbit",
    );
    refused(
        "\"8Mbps\"",
        "\"8Mphs\"",
        "flows[0].arrival_curve.rates[0]: `8Mphs` is not a rate such as 10Mbps",
    );
    refused("\"name\": \"f1\"", "\"name\": \"f0\"", "flows: two flows are called `f0`");
    refused(
        "[\"b\"]",
        "[\"c\", \"b\", \"a\"]",
        "servers: server `c` would lead back to its own node: all servers behind one server are at one node",
    );
    let error = import("{", Format::Saihu).unwrap_err();
    assert_eq!(error.to_string(), "1:1: this is no JSON that is read here");
}

/// Of several parts of a service curve, one that is nowhere above the whole counts.
#[test]
fn one_part_of_a_service_curve_counts() {
    let curve = "\"latencies\": [10], \"rates\": [50]";
    let served = |latencies: &str, rates: &str| {
        let new = format!("\"latencies\": {latencies}, \"rates\": {rates}");
        let carried = import(&PORTS.replacen(curve, &new, 1), Format::Saihu).unwrap();
        let plan = plan(&carried.text);
        let link = plan.network.as_ref().unwrap().links[0].clone();
        (link.latency.0, link.rate.0 / 1_000_000, carried.notes)
    };
    let (latency, rate, notes) = served("[10, 20]", "[50, 60]");
    assert_eq!((latency, rate), (20_000, 60));
    let note = "of the service curve of `a` the part of 60mbit after 20us counts: a link of a plan has one rate and one \
                latency, and this part is nowhere above the whole";
    assert_eq!(notes, [note]);
    // One that is nowhere below the others is the whole.
    for (latencies, rates) in
        [("[10, 20]", "[60, 60]"), ("[10, 10]", "[50, 60]"), ("[10, 5]", "[60, 0]")]
    {
        assert_eq!(served(latencies, rates), (10_000, 60, vec![]), "{latencies} {rates}");
    }
}

#[test]
fn bursts_below_a_packet_are_rounded_up() {
    let short = PORTS.replacen("[1500, \"4kB\"]", "[20, \"4kB\"]", 1);
    let carried = import(&short, Format::Saihu).unwrap();
    let one =
        "bursts below a packet are rounded up to one, of flow `f0`: packets are whole in a plan";
    assert_eq!(carried.notes, [one]);
    let buckets = |text: &str, class: usize| -> Vec<u64> {
        let plan = plan(text);
        let arrival = plan.classes[class].arrival.as_ref().unwrap();
        arrival.buckets.iter().map(|line| line.bucket.0).collect()
    };
    assert_eq!(buckets(&carried.text, 0), [1_500, 4_000]);
    let short = short.replacen("[1.5]", "[0.999]", 1);
    let carried = import(&short, Format::Saihu).unwrap();
    let two = "bursts below a packet are rounded up to one, of flow `f0` and 1 more: packets are whole in a plan";
    assert_eq!(carried.notes, [two]);
    assert_eq!(buckets(&carried.text, 1), [1_000]);
    let nodes = NODES.replacen("lb-burst=\"4kB\"", "lb-burst=\"20B\"", 1);
    let carried = import(&nodes, Format::Wopanet).unwrap();
    assert_eq!(carried.notes, [one]);
    assert_eq!(buckets(&carried.text, 0), [1_500]);
}

/// What a network is called is only its title.
#[test]
fn a_title_is_one_line() {
    let carried =
        import(&PORTS.replacen("\"three\"", "\"three\\nports\"", 1), Format::Saihu).unwrap();
    assert_eq!(plan(&carried.text).title.as_deref(), Some("three ports"));
}

/// The same as Saihu and xTFA write networks: the source has no service.
const NODES: &str = r#"<elements>
  <network name="two" technology="FIFO+IS+PK" minimum-packet-size="64B"/>
  <station name="src"/>
  <switch name="s0" service-latency="10us" service-rate="50Mbps" transmission-capacity="100Mbps"/>
  <switch name="s1" service-rate="40Mbps"/>
  <station name="sink"/>
  <link from="src" to="s0" name="l0"/>
  <link from="s0" to="s1" fromPort="o0" toPort="i0" name="l1"/>
  <link from="s1" to="sink" name="l2" service-latency="0.25ms"/>
  <flow name="f0" arrival-curve="leaky-bucket" lb-burst="4kB" lb-rate="2500kbps" maximum-packet-size="1500B" source="src" deadline="2.5">
    <target name="p0"><path node="s0"/><path node="s1"/><path node="sink"/></target>
  </flow>
  <flow name="f1" arrival-curve="leaky-bucket" lb-burst="3kB" lb-rate="1Mbps" maximum-packet-size="1000B" source="s1">
    <target><path node="sink"/></target>
  </flow>
</elements>"#;

#[test]
fn nodes_of_wopanets_are_nodes() {
    let plan = plan(&import(NODES, Format::Wopanet).unwrap().text);
    let network = plan.network.as_ref().unwrap();
    let names: Vec<_> = network.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["s0", "s1", "sink"]);
    let links: Vec<_> =
        network.links.iter().map(|link| (link.rate.0, link.latency.0, link.peak().0)).collect();
    assert_eq!(links, [(50_000_000, 10_000, 100_000_000), (40_000_000, 250_000, 40_000_000)]);
    assert_eq!(plan.classes[0].end_to_end, Some(Nanos(2_500_000)));
}

#[test]
fn frames_of_a_period_are_buckets() {
    let text = r#"<elements>
      <network name="AFDX" overhead="67" technology="AFDX" transmission-capacity="100000000" x-type="FULL"/>
      <station name="A" service-policy="FIRST_IN_FIRST_OUT" x="1.0" y="2.0"/>
      <station name="B"/><switch name="S" tech-latency="0" switching-technique="STORE_AND_FORWARD"/>
      <link from="A" to="S" name="1"/><link from="B" to="S" name="2"/>
      <flow deadline="1" jitter="0" max-payload="933" min-payload="33" name="f" period="2" priority="Low" source="A">
        <target mode="M" name="B"><path node="S"/><path node="B"/></target>
      </flow></elements>"#;
    let plan = plan(&import(text, Format::Wopanet).unwrap().text);
    let class = &plan.classes[0];
    let [line] = class.arrival.as_ref().unwrap().buckets[..] else { panic!("one bucket") };
    assert_eq!((line.bucket, line.rate), (Bytes(1_000), Rate(4_000_000)));
    assert_eq!((plan.min_packet(class), plan.max_packet(class)), (Bytes(100), Bytes(1_000)));
    assert_eq!((class.end_to_end, plan.link.rate), (Some(Nanos(1_000_000)), Rate(100_000_000)));
}

#[test]
fn what_a_plan_cannot_say_of_nodes_is_refused() {
    let refused = |old: &str, new: &str, message: &str| {
        assert!(NODES.contains(old), "{old}");
        let error = import(&NODES.replacen(old, new, 1), Format::Wopanet).expect_err(new);
        assert_eq!(error.to_string(), message);
    };
    refused(
        "FIFO+IS",
        "IS",
        "2:3: `technology` without FIFO: ports that are not FIFO cannot be said in a plan",
    );
    refused(
        "FIFO+IS",
        "FIFO+ATS",
        "2:3: technology `ATS`: accepted are FIFO, IS, PK, CEIL, MOH, TDMI, AFDX",
    );
    refused(
        "\"4kB\"",
        "\"4000\"",
        "10:3: `lb-burst`: `4000` is not a size such as 1500B or 12kb, in bytes or bits",
    );
    refused(
        "\"leaky-bucket\"",
        "\"staircase\"",
        "10:3: an arrival curve is `leaky-bucket`, or the flow has a `period`; this is `staircase`",
    );
    refused(
        "deadline=",
        "budget=",
        "10:3: <flow> with `budget`, which a plan cannot say: accepted are name, source, arrival-curve, lb-burst, lb-rate, maximum-packet-size, minimum-packet-size, deadline",
    );
    refused("<path node=\"s1\"/>", "", "11:40: no link joins `s0` and `sink`");
    refused("<path node=\"s1\"/>", "<path node=\"s7\"/>", "11:40: there is no node `s7`");
    refused(
        " service-rate=\"40Mbps\"",
        "",
        "11:57: `s1` has no service, but nodes before it have: give it a `service-rate`",
    );
    refused("name=\"s1\"", "name=\"s0\"", "5:3: another node is called `s0`");
    let name = "cannot be a name in a plan: that has 1 to 64 characters, of one line";
    refused("name=\"s1\"", "name=\"s&#10;1\"", &format!("5:3: `s?1` {name}"));
    refused("name=\"f1\"", "name=\"f&#10;1\"", &format!("13:3: `f?1` {name}"));
    // Whether it counts or not.
    for wrong in ["NaN", "NaNbps", "-1bps", "inf"] {
        let message = |place: &str, key: &str| {
            format!("{place}: `{key}`: `{wrong}` is not a rate such as 10Mbps")
        };
        let (old, new) = (
            "service-rate=\"40Mbps\"",
            format!("service-rate=\"40Mbps\" transmission-capacity=\"{wrong}\""),
        );
        refused(old, &new, &message("5:3", "transmission-capacity"));
        refused(
            "<station name=\"sink\"",
            &format!("<station name=\"sink\" service-rate=\"{wrong}\""),
            &message("6:3", "service-rate"),
        );
        refused(
            "from=\"s1\"",
            &format!("from=\"s1\" transmission-capacity=\"{wrong}\""),
            &message("9:3", "transmission-capacity"),
        );
        refused(
            "technology=\"",
            &format!("transmission-capacity=\"{wrong}\" technology=\""),
            &message("2:3", "transmission-capacity"),
        );
    }
    let error = import(&NODES.replace("</elements>", ""), Format::Wopanet).unwrap_err();
    assert!(error.message().starts_with("this is no XML that is read here"), "{error}");
}

#[test]
fn streams_of_tsnkit_reserve_frames() {
    let streams = "stream,src,dst,size,period,deadline,jitter\n0,0,[3],100,1000000,900000,0\n1,3,\"[0, 2]\",500,500000,500000,0\n";
    let links = "link,q_num,rate,t_proc,t_prop\n\"(0, 1)\",8,1,1000,0\n\"(1, 0)\",8,1,1000,0\n\"(1, 2)\",8,0.1,1000,0\n\"(1, 3)\",8,1,1000,50\n";
    let carried = tsnkit::import(streams, links, None).unwrap();
    let [multicast, often, soon] = &carried.notes[..] else { panic!("{:?}", carried.notes) };
    assert!(multicast.starts_with("every destination of a stream is a stream by itself"));
    let told =
        "`stream-0` has frames reserved more often than it sends, every 250us, 4 in a period: ";
    assert!(often.starts_with(told), "{often}");
    let told = "the deadline of `stream-1` and 1 more is too short for any `gap`: its path alone takes 301us";
    assert!(soon.starts_with(told), "{soon}");
    let patient = streams.replace("900000", "1900000").replace("500000,500000", "500000,950000");
    assert_eq!(tsnkit::import(&patient, links, None).unwrap().notes.len(), 1);
    let plan = plan(&carried.text);
    let gaps: Vec<_> =
        plan.classes.iter().map(|class| (class.name.as_str(), class.gap.unwrap().0)).collect();
    assert_eq!(gaps, [("stream-0", 250_000), ("stream-1", 500_000), ("stream-1#2", 500_000)]);
    let on = plan.network_plan().unwrap().analysis();
    assert!(on.framing.is_some());
    are_kept(&self::plan(&tsnkit::import(&patient, links, None).unwrap().text));
    let files = tsnkit::export(&plan).unwrap();
    assert_eq!(
        files.topology,
        "link,q_num,rate,t_proc,t_prop\n\"(0, 1)\",8,1.000000000,0,1000\n\"(1, 0)\",8,1.000000000,0,1000\n\
         \"(1, 2)\",8,0.100000000,0,1000\n\"(2, 1)\",8,0.100000000,0,1000\n\"(1, 3)\",8,1.000000000,0,1050\n\
         \"(3, 1)\",8,1.000000000,0,1050\n"
    );
    assert_eq!(
        files.streams,
        "stream,src,dst,size,period,deadline,jitter\n0,0,[3],100,1000000,900000,0\n1,3,[0],500,500000,500000,0\n\
         2,3,[2],500,500000,500000,0\n"
    );
    let again = tsnkit::import(&files.streams, &files.topology, None).unwrap();
    assert_eq!(tsnkit::export(&self::plan(&again.text)).unwrap(), files);
    let wrong = |streams: &str, message: &str| {
        assert_eq!(tsnkit::import(streams, links, None).unwrap_err().1.to_string(), message);
    };
    // Streams may be numbered in a column of another name, or in one beside it.
    let told = |streams: &str| tsnkit::import(streams, links, None).unwrap();
    assert_eq!(told(&streams.replacen("stream", "id", 1)), carried);
    let beside = streams
        .replacen("stream,", "id,stream,", 1)
        .replace("\n0,", "\n7,0,")
        .replace("\n1,", "\n8,1,");
    assert_eq!(told(&beside), carried);
    wrong(
        "stream,src\n",
        "1: column `dst` is missing: needed are stream,src,dst,size,period,deadline,jitter",
    );
    wrong(&streams.replace("1000000", "0"), "2: `period` is zero");
    wrong(&streams.replace("[3]", "[x]"), "2: `dst` is `x`, not a whole number");
}

/// Every class is proved what it is promised from end to end.
fn are_kept(plan: &Plan) {
    let bounds = plan.network_plan().unwrap().analysis().framing.unwrap().bounds();
    for (number, class) in plan.classes.iter().enumerate() {
        let bound = bounds.iter().find(|(id, _)| id.index() == number).unwrap().1;
        let delay = bound.as_ref().unwrap().delay();
        assert!(delay <= class.end_to_end.unwrap(), "{}: {delay}", class.name);
    }
}

#[test]
fn a_stream_that_is_due_within_its_period_is_admitted_where_its_path_leaves_time() {
    let links = "link,q_num,rate,t_proc,t_prop\n\"(0, 1)\",8,1,0,0\n\"(1, 2)\",8,1,500,0\n\"(2, 3)\",8,1,0,100\n";
    for (period, deadline) in [
        (2_000_000, 2_000_000),
        (2_000_000, 2_030_000),
        (2_000_000, 1_000_000),
        (2_000_000, 40_000),
        (3_000_000, 100_000),
        (7_000_000, 7_000_000),
    ] {
        let streams = format!(
            "stream,src,dst,size,period,deadline,jitter\n0,0,[3],300,{period},{deadline},0\n"
        );
        let carried = tsnkit::import(&streams, links, None).unwrap();
        let plan = plan(&carried.text);
        are_kept(&plan);
        // What sends is as it was.
        let files = tsnkit::export(&plan).unwrap();
        assert_eq!(files.streams, streams);
    }
    let soon = "stream,src,dst,size,period,deadline,jitter\n0,0,[3],300,2000000,30000,0\n";
    let told = tsnkit::import(soon, links, None).unwrap().notes.join("");
    let expected = "the deadline of `stream-0` is too short for any `gap`: its path alone takes 25.1us, and a packet waits \
                    for a frame of its own, at least two time frames of 5us";
    assert_eq!(told, expected);
}

/// A plan of first-in, first-out links and flows with classes of their own.
fn drawn() -> impl Strategy<Value = String> {
    const NODES: usize = 5;
    let link = (1..200u64, 0..3_000_000u64, 0..50u64);
    let links = proptest::collection::vec(link, 2 * NODES);
    let flow = (
        0..NODES - 1,
        proptest::collection::vec(any::<bool>(), 1..NODES),
        (64..1_500u64, 0..1_400u64),
        (0..9_000u64, 8..900_000u64),
        proptest::option::of(1..90_000_000u64),
    );
    let flows = proptest::collection::vec(flow, 1..7);
    (links, flows).prop_map(|(links, flows)| {
        let mut text = String::from(
            "version = 1\nlink = { rate = \"1gbit\", max-packet = \"1500b\" }\nscheduler.kind = \"fifo\"\n",
        );
        for (number, (megabits, latency, more)) in links.into_iter().enumerate() {
            let (from, to) = (number / 2, number / 2 + 1 + number % 2);
            text += &format!(
                "[network.l{number}]\nbetween = [\"n {from}\", \"n {to}\"]\nrate = \"{megabits}mbit\"\nlatency = \"{latency}ns\"\npeak = \"{}mbit\"\n",
                megabits + more
            );
        }
        for (number, (from, skips, (longest, less), (more, rate), deadline)) in flows.into_iter().enumerate() {
            let least = longest.saturating_sub(less).max(40);
            let deadline = deadline.map_or(String::new(), |deadline| format!("end-to-end = \"{deadline}ns\"\n"));
            text += &format!(
                "[class.\"f<{number}> & \\\"co\\\"\"]\n{deadline}arrival = {{ bucket = \"{}b\", rate = \"{rate}bit\", packet = {{ at-least = \"{least}b\", at-most = \"{longest}b\" }} }}\n",
                longest + more
            );
            let mut nodes = vec![from];
            for skip in skips {
                let last = nodes[nodes.len() - 1];
                if last < NODES - 1 {
                    nodes.push((last + 1 + usize::from(skip)).min(NODES - 1));
                }
            }
            let nodes: Vec<String> = nodes.iter().map(|node| format!("\"n {node}\"")).collect();
            text += &format!(
                "[[source]]\nclass = \"f<{number}> & \\\"co\\\"\"\nmodel = \"greedy\"\npacket = \"{longest}b\"\nburst = \"1ms\"\nspacing = \"1ms\"\npath = [{}]\n",
                nodes.join(", ")
            );
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A plan that has been a file says the same: all bounds are equal, and it becomes the same
    /// file again.
    #[test]
    fn plans_come_back_from_files_as_they_were(text in drawn()) {
        let before = plan(&text);
        for format in [Format::Saihu, Format::Wopanet] {
            let file = export(&before, format).unwrap();
            let after = plan(&import(&file.text, format).unwrap().text);
            prop_assert_eq!(bounds(&after), bounds(&before), "{:?}\n{}", format, file.text);
            // Names of nodes are not in every format, so that one more turn is needed to find
            // nothing changed.
            let again = export(&after, format).unwrap();
            let once_more = plan(&import(&again.text, format).unwrap().text);
            prop_assert_eq!(export(&once_more, format).unwrap().text, again.text);
        }
    }

    /// Whatever comes from outside, there is an answer.
    #[test]
    fn nothing_panics(text in "\\PC{0,200}", at in 0..4_000usize, by in any::<char>()) {
        for (file, format) in [(PORTS, Format::Saihu), (NODES, Format::Wopanet)] {
            let _ = import(&text, format);
            let changed: String =
                file.chars().enumerate().map(|(place, c)| if place == at % file.len() { by } else { c }).collect();
            let _ = import(&changed, format);
        }
        let _ = tsnkit::import(&text, &text, None);
    }
}
