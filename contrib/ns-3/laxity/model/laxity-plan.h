// MIT OR Apache-2.0
#ifndef LAXITY_PLAN_H
#define LAXITY_PLAN_H

#include "ns3/abort.h"
#include "ns3/fatal-error.h"

#include <exception>
#include <laxity.hpp>
#include <string>

namespace ns3
{

/**
 * \ingroup laxity
 *
 * Calls the library. What it throws ends the program with its message, as wrong attributes do.
 *
 * \param call What is called.
 * \return What the call returns.
 */
template <typename Call>
auto
CallLaxity(Call call)
{
    std::string message;
    try
    {
        return call();
    }
    catch (const laxity::Error& error)
    {
        message = error.what();
    }
    NS_FATAL_ERROR("Laxity: " << message);
    // Not every compiler sees that the line above does not return.
    std::terminate();
}

/**
 * \ingroup laxity
 *
 * \param plan The path of a plan, or its text, which has more than one line.
 * \return The plan.
 */
inline laxity::Plan
ReadLaxityPlan(const std::string& plan)
{
    NS_ABORT_MSG_IF(plan.empty(), "Laxity: no plan. Set the attribute Plan to a file or to a text");
    return CallLaxity([&] {
        return plan.find('\n') == std::string::npos ? laxity::Plan::read(plan)
                                                    : laxity::Plan::parse(plan, "Plan");
    });
}

} // namespace ns3

#endif // LAXITY_PLAN_H
