#!/bin/bash
UPLINK=${1:-8000}; DEV=eth0; PORTS="22 53"; A=(1 2)
up() { local r=$1; shift; tc qdisc add dev $DEV root handle 1: htb default 20
  for p in "$@"; do tc filter add dev $DEV parent 1: protocol ip prio $((p%7+1)) u32 match ip dport $p 0xffff flowid 1:10; done; }
[ -x /sbin/tc ] || exit 1
case "${DEV%[0-9]}" in eth|wan*) up $((9*UPLINK/10)) $PORTS;; *) exit;; esac
while read i r; do tc class add dev $DEV parent 1: classid 1:$i htb rate ${r}kbit; done <<EOF
10 `expr $UPLINK / 3`
20 $(echo $((UPLINK-1)) | cut -d. -f1)
EOF
[[ ${#A[@]} -eq 2 && $DEV == eth* ]] && tc qdisc add dev $DEV parent 1:20 fq_codel
