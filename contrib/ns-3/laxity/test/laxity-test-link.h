// MIT OR Apache-2.0
#ifndef LAXITY_TEST_LINK_H
#define LAXITY_TEST_LINK_H

#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/ipv6-queue-disc-item.h"
#include "ns3/laxity-helper.h"
#include "ns3/node.h"
#include "ns3/packet-filter.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/string.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/udp-header.h"

#include <vector>

namespace laxity_test
{

using namespace ns3;

/// A packet of IP, as the Internet stack hands it to a queue disc.
struct Sent
{
    uint16_t port{0};          // Of UDP
    uint32_t length{1000};     // On the link, with the 2 bytes of PPP
    uint8_t tos{0};            // The DS field and ECN
    uint8_t priority{0};       // Of its socket
    const char* source{"10.0.0.1"};
    bool isSix{false};         // Whether it is IPv6

    Ptr<QueueDiscItem> Item(const Address& to) const
    {
        auto packet = Create<Packet>(length - 2 - 20 - 8);
        UdpHeader udp;
        udp.SetDestinationPort(port);
        packet->AddHeader(udp);
        if (priority)
        {
            SocketPriorityTag tag;
            tag.SetPriority(priority);
            packet->AddPacketTag(tag);
        }
        if (isSix)
        {
            Ipv6Header ip;
            ip.SetSource("fd00::1");
            ip.SetDestination("fd00::2");
            ip.SetNextHeader(17);
            ip.SetPayloadLength(packet->GetSize());
            return Create<Ipv6QueueDiscItem>(packet, to, 0x86dd, ip);
        }
        Ipv4Header ip;
        ip.SetSource(Ipv4Address(source));
        ip.SetDestination("10.0.0.2");
        ip.SetProtocol(17);
        ip.SetTos(tos);
        ip.SetPayloadSize(packet->GetSize());
        return Create<Ipv4QueueDiscItem>(packet, to, 0x0800, ip);
    }
};

/// A filter with an answer of its own.
class FixedFilter : public PacketFilter
{
  public:
    explicit FixedFilter(int32_t answer)
        : m_answer(answer)
    {
    }

  private:
    bool CheckProtocol(Ptr<QueueDiscItem>) const override
    {
        return true;
    }

    int32_t DoClassify(Ptr<QueueDiscItem>) const override
    {
        return m_answer;
    }

    int32_t m_answer;
};

/// A link of 10 Gbit/s behind a queue disc.
class Link
{
  public:
    explicit Link(const LaxityHelper& helper)
    {
        NodeContainer nodes(2);
        m_layer = CreateObject<TrafficControlLayer>();
        nodes.Get(0)->AggregateObject(m_layer);
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue("10Gbps"));
        m_devices = link.Install(nodes);
        m_devices.Get(0)->TraceConnectWithoutContext("PhyTxBegin",
                                                     MakeCallback(&Link::Begun, this));
        m_devices.Get(1)->SetReceiveCallback(
            MakeCallback(+[](Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&) {
                return true;
            }));
        disc = helper.Install(m_devices.Get(0));
        nodes.Get(0)->Initialize();
        m_layer->ScanDevices();
    }

    ~Link()
    {
        Simulator::Destroy();
    }

    void Send(const Sent& sent, Time at = Time())
    {
        Send(sent.Item(m_devices.Get(1)->GetAddress()), at);
    }

    void Send(Ptr<QueueDiscItem> item, Time at = Time())
    {
        Simulator::Schedule(at, &TrafficControlLayer::Send, m_layer, m_devices.Get(0), item);
    }

    uint64_t SentOf(const std::string& name) const
    {
        return disc->GetClassStats(name).sent;
    }

    Ptr<LaxityQueueDisc> disc;
    std::vector<Time> begun;
    std::vector<Ptr<Packet>> packets;

  private:
    void Begun(Ptr<const Packet> packet)
    {
        begun.push_back(Simulator::Now());
        packets.push_back(packet->Copy());
    }

    Ptr<TrafficControlLayer> m_layer;
    NetDeviceContainer m_devices;
};

} // namespace laxity_test

#endif // LAXITY_TEST_LINK_H
