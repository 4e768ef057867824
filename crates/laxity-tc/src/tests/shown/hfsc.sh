tc qdisc add dev eth7 root handle 1: hfsc default 30
tc class add dev eth7 parent 1: classid 1:1 hfsc sc m2 20mbit ul m2 20mbit
tc class add dev eth7 parent 1:1 classid 1:10 hfsc sc umax 1500b dmax 10ms rate 2mbit
tc class add dev eth7 parent 1:1 classid 1:20 hfsc ls m2 10mbit ul m2 16mbit
tc class add dev eth7 parent 1:20 classid 1:21 hfsc rt m1 8mbit d 20ms m2 3mbit ls m2 6mbit
tc class add dev eth7 parent 1:20 classid 1:22 hfsc ls m2 4mbit
tc class add dev eth7 parent 1:1 classid 1:30 hfsc ls m2 8mbit
tc qdisc add dev eth7 parent 1:10 handle 10: pfifo limit 50
tc qdisc add dev eth7 parent 1:21 handle 21: fq_codel limit 600 target 8ms interval 80ms ecn
tc qdisc add dev eth7 parent 1:22 handle 22: red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 probability 0.02 bandwidth 10mbit ecn
tc qdisc add dev eth7 parent 1:30 handle 30: sfq perturb 10
tc filter add dev eth7 parent 1: protocol ip prio 1 u32 match ip protocol 17 0xff match ip dport 5004 0xffff flowid 1:10
tc filter add dev eth7 parent 1: protocol ip prio 1 u32 match ip tos 0xb8 0xfc flowid 1:10
tc filter add dev eth7 parent 1: protocol ip prio 2 u32 match ip src 10.7.0.0/16 match ip sport 8000 0xfff0 classid 1:21
tc filter add dev eth7 parent 1: protocol ipv6 prio 3 flower ip_proto tcp dst_port 443 classid 1:21
tc filter add dev eth7 parent 1: protocol ipv6 prio 4 u32 match ip6 dst fd00::/8 classid 1:22
tc filter add dev eth7 parent 1: protocol ip prio 5 flower ip_proto udp dst_port 6000-6010 src_ip 192.0.2.0/24 classid 1:22
tc filter add dev eth7 parent 1: protocol ip prio 6 handle 6 fw classid 1:22
tc filter add dev eth7 parent 1: protocol all prio 7 matchall classid 1:30
