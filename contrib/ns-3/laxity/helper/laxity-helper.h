// MIT OR Apache-2.0
#ifndef LAXITY_HELPER_H
#define LAXITY_HELPER_H

#include "ns3/laxity-queue-disc.h"
#include "ns3/net-device-container.h"
#include "ns3/object-factory.h"

#include <map>
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
     * Installs a queue disc on a device, which must not be slower than the plan's link unless Pace
     * is false. The program ends if its attribute DataRate says that it is; the rate of a device
     * without this attribute is not known.
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
     * Tells a queue disc what its device adds to a packet, unless that is set.
     * \param device The device.
     * \param disc The queue disc.
     */
    void SetOverheadOf(Ptr<NetDevice> device, Ptr<LaxityQueueDisc> disc) const;
    /**
     * Ends the program if packets of a queue disc would wait in its device.
     * \param device The device.
     * \param disc The queue disc.
     */
    static void CheckRate(Ptr<NetDevice> device, Ptr<LaxityQueueDisc> disc);

    ObjectFactory m_factory;                      //!< Makes queue discs
    std::vector<ObjectFactory> m_filters;         //!< Make filters
    std::map<uint8_t, std::string> m_priorities; //!< Classes by priority
    bool m_hasOverhead{false};                   //!< Whether FrameOverhead is set
};

template <typename... Args>
void
LaxityHelper::AddPacketFilter(const std::string& type, Args&&... args)
{
    m_filters.emplace_back(type, std::forward<Args>(args)...);
}

} // namespace ns3

#endif // LAXITY_HELPER_H
