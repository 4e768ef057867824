tc qdisc replace dev eth0 root fq_codel limit 600 flows 512 quantum 300 target 15ms interval 200ms noecn
