// MIT OR Apache-2.0
/*
 * Repeats arrivals over a point-to-point link behind a LaxityQueueDisc:
 * laxity-replay PLAN SCHEDULER SEED DEVICE-RATE [false, without Pace | us, its Time] < arrivals.
 *
 * A line of arrivals is `time class flow length ecn`. What is written is `drop NUMBER REASON` and
 * `send NUMBER at TIME phy TIME until TIME ecn BITS`: when the queue disc chose it, when the device
 * began to send it, and when its last bit has left the plan's link.
 */
#include "ns3/boolean.h"
#include "ns3/laxity-queue-disc.h"
#include "ns3/laxity-tag.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/node.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/uinteger.h"

#include <iostream>
#include <map>
#include <vector>

using namespace ns3;

namespace
{

/// The header of PPP that the device adds.
constexpr uint32_t HEADER = 2;

/// A packet without headers, whose bits of ECN are its own.
class ReplayItem : public QueueDiscItem
{
  public:
    ReplayItem(Ptr<Packet> packet, const Address& to, uint8_t ecn, uint64_t number)
        : QueueDiscItem(packet, to, 0x0800),
          ecn(ecn),
          number(number)
    {
    }

    void AddHeader() override
    {
    }

    bool Mark() override
    {
        const bool isCapable = ecn != 0;
        ecn = isCapable ? 3 : 0;
        return isCapable;
    }

    bool GetUint8Value(Uint8Values, uint8_t& value) const override
    {
        value = ecn;
        return true;
    }

    uint8_t ecn;
    const uint64_t number;
};

struct Sent
{
    uint64_t number;
    int64_t at;
    int64_t until;
    uint8_t ecn;
};

std::map<uint64_t, Sent> g_sent; // By the number that ns-3 gives a packet

void
Dispatched(Ptr<const QueueDiscItem> item, uint32_t, Time delay)
{
    const auto& packet = static_cast<const ReplayItem&>(*item);
    const auto until = item->GetTimeStamp() + delay;
    g_sent[item->GetPacket()->GetUid()] = {packet.number,
                                           Simulator::Now().GetNanoSeconds(),
                                           until.GetNanoSeconds(),
                                           packet.ecn};
}

void
Begun(Ptr<const Packet> packet)
{
    const auto& sent = g_sent.at(packet->GetUid());
    std::cout << "send " << sent.number << " at " << sent.at << " phy "
              << Simulator::Now().GetNanoSeconds() << " until " << sent.until << " ecn "
              << unsigned(sent.ecn) << "\n";
    g_sent.erase(packet->GetUid());
}

void
Dropped(Ptr<const QueueDiscItem> item, const char* reason)
{
    std::cout << "drop " << static_cast<const ReplayItem&>(*item).number << " " << reason << "\n";
}

} // namespace

int
main(int count, char** arguments)
{
    if (count < 5)
    {
        std::cerr << "laxity-replay PLAN SCHEDULER SEED DEVICE-RATE [false | us] < arrivals\n";
        return 2;
    }
    const std::string last = arguments[count - 1];
    if (last == "us")
    {
        Time::SetResolution(Time::US);
    }
    auto disc = CreateObjectWithAttributes<LaxityQueueDisc>(
        "Plan", StringValue(arguments[1]),
        "Scheduler", StringValue(arguments[2]),
        "Seed", StringValue(arguments[3]),
        "FrameOverhead", UintegerValue(HEADER),
        "Pace", BooleanValue(last != "false"));
    disc->TraceConnectWithoutContext("Dispatch", MakeCallback(&Dispatched));
    disc->TraceConnectWithoutContext("DropBeforeEnqueue", MakeCallback(&Dropped));
    disc->TraceConnectWithoutContext("DropAfterDequeue", MakeCallback(&Dropped));

    auto from = CreateObject<Node>();
    auto to = CreateObject<Node>();
    auto layer = CreateObject<TrafficControlLayer>();
    from->AggregateObject(layer);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(arguments[4]));
    const auto devices = link.Install(from, to);
    devices.Get(0)->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Begun));
    devices.Get(1)->SetReceiveCallback(
        MakeCallback(+[](Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&) {
            return true;
        }));
    layer->SetRootQueueDiscOnDevice(devices.Get(0), disc);
    from->Initialize();
    layer->ScanDevices();

    uint64_t number = 0;
    uint64_t time;
    uint32_t classId;
    uint32_t flow;
    uint32_t length;
    unsigned ecn;
    while (std::cin >> time >> classId >> flow >> length >> ecn)
    {
        auto packet = Create<Packet>(length - HEADER);
        packet->AddPacketTag(LaxityTag(classId, flow));
        auto item = Create<ReplayItem>(packet, devices.Get(1)->GetAddress(), ecn, number++);
        Simulator::Schedule(NanoSeconds(time),
                            &TrafficControlLayer::Send,
                            layer,
                            devices.Get(0),
                            item);
    }
    Simulator::Run();
    const auto stats = disc->GetStats();
    const bool balances = disc->GetNPackets() == 0 && stats.nTotalReceivedPackets == number &&
                          stats.nTotalSentPackets + stats.nTotalDroppedPackets == number;
    Simulator::Destroy();
    if (!balances)
    {
        std::cerr << stats << "\n";
    }
    return balances ? 0 : 1;
}
