# The same network as zoo.graphml
Creator "Example & Co."
graph [
  directed 0
  Network "Example &amp; Co."
  node [ id 0
    label "Vienna"
    Latitude 48.20849
    Longitude 16.37208
  ]
  # a comment [
  node [
    id 1
    Longitude 14.42076
    label "Prague"
    Latitude 50.08804
  ]
  node [
    id 2
    label "Internet"
  ]
  node [
    id 3
    label "Internet"
    Internal 1
  ]
  node [ id 4 ]
  edge [
    source 0 target 1
    LinkLabel "10 Gbps"
    LinkSpeedRaw 10000000000.0
    id "e1"
  ]
  edge [ source 1 target 0 LinkSpeedRaw 2500000000.0 delay "1ms" id "e2" ]
  edge [ source 1 target 2 id "e3" ]
  edge [ source 2 target 3
    delay "3ms" id "e4" ]
  edge [ source 3 target 3 id "e5" ]
  edge [ source 3 target 4 LinkSpeedRaw 155000000.0 id "e6" ] ]
