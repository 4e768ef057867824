// MIT OR Apache-2.0
#include "laxity-tag.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(LaxityTag);

TypeId
LaxityTag::GetTypeId()
{
    static TypeId tid = TypeId("ns3::LaxityTag")
                            .SetParent<Tag>()
                            .SetGroupName("Laxity")
                            .AddConstructor<LaxityTag>();
    return tid;
}

LaxityTag::LaxityTag(uint32_t classId, uint32_t flow)
    : m_classId(classId),
      m_flow(flow)
{
}

uint32_t
LaxityTag::GetClassId() const
{
    return m_classId;
}

uint32_t
LaxityTag::GetFlow() const
{
    return m_flow;
}

TypeId
LaxityTag::GetInstanceTypeId() const
{
    return GetTypeId();
}

uint32_t
LaxityTag::GetSerializedSize() const
{
    return 8;
}

void
LaxityTag::Serialize(TagBuffer buffer) const
{
    buffer.WriteU32(m_classId);
    buffer.WriteU32(m_flow);
}

void
LaxityTag::Deserialize(TagBuffer buffer)
{
    m_classId = buffer.ReadU32();
    m_flow = buffer.ReadU32();
}

void
LaxityTag::Print(std::ostream& os) const
{
    os << "class " << m_classId << " flow " << m_flow;
}

} // namespace ns3
