// One greedy flow by SACK whose slow start overshoots the queue of a link, as `overshoot.toml` has it, with the defaults of
// ns-3. Arguments: the round trip in ms, the packets that the queue holds, and the least timeout in ms.

#include <iostream>
#include <string>

#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>

using namespace ns3;

const double seconds = 8;
// Of 1500 bytes on the wire, without TCP's time stamps.
const uint32_t payload = 1448;

uint32_t drops = 0;
uint32_t timeouts = 0;

void dropped(Ptr<const Packet>)
{
    drops += 1;
}

void entered(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t state)
{
    timeouts += state == TcpSocketState::CA_LOSS;
}

int main(int count, char** arguments)
{
    if (count != 4)
    {
        std::cerr << "overshoot ROUND-TRIP-MS PACKETS LEAST-TIMEOUT-MS\n";
        return 2;
    }
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(payload));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(100000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(100000000));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpLinuxReno"));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", StringValue(std::string(arguments[3]) + "ms"));

    NodeContainer nodes(2);
    PointToPointHelper link;
    link.DisableFlowControl();
    link.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
    link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(std::stoul(arguments[1]) * 500)));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(std::string(arguments[2]) + "p"));
    auto devices = link.Install(nodes);
    InternetStackHelper().Install(nodes);
    auto addresses = Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices);

    auto sink = PacketSinkHelper("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9)).Install(nodes.Get(1));
    auto source = BulkSendHelper("ns3::TcpSocketFactory", InetSocketAddress(addresses.GetAddress(1), 9)).Install(nodes.Get(0));
    auto queue = DynamicCast<PointToPointNetDevice>(devices.Get(0))->GetQueue();
    queue->TraceConnectWithoutContext("Drop", MakeCallback(&dropped));
    Simulator::Schedule(MilliSeconds(1), [source] {
        auto socket = DynamicCast<BulkSendApplication>(source.Get(0))->GetSocket();
        socket->TraceConnectWithoutContext("CongState", MakeCallback(&entered));
    });
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();

    double segments = double(DynamicCast<PacketSink>(sink.Get(0))->GetTotalRx()) / payload;
    std::cout << segments * 1500 * 8 / seconds / 1e6 << " Mbit/s, " << drops << " dropped, " << timeouts << " timeouts\n";
    Simulator::Destroy();
}
