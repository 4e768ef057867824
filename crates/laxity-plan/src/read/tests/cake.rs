//! CAKE: what is read, and what is refused.

use laxity::aqm::Limit;
use laxity::packet::{FlowId, HostId, Hosts};
use laxity::sched::cake::{AckFilter, CakeSettings, Diffserv, Isolation};
use laxity::units::{Bytes, Nanos, Rate};

use super::parse;
use crate::model::{BestEffortOrder, CakeSpec, QueueLimit, SchedulerSpec};

fn text(scheduler: &str, class: &str, sources: &str) -> String {
    format!(
        "version = 1\nlink = {{ rate = \"10mbit\", max-packet = \"1500b\" }}\n\
         scheduler = {{ {scheduler} }}\n[class.a]\n{class}\n[class.b]\n{sources}"
    )
}

fn refused(text: &str, at: &str, message: &str) {
    let error = parse(text).unwrap_err();
    let said = format!("{error} {}", error.help().unwrap_or_default());
    assert!(said.contains(message), "{said} instead of {message}");
    assert_eq!(error.text().get(error.span().unwrap()), Some(at), "{said}");
}

#[test]
fn keys_are_read() {
    let read = |keys: &str| {
        let plan = parse(&text(&format!("kind = \"cake\"{keys}"), "", "")).unwrap();
        let SchedulerSpec::Cake(spec) = plan.scheduler else { panic!("{keys}") };
        (spec, spec.on(&plan.link))
    };
    let (spec, settings) = read("");
    assert_eq!(spec, CakeSpec::USUAL);
    // Four round trips of the link are 500 kB, and 4 MiB the least.
    let usual = CakeSettings {
        rate: Rate(10_000_000),
        limit: Limit::Bytes(4 << 20),
        max_packet: 1_500,
        ..CakeSettings::USUAL
    };
    assert_eq!(settings, usual);
    let all = ", diffserv = \"diffserv8\", isolation = \"dual-srchost\", rtt = \"30ms\", flows = 64, \
               limit = \"100kB\", rate = \"8mbit\", ingress = true, ack-filter = \"aggressive\", wash = true";
    let (spec, settings) = read(all);
    assert_eq!(
        (spec.rate, spec.limit, spec.wash),
        (Some(Rate(8_000_000)), Some(QueueLimit::Bytes(Bytes(100_000))), true)
    );
    let expected = CakeSettings {
        diffserv: Diffserv::Diffserv8,
        isolation: Isolation::DualSrchost,
        rate: Rate(8_000_000),
        shapes: true,
        rtt: Nanos(30_000_000),
        limit: Limit::Bytes(100_000),
        queues: 64,
        ingress: true,
        ack_filter: AckFilter::Aggressive,
        max_packet: 1_500,
    };
    assert_eq!(settings, expected);
}

#[test]
fn keys_that_make_no_sense() {
    let keys = |keys: &str, at: &str, message: &str| {
        refused(&text(&format!("kind = \"cake\", {keys}"), "", ""), at, message);
    };
    keys("flows = 100", "100", "a multiple of 8");
    keys("flows = 4", "4", "8 to 65536");
    keys("rtt = \"0s\"", "\"0s\"", "`rtt` is zero");
    keys("limit = 0", "0", "`limit` is zero");
    keys("diffserv = \"diffserv5\"", "\"diffserv5\"", "diffserv4");
    keys("isolation = \"triple\"", "\"triple\"", "triple-isolate");
    keys("quantum = \"100b\"", "\"100b\"", "`quantum` does not belong to `kind = \"cake\"`");
    let class = |class: &str, at: &str, message: &str| {
        refused(&text("kind = \"cake\"", class, ""), at, message);
    };
    class("dscp = 64", "64", "there are 0 to 63");
    class("dscp = \"best\"", "\"best\"", "no name of a code point");
    let source =
        "[[source]]\nclass = \"a\"\nmodel = \"constant\"\nrate = \"1mbit\"\npacket = \"99b\"\n";
    let hosts = |hosts: &str, at: &str, message: &str| {
        let source = format!("{source}hosts = {hosts}\n");
        refused(&text("kind = \"cake\"", "", &source), at, message);
    };
    hosts("[\"laptop\"]", "[\"laptop\"]", "too few values");
    hosts("\"laptop\"", "\"laptop\"", "two names such as");
}

#[test]
fn classes_have_code_points_and_the_hosts_of_their_sources() {
    let source = |class: &str, rest: &str| {
        format!(
            "[[source]]\nclass = \"{class}\"\nmodel = \"constant\"\nrate = \"1mbit\"\npacket = \"99b\"\n{rest}\n"
        )
    };
    let sources = source("a", "count = 3\nhosts = [\"x\", \"y\"]")
        + &source("b", "hosts = [\"y\", \"z\"]")
        + &source("a", "")
        + &source("a", "count = 2\nhosts = [\"z\", \"x\"]");
    let plan = parse(&text("kind = \"cake\"", "dscp = \"ef\"", &sources)).unwrap();
    let [a, b] = [0, 1].map(|class: usize| &plan.classes[class]);
    assert_eq!((a.dscp, b.dscp), (46, 0));
    let hosts =
        |source, destination| Hosts { source: HostId(source), destination: HostId(destination) };
    let of_a = [(3, hosts(0, 1)), (4, Hosts::UNKNOWN), (6, hosts(2, 0))];
    assert_eq!(*a.hosts, of_a.map(|(end, hosts)| (FlowId(end), hosts)));
    assert_eq!(*b.hosts, [(FlowId(1), hosts(1, 2))]);
    let unknown = parse(&text("kind = \"cake\"", "", &source("a", ""))).unwrap();
    assert!(unknown.classes[0].hosts.is_empty());
}

#[test]
fn edf_orders_best_effort_so() {
    let plan =
        parse(&text("kind = \"edf\", best-effort-order = \"cake\"", "dscp = 8", "")).unwrap();
    let SchedulerSpec::Edf(edf) = plan.scheduler else { panic!("{:?}", plan.scheduler) };
    assert_eq!(edf.order, BestEffortOrder::Cake);
}
