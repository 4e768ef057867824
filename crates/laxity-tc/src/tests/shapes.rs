//! Shapes of scripts that are not followed, and what is said of them. Those that are stand in
//! `tests/shapes`, beside the machine's own shell.

use super::refusal;

#[test]
fn what_carries_a_command_elsewhere_is_refused_with_its_place() {
    for script in [
        "ssh router tc qdisc add dev eth0 root hfsc",
        "ssh router 'tc qdisc add dev eth0 root hfsc'",
        "find /sys -exec tc class add dev {} root ';'",
        "parallel tc class add dev {} ::: eth0 eth1",
        "awk 'BEGIN { system(\"tc qdisc add dev eth0 root hfsc\") }'",
        "ip link | xargs -n1 tc class add dev",
    ] {
        let (line, message, help) = refusal(&format!(":\n{script}\n"));
        assert!(line == 2 && !help.is_empty(), "{script}: {line} {message} {help}");
    }
}

#[test]
fn what_is_empty_or_asked_for_is_named() {
    let (_, message, help) = refusal("tc qdisc add dev $IFB root handle 1: htb default 10\n");
    assert!(message.contains("`$IFB`") && help.contains("--set IFB="), "{message} {help}");
    let (_, message, help) = refusal("tc qdisc add dev \"$IFB\" root handle 1: htb\n");
    assert!(message.contains("`$IFB`") && help.contains("--set IFB="), "{message} {help}");
    let (_, _, help) = refusal("while true; do read X; [ \"$X\" -gt 0 ] && break; done\n");
    assert!(help.contains("--set X="), "{help}");
}
