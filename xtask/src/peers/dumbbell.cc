// The dumbbell of `dumbbell.tcl` under ns-3: DropTail and TCP, without UDP.
//
//   dumbbell KEY=VALUE ...
//
// It prints what that prints, and
//
//   hops COUNT                                               packets that left any link, with measure=1

#include "ns3.h"

#include <ns3/nix-vector-routing-module.h>

using namespace peer;

int main(int count, char** arguments)
{
    Options options({{"seed", "1"},
                     {"seconds", "200"},
                     {"tcp", "32"},
                     {"access", "10Mbps"},
                     {"bottleneck", "1Mbps"},
                     {"limit", "300"},
                     {"window", "300"},
                     {"measure", "1"}},
                    count, arguments);
    settle(options);
    // Routers would look for each packet's address at all their interfaces.
    Config::SetDefault("ns3::Ipv4::WeakEsModel", BooleanValue(false));
    uint32_t tcp = options.number("tcp");
    NodeContainer routers(2);
    NodeContainer senders(tcp);
    NodeContainer receivers(tcp);
    InternetStackHelper stack;
    stack.SetRoutingHelper(Ipv4NixVectorHelper());
    stack.InstallAll();

    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    auto connect = [&](Ptr<Node> one, Ptr<Node> other, const std::string& rate, const std::string& limit) {
        auto devices = link(one, other, rate, "1ms", limit);
        auto assigned = addresses.Assign(devices);
        addresses.NewNetwork();
        return std::make_pair(devices.Get(0), assigned);
    };
    auto bottleneck = connect(routers.Get(0), routers.Get(1), options.at("bottleneck"), options.at("limit")).first;
    auto back = bottleneck->GetChannel()->GetDevice(1)->GetObject<PointToPointNetDevice>();
    back->GetQueue()->SetMaxSize(QueueSize("1000000p"));
    Connections connections;
    for (uint32_t i = 0; i < tcp; ++i)
    {
        auto access = connect(senders.Get(i), routers.Get(0), options.at("access"), "1000000").second;
        auto exit = connect(receivers.Get(i), routers.Get(1), options.at("access"), "1000000").second;
        connections.emplace_back(senders.Get(i), access.GetAddress(0), receivers.Get(i), exit.GetAddress(0), 1,
                                 options.number("measure"));
    }
    begin(connections);
    simulate(options, connections, bottleneck);
}
