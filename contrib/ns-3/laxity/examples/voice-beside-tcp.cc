// MIT OR Apache-2.0
/*
 * Ten calls beside TCP over a bottleneck, under queue discs of ns-3 and under a plan of Laxity.
 *
 *   calls ──100 Mbit/s──┐
 *                     router ──10 Mbit/s, 10 ms── receiver
 *   web   ──100 Mbit/s──┘
 *
 * For each queue disc it prints the delay of voice at the bottleneck, from a packet's arrival at the
 * router until its last bit has left, the bound that is proved, and the goodput of TCP. The device
 * holds one packet, so that the queue disc decides.
 */
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/laxity-helper.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <iomanip>
#include <optional>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint16_t FIRST_CALL = 4000;
constexpr uint16_t WEB = 80;

struct Settings
{
    std::string plan{"examples/uplink.toml"};
    uint32_t calls{10};
    uint32_t connections{4};
    uint32_t runs{3};
    Time begin{Seconds(5)}; // What came before is not measured.
    Time end{Seconds(35)};
};

/// What one run measured.
struct Result
{
    std::vector<int64_t> delays; // Of voice, in ns
    double goodput{0};           // Of all connections, in bit/s
    std::optional<Time> bound;
    uint64_t voiceDropped{0};
};

/// Takes the time of voice packets at the bottleneck.
class Meter
{
  public:
    Meter(const Settings& settings, Ptr<QueueDisc> disc, Ptr<NetDevice> device)
        : m_settings(settings)
    {
        disc->TraceConnectWithoutContext("Enqueue", MakeCallback(&Meter::Arrived, this));
        disc->TraceConnectWithoutContext("Drop", MakeCallback(&Meter::Dropped, this));
        device->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Meter::Left, this));
    }

    std::vector<int64_t> delays;
    uint64_t dropped{0};

  private:
    static bool IsVoice(Ptr<const QueueDiscItem> item)
    {
        const auto ip = DynamicCast<const Ipv4QueueDiscItem>(item);
        return ip && ip->GetHeader().GetProtocol() == UdpL4Protocol::PROT_NUMBER;
    }

    bool IsMeasured() const
    {
        return Simulator::Now() >= m_settings.begin && Simulator::Now() < m_settings.end;
    }

    void Arrived(Ptr<const QueueDiscItem> item)
    {
        if (IsVoice(item) && IsMeasured())
        {
            m_arrivals[item->GetPacket()->GetUid()] = Simulator::Now();
        }
    }

    void Dropped(Ptr<const QueueDiscItem> item)
    {
        dropped += IsVoice(item) && IsMeasured();
        m_arrivals.erase(item->GetPacket()->GetUid());
    }

    void Left(Ptr<const Packet> packet)
    {
        const auto arrival = m_arrivals.find(packet->GetUid());
        if (arrival != m_arrivals.end())
        {
            delays.push_back((Simulator::Now() - arrival->second).GetNanoSeconds());
            m_arrivals.erase(arrival);
        }
    }

    const Settings& m_settings;
    std::map<uint64_t, Time> m_arrivals; // By the number that ns-3 gives a packet
};

/// Installs a queue disc of ns-3, or a plan under a discipline of Laxity: laxity:edf.
Ptr<QueueDisc>
InstallDisc(const Settings& settings, const std::string& name, Ptr<NetDevice> device)
{
    const std::string ours = "laxity:";
    if (name.rfind(ours, 0) == 0)
    {
        LaxityHelper laxity(settings.plan);
        laxity.Set("Scheduler", StringValue(name.substr(ours.size())));
        return laxity.Install(device);
    }
    const auto type = "ns3::" + name + "QueueDisc";
    TypeId known;
    NS_ABORT_MSG_IF(!TypeId::LookupByNameFailSafe(type, &known), "there is no " << type);
    TrafficControlHelper ns3;
    const auto handle = ns3.SetRootQueueDisc(type);
    if (name == "PfifoFast")
    {
        ns3.AddInternalQueues(handle, 3, "ns3::DropTailQueue", "MaxSize", StringValue("1000p"));
    }
    return ns3.Install(device).Get(0);
}

Result
Run(const Settings& settings, const std::string& name, uint32_t run)
{
    RngSeedManager::SetRun(run);
    NodeContainer nodes(4); // Calls, web, router, receiver
    InternetStackHelper().Install(nodes);
    PointToPointHelper access;
    access.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
    access.SetChannelAttribute("Delay", StringValue("1ms"));
    PointToPointHelper bottleneck;
    bottleneck.SetDeviceAttribute("DataRate", StringValue("10Mbps"));
    bottleneck.SetChannelAttribute("Delay", StringValue("10ms"));
    bottleneck.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
    const auto calls = access.Install(nodes.Get(0), nodes.Get(2));
    const auto web = access.Install(nodes.Get(1), nodes.Get(2));
    const auto uplink = bottleneck.Install(nodes.Get(2), nodes.Get(3));
    const auto disc = InstallDisc(settings, name, uplink.Get(0));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    addresses.Assign(calls);
    addresses.NewNetwork();
    addresses.Assign(web);
    addresses.NewNetwork();
    const auto receiver = addresses.Assign(uplink).GetAddress(1);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    auto start = CreateObject<UniformRandomVariable>();
    for (uint32_t call = 0; call < settings.calls; ++call)
    {
        // Low delay: the first band of PfifoFast.
        InetSocketAddress to(receiver, FIRST_CALL + call);
        to.SetTos(0x10);
        UdpClientHelper voice{Address(to)};
        voice.SetAttribute("Interval", StringValue("20ms"));
        voice.SetAttribute("PacketSize", UintegerValue(172));
        voice.SetAttribute("MaxPackets", UintegerValue(UINT32_MAX));
        voice.Install(nodes.Get(0)).Start(Seconds(1 + start->GetValue(0, 0.02)));
    }
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(receiver, WEB));
    for (uint32_t connection = 0; connection < settings.connections; ++connection)
    {
        bulk.Install(nodes.Get(1)).Start(Seconds(1 + start->GetValue(0, 1)));
    }
    PacketSinkHelper sinkHelper("ns3::TcpSocketFactory",
                                InetSocketAddress(Ipv4Address::GetAny(), WEB));
    const auto sink = DynamicCast<PacketSink>(sinkHelper.Install(nodes.Get(3)).Get(0));

    Meter meter(settings, disc, uplink.Get(0));
    uint64_t before = 0;
    Simulator::Schedule(settings.begin, [&] { before = sink->GetTotalRx(); });
    Simulator::Stop(settings.end);
    Simulator::Run();
    Result result;
    result.delays = std::move(meter.delays);
    result.voiceDropped = meter.dropped;
    const double seconds = (settings.end - settings.begin).GetSeconds();
    result.goodput = 8 * (sink->GetTotalRx() - before) / seconds;
    if (const auto laxity = DynamicCast<LaxityQueueDisc>(disc))
    {
        result.bound = laxity->GetBound("voice");
    }
    Simulator::Destroy();
    return result;
}

/// A delay in ms of which a share of all are not above.
double
Quantile(std::vector<int64_t>& delays, double share)
{
    const auto rank = static_cast<std::size_t>(share * (delays.size() - 1));
    std::nth_element(delays.begin(), delays.begin() + rank, delays.end());
    return delays[rank] / 1e6;
}

void
Print(const Settings& settings, const std::string& name)
{
    Result all;
    for (uint32_t run = 1; run <= settings.runs; ++run)
    {
        auto result = Run(settings, name, run);
        all.delays.insert(all.delays.end(), result.delays.begin(), result.delays.end());
        all.goodput += result.goodput / settings.runs;
        all.voiceDropped += result.voiceDropped;
        all.bound = result.bound;
    }
    std::cout << std::left << std::setw(20) << name << std::right << std::fixed
              << std::setprecision(2) << std::setw(9) << Quantile(all.delays, 0.5) << std::setw(9)
              << Quantile(all.delays, 0.99) << std::setw(9) << Quantile(all.delays, 1)
              << std::setw(9);
    if (all.bound)
    {
        std::cout << all.bound->GetNanoSeconds() / 1e6;
    }
    else
    {
        std::cout << "-";
    }
    std::cout << std::setw(9) << all.voiceDropped << std::setw(10) << all.goodput / 1e6 << std::endl;
}

} // namespace

int
main(int argc, char* argv[])
{
    Settings settings;
    std::string only;
    CommandLine cmd(__FILE__);
    cmd.AddValue("plan", "The plan of the bottleneck", settings.plan);
    cmd.AddValue("calls", "Calls", settings.calls);
    cmd.AddValue("connections", "TCP connections", settings.connections);
    cmd.AddValue("runs", "Runs for each queue disc, numbered from 1", settings.runs);
    cmd.AddValue("end", "When a run ends", settings.end);
    cmd.AddValue("disc", "One queue disc, such as FqCoDel or laxity:edf", only);
    cmd.Parse(argc, argv);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpCubic"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    // What a connection may send is not limited by its buffers.
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 21));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 22));

    std::vector<std::string> names{"Fifo",
                                   "PfifoFast",
                                   "FqCoDel",
                                   "laxity:edf",
                                   "laxity:hfsc",
                                   "laxity:priority",
                                   "laxity:fq-codel"};
    if (!only.empty())
    {
        names = {only};
    }
    std::cout << "                       voice [ms]                            dropped  TCP\n"
              << "queue disc             median      p99      max    bound    voice  [Mbit/s]\n";
    for (const auto& name : names)
    {
        Print(settings, name);
    }
}
