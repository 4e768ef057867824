//! Shapes of scripts, run by bash with a `tc` that tells how it is called, and interpreted: the commands
//! are the same.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs};

use super::refusal;
use crate::shell::issued;

/// Each as people write it. Where a file is written its name begins with `$T`, which is a folder.
const SHAPES: &[&str] = &[
    "declare -A R=([10]=1mbit [20]=2mbit)\nfor k in \"${!R[@]}\"; do tc class add dev e classid 1:$k htb rate ${R[$k]}; done",
    "declare -A R; R[voice]=1mbit; R[bulk]=2mbit; R[30]=3mbit; for k in \"${!R[@]}\"; do tc class add $k ${R[$k]}; done; tc class add ${#R[@]}",
    "A=(a b [5]=f g); tc class add \"${!A[@]}\" \"${A[@]}\" ${#A[@]} ${A[6]} ${A[-1]}; unset 'A[1]'; tc class add ${A[*]}",
    "A[3]=x; A+=(y); tc class add ${!A[*]} ${A[4]}; A[4]+=z; tc class add ${A[4]}",
    "case abc in a*) R=1 ;;& *c) R=2 ;; esac; tc class add $R",
    "case abc in a*) R=1 ;& x) R=${R}2 ;; *) R=3; esac; tc class add $R",
    "case abc in a*) tc class add 1 ;;& b*) tc class add 2 ;;& *) tc class add 3 ;; esac",
    "U=220; tc class add rate $[9*$U/10]kbit $[ (U+2)*2 ] \"$[U]\"",
    "f(){ local -n a=$1; a=2mbit; }; R=3mbit; f R; tc class add $R",
    "declare -n r=X; X=1; r=2; tc class add $X $r ${!r}; unset r; tc class add a$X",
    "f(){ local -n list=$1; for x in \"${list[@]}\"; do tc class add $x; done; list+=(new); }; L=(p q); f L; tc class add ${L[2]}",
    "while read -r id rate; do tc class add 1:$id $rate; done < <(printf '10 1mbit\\n20 2mbit\\n')",
    "tc -b <(echo 'class add dev e parent 1: classid 1:10 htb rate 2mbit')",
    "cat <(echo a; echo b) | while read x; do tc class add $x; done",
    "sh -c 'tc class add dev e parent 1: classid 1:20 htb rate 1mbit'",
    "R=1; export S=2; sh -c 'tc class add [$R] [$S] $0 $1' zero one",
    "bash -c \"tc class add $((1+2)); exit 3\"; tc class add $?",
    "f(){ tc class add f; }; sh -c f 2>/dev/null; export -f f; bash -c f",
    "R=5 bash -c 'tc class add $R'; tc class add x$R",
    "echo 'tc class add piped $1' | bash -s one",
    "bash <<'EOF'\nX=3\ntc class add here $X\nEOF\ntc class add a$X",
    "echo '20 30' | tr ' ' '\\n' | xargs -I{} tc class add 1:{} htb",
    "echo '20 30 40' | xargs -n 2 tc class add",
    "printf 'a b\\nc\\n' | xargs tc class add; : | xargs tc class add; : | xargs -r tc class add no",
    "printf '1 2\\n3 4\\n' | xargs -L1 sh -c 'tc class add $1 to $0'",
    "printf 'a,b' | xargs -d, -n1 tc class add",
    "cat > $T/b <<EOF\nclass add dev e parent 1: classid 1:10 htb rate 2mbit\nEOF\ntc -b $T/b; rm $T/b",
    "for i in 1 2 3; do echo \"class add 1:$i\"; done > $T/b; echo 'class add 1:9' >> $T/b; tc -batch $T/b",
    "F=$(mktemp); echo class add 7 >> $F; tc -force -batch $F; rm -f $F",
    "echo 'R=4' > $T/conf; . $T/conf; tc class add $R",
    "echo 'tc class add x$1' > $T/s.sh; sh $T/s.sh 5; bash $T/s.sh 6",
    "echo one two | tee $T/f > /dev/null; read a b < $T/f; tc class add $b $a; tc class add $(cat $T/f)",
    "{ echo a; echo b; } > $T/f; while read x; do tc class add $x; done < $T/f",
    "mapfile -t L < <(printf 'a b\\nc\\n'); for x in \"${L[@]}\"; do tc class add \"$x\"; done; tc class add ${#L[@]}",
    "readarray -t L <<< $'1\\n2'; tc class add ${L[1]} ${L[0]}",
    "mapfile -t -s 1 -n 1 L <<EOF\na\nb\nc\nEOF\ntc class add \"${L[@]}\"",
    "IFS=, read -ra P <<< 'a,b,,c'; tc class add ${#P[@]} \"${P[3]}\"; IFS=: read x y <<< 1:2:3; tc class add $y",
    "read -r -p 'rate? ' R <<< 5mbit; tc class add $R; read -d ';' A <<< 'x;y'; tc class add $A",
    "read a b <<< 'x\\ y z'; tc class add \"$a\" $b",
    "nice tc class add 1; nice -n 5 tc class add 2; nohup tc class add 3 2>/dev/null",
    "env tc class add 1; env A=5 tc class add 2; env A=5 sh -c 'tc class add $A'; timeout 5 tc class add 3; timeout -s KILL 5s tc class add 4",
    "command tc class add 1; setsid -w tc class add 2; stdbuf -oL tc class add 3; ionice -c 3 tc class add 4",
    "tc class add 1; (exec tc class add 2; tc class add never); exec tc class add 3\ntc class add never",
    "trap 'tc class add end' EXIT; tc class add 1; exit 0; tc class add never",
    "f(){ tc class add f; }; nice f 2>/dev/null; timeout 1 f 2>/dev/null; f",
    "T1=(tc class add); \"${T1[@]}\" x y; C='tc class add'; $C z; eval \"$C w\"",
    "f(){ tc \"$@\"; }; f class add 'a b'; g(){ shift; f \"$@\"; }; g no class add c",
    "declare -i N=3+4; tc class add $N; let M=N*2; tc class add $M; printf -v P '%03d' 7; tc class add $P",
    "x=eth0; tc class add ${x^^} ${x/eth/wan} ${x: -1} ${x:0:3} ${y:-none}",
    "for ((i=1; i<=3; i++)); do ((i==2)) && continue; tc class add $i; done",
    "set -- a b; for x; do tc class add $x; done; shift; tc class add $# $1; set -e; false; tc class add never",
    "R=$(tc class add in; echo out); tc class add $R; tc class add a >&2; tc class add b 2>&1",
    "export A=1; (A=2; bash -c 'tc class add $A'); bash -c 'tc class add $A'; unset A; bash -c 'tc class add n$A'",
];

/// A recorder beside a shell.
const RECORDER: &str = "#!/bin/bash
for word; do
    case $word in -b | -ba* | --b*) batch=1 ;; -*) ;; *) [ -n \"$batch\" ] && file=$word && break ;; esac
done
if [ -n \"$batch\" ]; then
    while read -r line; do printf '%s\\n' \"$line\" | tr -s ' ' '\\037' >> \"$RECORD\"; done < \"$file\"
    exit
fi
{ printf '%s' \"$1\"; shift; printf '\\037%s' \"$@\"; echo; } >> \"$RECORD\"
";

/// The commands that bash issues; `None` without bash.
fn theirs(script: &str) -> Option<Vec<Vec<String>>> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = env::temp_dir().join(format!("laxity-shapes-{}-{number}", std::process::id()));
    fs::create_dir_all(folder.join("written")).unwrap();
    fs::write(folder.join("tc"), RECORDER).unwrap();
    fs::set_permissions(folder.join("tc"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.display(), env::var("PATH").unwrap_or_default());
    let mut bash = Command::new("bash");
    bash.env_clear().env("PATH", path).env("T", folder.join("written"));
    bash.env("RECORD", folder.join("record")).args(["-c", script]);
    let done = bash.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let record = fs::read_to_string(folder.join("record")).unwrap_or_default();
    fs::remove_dir_all(&folder).unwrap();
    done.ok()?;
    Some(record.lines().map(|line| line.split('\u{1f}').map(str::to_string).collect()).collect())
}

#[test]
fn every_shape_comes_to_the_commands_that_bash_issues() {
    let mut wrong = Vec::new();
    for shape in SHAPES {
        let Some(theirs) = theirs(shape) else {
            return println!("skipped: this machine has no bash");
        };
        let ours = issued(&format!("T=/tmp/t\n{shape}")).map(|commands| {
            let bare = |words: Vec<String>| match words.first().map(String::as_str) {
                Some("tc") => words[1..].to_vec(),
                _ => words,
            };
            commands.into_iter().map(bare).collect::<Vec<_>>()
        });
        match ours {
            Ok(ours) if ours == theirs => {}
            ours => wrong.push(format!("{shape}\n  bash: {theirs:?}\n  here: {ours:?}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), SHAPES.len(), wrong.join("\n"));
}

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
