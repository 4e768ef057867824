// MIT OR Apache-2.0
#ifndef LAXITY_FLOWS_H
#define LAXITY_FLOWS_H

#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/ipv6-queue-disc-item.h"

#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace ns3
{

/**
 * \ingroup laxity
 *
 * Numbers the flows of each class and the hosts of a link in the order in which they come.
 */
class LaxityFlows
{
  public:
    /// A flow, and its hosts if it is new and they are known.
    struct Flow
    {
        uint32_t number;                                      //!< Its number in the class
        std::optional<std::pair<uint32_t, uint32_t>> hosts; //!< The sender and the receiver
    };

    /**
     * \param classId The class of a packet.
     * \param item The packet.
     * \return Its flow.
     */
    Flow Find(uint32_t classId, Ptr<const QueueDiscItem> item)
    {
        auto& flows = m_flows[classId];
        const auto next = static_cast<uint32_t>(flows.size());
        if (next == LIMIT && !flows.count(item->Hash()))
        {
            return {LIMIT, std::nullopt};
        }
        const auto [found, isNew] = flows.emplace(item->Hash(), next);
        return {found->second, isNew ? HostsOf(item) : std::nullopt};
    }

  private:
    /// Beyond so many in a class, flows are not told apart.
    static constexpr uint32_t LIMIT = 65536;

    /**
     * \param item A packet.
     * \return The numbers of its sender and its receiver, if it is one of IP.
     */
    std::optional<std::pair<uint32_t, uint32_t>> HostsOf(Ptr<const QueueDiscItem> item)
    {
        if (auto four = DynamicCast<const Ipv4QueueDiscItem>(item))
        {
            const auto& header = four->GetHeader();
            return std::pair(HostOf(header.GetSource()), HostOf(header.GetDestination()));
        }
        if (auto six = DynamicCast<const Ipv6QueueDiscItem>(item))
        {
            const auto& header = six->GetHeader();
            return std::pair(HostOf(header.GetSource()), HostOf(header.GetDestination()));
        }
        return std::nullopt;
    }

    /**
     * \param address The address of a host.
     * \return The number of the host.
     */
    uint32_t HostOf(const Address& address)
    {
        return m_hosts.emplace(address, static_cast<uint32_t>(m_hosts.size())).first->second;
    }

    std::map<uint32_t, std::unordered_map<uint32_t, uint32_t>> m_flows; //!< By class and hash
    std::map<Address, uint32_t> m_hosts;                                //!< Numbers of hosts
};

} // namespace ns3

#endif // LAXITY_FLOWS_H
