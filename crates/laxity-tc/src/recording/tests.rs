//! Scripts that were run.

use super::*;

fn issued(text: &str, input: Option<&str>, at: Option<u64>) -> RecordedCommand {
    let words = text.split(' ').map(String::from).collect();
    RecordedCommand { words, input: input.map(String::from), at }
}

#[test]
fn issued_commands_are_read_as_written_ones() {
    let head = "tc qdisc add dev eth0 root handle 1: hfsc default 20";
    let batch = "class add dev eth0 parent 1: classid 1:1 hfsc sc m2 10mbit ul m2 10mbit\n\
                 class add dev eth0 parent 1:1 classid 1:10 hfsc sc m2 1mbit # voice\nEND\n\n";
    let last = "tc class add dev eth0 parent 1:1 classid 1:20 hfsc ls m2 9mbit";
    let script = format!("{head}\ntc -b file\n{last} # rest\n");
    let at = |line: &str| {
        let end = script.find(line).map(|at| at + line.len() + 1);
        end.map(|end| end as u64)
    };
    let all = vec![
        issued("tc qdisc show dev eth0", None, at(&format!("{last} # rest"))),
        issued(head, None, at(head)),
        issued("tc -b file", Some(batch), at("tc -b file")),
        issued("ip link set dev eth0 txqueuelen 50", None, None),
        issued(last, None, at(&format!("{last} # rest"))),
        issued("modprobe sch_hfsc", None, Some(u64::MAX)),
    ];
    let ran = Recording { script: &script, commands: all, remarks: vec!["it was run".into()] };
    let import = import_recording(&ran, "folder/script.sh", &Options::default()).unwrap();
    let notes: Vec<String> =
        import.notes.iter().map(|note| format!("{}: {}", note.line, note.text)).collect();
    for part in ["0: it was run", "3: the script asked `tc qdisc show dev eth0`", "0: `modprobe"] {
        assert!(notes.iter().any(|note| note.starts_with(part)), "{part}: {notes:#?}");
    }
    for part in ["[class.voice]", "[class.rest]", "limit = 50", "Imported from script.sh"] {
        assert!(import.plan.contains(part), "{part}: {}", import.plan);
    }
}

#[test]
fn a_fault_shows_the_command_as_it_was_issued() {
    let all = vec![issued("tc qdisc add dev eth0 root handle 1: hfsc default zz", None, Some(3))];
    let told = vec!["the script was ended after 10 s".to_string()];
    let ran = Recording { script: "tc $X\n", commands: all, remarks: told };
    let error = import_recording(&ran, "script.sh", &Options::default()).unwrap_err();
    assert!(error.help().unwrap().contains("The script was ended after 10 s."), "{error:?}");
    assert_eq!(error.name(), "script.sh, as it ran");
    let span = error.span().unwrap();
    assert_eq!(&error.text()[span], "zz");

    let ran = Recording { remarks: vec!["it ended with status 1".into()], ..Recording::default() };
    let error = import_recording(&ran, "script.sh", &Options::default()).unwrap_err();
    assert!(error.message().contains("set nothing up"), "{error}");
    assert!(error.help().unwrap().contains("status 1"), "{error:?}");
}

/// Whatever a script leaves behind is read in the time that its length takes.
#[test]
fn what_was_recorded_is_read_in_linear_time() {
    let begin = std::time::Instant::now();
    let ends: String = (0..2_000).map(|at| format!("END{}\n", "_".repeat(at))).collect();
    let script = format!("tc x{}\ntc y", " ".repeat(4_000_000));
    let asks = |at| issued("tc qdisc add", None, Some(at));
    let mut all: Vec<RecordedCommand> =
        (0..20_000).map(|at| asks(if at % 2 == 0 { 4_000_005 } else { 3 })).collect();
    all.push(issued("tc -batch -", Some(&ends), None));
    let recording = Recording { script: &script, commands: all, remarks: Vec::new() };
    let read = Reader::new(&recording).read(&mut Notes::default()).unwrap();
    assert_eq!((read.len(), read[0].line, read[1].line), (22_000, 1, 1));
    assert!(begin.elapsed() < std::time::Duration::from_secs(20), "{:?}", begin.elapsed());
}

#[test]
fn what_a_table_is_restored_from_keeps_its_options() {
    let mut all = vec![issued("tc qdisc add dev eth0 root handle 1: hfsc default 1", None, None)];
    let text = "*mangle\n-A POSTROUTING -j MARK --set-mark 1\n*nat\n-A POSTROUTING -j MASQUERADE\n";
    for words in ["iptables-restore -w 5 /file", "ip6tables-nft-restore -T mangle"] {
        all.push(issued(words, Some(text), None));
    }
    let words: Vec<String> =
        words_recorded(&all).unwrap().into_iter().map(|words| words.join(" ")).collect();
    let of = |head: &str| words.iter().filter(|words| words.starts_with(head)).count();
    assert_eq!((of("iptables -t mangle -A"), of("iptables -t nat -A")), (1, 1), "{words:#?}");
    let nft = (of("ip6tables-nft -t mangle -A"), of("ip6tables-nft -t nat"));
    assert_eq!(nft, (1, 0), "{words:#?}");
}

#[test]
fn words_stay_as_they_are() {
    let all = [
        vec!["tc", "a b", "", "it's", "$(x) `y`", "#no", "two\nlines", "ü*"],
        vec!["tc", "qdisc", "{a,b}", "~", "\\", "\"", "x;y&z|<>"],
    ];
    let words = |words: &Vec<&str>| words.iter().map(ToString::to_string).collect();
    let all: Vec<Vec<String>> = all.iter().map(words).collect();
    let issued: Vec<RecordedCommand> = all
        .iter()
        .map(|words| RecordedCommand { words: words.clone(), ..RecordedCommand::default() })
        .collect();
    assert_eq!(words_recorded(&issued).unwrap(), all);
}

#[test]
fn what_only_shows_is_told_apart() {
    let asks = |text: &str| asks(&issued(text, None, None).words);
    for text in [
        "tc qdisc show dev eth0",
        "tc -s qdisc",
        "ip -o link",
        "ip route get 1.1.1.1",
        "ip a",
        "ifconfig eth0",
        "ethtool eth0",
        "sysctl -n net.ipv4.ip_forward",
        "iptables -t mangle -C OUTPUT",
        "iptables-save",
        "nft list ruleset",
    ] {
        assert!(asks(text), "{text}");
    }
    for text in [
        "tc qdisc add dev eth0",
        "tc -b",
        "ip link set eth0 up",
        "ifconfig eth0 up",
        "ethtool -K eth0 tso off",
        "sysctl -w a=1",
        "sysctl a=1",
        "iptables -A OUTPUT",
        "nft add rule x",
        "nft -f x",
        "modprobe x",
    ] {
        assert!(!asks(text), "{text}");
    }
}
