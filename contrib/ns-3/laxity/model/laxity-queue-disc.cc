// MIT OR Apache-2.0
#include "laxity-queue-disc.h"

#include "laxity-flows.h"
#include "laxity-plan.h"
#include "laxity-store.h"
#include "laxity-tag.h"

#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/packet.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("LaxityQueueDisc");

NS_OBJECT_ENSURE_REGISTERED(LaxityQueueDisc);

namespace
{

/// No packet has this handle.
constexpr uint64_t NO_HANDLE = UINT64_MAX;

/// The time of the simulation in ns, a fraction of one cut off.
uint64_t
NowInNanoseconds()
{
    return static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
}

/// The bits of ECN of a packet; those of one that is not capable where there is no IP header.
uint8_t
EcnOf(Ptr<const QueueDiscItem> item)
{
    uint8_t field = 0;
    return item->GetUint8Value(QueueItem::IP_DSFIELD, field) ? field & 3 : 0;
}

} // namespace

TypeId
LaxityQueueDisc::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::LaxityQueueDisc")
            .SetParent<QueueDisc>()
            .SetGroupName("Laxity")
            .AddConstructor<LaxityQueueDisc>()
            .AddAttribute("Plan",
                          "The path of the plan, or its text if that has several lines.",
                          StringValue(""),
                          MakeStringAccessor(&LaxityQueueDisc::m_planText),
                          MakeStringChecker())
            .AddAttribute("Scheduler",
                          "Another discipline for the plan, such as \"edf\"; empty for its own.",
                          StringValue(""),
                          MakeStringAccessor(&LaxityQueueDisc::m_discipline),
                          MakeStringChecker())
            .AddAttribute("DefaultClass",
                          "The name of the class of packets that no filter knows; empty to drop "
                          "them.",
                          StringValue(""),
                          MakeStringAccessor(&LaxityQueueDisc::m_default),
                          MakeStringChecker())
            .AddAttribute("Seed",
                          "The seed of random draws; 0 for the run number of RngSeedManager.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&LaxityQueueDisc::m_seed),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("FrameOverhead",
                          "Bytes that the device adds to a packet: 2 with PointToPointNetDevice.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&LaxityQueueDisc::m_frameOverhead),
                          MakeUintegerChecker<uint32_t>(0, 65535))
            .AddAttribute("Pace",
                          "Whether packets are sent at the rate of the plan's link, so that none "
                          "waits in the device. Otherwise the device asks for them.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&LaxityQueueDisc::m_pace),
                          MakeBooleanChecker())
            .AddTraceSource("Dispatch",
                            "The transmission of a packet starts: the packet, the number of its "
                            "class, and the time from its arrival until its last bit has left.",
                            MakeTraceSourceAccessor(&LaxityQueueDisc::m_traceDispatch),
                            "ns3::LaxityQueueDisc::DispatchCallback");
    return tid;
}

LaxityQueueDisc::LaxityQueueDisc()
    : QueueDisc(QueueDiscSizePolicy::NO_LIMITS),
      m_flows(std::make_unique<LaxityFlows>()),
      m_store(CreateObject<LaxityStore>())
{
    NS_LOG_FUNCTION(this);
}

LaxityQueueDisc::~LaxityQueueDisc()
{
    NS_LOG_FUNCTION(this);
}

void
LaxityQueueDisc::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_wake.Cancel();
    m_store = nullptr;
    QueueDisc::DoDispose();
}

bool
LaxityQueueDisc::CheckConfig()
{
    NS_LOG_FUNCTION(this);
    // A coarser time would be before the one that was asked for, again and again.
    NS_ABORT_MSG_IF(Time::GetResolution() < Time::NS,
                    "Laxity: the resolution of Time is coarser than 1 ns: set Time::NS, PS or FS");
    if (GetNQueueDiscClasses() > 0)
    {
        NS_LOG_ERROR("LaxityQueueDisc has no child queue discs: its classes are those of the plan");
        return false;
    }
    if (GetNInternalQueues() > 0)
    {
        NS_LOG_ERROR("LaxityQueueDisc brings its own queue: the plan has the limits");
        return false;
    }
    if (!m_default.empty())
    {
        GetClassId(m_default);
    }
    return true;
}

void
LaxityQueueDisc::InitializeParams()
{
    NS_LOG_FUNCTION(this);
    const uint64_t seed = m_seed ? m_seed : RngSeedManager::GetRun();
    CallLaxity([&] {
        m_scheduler = std::make_unique<laxity::Scheduler>(GetPlan(), seed);
        m_policer = std::make_unique<laxity::Policer>(GetPlan());
        m_pacer = std::make_unique<laxity::Pacer>(GetPlan());
    });
    AddInternalQueue(m_store);
}

uint32_t
LaxityQueueDisc::LengthOf(Ptr<const QueueDiscItem> item) const
{
    return item->GetSize() + m_frameOverhead;
}

std::optional<LaxityQueueDisc::Place>
LaxityQueueDisc::Classify(Ptr<QueueDiscItem> item)
{
    LaxityTag tag;
    if (item->GetPacket()->PeekPacketTag(tag))
    {
        return Place{tag.GetClassId(), tag.GetFlow()};
    }
    const int32_t filtered = QueueDisc::Classify(item);
    if (filtered == PacketFilter::PF_NO_MATCH && m_default.empty())
    {
        return std::nullopt;
    }
    const uint32_t classId = filtered == PacketFilter::PF_NO_MATCH
                                 ? GetClassId(m_default)
                                 : static_cast<uint32_t>(filtered);
    if (classId >= m_classStats.size())
    {
        return Place{classId, 0};
    }
    const auto flow = m_flows->Find(classId, item);
    if (flow.hosts)
    {
        m_scheduler->introduce(classId, flow.number, flow.hosts->first, flow.hosts->second);
    }
    return Place{classId, flow.number};
}

bool
LaxityQueueDisc::DoEnqueue(Ptr<QueueDiscItem> item)
{
    NS_LOG_FUNCTION(this << item);
    const char* reason = CallLaxity([&] {
        const auto place = Classify(item);
        if (!place)
        {
            return lx_drop_reason_name(LX_DROP_NO_CLASS);
        }
        const uint64_t now = NowInNanoseconds();
        auto packet = laxity::packet(place->classId, LengthOf(item), now, m_nextHandle);
        packet.flow = place->flow;
        packet.ecn = EcnOf(item);
        const bool isKnown = place->classId < m_classStats.size();
        if (isKnown && m_policer->police(now, packet) == LX_ENTRY_REFUSED)
        {
            m_classStats[place->classId].dropped++;
            return lx_drop_reason_name(LX_DROP_CONTRACT);
        }
        m_scheduler->push(now, packet);
        return TakeDrops(m_nextHandle);
    });
    if (reason)
    {
        DropBeforeEnqueue(item, reason);
        return false;
    }
    m_store->Insert(m_nextHandle++, item);
    return true;
}

const char*
LaxityQueueDisc::TakeDrops(uint64_t arriving)
{
    const char* ofArriving = nullptr;
    while (const auto drop = m_scheduler->next_drop())
    {
        const char* reason = lx_drop_reason_name(drop->reason);
        if (drop->packet.class_id < m_classStats.size())
        {
            m_classStats[drop->packet.class_id].dropped++;
        }
        if (drop->packet.handle == arriving)
        {
            ofArriving = reason;
        }
        else
        {
            DropAfterDequeue(m_store->Take(drop->packet.handle), reason);
        }
    }
    return ofArriving;
}

Ptr<QueueDiscItem>
LaxityQueueDisc::DoDequeue()
{
    NS_LOG_FUNCTION(this);
    return CallLaxity([&]() -> Ptr<QueueDiscItem> {
        const uint64_t now = NowInNanoseconds();
        const uint64_t free = m_pace ? m_pacer->free_at() : now;
        if (free > now || (m_pace && !m_isSettled))
        {
            WakeAt(free);
            return nullptr;
        }
        // A discipline is asked whenever the link is free, even if nothing is queued: to some the
        // end of a busy period matters.
        const auto chosen = m_scheduler->pop(now);
        TakeDrops(NO_HANDLE);
        if (!chosen)
        {
            const auto next = m_scheduler->next_time(now);
            if (next && *next > now)
            {
                WakeAt(*next);
            }
            return nullptr;
        }
        const auto& packet = chosen->packet;
        auto item = m_store->Take(packet.handle);
        const bool marked = packet.ecn == LX_ECN_EXPERIENCED && EcnOf(item) != packet.ecn;
        Dispatch(item, packet.class_id, marked, packet.arrival);
        return item;
    });
}

void
LaxityQueueDisc::Dispatch(Ptr<QueueDiscItem> item, uint32_t classId, bool marked, uint64_t arrival)
{
    if (marked)
    {
        Mark(item, MARK);
    }
    const uint32_t length = LengthOf(item);
    const uint64_t now = NowInNanoseconds();
    // Without Pace the device may be busy: this is as if it were free.
    const uint64_t until = m_pace ? m_pacer->start(now, now, length)
                                  : now + laxity::Pacer(GetRate()).start(0, 0, length);
    const Time delay = NanoSeconds(until - arrival);
    auto& stats = m_classStats[classId];
    stats.sent++;
    stats.sentBytes += length;
    stats.largestDelay = Max(stats.largestDelay, delay);
    m_traceDispatch(item, classId, delay);
    if (m_pace)
    {
        // Run stops by itself when nothing is queued.
        WakeAt(until);
    }
}

void
LaxityQueueDisc::WakeAt(uint64_t time)
{
    const Time at = Max(NanoSeconds(time), Simulator::Now());
    if (m_wake.IsRunning() && m_wakeTime <= at)
    {
        return;
    }
    m_wake.Cancel();
    m_wakeTime = at;
    m_wake = Simulator::Schedule(at - Simulator::Now(), &LaxityQueueDisc::Wake, this);
}

void
LaxityQueueDisc::Wake()
{
    // Packets that arrive now, by events that were scheduled after this one, come first.
    m_wake = Simulator::ScheduleNow(&LaxityQueueDisc::RunSettled, this);
}

void
LaxityQueueDisc::RunSettled()
{
    NS_ABORT_MSG_IF(!GetSendCallback(),
                    "LaxityQueueDisc has to be a root queue disc or a child of MqQueueDisc: other "
                    "parents are not woken when a packet may be sent");
    m_isSettled = true;
    Run();
    m_isSettled = false;
}

} // namespace ns3
