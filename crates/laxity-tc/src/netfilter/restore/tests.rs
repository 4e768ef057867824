use super::*;

#[test]
fn a_restored_table_is_its_rules() {
    let text = "# by hand\n*mangle\n:POSTROUTING ACCEPT [0:0]\n:VOICE - [0:0]\n\
                [3:180] -A POSTROUTING -p udp -m comment --comment \"to \\\"us\\\"\" -j VOICE\nCOMMIT\n";
    let lines = |words: &[&str]| {
        let commands = commands("ip6tables-restore", words, text);
        commands.iter().map(|words| words.join(" ")).collect::<Vec<_>>()
    };
    let rule = "ip6tables -t mangle -A POSTROUTING -p udp -m comment --comment to \"us\" -j VOICE";
    let chain = "ip6tables -t mangle -N VOICE";
    assert_eq!(lines(&["--noflush"]), [chain, rule]);
    assert_eq!(lines(&[]), ["ip6tables -t mangle -F", chain, rule]);
}
