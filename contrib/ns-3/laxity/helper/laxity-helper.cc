// MIT OR Apache-2.0
#include "laxity-helper.h"

#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/laxity-filters.h"
#include "ns3/node.h"
#include "ns3/string.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/uinteger.h"

namespace ns3
{

LaxityHelper::LaxityHelper(const std::string& plan)
{
    m_factory.SetTypeId("ns3::LaxityQueueDisc");
    m_factory.Set("Plan", StringValue(plan));
}

void
LaxityHelper::Set(const std::string& name, const AttributeValue& value)
{
    m_factory.Set(name, value);
    m_hasOverhead |= name == "FrameOverhead";
}

void
LaxityHelper::MapPriority(uint8_t priority, const std::string& className)
{
    m_priorities[priority] = className;
}

void
LaxityHelper::SetFrameOverhead(uint32_t bytes)
{
    Set("FrameOverhead", UintegerValue(bytes));
}

void
LaxityHelper::SetOverheadOf(Ptr<NetDevice> device, Ptr<LaxityQueueDisc> disc) const
{
    if (m_hasOverhead)
    {
        return;
    }
    const std::string type = device->GetInstanceTypeId().GetName();
    NS_ABORT_MSG_IF(type != "ns3::PointToPointNetDevice",
                    "Laxity: how many bytes a " << type << " adds to a packet is not known: call "
                                                << "LaxityHelper::SetFrameOverhead");
    disc->SetAttribute("FrameOverhead", UintegerValue(2));
}

void
LaxityHelper::CheckRate(Ptr<NetDevice> device, Ptr<LaxityQueueDisc> disc)
{
    BooleanValue isPaced;
    DataRateValue rate;
    disc->GetAttribute("Pace", isPaced);
    NS_ABORT_MSG_IF(isPaced.Get() && device->GetAttributeFailSafe("DataRate", rate) &&
                        rate.Get().GetBitRate() < disc->GetRate(),
                    "Laxity: the device sends " << rate.Get().GetBitRate()
                                                << " bit/s, less than the plan's link of "
                                                << disc->GetRate()
                                                << " bit/s: packets would wait in the device");
}

Ptr<LaxityQueueDisc>
LaxityHelper::Install(Ptr<NetDevice> device) const
{
    auto disc = m_factory.Create<LaxityQueueDisc>();
    SetOverheadOf(device, disc);
    CheckRate(device, disc);
    for (const auto& factory : m_filters)
    {
        disc->AddPacketFilter(factory.Create<PacketFilter>());
    }
    if (!m_priorities.empty())
    {
        auto filter = CreateObject<LaxityPriorityFilter>();
        for (const auto& [priority, className] : m_priorities)
        {
            filter->Map(priority, disc->GetClassId(className));
        }
        disc->AddPacketFilter(filter);
    }
    if (disc->GetNPacketFilters() == 0)
    {
        StringValue plan;
        disc->GetAttribute("Plan", plan);
        disc->AddPacketFilter(CreateObjectWithAttributes<LaxityMatchFilter>("Plan", plan));
    }
    auto layer = device->GetNode()->GetObject<TrafficControlLayer>();
    NS_ABORT_MSG_IF(!layer, "Laxity: the node has no traffic control: install the Internet stack");
    layer->SetRootQueueDiscOnDevice(device, disc);
    return disc;
}

std::vector<Ptr<LaxityQueueDisc>>
LaxityHelper::Install(const NetDeviceContainer& devices) const
{
    std::vector<Ptr<LaxityQueueDisc>> discs;
    for (auto device = devices.Begin(); device != devices.End(); ++device)
    {
        discs.push_back(Install(*device));
    }
    return discs;
}

} // namespace ns3
