# What the scripts have in common, for a network whose options are in `option`: their values from the command line, TCP,
# where beginnings are drawn from, and the run.

foreach argument $argv {
    set parts [split $argument =]
    if {[llength $parts] != 2 || ![info exists option([lindex $parts 0])]} {
        puts stderr "what is $argument?"
        exit 2
    }
    set option([lindex $parts 0]) [lindex $parts 1]
}

# The length of a segment and of a datagram on the wire.
set length 1000

# TCP of 2001: no handshake, a window of one segment at first, an acknowledgement for every segment, a
# retransmission timer in ticks of 0.1 s that has no other floor.
Agent/TCP set packetSize_ $length
Agent/TCP set useHeaders_ false
Agent/TCP set syn_ false
Agent/TCP set delay_growth_ false
Agent/TCP set window_ $option(window)
Agent/TCP set windowInit_ 1
Agent/TCP set singledup_ 0
Agent/TCP set tcpTick_ 0.1
Agent/TCP set minrto_ 0
Agent/TCP set maxrto_ 64
Agent/TCPSink set packetSize_ 40

# RED draws from the first generator. The beginnings come from one whose substreams are the seeds: the
# first numbers of generators that are seeded alike are alike.
ns-random $option(seed)
set start [new RNG]
for {set substream 1} {$substream < $option(seed)} {incr substream} { $start next-substream }

# Simulates up to `finish`, timed from the first event on.
proc simulate {} {
    global ns option
    $ns at 0 { set begin [clock microseconds] }
    $ns at $option(seconds) finish
    $ns run
}
