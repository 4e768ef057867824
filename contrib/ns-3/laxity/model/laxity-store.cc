// MIT OR Apache-2.0
#include "laxity-store.h"

#include <limits>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(LaxityStore);

TypeId
LaxityStore::GetTypeId()
{
    static TypeId tid = TypeId("ns3::LaxityStore")
                            .SetParent<Queue<QueueDiscItem>>()
                            .SetGroupName("Laxity")
                            .AddConstructor<LaxityStore>();
    return tid;
}

LaxityStore::LaxityStore()
{
    SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, std::numeric_limits<uint32_t>::max()));
}

void
LaxityStore::Insert(uint64_t handle, Ptr<QueueDiscItem> item)
{
    Iterator place;
    if (DoEnqueue(GetContainer().end(), item, place))
    {
        m_places.emplace_hint(m_places.end(), handle, place);
    }
}

Ptr<QueueDiscItem>
LaxityStore::Take(uint64_t handle)
{
    auto found = m_places.find(handle);
    if (found == m_places.end())
    {
        return nullptr;
    }
    auto place = found->second;
    m_places.erase(found);
    return DoDequeue(place);
}

bool
LaxityStore::Enqueue(Ptr<QueueDiscItem> item)
{
    Insert(m_places.empty() ? 0 : m_places.rbegin()->first + 1, item);
    return true;
}

Ptr<QueueDiscItem>
LaxityStore::Dequeue()
{
    return m_places.empty() ? nullptr : Take(m_places.begin()->first);
}

Ptr<QueueDiscItem>
LaxityStore::Remove()
{
    if (m_places.empty())
    {
        return nullptr;
    }
    auto place = m_places.begin()->second;
    m_places.erase(m_places.begin());
    return DoRemove(place);
}

Ptr<const QueueDiscItem>
LaxityStore::Peek() const
{
    return m_places.empty() ? nullptr : DoPeek(GetContainer().begin());
}

} // namespace ns3
