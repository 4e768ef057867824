// MIT OR Apache-2.0
#ifndef LAXITY_FILTERS_H
#define LAXITY_FILTERS_H

#include "ns3/packet-filter.h"

#include <map>
#include <memory>
#include <string>

namespace laxity
{
class Classifier;
}

namespace ns3
{

/**
 * \ingroup laxity
 *
 * Sorts packets by the `match` of a plan's classes. What is not IP belongs to a class that matches
 * any frame.
 */
class LaxityMatchFilter : public PacketFilter
{
  public:
    /**
     * \return The type.
     */
    static TypeId GetTypeId();
    LaxityMatchFilter();
    ~LaxityMatchFilter() override;

  private:
    bool CheckProtocol(Ptr<QueueDiscItem> item) const override;
    int32_t DoClassify(Ptr<QueueDiscItem> item) const override;

    std::string m_plan;                                          //!< The plan, or its path
    mutable std::unique_ptr<laxity::Classifier> m_classifier; //!< Made when first needed
};

/**
 * \ingroup laxity
 *
 * Sorts packets by the priority of their socket, see Socket::SetPriority.
 */
class LaxityPriorityFilter : public PacketFilter
{
  public:
    /**
     * \return The type.
     */
    static TypeId GetTypeId();

    /**
     * \param priority A priority of sockets.
     * \param classId The number of the class in the plan, from 0.
     */
    void Map(uint8_t priority, uint32_t classId);

  private:
    bool CheckProtocol(Ptr<QueueDiscItem> item) const override;
    int32_t DoClassify(Ptr<QueueDiscItem> item) const override;

    std::map<uint8_t, uint32_t> m_classes; //!< The class of each priority
};

} // namespace ns3

#endif // LAXITY_FILTERS_H
