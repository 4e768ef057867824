// MIT OR Apache-2.0
// What a LaxityQueueDisc says of its plan.
#include "laxity-flows.h"
#include "laxity-plan.h"
#include "laxity-queue-disc.h"
#include "laxity-store.h"

namespace ns3
{

const laxity::Plan&
LaxityQueueDisc::GetPlan() const
{
    if (!m_plan)
    {
        auto plan = ReadLaxityPlan(m_planText);
        m_plan = CallLaxity([&] {
            return std::make_unique<laxity::Plan>(
                m_discipline.empty() ? std::move(plan) : plan.under(m_discipline));
        });
        m_classStats.resize(GetNClasses());
    }
    return *m_plan;
}

const laxity::Proof&
LaxityQueueDisc::GetProved() const
{
    if (!m_proof)
    {
        m_proof = CallLaxity([&] { return std::make_unique<laxity::Proof>(GetPlan().check()); });
    }
    return *m_proof;
}

std::string
LaxityQueueDisc::GetScheduler() const
{
    return CallLaxity([&] { return std::string(GetPlan().scheduler()); });
}

uint64_t
LaxityQueueDisc::GetRate() const
{
    return CallLaxity([&] { return GetPlan().rate(); });
}

uint32_t
LaxityQueueDisc::GetNClasses() const
{
    return CallLaxity([&] { return GetPlan().classes(); });
}

std::string
LaxityQueueDisc::GetClassName(uint32_t classId) const
{
    const auto name = CallLaxity([&] { return GetPlan().class_name(classId); });
    NS_ABORT_MSG_IF(!name, "Laxity: the plan has no class of number " << classId);
    return std::string(*name);
}

uint32_t
LaxityQueueDisc::GetClassId(const std::string& name) const
{
    const auto number = CallLaxity([&] { return GetPlan().class_number(name); });
    NS_ABORT_MSG_IF(!number, "Laxity: the plan has no class named \"" << name << "\"");
    return *number;
}

const LaxityQueueDisc::ClassStats&
LaxityQueueDisc::GetClassStats(const std::string& name) const
{
    return m_classStats[GetClassId(name)];
}

std::string
LaxityQueueDisc::GetProof() const
{
    return CallLaxity([&] { return std::string(GetProved().json()); });
}

std::string
LaxityQueueDisc::GetStatement() const
{
    return CallLaxity([&] { return std::string(GetProved().statement()); });
}

std::optional<bool>
LaxityQueueDisc::IsAdmitted() const
{
    return CallLaxity([&] { return GetProved().admitted(); });
}

std::optional<Time>
LaxityQueueDisc::GetBound(const std::string& name) const
{
    const auto number = GetClassId(name);
    const auto bound = CallLaxity([&] { return GetProved().bound(number); });
    return bound ? std::optional(NanoSeconds(*bound)) : std::nullopt;
}

} // namespace ns3
