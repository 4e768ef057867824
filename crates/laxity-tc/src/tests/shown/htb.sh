tc qdisc add dev eth7 root handle 1: htb default 0x30 r2q 10
tc class add dev eth7 parent 1: classid 1:1 htb rate 20mbit ceil 20mbit
tc class add dev eth7 parent 1:1 classid 1:10 htb rate 2mbit ceil 4mbit prio 1
tc class add dev eth7 parent 1:1 classid 1:20 htb rate 10mbit ceil 16mbit
tc class add dev eth7 parent 1:20 classid 1:21 htb rate 6mbit ceil 16mbit prio 2
tc class add dev eth7 parent 1:20 classid 1:22 htb rate 4mbit prio 2
tc class add dev eth7 parent 1:1 classid 1:30 htb rate 8mbit ceil 20mbit prio 3
tc qdisc add dev eth7 parent 1:10 handle 10: bfifo limit 64kb
tc qdisc add dev eth7 parent 1:21 handle 21: fq_codel
tc qdisc add dev eth7 parent 1:22 handle 22: choke limit 200 min 50 max 150 probability 0.05 bandwidth 10mbit
tc qdisc add dev eth7 parent 1:30 handle 30: codel limit 300 target 10ms interval 150ms
tc filter add dev eth7 parent 1:0 protocol ip prio 1 u32 match ip dport 53 0xffff flowid 1:10
tc filter add dev eth7 parent 1:0 protocol ip prio 1 u32 match u8 0x06 0xff at 9 match ip dst 192.0.2.9 flowid 1:21
tc filter add dev eth7 parent 1:0 protocol ipv6 prio 5 handle 1/0xff fw classid 1:10
tc filter add dev eth7 parent 1:0 protocol ip prio 2 u32 match ip sport 80 0xffff flowid 1:22
