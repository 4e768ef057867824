//! What a plan comes to.

use laxity::packet::ClassId;
use laxity::units::{Bytes, Nanos, Rate};

use super::*;
use crate::model::*;

const MS: u64 = 1_000_000;

fn model(source: &Source) -> &ModelSource {
    match source {
        Source::Model(model) => model,
        Source::Tcp(_) | Source::Recording(_) => panic!("a recording"),
    }
}

#[test]
fn the_link_and_its_scheduler() {
    let plan = parse(PLAN).unwrap();
    assert!(plan.title.as_ref().is_some_and(|title| title.starts_with("Access link")));
    let link = LinkSpec {
        rate: Rate(10_000_000),
        trace: None,
        wire: None,
        autorate: None,
        overhead: Overhead::NONE,
        max_packet: Bytes(1536),
        min_packet: Bytes(40),
        latency: Some(Nanos::ZERO),
        stall: Nanos::ZERO,
        threads: None,
    };
    assert_eq!(plan.link, link);
    assert_eq!(plan.scheduler, SchedulerSpec::EDF);
    let run = RunSpec { duration: Some(Nanos(20_000 * MS)), warm_up: Nanos(1000 * MS), seed: 7 };
    assert_eq!(plan.run, run);
}

#[test]
fn what_a_link_adds_to_frames() {
    let overhead = |value: &str| {
        let link = format!("[link]\noverhead = {value}");
        with("[link]", &link).unwrap().link.overhead
    };
    let bytes = |bytes| Overhead { bytes, ..Overhead::NONE };
    assert_eq!(overhead("'24b'"), bytes(24));
    assert_eq!(overhead("'-6b'"), bytes(-6));
    assert_eq!(overhead("{ bytes = '8b' }"), bytes(8));
    assert_eq!(overhead("'ethernet'"), bytes(24));
    assert_eq!(overhead("'docsis'"), Overhead { bytes: 4, at_least: 64, framing: Framing::Whole });
    assert_eq!(
        overhead("{ bytes = '18b', framing = 'atm' }"),
        Overhead::NAMED.iter().find(|(name, _)| *name == "pppoe-vcmux").unwrap().1
    );
    let largest = |text: &str| {
        let plan = format!(
            "version = 1\nscheduler.kind = 'fifo'\nclass.a = {{}}\nlink = {{ rate = '1mbit'{text} }}"
        );
        parse(&plan).unwrap().link.max_packet
    };
    assert_eq!(largest(""), Bytes(1514));
    assert_eq!(largest(", overhead = '24b'"), Bytes(1538));
    assert_eq!(largest(", overhead = '24b', max-packet = '1600b'"), Bytes(1600));
}

#[test]
fn classes_in_the_order_of_the_file() {
    let plan = parse(PLAN).unwrap();
    let [voice, ftp, bulk, ..] = &plan.classes[..] else { panic!("three classes and more") };
    assert_eq!((&*voice.name, &*ftp.name, &*bulk.name), ("voice", "ftp", "bulk"));
    assert_eq!(plan.class("ftp"), Some(ClassId(1)));

    let bucket = |bucket, rate| TokenBucket { bucket: Bytes(bucket), rate: Rate(rate) };
    let arrival = voice.arrival.as_ref().unwrap();
    assert_eq!(arrival.buckets, [bucket(300, 1_200_000), bucket(100, 2_000_000)]);
    assert_eq!(arrival.packet, Some(Bytes(100)));
    assert_eq!(voice.deadline, Some(Nanos(5 * MS)));
    assert_eq!(voice.weight, Weight::ONE);
    assert_eq!(voice.matching, Some("udp dport 4000".parse().unwrap()));

    assert_eq!(ftp.weight, Weight(500_000));
    assert_eq!(
        (ftp.deadline, &ftp.arrival, ftp.police, ftp.queue.is_none()),
        (None, &None, Police::Count, true)
    );

    let arrival = bulk.arrival.as_ref().unwrap();
    assert_eq!(arrival.buckets, [bucket(30_000, 1_000_000), bucket(3_000, 2_000_000)]);
    assert_eq!(bulk.police, Police::Demote);
    let expected = QueueSpec::limited(QueueLimit::Bytes(Bytes(64_000)));
    assert_eq!(bulk.queue.as_deref(), Some(&expected));
    assert_eq!((plan.max_packet(voice), plan.max_packet(bulk)), (Bytes(100), Bytes(1536)));
}

#[test]
fn packets_of_at_least_and_at_most() {
    let lengths = |packet: &str| {
        let new = format!("packet = {packet}");
        let plan = with("packet = \"100b\"", &new).unwrap();
        let voice = &plan.classes[0];
        (plan.min_packet(voice), plan.max_packet(voice))
    };
    let (none, most) = (Bytes(40), Bytes(100));
    assert_eq!(lengths("'100b'"), (none, most));
    assert_eq!(lengths("{ at-most = '100b' }"), (none, most));
    assert_eq!(lengths("{ at-least = '64b', at-most = '100b' }"), (Bytes(64), most));
    assert_eq!(lengths("{ at-least = '100b', at-most = '100b' }"), (most, most));
}

#[test]
fn sources_of_every_model() {
    let plan = parse(PLAN).unwrap();
    let sources = &plan.sources;
    assert_eq!(sources.len(), 9);

    let greedy = model(&sources[0]);
    assert_eq!(
        (greedy.class, greedy.count, greedy.packet),
        (ClassId(0), 1, Dist::Constant(Bytes(100)))
    );
    assert_eq!((greedy.start, greedy.stop), (Nanos::ZERO, None));
    let burst = Dist::Uniform(Nanos(2 * MS), Nanos(4 * MS));
    let spacing = Dist::Uniform(Nanos(6 * MS), Nanos(10 * MS));
    assert_eq!(greedy.model, Model::Greedy { burst, spacing });

    let constant = model(&sources[1]);
    assert_eq!(constant.model, Model::Constant { rate: Rate(1_000_000), jitter: None });
    assert_eq!((constant.count, constant.packet), (20, Dist::Uniform(Bytes(100), Bytes(1500))));
    assert_eq!((constant.start, constant.stop), (Nanos(1000 * MS), Some(Nanos(9000 * MS))));

    let poisson = model(&sources[2]);
    assert_eq!(poisson.model, Model::Poisson { rate: Rate(64_000) });
    assert_eq!(poisson.packet, Dist::Normal(Bytes(1700), Bytes(200)));

    let (on, off) = (Dist::Pareto(Nanos(5 * MS), 1.2), Dist::Weibull(Nanos(50 * MS), 1.0));
    assert_eq!(model(&sources[3]).model, Model::OnOff { rate: Rate(2_000_000), on, off });

    let (on, off) = (Dist::Pareto(Nanos(100 * MS), 1.5), Dist::Pareto(Nanos(200 * MS), 1.5));
    assert_eq!(model(&sources[4]).model, Model::OnOff { rate: Rate(2_000_000), on, off });
    assert_eq!(model(&sources[4]).packet, Dist::LogNormal(Bytes(600), 0.5));

    assert_eq!(model(&sources[5]).model, Model::Backlogged { window: 4 });

    let file = Path::new("folder").join("traffic.pcap");
    let filter = Some("udp or tcp".parse().unwrap());
    let path = Hops::default();
    assert_eq!(sources[6], Source::Recording(Recording { file, path, filter, sort: false }));
    let (file, path) = (Path::new("/data/arrivals.csv").into(), Hops::default());
    assert_eq!(sources[7], Source::Recording(Recording { file, path, filter: None, sort: true }));

    assert_eq!(model(&sources[8]).model, Model::Correlated { rate: Rate(64_000) });
}

#[test]
fn defaults_of_the_shortest_plan() {
    let text = "version = 1\nlink.rate = '1mbit'\nscheduler.kind = 'edf'\nclass.all = {}";
    let plan = parse(text).unwrap();
    assert_eq!(plan.title, None);
    assert_eq!((plan.link.max_packet, plan.link.min_packet), (Bytes(1514), Bytes(40)));
    assert_eq!(plan.scheduler, SchedulerSpec::EDF);
    assert_eq!(plan.run, RunSpec { duration: None, warm_up: Nanos::ZERO, seed: 1 });
    assert_eq!(plan.sources, []);
}

#[test]
fn class_order_survives_other_tables_between_and_digits() {
    let order = |text: &str| {
        let text = format!("version = 1\nlink.rate = '1mbit'\nscheduler.kind = 'wfq'\n{text}");
        let plan = parse(&text).unwrap();
        plan.classes.into_iter().map(|class| class.name).collect::<Vec<_>>()
    };
    assert_eq!(order("[class.z]\n[run]\n[class.a]\n[class.10]\n[class.2]"), ["z", "a", "10", "2"]);
    assert_eq!(order("class = { z = {}, \"a b\" = {} }"), ["z", "a b"]);
}

#[test]
fn weights_are_rounded_to_millionths() {
    let weight = |text: &str| with("0.5", text).unwrap().classes[1].weight;
    assert_eq!(weight("3"), Weight(3_000_000));
    assert_eq!(weight("4000"), Weight(4_000_000_000));
    assert_eq!(weight("0.1"), Weight(100_000));
    assert_eq!(weight("0.000001"), Weight(1));
    assert_eq!(weight("0.3333333333"), Weight(333_333));
    assert_eq!(weight("1e-3"), Weight(1_000));
}

#[test]
fn limits_of_packets_and_silences_of_zero() {
    let plan = with("\"64kB\"", "100").unwrap();
    let expected = QueueSpec::limited(QueueLimit::Packets(100));
    assert_eq!(plan.classes[2].queue.as_deref(), Some(&expected));
    assert!(with("{ uniform = [\"6ms\", \"10ms\"] }", "\"0ms\"").is_ok());
    assert!(with("off = { weibull = [\"50ms\", 1] }", "off = \"0s\"").is_ok());
}

#[test]
fn every_way_with_best_effort() {
    for way in BestEffort::ALL {
        let plan = with("\"exact\"", &format!("\"{}\"", way.name())).unwrap();
        assert_eq!(
            plan.scheduler,
            SchedulerSpec::Edf(EdfSpec {
                best_effort: way,
                order: BestEffortOrder::Wfq,
                late: Late::Send
            })
        );
    }
}

/// Every key that the plan of the reference uses is a property of its schema.
#[test]
fn the_schema_knows_every_key() {
    let schema = crate::schema();
    let root = schema.as_value();
    let plan: toml::Table = PLAN.parse().unwrap();
    known(root, root, &toml::Value::Table(plan), "plan");

    assert_eq!(root["properties"]["version"]["const"], 1);
    assert_eq!(root["additionalProperties"], false);
    let required = root["required"].as_array().unwrap();
    assert_eq!(required.len(), 3, "{required:?}");
    assert!(!root.to_string().contains("null"));
}

type Json = serde_json::Value;

fn known(root: &Json, schema: &Json, value: &toml::Value, path: &str) {
    if let Some(reference) = schema.get("$ref").and_then(Json::as_str) {
        return known(root, root.pointer(&reference[1..]).expect(reference), value, path);
    }
    if let Some(any) = schema.get("anyOf").and_then(Json::as_array) {
        let fits = |schema: &&Json| {
            let schema = match schema.get("$ref").and_then(Json::as_str) {
                Some(reference) => root.pointer(&reference[1..]).expect(reference),
                None => schema,
            };
            match value {
                toml::Value::Table(_) => schema["type"] == "object",
                toml::Value::Array(_) => schema["type"] == "array",
                _ => schema["type"] != "object" && schema["type"] != "array",
            }
        };
        let schema = any.iter().find(fits).unwrap_or_else(|| panic!("{path} fits nothing"));
        return known(root, schema, value, path);
    }
    match value {
        toml::Value::Table(table) => {
            for (key, value) in table {
                let path = format!("{path}.{key}");
                let own = schema.get("properties").and_then(|properties| properties.get(key));
                let schema =
                    own.or(schema.get("additionalProperties").filter(|more| more.is_object()));
                known(
                    root,
                    schema.unwrap_or_else(|| panic!("{path} is not in the schema")),
                    value,
                    &path,
                );
            }
        }
        toml::Value::Array(items) if schema.get("items").is_some() => {
            for item in items {
                known(root, &schema["items"], item, path);
            }
        }
        _ => {}
    }
}
