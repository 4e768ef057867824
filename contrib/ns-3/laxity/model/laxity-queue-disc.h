// MIT OR Apache-2.0
#ifndef LAXITY_QUEUE_DISC_H
#define LAXITY_QUEUE_DISC_H

#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/queue-disc.h"
#include "ns3/traced-callback.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace laxity
{
class Plan;
class Proof;
class Scheduler;
class Policer;
class Pacer;
} // namespace laxity

namespace ns3
{

class LaxityFlows;
class LaxityStore;

/**
 * \ingroup laxity
 *
 * The link of a plan of Laxity: its discipline, with the queue management and the policing of its
 * classes.
 *
 * The class of a packet is that of its LaxityTag, or of the first filter that knows it, or the
 * attribute DefaultClass. A packet without a class is dropped as "no-class".
 *
 * The disc sends at the rate of the plan's link, unless Pace is false: it hands a packet to the
 * device when the one before it has left, so that nothing waits in the queue of a device that is at
 * least as fast. Without Pace, the device asks for packets ahead, and bounds do not hold.
 *
 * It is a root queue disc, or a child of MqQueueDisc: other parents are not woken when a packet may
 * be sent.
 */
class LaxityQueueDisc : public QueueDisc
{
  public:
    /**
     * \return The type.
     */
    static TypeId GetTypeId();
    LaxityQueueDisc();
    ~LaxityQueueDisc() override;

    /// What became of the packets of a class.
    struct ClassStats
    {
        uint64_t sent{0};      //!< Packets that were sent
        uint64_t sentBytes{0}; //!< Their bytes on the link
        uint64_t dropped{0};   //!< Packets that were dropped
        Time largestDelay;     //!< The largest delay, see the trace source Dispatch
    };

    /**
     * \return The name of the plan's discipline.
     */
    std::string GetScheduler() const;
    /**
     * \return The rate of the plan's link, in bit/s.
     */
    uint64_t GetRate() const;
    /**
     * \return How many classes the plan has.
     */
    uint32_t GetNClasses() const;
    /**
     * \param classId The number of a class.
     * \return Its name.
     */
    std::string GetClassName(uint32_t classId) const;
    /**
     * \param name The name of a class; the program ends if the plan has none of this name.
     * \return Its number.
     */
    uint32_t GetClassId(const std::string& name) const;
    /**
     * \param name The name of a class.
     * \return What became of its packets so far.
     */
    const ClassStats& GetClassStats(const std::string& name) const;

    /**
     * \return What is proved of the plan: the JSON of `laxity check --json`.
     */
    std::string GetProof() const;
    /**
     * \return Whether all that the plan promises is proved to hold, in sentences.
     */
    std::string GetStatement() const;
    /**
     * \return Whether all that the plan promises holds; empty if that is not known.
     */
    std::optional<bool> IsAdmitted() const;
    /**
     * \param name The name of a class.
     * \return The delay that no packet of it exceeds while traffic keeps to the plan; empty if none
     *         is proved.
     */
    std::optional<Time> GetBound(const std::string& name) const;

    /// ECN: the queue management of the plan marked a packet.
    static constexpr const char* MARK = "Marked by the plan's queue";

    /**
     * \param item The packet whose transmission starts.
     * \param classId The number of its class.
     * \param delay The time from its arrival until its last bit has left.
     */
    typedef void (*DispatchCallback)(Ptr<const QueueDiscItem> item, uint32_t classId, Time delay);

  protected:
    void DoDispose() override;

  private:
    bool DoEnqueue(Ptr<QueueDiscItem> item) override;
    Ptr<QueueDiscItem> DoDequeue() override;
    bool CheckConfig() override;
    void InitializeParams() override;

    /// The class of a packet and its flow within the class.
    struct Place
    {
        uint32_t classId; //!< The number of the class
        uint32_t flow;    //!< The number of the flow
    };

    /**
     * \return The plan, which is read when it is first needed.
     */
    const laxity::Plan& GetPlan() const;
    /**
     * \return What is proved of it.
     */
    const laxity::Proof& GetProved() const;
    /**
     * \param item A packet.
     * \return Where it belongs; empty if no class takes it.
     */
    std::optional<Place> Classify(Ptr<QueueDiscItem> item);
    /**
     * Takes the drops of the scheduler.
     * \param arriving The handle of the packet that is not in the store yet.
     * \return Why that one was dropped; null if it was not.
     */
    const char* TakeDrops(uint64_t arriving);
    /**
     * Counts a packet that is sent, marks it and says so.
     * \param item The packet.
     * \param classId Its class.
     * \param marked Whether the queue management marked it.
     * \param arrival When it arrived, in ns.
     */
    void Dispatch(Ptr<QueueDiscItem> item, uint32_t classId, bool marked, uint64_t arrival);
    /**
     * Runs at a time, after everything that was scheduled for it before.
     * \param time The time, in ns.
     */
    void WakeAt(uint64_t time);
    /**
     * The time of WakeAt has come.
     */
    void Wake();
    /**
     * All arrivals of this instant are in.
     */
    void RunSettled();
    /**
     * \param item A packet.
     * \return Its length on the link, in bytes.
     */
    uint32_t LengthOf(Ptr<const QueueDiscItem> item) const;

    std::string m_planText;   //!< The path of the plan, or its text
    std::string m_discipline; //!< Another discipline than the plan's
    std::string m_default;    //!< The class of packets that no filter knows
    uint64_t m_seed;          //!< The seed of random draws; 0 for the run number
    uint32_t m_frameOverhead; //!< Bytes that the device adds
    bool m_pace;              //!< Whether the disc sends at the plan's rate

    mutable std::unique_ptr<laxity::Plan> m_plan;   //!< The plan
    mutable std::unique_ptr<laxity::Proof> m_proof; //!< What is proved of it
    std::unique_ptr<laxity::Scheduler> m_scheduler; //!< Its scheduler, with queue management
    std::unique_ptr<laxity::Policer> m_policer;     //!< Its entrance
    std::unique_ptr<laxity::Pacer> m_pacer;         //!< Its link
    std::unique_ptr<LaxityFlows> m_flows;           //!< Its flows
    Ptr<LaxityStore> m_store;                       //!< What is queued
    mutable std::vector<ClassStats> m_classStats;   //!< Counts, by class

    uint64_t m_nextHandle{0};  //!< The handle of the next packet
    EventId m_wake;            //!< When to run next
    Time m_wakeTime;           //!< Its time
    bool m_isSettled{false};   //!< Whether all arrivals of this instant are in

    /// Fired when the transmission of a packet starts
    TracedCallback<Ptr<const QueueDiscItem>, uint32_t, Time> m_traceDispatch;
};

} // namespace ns3

#endif // LAXITY_QUEUE_DISC_H
