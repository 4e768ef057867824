//! What tc would refuse, and what leaves the plan open: refused with its line and what is accepted.

use super::{HEAD, refusal};
use crate::{LARGEST_SCRIPT, Options};

/// The head with one more line is refused at this line.
fn refused(line: &str, says: &str, helps: &str) {
    let (at, message, help) = refusal(&format!("{HEAD}{line}\n"));
    assert_eq!(at, 5, "{line}: {message}");
    assert!(message.contains(says), "{line}: {message}");
    assert!(help.contains(helps), "{line}: {help}");
}

#[test]
fn quantities() {
    let class = |curves: &str, says: &str, helps: &str| {
        refused(
            &format!("tc class add dev eth0 parent 1:1 classid 1:30 hfsc {curves}"),
            says,
            helps,
        );
    };
    class("sc m2 10parsec", "`10parsec` is not a rate", "kbit, mbit");
    class("sc m2 -1mbit", "`-1mbit` is not a rate", "kbit");
    class("sc m2 50%", "share of the interface's speed", "write the rate itself");
    class("sc m2 11tbit", "`11tbit` is too large", "10000gbit");
    class("sc m2 1e99mbit", "is too large", "10000gbit");
    class("sc m2 $RATE", "`m2` has no value", "--set RATE=VALUE");
    class("sc m2 ${RATE}kbit", "`kbit` is not a rate", "--set RATE=VALUE");
    class("sc m2 $(nproc)mbit", "is not a rate", "--set NAME=VALUE");
    class("sc umax 1q dmax 1ms rate 1mbit", "`1q` is not a size", "1024 bytes");
    class("sc umax 1500 dmax 1h rate 1mbit", "`1h` is not a time", "microseconds");
    class("sc umax 1500 rate 1mbit", "`umax` without a `dmax`", "dmax");
    class("sc umax 1gb dmax 1us rate 1mbit", "too much", "10000gbit");
    class("sc m1 0 d 1ms m2 0", "both slopes of this curve are zero", "m2");
    class("sc m1 1mbit d 1ms", "`m2` is missing here", "m2 RATE");
    class("sc dmax 1ms", "the curve is missing", "m2 RATE");
    class("sc fast", "`fast` does not belong to a curve", "[[m1 RATE] d TIME] m2 RATE");
    class("sc m2", "`m2` has no value", "");
    class("sc m1 1mbit d 1ms m3 1mbit", "`m2` is missing here", "[[m1 RATE] d TIME] m2 RATE");
    class("xx m2 1mbit", "`xx` does not belong to a class of hfsc", "rt, ls, sc, ul");
    class("rt m2 1mbit ul m2 1mbit", "`ul` without `ls`", "ls m2");
    class("", "no curves", "rt, ls, sc");
}

#[test]
fn names_and_places() {
    refused(
        "tc class add dev eth0 parent 1:9 classid 1:30 hfsc sc m2 1mbit",
        "no class 1:9",
        "after",
    );
    refused(
        "tc class add dev eth0 parent 1:1 classid 1:xyz hfsc sc m2 1mbit",
        "`1:xyz` is not the name",
        "hexadecimal",
    );
    refused(
        "tc class add dev eth0 parent 1:1 classid 1:10000 hfsc sc m2 1mbit",
        "is not the name",
        "hexadecimal",
    );
    refused("tc class add dev eth0 parent 1:1 hfsc sc m2 1mbit", "no `classid`", "classid 1:10");
    refused(
        "tc class add dev eth0 parent 1:1 classid 1:0 hfsc sc m2 1mbit",
        "`1:0` is not",
        "not zero",
    );
    refused(
        "tc class add parent 1:1 classid 1:30 hfsc sc m2 1mbit",
        "names no interface",
        "dev eth0",
    );
    refused("tc class add dev eth0 parent 1:1 classid 1:30", "no kind", "hfsc or htb");
    refused(
        "tc class add dev eth0 parent 1:1 classid 1:30 htb rate 1mbit",
        "`htb` is not the kind",
        "qdisc is hfsc",
    );
    refused(
        "tc class change dev eth0 parent 1:1 classid 1:30 hfsc sc m2 1mbit",
        "no class 1:30",
        "",
    );
    refused(
        "tc qdisc replace dev eth0 root handle 1: hfsc defualt 20",
        "`defualt` does not belong",
        "default",
    );
    refused("tc qdisc add dev eth0 parent 1:10", "no kind", "hfsc");
    refused(
        "tc filter add dev eth0 parent 1:x protocol ip matchall",
        "`1:x` is not the name",
        "hexadecimal",
    );
    refused("tc filter add dev eth0 prio 70000 matchall", "`70000` is not a priority", "65535");
    refused(
        "tc filter add dev eth0 u32 match ip dport 99999 0xffff",
        "`99999` has more than 16 bits",
        "",
    );
    refused(
        "tc filter add dev eth0 u32 match ip dprt 99 0xffff",
        "`dprt` does not belong",
        "dport",
    );
    refused(
        "tc filter add dev eth0 u32 match ip src 10.0.0.256",
        "`10.0.0.256` is not an address",
        "10.7.0.1",
    );
    refused(
        "tc filter add dev eth0 protocol ip flower dst_port 80",
        "`dst_port` without `ip_proto`",
        "",
    );
    refused(
        "tc filter add dev eth0 flower ip_proto tcp",
        "`ip_proto` without `protocol ip`",
        "before `flower`",
    );
    refused("echo 'never closed", "this ' is not closed", "ends with the mark");
    refused("echo \"never closed", "this \" is not closed", "ends with the mark");
}

#[test]
fn htb_without_a_rate() {
    let head = "tc qdisc add dev eth0 root handle 1: htb\n";
    let class = |options: &str| {
        refusal(&format!("{head}tc class add dev eth0 parent 1: classid 1:1 htb {options}\n"))
    };
    assert!(class("ceil 1mbit").1.contains("no `rate`"));
    assert!(class("rate 0").1.contains("no `rate`"));
    assert!(class("rate 1mbit cieling 2mbit").1.contains("`cieling` does not belong"));
}

#[test]
fn a_link_of_unknown_rate() {
    let script = HEAD.replace("parent 1:1 ", "parent 1: ");
    let (line, message, help) = refusal(&script);
    assert_eq!(line, 1);
    assert!(message.contains("3 classes are at the top, with 20mbit in all"), "{message}");
    assert!(help.contains("--link-rate"));
    let (line, message, _) = refusal(&HEAD.replace("ul m2 10mbit", "ul m2 1bit"));
    assert_eq!(line, 2);
    assert!(message.contains("would be 1bit"), "{message}");
}

#[test]
fn a_script_without_a_set_up() {
    assert!(refusal("").1.contains("no hfsc, htb, qfq, drr, prio, fq_codel, cake or tbf set-up"));
    let (line, message, _) = refusal("\ntc qdisc add dev eth0 root handle 1: hhf\n");
    assert_eq!((line, message.contains("the root of eth0 is hhf")), (2, true));
    assert!(
        refusal("tc class add dev eth0 parent 1: classid 1:1 hfsc sc m2 1mbit")
            .1
            .contains("before its qdisc")
    );
    assert!(refusal("tc qdisc add dev eth0 root handle 1: hfsc").1.contains("no classes"));
    let two = format!("{HEAD}{}", HEAD.replace("eth0", "ifb0"));
    let (line, message, help) = refusal(&two);
    assert_eq!((line, message.as_str()), (5, "the script sets up eth0 and ifb0"));
    assert!(help.contains("--dev eth0"));
    let options = Options { link_rate: None, device: Some("eth1".into()), ..Options::default() };
    assert!(
        crate::import(HEAD, "script.sh", &options)
            .unwrap_err()
            .message()
            .contains("set-up of eth1")
    );
}

#[test]
fn too_much() {
    let long = "#".repeat(LARGEST_SCRIPT + 1);
    assert!(refusal(&long).1.contains("larger than 16 MiB"));
    let doubled = format!("A=aaaaaaaaaaaaaaaa\n{}", "A=$A$A\n".repeat(64));
    assert!(refusal(&doubled).1.contains("come to more than 64 MiB"));
    assert!(refusal(&"a ".repeat(100_001)).1.contains("more than 100000 words"));
    let class = |at: usize| {
        format!("tc class add dev eth0 parent 1:{at:x} classid 1:{:x} hfsc sc m2 1mbit\n", at + 1)
    };
    let deep: String = (0..66).map(class).collect();
    let (line, message, _) = refusal(&format!("tc qdisc add dev eth0 root handle 1: hfsc\n{deep}"));
    assert_eq!((line, message.contains("more than 64 levels deep")), (67, true), "{message}");
    let filter = |port: usize| {
        format!("tc filter add dev eth0 prio 1 u32 match ip dport {port} 0xffff flowid 1:10\n")
    };
    let many: String = (0..=65_535).map(filter).collect();
    assert!(refusal(&format!("{HEAD}{many}")).1.contains("more than 65535 filters"));
    // Each takes packets of each other one.
    let class = |at: usize| {
        let filter = |place: &str| {
            format!(
                "tc filter add dev eth0 prio 1 u32 match ip {place} 0xffff flowid 1:{:x}\n",
                at + 100
            )
        };
        let class =
            format!("tc class add dev eth0 parent 1:1 classid 1:{:x} hfsc ls m2 1kbit\n", at + 100);
        class + &filter(&format!("dport {at}")) + &filter(&format!("sport {at}"))
    };
    let entangled: String = (0..8_200).map(class).collect();
    assert!(refusal(&format!("{HEAD}{entangled}")).1.contains("in too many ways"));
}
