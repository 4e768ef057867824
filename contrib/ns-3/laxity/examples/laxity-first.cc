// MIT OR Apache-2.0
// Calls beside a download over the uplink of a plan: each class's proved bound beside what it met.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/laxity-helper.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    std::string plan = "examples/uplink.toml";
    CommandLine cmd(__FILE__);
    cmd.AddValue("plan", "The plan of the uplink", plan);
    cmd.Parse(argc, argv);

    NodeContainer nodes(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("10Mbps"));
    auto devices = link.Install(nodes);
    InternetStackHelper().Install(nodes);
    auto disc = LaxityHelper(plan).Install(devices.Get(0)); // before addresses
    auto addresses = Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices);

    for (uint16_t call = 0; call < 10; ++call)
    {
        UdpClientHelper voice(addresses.GetAddress(1), 4000 + call);
        voice.SetAttribute("Interval", StringValue("20ms"));
        voice.SetAttribute("PacketSize", UintegerValue(172));
        voice.SetAttribute("MaxPackets", UintegerValue(500));
        voice.Install(nodes.Get(0)).Start(Seconds(1));
    }
    InetSocketAddress web(addresses.GetAddress(1), 80);
    BulkSendHelper("ns3::TcpSocketFactory", web).Install(nodes.Get(0)).Start(Seconds(1));
    PacketSinkHelper("ns3::TcpSocketFactory", web).Install(nodes.Get(1));
    Simulator::Stop(Seconds(12));
    Simulator::Run();

    std::cout << disc->GetStatement() << "\n";
    for (uint32_t id = 0; id < disc->GetNClasses(); ++id)
    {
        const auto name = disc->GetClassName(id);
        const auto& stats = disc->GetClassStats(name);
        const auto bound = disc->GetBound(name);
        std::cout << name << ": " << stats.sent << " sent, " << stats.dropped << " dropped, at most "
                  << stats.largestDelay.As(Time::MS);
        if (bound)
        {
            std::cout << ", proved " << bound->As(Time::MS);
        }
        std::cout << "\n";
    }
    Simulator::Destroy();
}
