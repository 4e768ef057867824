tc qdisc add dev e root handle 1: hfsc
tc class add dev e parent 1: classid 1:1 hfsc ls m2 1mbit
tc class add dev e parent 1:1 classid 1:2 hfsc ls m2 1mbit
tc class add dev e parent 1:2 classid 1:3 hfsc ls m2 1mbit
tc class add dev e parent 1:2 classid 1:4 hfsc rt m2 1kbit
tc filter add dev e parent 1: protocol ip u32 match ip src 10.0.0.0/8 match u8 0x11 0xff at 9 flowid 1:2
tc filter add dev e parent 1:2 protocol ip prio 3 flower ip_proto udp dst_port 4000-4010 ip_tos 0xb8/0xfc classid 1:3
tc filter add dev e parent 1:2 protocol 802.1q prio 4 flower vlan_id 7 vlan_ethtype ipv6 src_ip fd00::/8 classid 1:4
tc filter add dev e protocol ipv6 prio 2 u32 match ip6 dport 53 0xffff match ip6 priority 0xb8 0xfc flowid 1:1
tc filter add dev e protocol all prio 9 matchall flowid 1:4 action drop
tc filter add dev e protocol ip prio 8 handle 6 fw classid 1:3
