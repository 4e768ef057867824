// MIT OR Apache-2.0
#ifndef LAXITY_TAG_H
#define LAXITY_TAG_H

#include "ns3/tag.h"

namespace ns3
{

/**
 * \ingroup laxity
 *
 * Says of a packet which class and flow of a plan it belongs to, in place of filters. The flow is
 * its number within the class, such as that of a stream under DWCS.
 */
class LaxityTag : public Tag
{
  public:
    /**
     * \return The type.
     */
    static TypeId GetTypeId();
    LaxityTag() = default;
    /**
     * \param classId The number of the class in the plan, from 0.
     * \param flow The number of the flow in the class.
     */
    LaxityTag(uint32_t classId, uint32_t flow);

    /**
     * \return The number of the class.
     */
    uint32_t GetClassId() const;
    /**
     * \return The number of the flow.
     */
    uint32_t GetFlow() const;

    TypeId GetInstanceTypeId() const override;
    uint32_t GetSerializedSize() const override;
    void Serialize(TagBuffer buffer) const override;
    void Deserialize(TagBuffer buffer) override;
    void Print(std::ostream& os) const override;

  private:
    uint32_t m_classId{0}; //!< The number of the class
    uint32_t m_flow{0};    //!< The number of the flow
};

} // namespace ns3

#endif // LAXITY_TAG_H
