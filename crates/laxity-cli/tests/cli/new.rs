//! `laxity new`: plans from answers and from the settings of routers; `import libreqos` and
//! `import vyos` as users run them.

use std::process::{Command, Stdio};

use std::io::Write;

use crate::folder::Folder;

/// What a household with a cable is asked.
pub(crate) const CABLE: [&str; 11] = [
    "new",
    "--link",
    "docsis",
    "--up",
    "10mbit",
    "--down",
    "100mbit",
    "--for",
    "calls,games",
    "--hosts",
    "4",
];

const SQM: &str = "\
config queue 'wan'
\toption enabled '1'
\toption interface 'eth1'
\toption download '180000'
\toption upload '19000'
\toption qdisc 'cake'
\toption script 'layer_cake.qos'
\toption eqdisc_opts 'nat dual-srchost'
\toption linklayer 'ethernet'
\toption overhead '18'
\toption tcMPU '64'
";

#[test]
fn plans_of_flags_are_proved_and_their_trial_keeps_its_promises() {
    let folder = Folder::new();
    let written = folder.laxity(&CABLE);
    assert_eq!((written.code, written.stderr.as_str()), (Some(0), ""), "{}", written.stdout);
    for (file, rate) in [("up.toml", "9.5mbit"), ("down.toml", "90mbit")] {
        let text = folder.text(file);
        for part in
            [format!("rate = \"{rate}\""), "overhead = \"docsis\"".into(), "[class.calls]".into()]
        {
            assert!(text.contains(&part), "`{part}` is missing in {text}");
        }
        let checked = folder.laxity(&["check", file]);
        assert_eq!((checked.code, checked.stderr.as_str()), (Some(0), ""), "{}", checked.stdout);
        assert!(written.stdout.contains(checked.stdout.trim()), "{}", written.stdout);
        let run = folder.laxity(&["run", file, "--duration", "2s"]);
        assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    }
}

#[test]
fn no_plan_is_written_over() {
    let folder = Folder::new().with("down.toml", "mine");
    let refused = folder.laxity(&CABLE);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("down.toml is there already"), "{}", refused.stderr);
    assert_eq!(folder.text("down.toml"), "mine");
    assert!(!folder.path("up.toml").exists());
}

#[test]
fn every_link_and_number_of_hosts_has_plans() {
    for (link, up, down, matters, hosts) in [
        ("pppoe-ptm", "10mbit", "50mbit", "calls", "1"),
        ("pppoa-vcmux", "1mbit", "8mbit", "calls", "1"),
        ("lte", "10mbit", "40mbit", "work,streaming", "8"),
        ("fibre", "1gbit", "1gbit", "calls,games,work,streaming", "50"),
        ("pppoe", "100mbit", "500mbit", "games", "20"),
        ("ethernet", "10gbit", "10gbit", "none", "1000"),
    ] {
        let folder = Folder::new();
        let arguments = [
            "new", "--link", link, "--up", up, "--down", down, "--for", matters, "--hosts", hosts,
            "--out", "plans",
        ];
        let written = folder.laxity(&arguments);
        assert_eq!(written.code, Some(0), "{link}: {}{}", written.stdout, written.stderr);
        let run = folder.laxity(&["run", "plans/up.toml", "--duration", "500ms"]);
        assert_eq!(run.code, Some(0), "{link}: {}{}", run.stdout, run.stderr);
    }
}

#[test]
fn a_link_that_is_too_small_is_said_so_with_what_fits() {
    let folder = Folder::new();
    let small = [
        "new",
        "--link",
        "docsis",
        "--up",
        "1mbit",
        "--down",
        "50mbit",
        "--for",
        "calls,games",
        "--hosts",
        "6",
    ];
    let refused = folder.laxity(&small);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    for part in [
        "NOT ADMITTED. 1mbit up is too little",
        "that needs ",
        "devices it fits",
        "Nothing was written",
    ] {
        assert!(refused.stdout.contains(part), "`{part}` is missing in {}", refused.stdout);
    }
    assert!(folder.content().is_empty());
    let mut json = small.to_vec();
    json.push("--json");
    let refusal: serde_json::Value = serde_json::from_str(&folder.laxity(&json).stdout).unwrap();
    assert_eq!(refusal["admitted"], false);
    let needed = refusal["needed_bps"].as_u64().unwrap();
    // With the rate that it names, and with the hosts that it names, there is a plan.
    let more = format!("{needed}bit");
    let fitting = refusal["fitting_hosts"].to_string();
    for (rate, hosts) in [(more.as_str(), "6"), ("1mbit", fitting.as_str())] {
        let fits = Folder::new().laxity(&[
            "new",
            "--link",
            "docsis",
            "--up",
            rate,
            "--down",
            "50mbit",
            "--for",
            "calls,games",
            "--hosts",
            hosts,
        ]);
        assert_eq!(fits.code, Some(0), "{rate} {hosts}: {}", fits.stdout);
    }
}

#[test]
fn a_link_that_is_next_to_nothing_is_too_small_as_well() {
    let folder = Folder::new();
    let refused = folder.laxity(&["new", "--yes", "--up", "1bit", "--down", "50mbit"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stdout.contains("that needs "), "{}", refused.stdout);
}

#[test]
fn nobody_is_asked_outside_of_a_terminal() {
    let folder = Folder::new();
    let refused = folder.laxity(&["new", "--up", "10mbit", "--down", "50mbit"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("--link is not given"), "{}", refused.stderr);
    let written = folder.laxity(&["new", "--yes", "--up", "10mbit", "--down", "50mbit"]);
    assert_eq!(written.code, Some(0), "{}", written.stderr);
    for (arguments, part) in [
        (["--link", "isdn"], "docsis"),
        (["--for", "chess"], "calls, games"),
        (["--hosts", "0"], "from 1 to 1000"),
        (["--up", "10"], "no unit"),
    ] {
        let refused = folder.laxity(&[&["new"], &arguments[..]].concat());
        assert_eq!(refused.code, Some(2));
        assert!(refused.stderr.contains(part), "{}", refused.stderr);
    }
}

#[test]
fn five_questions_are_asked_in_a_terminal() {
    let folder = Folder::new();
    let command = format!("{} new", env!("CARGO_BIN_EXE_laxity"));
    let script = Command::new("script")
        .args(["-qefc", &command, "/dev/null"])
        .current_dir(folder.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut script) = script else {
        eprintln!("skipped: util-linux's `script` is not installed");
        return;
    };
    script.stdin.take().unwrap().write_all(b"isdn\n1\n10mbit\n100mbit\ncalls\n4\n").unwrap();
    let output = script.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "What link is it?",
        "Not understood",
        "Rate up",
        "What matters?",
        "How many devices",
        "Admitted",
    ] {
        assert!(text.contains(part), "`{part}` is missing in {text}");
    }
    assert!(folder.text("up.toml").contains("overhead = \"docsis\""));
}

#[test]
fn a_router_is_read_and_what_is_not_kept_is_noted() {
    let folder = Folder::new().with("sqm", SQM);
    let written = folder.laxity(&["new", "--from", "sqm", "sqm", "--yes"]);
    assert_eq!(written.code, Some(0), "{}{}", written.stdout, written.stderr);
    assert!(written.stderr.contains("Note: up: nat:"), "{}", written.stderr);
    let up = folder.text("up.toml");
    for part in [
        "rate = \"19mbit\"",
        "overhead = \"docsis\"",
        "dscp {4, 44, ef, cs6, cs7}",
        "# up: nat:",
        "isolation = \"dual-srchost\"",
    ] {
        assert!(up.contains(part), "`{part}` is missing in {up}");
    }
    assert!(folder.text("down.toml").contains("rate = \"180mbit\""));
    let wrong = Folder::new().with("sqm", SQM.replace("'19000'", "'fast'"));
    let refused = wrong.laxity(&["new", "--from", "sqm", "sqm", "--yes"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("sqm:5: `upload`"), "{}", refused.stderr);
}

#[test]
fn command_lines_of_cake_are_read() {
    let script = "UP=20mbit\ntc qdisc replace dev eth0 root cake bandwidth $UP diffserv4 pppoe-ptm\n\
                  tc qdisc replace dev ifb0 root cake bandwidth 90mbit besteffort ingress pppoe-ptm\n";
    let folder = Folder::new().with("shaper.sh", script);
    let written = folder.laxity(&[
        "new",
        "--from",
        "cake",
        "shaper.sh",
        "--for",
        "calls",
        "--hosts",
        "2",
        "--json",
    ]);
    assert_eq!(written.code, Some(0), "{}{}", written.stdout, written.stderr);
    let answer: serde_json::Value = serde_json::from_str(&written.stdout).unwrap();
    assert_eq!(answer["up"]["rate_bps"], 20_000_000);
    assert_eq!(answer["down"]["rate_bps"], 90_000_000);
    assert_eq!(answer["up"]["admitted"], true);
    assert!(folder.text("up.toml").contains("[class.video]"));
}

#[test]
fn qosmate_promises_its_games_what_it_says() {
    let settings = "config settings 'settings'\n\toption WAN 'eth1'\n\toption DOWNRATE '90000'\n\toption UPRATE '45000'\n\
                    \toption ROOT_QDISC 'hfsc'\nconfig hfsc 'hfsc'\n\toption GAMEUP '2000'\n\toption MAXDEL '24'\n\
                    config rule\n\toption name 'console'\n\toption proto 'udp'\n\toption src_ip '192.168.1.208'\n\
                    \toption class 'cs5'\n";
    let folder = Folder::new().with("qosmate", settings);
    let written = folder.laxity(&["new", "--from", "qosmate", "qosmate", "--yes"]);
    assert_eq!(written.code, Some(0), "{}{}", written.stdout, written.stderr);
    let up = folder.text("up.toml");
    for part in ["deadline = \"24ms\"", "rate = \"2mbit\"", "udp and saddr {192.168.1.208}"] {
        assert!(up.contains(part), "`{part}` is missing in {up}");
    }
}

const NETWORK: &str = r#"{ "North": { "downloadBandwidthMbps": 100, "uploadBandwidthMbps": 50, "children": {
    "Mast": { "downloadBandwidthMbps": 8, "uploadBandwidthMbps": 4 } } } }"#;
const DEVICES: &str = "\
Circuit ID,Circuit Name,Device ID,Device Name,Parent Node,MAC,IPv4,IPv6,Download Min Mbps,Upload Min Mbps,Download Max Mbps,Upload Max Mbps,Comment,sqm
1,Mill,1,router,Mast,,100.64.0.1,,6,1,50,5,,
2,Farm,2,router,Mast,,100.64.0.2,,10,1,20,5,,cake
";

#[test]
fn circuits_of_libreqos_are_plans_and_guarantees() {
    let folder = Folder::new().with("network.json", NETWORK).with("ShapedDevices.csv", DEVICES);
    let import = ["import", "libreqos", "network.json", "ShapedDevices.csv", "--out", "plans"];
    let written = folder.laxity(&import);
    assert_eq!(written.code, Some(0), "{}{}", written.stdout, written.stderr);
    assert!(written.stderr.contains("node Mast is oversubscribed down"), "{}", written.stderr);
    assert!(written.stdout.contains("3.000"), "{}", written.stdout);
    for file in ["plans/down.toml", "plans/up.toml"] {
        let checked = folder.laxity(&["check", file]);
        assert_eq!(checked.code, Some(0), "{}{}", checked.stdout, checked.stderr);
    }
    let json =
        ["import", "libreqos", "network.json", "ShapedDevices.csv", "--out", "again", "--json"];
    let answer: serde_json::Value = serde_json::from_str(&folder.laxity(&json).stdout).unwrap();
    assert_eq!(answer["circuits"][1]["down"]["guaranteed_bps"], 5_000_000);

    let wrong = DEVICES
        .replace(",6,1,50,", ",6,one,50,")
        .replace("Farm,2,router,Mast", "Farm,2,router,Hill");
    let folder = Folder::new().with("network.json", NETWORK).with("ShapedDevices.csv", wrong);
    let refused = folder.laxity(&import);
    assert_eq!(refused.code, Some(2));
    for part in
        ["ShapedDevices.csv:2:10: Upload Min Mbps", "ShapedDevices.csv:3:5: Parent Node: `Hill`"]
    {
        assert!(refused.stderr.contains(part), "{}", refused.stderr);
    }
    assert!(!folder.path("plans").exists());
}

#[test]
fn a_policy_of_vyos_is_a_plan() {
    let config = "set qos policy shaper WAN bandwidth 20mbit\nset qos policy shaper WAN class 10 bandwidth 10%\n\
                  set qos policy shaper WAN class 10 match VOICE ip dscp EF\nset qos policy shaper WAN default bandwidth 80%\n";
    let folder = Folder::new().with("vyos", config);
    let written = folder.laxity(&["import", "vyos", "vyos", "--out", "plan.toml"]);
    assert_eq!(written.code, Some(0), "{}", written.stderr);
    assert!(written.stderr.contains("Note: "), "{}", written.stderr);
    let checked = folder.laxity(&["check", "plan.toml"]);
    assert_eq!(checked.code, Some(0), "{}{}", checked.stdout, checked.stderr);
    let refused = folder.laxity(&["import", "vyos", "vyos", "--policy", "LAN"]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("there is no policy `LAN`: there are WAN"),
        "{}",
        refused.stderr
    );
}
