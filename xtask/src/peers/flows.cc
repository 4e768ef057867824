// The short flows of `flows.tcl` under ns-3:
//
//   flows KEY=VALUE ...
//
// It prints what that prints, but for one `connection` for each. Transfers count from when their connection is
// established.

#include "ns3.h"

using namespace peer;

const uint32_t segments = 20;
// Between two transfers, in s: 70 % of the bottleneck's rate.
const double between = segments * length * 8 / 7e6;

int main(int count, char** arguments)
{
    Options options({{"seed", "1"}, {"seconds", "200"}, {"window", "300"}, {"measure", "1"}}, count, arguments);
    settle(options);
    // Ended connections would stay in the list of a node's sockets.
    Config::SetDefault("ns3::TcpSocketBase::MaxSegLifetime", DoubleValue(0));

    NodeContainer nodes(4);
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    auto connect = [&](uint32_t one, const std::string& rate) {
        auto devices = link(nodes.Get(one), nodes.Get(one + 1), rate, "1ms", "50");
        auto ends = addresses.Assign(devices);
        addresses.NewNetwork();
        return std::make_pair(devices, ends);
    };
    auto access = connect(0, "100Mbps").second;
    auto bottleneck = connect(1, "10Mbps").first;
    auto exit = connect(2, "100Mbps").second;
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    Connections connections;
    auto gap = CreateObject<ExponentialRandomVariable>();
    gap->SetAttribute("Mean", DoubleValue(between));
    Time end = Seconds(options.number("seconds"));
    uint16_t port = 1;
    for (Time at = Seconds(gap->GetValue()); at < end; at += Seconds(gap->GetValue()))
    {
        Simulator::Schedule(at, [&, port] {
            connections.emplace_back(nodes.Get(0), access.GetAddress(0), nodes.Get(3), exit.GetAddress(1), port,
                                     options.number("measure"));
            connections.back().segments = segments;
            connections.back().begin();
        });
        port += 1;
    }
    simulate(options, connections, bottleneck.Get(0));
    for (auto& connection : connections)
    {
        if (connection.arrived.size() == segments)
        {
            std::cout << "transfer " << (connection.last - connection.first).GetSeconds() << "\n";
        }
    }
}
