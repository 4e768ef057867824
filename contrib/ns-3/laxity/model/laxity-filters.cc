// MIT OR Apache-2.0
#include "laxity-filters.h"

#include "laxity-plan.h"

#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/ipv6-queue-disc-item.h"
#include "ns3/packet.h"
#include "ns3/socket.h"
#include "ns3/string.h"

#include <array>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(LaxityMatchFilter);
NS_OBJECT_ENSURE_REGISTERED(LaxityPriorityFilter);

namespace
{

/// As much of a packet as a `match` looks at, IPv6 extension headers included.
using Head = std::array<uint8_t, 256>;

/// Copies the beginning of a packet of IP; returns its length, which is 0 for other packets.
uint32_t
CopyHead(Ptr<const QueueDiscItem> item, Head& head)
{
    Ptr<Packet> packet;
    if (auto four = DynamicCast<const Ipv4QueueDiscItem>(item))
    {
        packet = item->GetPacket()->Copy();
        packet->AddHeader(four->GetHeader());
    }
    else if (auto six = DynamicCast<const Ipv6QueueDiscItem>(item))
    {
        packet = item->GetPacket()->Copy();
        packet->AddHeader(six->GetHeader());
    }
    return packet ? packet->CopyData(head.data(), head.size()) : 0;
}

} // namespace

TypeId
LaxityMatchFilter::GetTypeId()
{
    static TypeId tid = TypeId("ns3::LaxityMatchFilter")
                            .SetParent<PacketFilter>()
                            .SetGroupName("Laxity")
                            .AddConstructor<LaxityMatchFilter>()
                            .AddAttribute("Plan",
                                          "The path of the plan, or its text.",
                                          StringValue(""),
                                          MakeStringAccessor(&LaxityMatchFilter::m_plan),
                                          MakeStringChecker());
    return tid;
}

LaxityMatchFilter::LaxityMatchFilter() = default;
LaxityMatchFilter::~LaxityMatchFilter() = default;

bool
LaxityMatchFilter::CheckProtocol(Ptr<QueueDiscItem>) const
{
    return true;
}

int32_t
LaxityMatchFilter::DoClassify(Ptr<QueueDiscItem> item) const
{
    return CallLaxity([&] {
        if (!m_classifier)
        {
            m_classifier = std::make_unique<laxity::Classifier>(ReadLaxityPlan(m_plan));
        }
        Head head;
        const auto found = m_classifier->classify(head.data(), CopyHead(item, head));
        return found ? static_cast<int32_t>(*found) : PF_NO_MATCH;
    });
}

TypeId
LaxityPriorityFilter::GetTypeId()
{
    static TypeId tid = TypeId("ns3::LaxityPriorityFilter")
                            .SetParent<PacketFilter>()
                            .SetGroupName("Laxity")
                            .AddConstructor<LaxityPriorityFilter>();
    return tid;
}

void
LaxityPriorityFilter::Map(uint8_t priority, uint32_t classId)
{
    m_classes[priority] = classId;
}

bool
LaxityPriorityFilter::CheckProtocol(Ptr<QueueDiscItem>) const
{
    return true;
}

int32_t
LaxityPriorityFilter::DoClassify(Ptr<QueueDiscItem> item) const
{
    SocketPriorityTag tag;
    const uint8_t priority = item->GetPacket()->PeekPacketTag(tag) ? tag.GetPriority() : 0;
    const auto found = m_classes.find(priority);
    return found == m_classes.end() ? PF_NO_MATCH : static_cast<int32_t>(found->second);
}

} // namespace ns3
