//! What `iptables-restore` reads, as commands of iptables.

/// The commands that a text of `iptables-restore` comes to, or one of `ip6tables-restore`. What was
/// there before goes unless `keeps`.
pub fn commands(program: &str, text: &str, keeps: bool) -> Vec<Vec<String>> {
    let program = program.trim_end_matches("-restore");
    let mut table = "filter".to_string();
    let mut commands = Vec::new();
    let mut add = |table: &str, words: Vec<String>| {
        let head = [program, "-t", table].map(String::from);
        commands.push(head.into_iter().chain(words).collect());
    };
    for line in text.lines().map(str::trim) {
        match line.chars().next() {
            None | Some('#') => {}
            Some('*') => {
                table = line[1..].trim().to_string();
                if !keeps {
                    add(&table, vec!["-F".into()]);
                }
            }
            Some(':') => {
                let mut words = line[1..].split_whitespace();
                if let (Some(chain), Some("-")) = (words.next(), words.next()) {
                    add(&table, vec!["-N".into(), chain.into()]);
                }
            }
            // Counters of packets may stand before a rule.
            Some('[') => {
                if let Some((_, rule)) = line.split_once(']') {
                    add(&table, words(rule));
                }
            }
            Some('-') => add(&table, words(line)),
            Some(_) => {}
        }
    }
    commands
}

/// Words that may be in double quotes.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), None::<String>, false);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            '\\' if quoted => word.get_or_insert_default().extend(chars.next()),
            c if c.is_whitespace() && !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restored_table_is_its_rules() {
        let text = "# by hand\n*mangle\n:POSTROUTING ACCEPT [0:0]\n:VOICE - [0:0]\n\
                    [3:180] -A POSTROUTING -p udp -m comment --comment \"to \\\"us\\\"\" -j VOICE\nCOMMIT\n";
        let lines = |keeps| {
            let commands = commands("ip6tables-restore", text, keeps);
            commands.iter().map(|words| words.join(" ")).collect::<Vec<_>>()
        };
        let rule =
            "ip6tables -t mangle -A POSTROUTING -p udp -m comment --comment to \"us\" -j VOICE";
        let chain = "ip6tables -t mangle -N VOICE";
        assert_eq!(lines(true), [chain, rule]);
        assert_eq!(lines(false), ["ip6tables -t mangle -F", chain, rule]);
    }
}
