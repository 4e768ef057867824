// MIT OR Apache-2.0
#ifndef LAXITY_HELPER_H
#define LAXITY_HELPER_H

#include "ns3/laxity-queue-disc.h"
#include "ns3/net-device-container.h"
#include "ns3/object-factory.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{

/**
 * \ingroup laxity
 *
 * Installs the link of a plan on devices, before their addresses are assigned.
 *
 * Packets are sorted by the filters that are added and by the priorities that are mapped, in this
 * order; without any by the `match` of the plan's classes.
 */
class LaxityHelper
{
  public:
    /**
     * \param plan The path of a plan, or its text, which has several lines.
     */
    explicit LaxityHelper(const std::string& plan);

    /**
     * \param name An attribute of LaxityQueueDisc.
     * \param value Its value.
     */
    void Set(const std::string& name, const AttributeValue& value);

    /**
     * \param type A type of PacketFilter, whose result is the number of a class in the plan.
     * \param args Pairs of the names and values of its attributes.
     */
    template <typename... Args>
    void AddPacketFilter(const std::string& type, Args&&... args);

    /**
     * \param priority A priority of sockets, see Socket::SetPriority.
     * \param className The class of its packets.
     */
    void MapPriority(uint8_t priority, const std::string& className);

    /**
     * For devices other than PointToPointNetDevice, whose header of 2 bytes is known.
     * \param bytes What the device adds to a packet.
     */
    void SetFrameOverhead(uint32_t bytes);

    /**
     * Installs a queue disc on a device, which must not be slower than the plan's link.
     * \param device The device.
     * \return The queue disc.
     */
    Ptr<LaxityQueueDisc> Install(Ptr<NetDevice> device) const;
    /**
     * Installs a queue disc on each device.
     * \param devices The devices.
     * \return The queue discs, in their order.
     */
    std::vector<Ptr<LaxityQueueDisc>> Install(const NetDeviceContainer& devices) const;

  private:
    /**
     * \param device A device.
     * \return What it adds to a packet, in bytes.
     */
    uint32_t OverheadOf(Ptr<NetDevice> device) const;

    std::string m_plan;                           //!< The plan
    ObjectFactory m_factory;                      //!< Makes queue discs
    std::vector<ObjectFactory> m_filters;         //!< Make filters
    std::map<uint8_t, std::string> m_priorities; //!< Classes by priority
    std::optional<uint32_t> m_overhead;          //!< What devices add
};

template <typename... Args>
void
LaxityHelper::AddPacketFilter(const std::string& type, Args&&... args)
{
    m_filters.emplace_back(type, std::forward<Args>(args)...);
}

} // namespace ns3

#endif // LAXITY_HELPER_H
