//! Routers as a service: plans that are read again, status, metrics, what systemd is told.

use std::os::unix::net::UnixDatagram;
use std::thread;
use std::time::Duration;

use super::network::{PLAN, Routers};
use crate::datagrams::uninterrupted;
use crate::folder::Folder;
use crate::sight::{get, promtool_is_content};

const CONTROL: [&str; 2] = ["--control", "laxity/r1-r2.sock"];

/// What a router does alone is followed; what all change at once, what does not fit, and what
/// cannot be read is refused. Packets pass throughout, and systemd hears of it.
#[test]
fn plans_are_read_again() {
    let folder = Folder::with_plan(PLAN);
    let systemd = UnixDatagram::bind(folder.path("notify")).unwrap();
    let systemd = thread::spawn(move || told(&systemd));
    let Some(mut routers) = Routers::start(&folder, &[]) else { return };
    let left = routers.running.of_threads("CapEff:");
    assert!(left.iter().all(|left| left.trim_start_matches('0').is_empty()));
    assert!(routers.running.of_threads("Seccomp:").iter().all(|mode| mode == "2"));
    routers.pass(0, 1, 5000, 5);

    let queue = "[class.rest]\nqueue = { kind = 'droptail', limit = 9 }";
    let good = PLAN.replace("[class.rest]", queue).replace("match", "police = 'demote'\nmatch");
    std::fs::write(folder.path("plan.toml"), good).unwrap();
    routers.running.signal("-HUP");
    routers.says(&["the plan is reloaded"]);
    routers.pass(0, 1, 5000, 7);

    let together = "which all routers change at once: start them again with the new plan";
    for (from, to, why) in [
        ("frames = 40", "frames = 50", "the frames of `tdp` differ"),
        ("udp dport 5000", "udp dport 5002", "the `match` of class `call` differs"),
        ("gap = '2ms'", "gap = '4ms'", "what class `call` has frames for differs"),
        ("delay = '20us'", "delay = '30us'", "the network is another one"),
        ("[class.rest]", "[class.others]", "the classes are others"),
        ("[class.rest]", "[class.more]\n[class.rest]", "the classes are others"),
    ] {
        std::fs::write(folder.path("plan.toml"), PLAN.replace(from, to)).unwrap();
        routers.running.signal("-HUP");
        routers.says(&[&format!("the plan is not reloaded: {why}")]);
        let refused = folder.laxity(&[&["reload"], &CONTROL[..]].concat()).printed(1);
        assert!(refused.contains(why) && refused.contains(together), "{refused}");
        routers.says(&[&format!("the plan is not reloaded: {why}")]);
    }
    std::fs::write(folder.path("plan.toml"), PLAN.replace("2ms", "2us")).unwrap();
    routers.running.signal("-HUP");
    routers.says(&["NOT ADMITTED"]);
    std::fs::write(folder.path("plan.toml"), "version = ").unwrap();
    routers.running.signal("-HUP");
    routers.says(&["plan.toml"]);
    routers.pass(0, 1, 5000, 9);

    let printed = routers.end();
    let calls = printed.lines().filter(|line| line.starts_with("call "));
    let counts: Vec<u64> =
        calls.map(|line| line.split_whitespace().nth(2).unwrap().parse().unwrap()).collect();
    let [before, after] = counts[..] else { panic!("two plans were followed: {printed}") };
    assert!(before >= 5 && after >= 16, "{printed}");
    let (alive, told): (Vec<_>, Vec<_>) =
        systemd.join().unwrap().into_iter().partition(|told| told == "WATCHDOG=1");
    let reloads = ["RELOADING=1", "READY=1"].repeat(9);
    assert_eq!(told, [&["READY=1"], &reloads[..], &["STOPPING=1"]].concat());
    assert!(!alive.is_empty());
}

/// The first lines of all that systemd is told, up to the end.
fn told(systemd: &UnixDatagram) -> Vec<String> {
    systemd.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let (mut all, mut message) = (Vec::new(), [0; 1000]);
    while all.last().is_none_or(|last| last != "STOPPING=1") {
        let Ok(length) = uninterrupted(|| systemd.recv(&mut message)) else { return all };
        let text = String::from_utf8_lossy(&message[..length]);
        all.extend(text.lines().next().map(str::to_string));
    }
    all
}

/// Status, metrics and page while packets pass.
#[test]
fn routers_are_seen() {
    let folder = Folder::with_plan(PLAN);
    let Some(mut routers) = Routers::start(&folder, &["--listen", "9464"]) else { return };
    routers.pass(0, 1, 5000, 20);
    let status = folder.laxity(&[&["status", "--json"], &CONTROL[..]].concat()).json(0);
    let class = &status["ways"][0]["classes"][0];
    let [sent, bound] = ["sent", "bound_ns"].map(|what| class[what].as_u64().unwrap());
    assert!(class["name"] == "call" && sent >= 20 && class["queued"] == 0, "{status}");
    assert!(class["delay_ns"]["min"].as_u64().unwrap() < bound, "{status}");
    assert_eq!(class["bytes_sent"].as_u64().unwrap(), sent * 142);
    let network = &status["network"];
    assert_eq!(network["nodes"], serde_json::json!(["r1", "r2"]));
    assert!(network["frames"]["passed"].as_u64().unwrap() > 100, "{status}");
    let names = status["interfaces"].as_array().unwrap().iter().map(|it| it["name"].as_str());
    let names: Vec<_> = names.map(Option::unwrap).collect();
    assert_eq!(names, ["r1:a=host", "r1:c=near", "r1:r2=core", "r2:r1=core", "r2:b=host"]);

    let text = folder.laxity(&[&["status"], &CONTROL[..]].concat()).printed(0);
    assert!(text.starts_with("r1, r2, for 0:00:") && text.contains("in frames"), "{text}");

    routers.nodes[1].switch("host", false).unwrap();
    routers.says(&["r2:b=host is down"]);
    // What was known a moment before may be told again.
    let is_down = "laxity_interface_up{interface=\"r2:b=host\"} 0\n";
    let look = || {
        thread::sleep(Duration::from_millis(50));
        Some(get(&routers.nodes[0], "/metrics")).filter(|text| text.contains(is_down))
    };
    let metrics = (0..100).find_map(|_| look());
    let metrics = metrics.expect("the interface is down");
    for line in [
        format!("laxity_class_sent_packets_total{{way=\"network\",class=\"call\"}} {sent}\n"),
        "laxity_interface_up{interface=\"r2:r1=core\"} 1\n".into(),
        "laxity_time_frames_total ".into(),
        "laxity_skipped_time_frames_total ".into(),
        "laxity_class_jitter_seconds{way=\"network\",class=\"call\"} ".into(),
    ] {
        assert!(metrics.contains(&line), "{line} in {metrics}");
    }
    assert!(!metrics.contains("laxity_lateness_seconds_count{"), "{metrics}");
    promtool_is_content(&metrics);
    assert!(get(&routers.nodes[0], "/").contains("<!doctype html>"));
    let socket = folder.path("laxity/r1-r2.sock");
    assert!(socket.exists());
    routers.end();
    assert!(!socket.exists());
}

/// What is queued at the end is sent, and counted.
#[test]
fn what_is_under_way_is_sent_at_the_end() {
    let tdp = "kind = 'tdp', frame = '250us', frames = 40, guard = '122us'";
    let plan = PLAN.replace(tdp, "kind = 'fifo'").replace("gap = '2ms'\n", "");
    let plan = plan.replace("100mbit", "1mbit");
    let folder = Folder::with_plan(&plan);
    let Some(routers) = Routers::start(&folder, &[]) else { return };
    // Address and all are known.
    routers.pass(0, 1, 6001, 1);
    let (sender, receiver, to) = routers.sockets(0, 1, 6000);
    (0..40).for_each(|_| assert_eq!(sender.send_to(&[7; 958], to).unwrap(), 958));
    let queued = || {
        let status = folder.laxity(&[&["status", "--json"], &CONTROL[..]].concat()).json(0);
        let rest = &status["ways"][0]["classes"][1];
        let [sent, queued] = ["sent", "queued"].map(|what| rest[what].as_u64().unwrap());
        (sent + queued >= 40).then_some(queued)
    };
    assert!((0..50).find_map(|_| queued()).is_some_and(|queued| queued > 0));
    let printed = routers.end();
    receiver.set_nonblocking(true).unwrap();
    let came = std::iter::from_fn(|| uninterrupted(|| receiver.recv(&mut [0; 2000])).ok()).count();
    assert_eq!(came, 40, "{printed}");
}
