# Shapes of scripts, each behind a line of ---. See main.rs.
---
declare -A R=([10]=1mbit [20]=2mbit)
for k in "${!R[@]}"; do tc class add dev e classid 1:$k htb rate ${R[$k]}; done
---
declare -A R; R[voice]=1mbit; R[bulk]=2mbit; R[30]=3mbit; for k in "${!R[@]}"; do tc class add $k ${R[$k]}; done; tc class add ${#R[@]}
---
A=(a b [5]=f g); tc class add "${!A[@]}" "${A[@]}" ${#A[@]} ${A[6]} ${A[-1]}; unset 'A[1]'; tc class add ${A[*]}
---
A[3]=x; A+=(y); tc class add ${!A[*]} ${A[4]}; A[4]+=z; tc class add ${A[4]}
---
case abc in a*) R=1 ;;& *c) R=2 ;; esac; tc class add $R
---
case abc in a*) R=1 ;& x) R=${R}2 ;; *) R=3; esac; tc class add $R
---
case abc in a*) tc class add 1 ;;& b*) tc class add 2 ;;& *) tc class add 3 ;; esac
---
U=220; tc class add rate $[9*$U/10]kbit $[ (U+2)*2 ] "$[U]"
---
f(){ local -n a=$1; a=2mbit; }; R=3mbit; f R; tc class add $R
---
declare -n r=X; X=1; r=2; tc class add $X $r ${!r}; unset r; tc class add a$X
---
f(){ local -n list=$1; for x in "${list[@]}"; do tc class add $x; done; list+=(new); }; L=(p q); f L; tc class add ${L[2]}
---
while read -r id rate; do tc class add 1:$id $rate; done < <(printf '10 1mbit\n20 2mbit\n')
---
tc -b <(echo 'class add dev e parent 1: classid 1:10 htb rate 2mbit')
---
cat <(echo a; echo b) | while read x; do tc class add $x; done
---
sh -c 'tc class add dev e parent 1: classid 1:20 htb rate 1mbit'
---
R=1; export S=2; sh -c 'tc class add [$R] [$S] $0 $1' zero one
---
bash -c "tc class add $((1+2)); exit 3"; tc class add $?
---
f(){ tc class add f; }; sh -c f 2>/dev/null; export -f f; bash -c f
---
R=5 bash -c 'tc class add $R'; tc class add x$R
---
echo 'tc class add piped $1' | bash -s one
---
bash <<'EOF'
X=3
tc class add here $X
EOF
tc class add a$X
---
echo '20 30' | tr ' ' '\n' | xargs -I{} tc class add 1:{} htb
---
echo '20 30 40' | xargs -n 2 tc class add
---
printf 'a b\nc\n' | xargs tc class add; : | xargs tc class add; : | xargs -r tc class add no
---
printf '1 2\n3 4\n' | xargs -L1 sh -c 'tc class add $1 to $0'
---
printf 'a,b' | xargs -d, -n1 tc class add
---
cat > $T/b <<EOF
class add dev e parent 1: classid 1:10 htb rate 2mbit
EOF
tc -b $T/b; rm $T/b
---
for i in 1 2 3; do echo "class add 1:$i"; done > $T/b; echo 'class add 1:9' >> $T/b; tc -batch $T/b
---
F=$(mktemp); echo class add 7 >> $F; tc -force -batch $F; rm -f $F
---
echo 'R=4' > $T/conf; . $T/conf; tc class add $R
---
echo 'tc class add x$1' > $T/s.sh; sh $T/s.sh 5; bash $T/s.sh 6
---
echo one two | tee $T/f > /dev/null; read a b < $T/f; tc class add $b $a; tc class add $(cat $T/f)
---
{ echo a; echo b; } > $T/f; while read x; do tc class add $x; done < $T/f
---
mapfile -t L < <(printf 'a b\nc\n'); for x in "${L[@]}"; do tc class add "$x"; done; tc class add ${#L[@]}
---
readarray -t L <<< $'1\n2'; tc class add ${L[1]} ${L[0]}
---
mapfile -t -s 1 -n 1 L <<EOF
a
b
c
EOF
tc class add "${L[@]}"
---
IFS=, read -ra P <<< 'a,b,,c'; tc class add ${#P[@]} "${P[3]}"; IFS=: read x y <<< 1:2:3; tc class add $y
---
read -r -p 'rate? ' R <<< 5mbit; tc class add $R; read -d ';' A <<< 'x;y'; tc class add $A
---
read a b <<< 'x\ y z'; tc class add "$a" $b
---
nice tc class add 1; nice -n 5 tc class add 2; nohup tc class add 3 2>/dev/null
---
env tc class add 1; env A=5 tc class add 2; env A=5 sh -c 'tc class add $A'; timeout 5 tc class add 3; timeout -s KILL 5s tc class add 4
---
command tc class add 1; setsid -w tc class add 2; stdbuf -oL tc class add 3; ionice -c 3 tc class add 4
---
tc class add 1; (exec tc class add 2; tc class add never); exec tc class add 3
tc class add never
---
trap 'tc class add end' EXIT; tc class add 1; exit 0; tc class add never
---
f(){ tc class add f; }; nice f 2>/dev/null; timeout 1 f 2>/dev/null; f
---
T1=(tc class add); "${T1[@]}" x y; C='tc class add'; $C z; eval "$C w"
---
f(){ tc "$@"; }; f class add 'a b'; g(){ shift; f "$@"; }; g no class add c
---
declare -i N=3+4; tc class add $N; let M=N*2; tc class add $M; printf -v P '%03d' 7; tc class add $P
---
x=eth0; tc class add ${x^^} ${x/eth/wan} ${x: -1} ${x:0:3} ${y:-none}
---
for ((i=1; i<=3; i++)); do ((i==2)) && continue; tc class add $i; done
---
set -- a b; for x; do tc class add $x; done; shift; tc class add $# $1; set -e; false; tc class add never
---
R=$(tc class add in; echo out); tc class add $R; tc class add a >&2; tc class add b 2>&1
---
export A=1; (A=2; bash -c 'tc class add $A'); bash -c 'tc class add $A'; unset A; bash -c 'tc class add n$A'
---
for i in $(seq 3); do tc class add dev e classid 1:$i; done
---
i=3; while ((i--)); do tc class add $i; done
---
until [ "${n:=0}" -ge 3 ]; do tc class add $n; n=$((n+1)); done
---
for i in {1..3} {a..c} x{1,2}y; do tc class add $i; done
---
for i in {01..10..3}; do tc class add $i; done
---
for a in 1 2; do for b in x y; do [ $b = y ] && continue 2; tc class add $a$b; done; done
---
for a in 1 2 3; do [ $a = 2 ] && break; tc class add $a; done; tc class add after $a
---
select x in a b; do tc class add $x; break; done <<< 2
---
select x in a b; do tc class add [$x] $REPLY; [ "$x" ] && break; done <<EOF2
9
1
EOF2
---
echo 'class add 1' > >(tc -batch -); sleep 0.1
---
echo 'tc class add 1' | tee >(sh) > /dev/null; sleep 0.1
---
tc class add 1 > >(cat); tc class add 2
---
sudo tc class add 1; sudo -n tc class add 2; sudo -u root -- tc class add 3; sudo A=4 sh -c 'tc class add $A'
---
sudo -s tc class add 1 'a b'
---
sudo -i tc class add 1 'a b'
---
sudo -s <<< 'tc class add 1'
---
sudo -i <<EOF2
tc class add 1
tc class add 2
EOF2
---
sudo sh -c "tc class add 1; tc class add 2"
---
sudo bash <<'EOF2'
X=1
tc class add $X
EOF2
---
A=1; export B=2; sudo sh -c 'tc class add [$A] [$B]'
---
su -c 'tc class add 1'; su root -c 'tc class add 2'; su - -c 'tc class add 3'
---
env -S 'tc class add 1'
---
env -S 'A=2 sh -c "tc class add $A"'
---
env -S'tc class add 1' 2
---
env -S "tc class add 'a b' c\_d"
---
A=1; export A; env -u A sh -c 'tc class add [$A]'
---
A=1; export A; env -i PATH=$PATH sh -c 'tc class add [$A]'
---
trap 'tc class add end; tc class add $?' EXIT; tc class add 1; false
---
trap 'tc class add end' 0; tc class add 1
---
trap 'tc class add one' EXIT; trap 'tc class add two' EXIT; tc class add 1
---
trap 'tc class add one' EXIT; trap - EXIT; tc class add 1
---
f(){ tc class add bye $1; }; trap 'f x' EXIT; tc class add 1; exit 3; tc class add never
---
trap 'tc class add outer' EXIT; (tc class add inner); tc class add 1
---
(trap 'tc class add inner' EXIT; tc class add 1); tc class add 2
---
x=$(trap 'echo end' EXIT; echo begin); tc class add $x
---
trap 'tc class add end' EXIT; set -e; tc class add 1; false; tc class add never
---
trap 'tc class add fail $?' ERR; tc class add 1; false; tc class add 2
---
trap 'tc class add term' TERM; kill -TERM $$; tc class add 2
---
trap 'tc class add end' EXIT; exec true
---
trap 'tc class add ret' RETURN; f(){ tc class add in; }; f; trap - RETURN; tc class add 2
---
trap 'tc class add dbg' DEBUG; tc class add 1
---
cleanup(){ rc=$?; tc class add $rc; exit $rc; }; trap cleanup EXIT INT TERM; tc class add 1; exit 5
---
(export A=1; sh -c 'tc class add [$A]'); sh -c 'tc class add [$A]'
---
A=1; (export A); sh -c 'tc class add [$A]'
---
(A=1; export A; (sh -c 'tc class add [$A]')); tc class add [$A]
---
export A=1; (unset A; sh -c 'tc class add [$A]'); sh -c 'tc class add [$A]'
---
export A=1; (export -n A; sh -c 'tc class add [$A]'); sh -c 'tc class add [$A]'
---
x=$(export A=1; sh -c 'echo [$A]'); tc class add $x; sh -c 'tc class add [$A]'
---
export A=1 | true; sh -c 'tc class add [$A]'
---
f(){ local A=1; export A; sh -c 'tc class add [$A]'; }; f; sh -c 'tc class add [$A]'
---
f(){ tc class add $1; }; export -f f; (f(){ tc class add other $1; }; bash -c 'f 1'); bash -c 'f 2'
---
set -a; A=1; set +a; B=2; sh -c 'tc class add [$A] [$B]'
---
declare -x A=1; typeset -x B=2; sh -c 'tc class add $A $B'
---
A=1 B=$A; tc class add [$A] [$B]; A=3 eval 'tc class add $A'; tc class add $A
---
A=1; A=2 f(){ tc class add $A; }; f
---
f(){ tc class add [$A]; }; A=5 f; tc class add [$A]
---
tc -batch - <<EOF2
# comment
class add 1

class add 2 # behind
class add \
  3
EOF2
---
printf 'class add %s\n' 1 2 3 | tc -b -
---
tc -b <<< "class add 1"
---
echo 'class add 1' | tc -b /dev/stdin
---
cat <<EOF2 > $T/b
class add $((1+1))
EOF2
tc -b $T/b
---
exec 3> $T/b; echo 'class add 1' >&3; echo 'class add 2' >&3; exec 3>&-; tc -b $T/b
---
{ echo 'class add 1'; echo 'class add 2'; } | tc -b
---
( echo 'class add 1' ) | sudo tc -b -
---
exec 3<<< 'a b'; read x y <&3; tc class add $y $x
---
exec > /dev/null 2>&1; tc class add 1
---
tc class add $((1+2*3)) $((2**10)) $((7/2)) $((-7/2)) $((-7%3)) $((1<<4)) $((0xff)) $((2#101)) $((~0))
---
a=5; tc class add $((a++)) $a $((++a)) $((a-=2)) $((a,a*2)) $((a>3?1:0)) $((!a)) $((a&3|8^1))
---
a=b; b=7; tc class add $((a)) $((a+1))
---
x=010; tc class add $((x)) $((10#$x))
---
tc class add $(( (1+2) * (3+4) )); ((0)) || tc class add zero; ((5)) && tc class add five
---
A=(1 2 3); tc class add $((A[1]*10)) ${A[$((1+1))]} $((${#A[@]}))
---
let a=1+2 b=a*2; tc class add $a $b; let 0 || tc class add zero
---
R=1000; tc class add ${R}kbit $((R*80/100))kbit $(expr $R \* 80 / 100)kbit $(echo "$R 2" | cut -d' ' -f2)
---
R=1000; tc class add $(echo "$R*0.8" | bc)
---
R=1000; tc class add $(awk "BEGIN { print $R * 0.8 }")
---
touch $T/a $T/b; for f in $T/*; do tc class add ${f##*/}; done
---
for f in $T/none*; do tc class add $f; done
---
shopt -s nullglob; for f in $T/none*; do tc class add $f; done; tc class add end
---
set -f; tc class add * ?; set +f
---
tc class add "*" '?' \[a]
---
x='a*b'; tc class add "$x"; case $x in 'a*b') tc class add literal;; esac
---
case eth0.5 in eth?.*) tc class add vlan;; *) tc class add other;; esac
---
case $1 in start|'') tc class add start;; stop) tc class add stop;; esac
---
shopt -s extglob; case abab in +(ab)) tc class add yes;; *) tc class add no;; esac
---
shopt -s nocasematch; case ABC in abc) tc class add yes;; *) tc class add no;; esac
---
[[ eth0 == eth* ]] && tc class add 1; [[ eth0 =~ ^([a-z]+)([0-9])$ ]] && tc class add ${BASH_REMATCH[1]} ${BASH_REMATCH[2]}
---
[[ -n x && ( 1 -lt 2 || -z y ) ]] && tc class add yes; [[ ! a < b ]] || tc class add less
---
x=; [ "$x" ] || tc class add empty; [ -v x ] && tc class add set; [ -z ${y+x} ] && tc class add unset
---
[ 1 = 1 -a 2 = 2 ] && tc class add and; [ 1 = 2 -o 2 = 2 ] && tc class add or; test ! 1 = 2 && tc class add not
---
x="hello world"; tc class add ${x#* } ${x%% *} ${x/o/0} ${x//o/0} ${#x} "${x:6}" "${x: -5:2}" ${x^} ${x@U}
---
x=a.b.c; tc class add ${x%.*} ${x%%.*} ${x#*.} ${x##*.} ${x/#a/z} ${x/%c/z} ${x//./-}
---
tc class add ${a:-1} ${a:=2} $a ${a:+3} "${b-}" ${b+x} end
---
p=x; x_1=5; v=${p}_1; tc class add ${!v}; tc class add ${!x_*}
---
x=$'a\tb\x41\u00e9'; tc class add "$x"; tc class add $"dollar"
---
x='a b  c'; tc class add $x; tc class add "$x"; IFS=,; y=1,2,,3; tc class add $y; set -- $y; tc class add $#
---
set -- 'a b' c; tc class add $*; tc class add "$*"; tc class add $@; tc class add "$@"; IFS=-; tc class add "$*"
---
set -- a b c d; shift 2; tc class add $1 $# "${@:2}" "${*:1:1}" ${!#}
---
set -- 1 2 3; tc class add "${@: -1}"; tc class add x"$@"y
---
printf -v x '%s-' a b; tc class add $x; tc class add $(printf '%x %o %5.2f %d' 255 8 3.14159 0x10)
---
tc class add $(printf '%-5s|%05d|%+d|%c|%%' ab 42 7 xyz)
---
printf '%s\n' 'tc class add 1' 'tc class add 2' | sh
---
printf '%b' 'tc class add 1\ntc class add 2\n' | bash
---
echo -e 'tc class add a\ttc\nclass' | while read -r a; do tc class add "$a"; done
---
echo -n 1 > $T/f; tc class add $(cat $T/f)$(< $T/f)
---
x=`echo \`echo 1\``; tc class add $x
---
tc class add $(for i in 1 2; do echo $i; done | sort -r | tr '\n' ' ')
---
tc class add $(printf '3\n1\n2\n' | sort | head -n 1) $(printf '3\n1\n' | wc -l) $(printf 'a\na\n' | uniq)
---
tc class add $(echo eth0.100 | sed 's/\..*//') $(echo a:b:c | cut -d: -f2) $(echo abc | rev)
---
tc class add $(echo 'a b c' | awk '{print $2}')
---
tc class add $(basename /a/b.sh .sh) $(dirname /a/b/c) $(date -d @0 -u +%Y)
---
while IFS=: read -r a b rest; do [ -z "$a" ] && continue; tc class add $a "$b" "$rest"; done <<'EOF2'
10:1mbit:x:y

20:2mbit
EOF2
---
while read -r line || [ -n "$line" ]; do tc class add $line; done < <(printf 'a\nb')
---
n=0; while read x; do n=$((n+1)); done <<< $'1\n2'; tc class add $n; echo 1 | while read x; do n=9; done; tc class add $n
---
shopt -s lastpipe; n=0; echo 1 | while read x; do n=9; done; tc class add $n
---
read -n 3 a <<< abcdef; tc class add $a; read -N 2 b <<< xyz; tc class add $b; read -a A <<< 'p q'; tc class add ${A[1]}
---
while getopts 'r:vd:' o; do case $o in r) R=$OPTARG;; v) V=1;; d) D=$OPTARG;; esac; done; tc class add [$R] [$V]
---
set -- -r 5 -v x; while getopts 'r:v' o; do case $o in r) R=$OPTARG;; v) V=1;; esac; done; shift $((OPTIND-1)); tc class add $R $V $1
---
f(){ return 3; }; f; tc class add $?; f || tc class add failed; ! f && tc class add not
---
f(){ if [ $1 -gt 0 ]; then tc class add $1; f $(($1-1)); fi; }; f 3
---
f(){ local x=2; g; }; g(){ tc class add $x; x=3; }; x=1; f; tc class add $x
---
f(){ declare y=2; declare -g z=3; }; f; tc class add [$y] [$z]
---
f() ( x=2; tc class add $x ); x=1; f; tc class add $x
---
function f { tc class add $FUNCNAME $#; }; f a b
---
f(){ eval "$1=\$2"; }; f R 5; tc class add $R; unset -f f; f 2>/dev/null || tc class add gone
---
f(){ local -a L=("$@"); tc class add "${L[@]:1}"; }; f a b c
---
f(){ local IFS=,; echo "$*"; }; tc class add $(f 1 2 3)
---
L=(b a c); IFS=$'\n' S=($(sort <<< "${L[*]}")); unset IFS; tc class add ${S[@]}
---
A=(x y z); for i in "${!A[@]}"; do tc class add $i ${A[i]}; done; A=("${A[@]/y}"); tc class add ${#A[@]}
---
A=(a b); A+=([1]+=c [4]=d [4]+=e); declare -A M=([x]=1); M+=([x]+=2 [y]+=3); tc class add ${A[@]} ${!A[@]} ${M[x]} ${M[y]}
---
A=(1 2 3 4 5); tc class add ${A[@]:1:2} ${A[@]: -2} ${A[-1]}; unset 'A[-1]'; tc class add ${A[@]}
---
declare -A M=([a]=1 [b]=2); M[c]=3; unset 'M[a]'; tc class add ${#M[@]} ${M[b]} ${M[none]:-0}; [[ -v M[c] ]] && tc class add has
---
declare -n R=V; V=1; tc class add $R; R=2; tc class add $V; f(){ local -n o=$1; o+=(x); }; A=(); f A; tc class add ${A[0]}
---
mapfile -t A <<< $'a\nb'; mapfile -t -O 5 B <<< x; tc class add ${A[1]} ${!B[@]}
---
mapfile -d, -t A <<< a,b; tc class add ${#A[@]} ${A[0]}
---
seq 3 | xargs -n1 tc class add; seq 4 | xargs -n2 tc class add; echo a | xargs -I % tc class add %x
---
printf 'a b\0c\0' | xargs -0 -n1 tc class add; echo "'a b' c" | xargs tc class add
---
seq 2 | xargs -I{} sh -c 'tc class add {}'
---
seq 3 | xargs -P1 -n1 tc class add; seq 2 | xargs -n1 -i tc class add {}
---
find $T -type f -exec tc class add {} \;
---
nice -n 5 tc class add 1; nohup tc class add 2; timeout 3 tc class add 3; setsid tc class add 4; env tc class add 5
---
time tc class add 1; { time tc class add 2; } 2> /dev/null; ! tc class add 3
---
command -p tc class add 1; builtin echo x > /dev/null; command -v tc > /dev/null && tc class add 2; type tc > /dev/null && tc class add 3
---
tc(){ command tc "$@" extra; }; tc class add 1; unset -f tc; tc class add 2
---
alias t='tc class add'; t 1 2>/dev/null; tc class add end
---
shopt -s expand_aliases
alias t='tc class add'
t 1
---
TC=${TC:-tc}; $TC class add 1; TC="/sbin/tc"; $TC class add 2; "$TC" class add 3
---
TC=$(command -v tc); $TC class add 1; TC=`which tc`; $TC class add 2
---
IP=ip; $IP link set dev e txqueuelen 10; ifconfig e txqueuelen 20; ip link set e up
---
DRY=; run(){ ${DRY:+echo} "$@"; }; run tc class add 1; DRY=1; run tc class add 2
---
tc class add 1 && tc class add 2 || tc class add 3; tc class add 6 & wait; tc class add 7
---
true && { tc class add 1; false; } || tc class add 2; if ! false; then tc class add 3; elif true; then tc class add 4; fi
---
set -e; f(){ false; tc class add in; }; f || tc class add or; if f; then :; fi; tc class add end
---
set -u; tc class add ${x:-1}; (tc class add $undefined_variable) 2>/dev/null; tc class add end
---
set -u; tc class add 1; tc class add $undefined_variable; tc class add never
---
set -o pipefail; false | true || tc class add failed; true | true && tc class add fine
---
set -euo pipefail; x=$(false) || tc class add 1; local_variable=1; tc class add $local_variable; (exit 2) || tc class add $?
---
false | true; tc class add ${PIPESTATUS[0]} ${PIPESTATUS[1]}
---
: ${RATE:=5mbit}; tc class add $RATE; RATE=; : ${RATE:=6mbit}; tc class add $RATE
---
: "${NEED:?not given}"; tc class add never
---
tc class add $RANDOM_SEED x; [ $((RANDOM >= 0)) = 1 ] && tc class add random
---
tc class add $0 2>/dev/null; tc class add ${0##*/}
---
tc class add $LINENO; [ "$BASH_VERSION" ] && tc class add bash; tc class add $UID $EUID
---
cd /tmp; tc class add $PWD; (cd /; tc class add $PWD); tc class add $OLDPWD; pushd / > /dev/null; tc class add $PWD
---
[ "$(id -u)" -eq 0 ] || exit 1; [ "$USER" = root ] && tc class add root; [ $(whoami) = root ] && tc class add me
---
[ -x /sbin/tc ] && tc class add 1; [ -e /none/file ] || tc class add 2; [ -f $T/x ] || tc class add 3
---
echo x > $T/x; [ -f $T/x ] && tc class add 1; [ -s $T/x ] && tc class add 2; rm $T/x; [ -f $T/x ] || tc class add 3
---
umask 022; ulimit -n 100; hash -r; tc class add 1; wait; sleep 0; tc class add 2
---
coproc cat; tc class add 1; kill $COPROC_PID
---
iptables -t mangle -A POSTROUTING -p udp -j MARK --set-mark 1; nft add rule ip t c meta mark set 2; tc class add 1
---
nft -f - <<EOF2
table ip t { chain c { meta mark set 1 } }
EOF2
tc class add 1
---
iptables-restore -n <<EOF2
*mangle
-A POSTROUTING -p udp -j MARK --set-mark 1
COMMIT
EOF2
tc class add 1
---
echo '*mangle
-A POSTROUTING -p udp -j MARK --set-mark 2' > $T/rules; iptables-restore < $T/rules; ip6tables-restore $T/rules
---
iptables -t mangle -C POSTROUTING -j MARK 2>/dev/null || iptables -t mangle -A POSTROUTING -j MARK --set-mark 1
---
tc qdisc show dev e | grep -q htb || tc qdisc add dev e root htb
---
tc qdisc del dev e root 2> /dev/null; tc qdisc add dev e root htb || exit 1; tc class add 1
---
if tc qdisc show dev e | grep -q htb; then tc qdisc del dev e root; fi; tc qdisc add dev e root htb
---
ip netns exec red tc class add 1; ip -n red link set e txqueuelen 5; tc -n red class add 2
---
modprobe sch_htb; sysctl -w net.ipv4.ip_forward=1 > /dev/null; ethtool -K e tso off gso off; tc class add 1
---
modprobe sch_htb || exit 1; tc class add 1
---
while true; do tc class add once; break; done; while :; do tc class add twice; [ $((++n)) = 2 ] && break; done
---
if [ $# -eq 0 ]; then set -- start; fi; case "$1" in start) tc class add started;; esac
---
cat << EOF2 | sh
tc class add $((1+1)) \$HOME
EOF2
---
cat <<-EOF2 | bash
	tc class add tabs
	EOF2
---
. <(echo 'X=1; f(){ tc class add f $X; }'); f
---
source /dev/stdin <<< 'tc class add 1'
---
eval "$(echo 'tc class add 1'; echo 'Y=2')"; tc class add $Y
---
eval 'for i in 1 2; do
tc class add $i
done'
---
bash -c 'tc class add "$@"' zero 1 'a b'; bash -ec 'false; tc class add never'; sh -c 'exec tc class add 2'
---
x=1; { x=2; tc class add $x; } > /dev/null; tc class add $x; (x=3) ; tc class add $x
---
tc class add a"b c"d'e f'\ g ''"" "" end
---
tc class add a\
b; tc \
  class add c
---
tc class add $'it'\''s' "a\$b\`c\"d\\e" 'a\b'
---
tc class add ~ "~" ~root a~ 2>/dev/null
---
tc class add {a,b}{1,2} {x} {} a{b,c{d,e}}f "{a,b}" $(echo {1,2})
---
x=5; tc class add $x$x ${x}x $xx "$x"'$x' ${x}"${x}"
---
(( x = 3 > 2 ? 10 : 20 )); tc class add $x; for (( i = 0, j = 9; i < j; i += 4, j-- )); do tc class add $i $j; done
---
disown 2> /dev/null; jobs; tc class add 1; times > /dev/null; tc class add 2
---
readonly R=1; tc class add $R; (R=2) 2>/dev/null || tc class add kept; tc class add $R
---
declare -i n=5; n+=3; tc class add $n; declare -u U=abc; tc class add $U; declare -l L=ABC; tc class add $L
---
exec 2> /dev/null; logger hello; echo text; tc class add 1
---
flock $T/lock tc class add 1; ( flock 9; tc class add 2 ) 9> $T/lock
---
stdbuf -oL tc class add 1; busybox true 2>/dev/null; tc class add 2
---
start(){ tc class add start; }; stop(){ tc class add stop; }; "${1:-start}"
---
cmds=(start stop); start(){ tc class add s; }; stop(){ tc class add t; }; for c in "${cmds[@]}"; do $c; done
---
sh -s <<< 'tc class add 1'; sh -c 'sh -c "tc class add 2"'; echo 'tc class add 3' > $T/s; sh $T/s; . $T/s; bash < $T/s
---
chmod +x $T/s 2>/dev/null; printf '#!/bin/sh\ntc class add own $1\n' > $T/s; chmod +x $T/s; $T/s 1
---
wait; tc class add $! $?; sleep 0 & tc class add ${!:+pid}
---
tc class add "$(cat <<EOF2
in here
EOF2
)"
---
if read -t 1 x <<< y; then tc class add $x; fi; read x < /dev/null || tc class add end
---
a=(); tc class add "${a[@]}" end; [ ${#a[@]} -eq 0 ] && tc class add none
---
DEV=eth0 UP=1000; tc qdisc add dev $DEV root handle 1: htb; for p in 50 30 20; do tc class add dev $DEV parent 1: classid 1:$((++k)) htb rate $((UP*p/100))kbit; done
---
for i in {1..20000}; do tc class add $i; break; done
---
tc class add {1..3}{a,b}${x:-{c,d\}} x{,y} {1..1} {a,b}"{c,d}" {3..1} {a..e..2} {-1..1}
