// MIT OR Apache-2.0
#ifndef LAXITY_STORE_H
#define LAXITY_STORE_H

#include "ns3/queue-item.h"
#include "ns3/queue.h"

#include <map>

namespace ns3
{

/**
 * \ingroup laxity
 *
 * The packets of a LaxityQueueDisc, in the order in which they arrived. Each has a handle, a number
 * that grows, by which it is taken out wherever it stands. It has no limit of its own.
 */
class LaxityStore : public Queue<QueueDiscItem>
{
  public:
    /**
     * \return The type.
     */
    static TypeId GetTypeId();
    LaxityStore();

    /**
     * Puts a packet at the end.
     * \param handle Its handle, above all before.
     * \param item The packet.
     */
    void Insert(uint64_t handle, Ptr<QueueDiscItem> item);

    /**
     * Takes a packet out.
     * \param handle Its handle.
     * \return The packet; null if there is none of this handle.
     */
    Ptr<QueueDiscItem> Take(uint64_t handle);

    bool Enqueue(Ptr<QueueDiscItem> item) override;
    Ptr<QueueDiscItem> Dequeue() override;
    Ptr<QueueDiscItem> Remove() override;
    Ptr<const QueueDiscItem> Peek() const override;

  private:
    std::map<uint64_t, ConstIterator> m_places; //!< Where each packet stands, by its handle
};

} // namespace ns3

#endif // LAXITY_STORE_H
