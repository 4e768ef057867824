//! What scripts issue, however they do.

use laxity_linux::jail::Jail;

use crate::{Folder, Test, ended, lines, run};

pub const TESTS: &[Test] = &[
    ("commands_are_recorded_in_order", commands_are_recorded_in_order),
    ("tools_are_found_at_every_place", tools_are_found_at_every_place),
    ("input_is_recorded", input_is_recorded),
    ("other_users_run_the_command", other_users_run_the_command),
    ("a_script_sees_root_and_a_fixed_environment", a_script_sees_root_and_a_fixed_environment),
    ("places_are_where_bash_has_read_to", places_are_where_bash_has_read_to),
    ("the_first_line_says_the_shell", the_first_line_says_the_shell),
    ("files_beside_the_script_are_read", files_beside_the_script_are_read),
    ("a_script_has_the_name_it_is_called_by", a_script_has_the_name_it_is_called_by),
    ("what_is_asked_is_answered_with_nothing", what_is_asked_is_answered_with_nothing),
];

fn commands_are_recorded_in_order() {
    let ran =
        run("for i in 1 2 3; do tc class add dev eth0 classid 1:$i; done\nip link set eth0 up\n\
                   iptables -t mangle -A POSTROUTING -j MARK --set-mark 1\ntc 'a  b' ''\nexit 4");
    ended(&ran, 4);
    let expected = [
        "tc class add dev eth0 classid 1:1",
        "tc class add dev eth0 classid 1:2",
        "tc class add dev eth0 classid 1:3",
        "ip link set eth0 up",
        "iptables -t mangle -A POSTROUTING -j MARK --set-mark 1",
        "tc a  b ",
    ];
    assert_eq!(lines(&ran), expected);
    assert_eq!(ran.records[5].words, ["tc", "a  b", ""]);
}

fn tools_are_found_at_every_place() {
    let ran = run("/sbin/tc 1; /usr/sbin/tc 2; /usr/bin/ip 3; command tc 4; env -i /sbin/tc 5\n\
                   PATH=/sbin:/bin:/usr/sbin:/usr/bin; tc 6; iptables 7; nft 8; (exec -a other tc 9)\n\
                   exec tc 10");
    ended(&ran, 0);
    let expected =
        ["tc 1", "tc 2", "ip 3", "tc 4", "tc 5", "tc 6", "iptables 7", "nft 8", "tc 9", "tc 10"];
    assert_eq!(lines(&ran), expected);
}

fn input_is_recorded() {
    let ran = run("echo 'qdisc add' | tc -batch -\ntc -b <<< 'class add'\n\
                   echo 'filter add' > /tmp/batch; tc -force -batch /tmp/batch\n\
                   echo '*mangle' | iptables-restore -n\nprintf 'table x' | nft -f -\n\
                   tc -b /none\nrm /run/.laxity/records; tc lost && exit 7\nexit 3");
    ended(&ran, 3);
    let said = String::from_utf8_lossy(&ran.said);
    assert!(said.contains("tc: cannot write down what it is told"), "{said}");
    let inputs: Vec<_> = ran.records.iter().map(|record| record.input.as_deref()).collect();
    let expected = ["qdisc add\n", "class add\n", "filter add\n", "*mangle\n", "table x"];
    assert_eq!(inputs, expected.map(Some));
}

fn other_users_run_the_command() {
    let ran = run(
        "sudo tc 1; sudo -n -u root -E X=2 sh -c 'tc $X'; sudo -s tc 3 'a b'; sudo -i -- tc 4\n\
                   su -c 'tc 5'; su - root -c 'tc 6'; doas tc 7; ip netns exec red tc 8; sudo -uroot tc 9",
    );
    ended(&ran, 0);
    let expected = ["tc 1", "tc 2", "tc 3 a b", "tc 4", "tc 5", "tc 6", "tc 7", "tc 8", "tc 9"];
    assert_eq!(lines(&ran), expected);
}

fn a_script_sees_root_and_a_fixed_environment() {
    let folder = Folder::new("environment");
    let script = folder
        .script("tc $(id -u) $(id -g) $EUID $HOME \"${CARGO_MANIFEST_DIR-none}\" $RATE $1 $#");
    let ran = Jail::new(script).argument("start").argument("now").variable("RATE", "5mbit").run();
    let ran = ran.expect("it runs");
    ended(&ran, 0);
    assert_eq!(lines(&ran), ["tc 0 0 0 /root none 5mbit start 2"]);
}

fn places_are_where_bash_has_read_to() {
    let text = "tc 1 # a\nfor i in 2 3; do\n  nice tc $i\ndone\nf() {\n  (tc 4)\n}\n\nf; echo 'tc 5' | sh\n";
    let ran = run(text);
    let whole = format!("#!/bin/bash\n{text}");
    let places = ran.records.iter().map(|record| {
        let read = &whole[..usize::try_from(record.at.expect("a place")).unwrap()];
        read.trim_end().rsplit('\n').next().unwrap()
    });
    let last = "f; echo 'tc 5' | sh";
    assert_eq!(places.collect::<Vec<_>>(), ["tc 1 # a", "done", "done", last, last]);
}

fn the_first_line_says_the_shell() {
    let folder = Folder::new("shell");
    for (text, expected) in [
        ("#!/bin/sh -e\ntc $-", "tc e"),
        ("#!/usr/bin/env bash\ntc ${BASH_VERSION:+bash}", "tc bash"),
        ("tc ${BASH_VERSION:+bash}", "tc bash"),
    ] {
        let ran = Jail::new(folder.write("script", text)).run().expect("it runs");
        assert_eq!(lines(&ran), [expected]);
    }
    let error = Jail::new(folder.write("script", "#!/none\n")).run().expect_err("no shell");
    let told = error.to_string();
    assert!(told.contains("cannot start") && !told.contains("Landlock"), "{told}");
    assert!(Jail::new(folder.path().join("none")).run().is_err());
}

fn files_beside_the_script_are_read() {
    let folder = Folder::new("beside");
    folder.write("rates", "RATE=7mbit");
    let ran = Jail::new(folder.script(". \"$(dirname \"$0\")/rates\"; tc $RATE")).run();
    assert_eq!(lines(&ran.expect("it runs")), ["tc 7mbit"]);
}

fn a_script_has_the_name_it_is_called_by() {
    let folder = Folder::new("name");
    let script = folder.script("tc \"$0\" \"${0##*/}\"");
    let link = folder.path().join("other");
    std::os::unix::fs::symlink(&script, &link).expect("a link");
    let ran = Jail::new(&link).run().expect("it runs");
    assert_eq!(lines(&ran), [format!("tc {} other", link.display())]);
}

fn what_is_asked_is_answered_with_nothing() {
    let ran = run("[ -z \"$(tc qdisc show dev eth0)\" ] && ip link show eth0 && \
                   ! iptables -C OUTPUT -j ACCEPT && tc yes");
    ended(&ran, 0);
    assert_eq!(lines(&ran).len(), 4);
}
