#!/bin/sh
DEV=eth0 ; UP="8mbit"
tc qdisc del dev $DEV root 2>/dev/null || true
tc qdisc add dev ${DEV} root handle 1: hfsc default 20
tc class add dev $DEV parent 1: classid 1:1 hfsc sc m2 $UP ul m2 $UP
tc class add dev $DEV parent 1:1 classid 1:10 hfsc \
  sc umax 160b dmax 5ms rate 64kbit # voice
tc class add dev $DEV parent 1:1 classid 1:20 hfsc rt m1 1mbit d 10ms m2 2mbit ls m2 2mbps
tc qdisc add dev $DEV parent 1:10 pfifo limit 20
tc filter add dev $DEV parent 1: protocol ip prio 1 u32 match ip dport 5004 0xfffe flowid 1:10
