// MIT OR Apache-2.0
#include "laxity-test-link.h"

#include "ns3/boolean.h"
#include "ns3/laxity-tag.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <memory>

using namespace ns3;
using namespace laxity_test;

namespace
{

const std::string TWO = "version = 1\nlink.rate = '8mbit'\nscheduler.kind = 'priority'\n"
                        "[class.voice]\nlevel = 0\nmatch = 'udp dport 4000'\n"
                        "deadline = '5ms'\narrival = { bucket = '1000b', rate = '1mbit' }\n"
                        "[class.web]\nlevel = 1\nqueue = { kind = 'droptail', limit = 2 }\n";

} // namespace

/// Packets go to the class of their tag, of a filter, or to the default.
class LaxityClassesTestCase : public TestCase
{
  public:
    LaxityClassesTestCase()
        : TestCase("Classes by match, priority and tag, and the default class")
    {
    }

  private:
    void DoRun() override
    {
        LaxityHelper byMatch(TWO);
        {
            Link link(byMatch);
            link.Send({4000});
            link.Send({5000});
            Simulator::Run();
            const auto& stats = link.disc->GetStats();
            NS_TEST_EXPECT_MSG_EQ(link.SentOf("voice"), 1, "its match holds");
            NS_TEST_EXPECT_MSG_EQ(link.SentOf("web"), 0, "web has no match");
            NS_TEST_EXPECT_MSG_EQ(stats.GetNDroppedPackets("no-class"), 1, "no match holds");
        }
        {
            Link link(LaxityHelper("version = 1\nlink.rate = '8mbit'\nscheduler.kind = 'fifo'\n"
                                   "[class.six]\nmatch = 'ip6 and udp dport 4000'\n"
                                   "[class.four]\nmatch = 'ip'\n"));
            link.Send({4000, 1000, 0, 0, "", true});
            link.Send({4001, 1000, 0, 0, "", true});
            link.Send({4000});
            Simulator::Run();
            const auto dropped = link.disc->GetStats().GetNDroppedPackets("no-class");
            NS_TEST_EXPECT_MSG_EQ(link.SentOf("six"), 1, "IPv6 with its port");
            NS_TEST_EXPECT_MSG_EQ(link.SentOf("four"), 1, "IPv4");
            NS_TEST_EXPECT_MSG_EQ(dropped, 1, "IPv6 with another port");
        }
        byMatch.Set("DefaultClass", StringValue("web"));
        {
            Link link(byMatch);
            link.Send({5000});
            auto tagged = Sent{5000}.Item(Mac48Address());
            tagged->GetPacket()->AddPacketTag(LaxityTag(0, 7));
            link.Send(tagged);
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(link.SentOf("voice"), 1, "its tag says so");
            NS_TEST_EXPECT_MSG_EQ(link.SentOf("web"), 1, "it is the default");
        }
        LaxityHelper byNothing(TWO);
        byNothing.MapPriority(9, "web");
        for (int32_t answer : {0, 1, 2, INT32_MAX})
        {
            Link link(byNothing);
            link.disc->AddPacketFilter(CreateObject<FixedFilter>(answer));
            link.Send({5000});
            Simulator::Run();
            const bool isKnown = answer < 2;
            const auto dropped = link.disc->GetStats().GetNDroppedPackets("no-class");
            NS_TEST_EXPECT_MSG_EQ(link.begun.size(), isKnown, "class " << answer);
            NS_TEST_EXPECT_MSG_EQ(dropped, !isKnown, "class " << answer);
        }
        LaxityHelper byPriority(TWO);
        byPriority.MapPriority(6, "voice");
        byPriority.MapPriority(0, "web");
        {
            Link link(byPriority);
            link.Send({5000, 1000, 0, 6});
            link.Send({4000, 1000, 0, 0});
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(link.SentOf("voice"), 1, "priority 6");
            NS_TEST_EXPECT_MSG_EQ(link.SentOf("web"), 1, "no priority is 0");
        }
    }
};

/// Priorities, limits, lengths and bounds.
class LaxityLinkTestCase : public TestCase
{
  public:
    LaxityLinkTestCase()
        : TestCase("A link of a plan: order, drops, lengths, the bound")
    {
    }

  private:
    void DoRun() override
    {
        LaxityHelper helper(TWO);
        helper.Set("DefaultClass", StringValue("web"));
        Link link(helper);
        // 8 Mbit/s: a byte takes a microsecond.
        link.Send({5000, 1000});
        link.Send({5000, 500}, MicroSeconds(10));
        link.Send({5000, 700}, MicroSeconds(20));
        link.Send({5000, 900}, MicroSeconds(30));
        link.Send({4000, 300}, MicroSeconds(40));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(link.begun.size(), 4, "one is dropped");
        const int64_t begun[] = {0, 1000, 1300, 1800};
        const uint32_t lengths[] = {1000, 300, 500, 700};
        for (std::size_t i = 0; i < 4; ++i)
        {
            NS_TEST_EXPECT_MSG_EQ(link.begun[i], MicroSeconds(begun[i]), "packet " << i);
            NS_TEST_EXPECT_MSG_EQ(link.packets[i]->GetSize(), lengths[i], "packet " << i);
        }
        const auto& stats = link.disc->GetStats();
        NS_TEST_EXPECT_MSG_EQ(stats.GetNDroppedPackets("queue-full"), 1, "two wait at most");
        NS_TEST_EXPECT_MSG_EQ(stats.nTotalDroppedPacketsBeforeEnqueue, 1, "it never got in");
        const auto& voice = link.disc->GetClassStats("voice");
        NS_TEST_EXPECT_MSG_EQ(voice.largestDelay, MicroSeconds(1260), "it waited for one packet");
        const auto bound = link.disc->GetBound("voice");
        NS_TEST_ASSERT_MSG_EQ(bound.has_value(), true, "it is proved");
        NS_TEST_EXPECT_MSG_EQ(*bound, NanoSeconds(2514001), "as laxity check says");
        NS_TEST_EXPECT_MSG_EQ(link.disc->GetBound("web").has_value(), false, "nothing is known");
        NS_TEST_EXPECT_MSG_EQ(link.disc->IsAdmitted().value_or(false), true, "5 ms are kept");
        const auto json = link.disc->GetProof();
        NS_TEST_EXPECT_MSG_NE(json.find("\"admitted\""), std::string::npos, json);
    }
};

/// A class with an upper limit leaves the link idle, and the queue disc wakes up by itself.
class LaxityUpperLimitTestCase : public TestCase
{
  public:
    LaxityUpperLimitTestCase()
        : TestCase("An upper limit of H-FSC")
    {
    }

  private:
    void DoRun() override
    {
        Link link(LaxityHelper("version = 1\nlink.rate = '8mbit'\nscheduler.kind = 'hfsc'\n"
                               "[class.slow]\nmatch = 'any'\nlink-share = '1mbit'\n"
                               "upper-limit = '1mbit'\n"));
        for (int i = 0; i < 5; ++i)
        {
            link.Send({5000, 1000});
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(link.begun.size(), 5, "all are sent");
        const auto took = link.begun[4] - link.begun[1];
        NS_TEST_EXPECT_MSG_EQ(took, MilliSeconds(24), "three packets at 1 Mbit/s");
    }
};

/// What queues mark and drop after packets got in.
class LaxityQueuesTestCase : public TestCase
{
  public:
    LaxityQueuesTestCase()
        : TestCase("Marks, and drops of packets that were queued")
    {
    }

  private:
    static std::unique_ptr<Link> Overload(uint8_t ecn)
    {
        auto link = std::make_unique<Link>(
            LaxityHelper("version = 1\nlink.rate = '8mbit'\nscheduler.kind = 'fifo'\n"
                         "[class.web]\nmatch = 'any'\n"
                         "queue = { kind = 'codel', limit = 1000, ecn = true }\n"));
        for (int i = 0; i < 600; ++i)
        {
            link->Send({5000, 1000, ecn}, MicroSeconds(700 * i));
        }
        Simulator::Run();
        return link;
    }

    void DoRun() override
    {
        {
            const auto link = Overload(0);
            const auto& stats = link->disc->GetStats();
            NS_TEST_EXPECT_MSG_GT(stats.GetNDroppedPackets("codel"), 0, "it drops");
            NS_TEST_EXPECT_MSG_EQ(stats.nTotalDroppedPacketsBeforeEnqueue, 0, "behind the queue");
            NS_TEST_EXPECT_MSG_EQ(stats.nTotalMarkedPackets, 0, "none can be marked");
            NS_TEST_EXPECT_MSG_EQ(link->begun.size() + stats.nTotalDroppedPackets, 600, "all");
        }
        {
            const auto link = Overload(2);
            const auto& stats = link->disc->GetStats();
            uint32_t marked = 0;
            for (const auto& packet : link->packets)
            {
                packet->RemoveAtStart(2);
                Ipv4Header header;
                packet->PeekHeader(header);
                marked += header.GetEcn() == Ipv4Header::ECN_CE;
            }
            NS_TEST_EXPECT_MSG_GT(marked, 0, "it marks");
            NS_TEST_EXPECT_MSG_EQ(stats.nTotalMarkedPackets, marked, "and says so");
            NS_TEST_EXPECT_MSG_EQ(stats.nTotalDroppedPackets, 0, "instead of dropping");
        }
    }
};

/// CAKE shares by hosts, which it is told of.
class LaxityHostsTestCase : public TestCase
{
  public:
    LaxityHostsTestCase()
        : TestCase("CAKE between two hosts, one of which has ten flows")
    {
    }

  private:
    void DoRun() override
    {
        Link link(LaxityHelper("version = 1\nlink.rate = '8mbit'\n"
                               "scheduler = { kind = 'cake', isolation = 'dual-srchost' }\n"
                               "[class.web]\nmatch = 'any'\n"));
        for (int i = 0; i < 200; ++i)
        {
            link.Send({static_cast<uint16_t>(5000 + i % 10), 1000});
            link.Send({6000, 1000, 0, 0, "10.0.0.9"});
        }
        Simulator::Stop(MicroSeconds(199500));
        Simulator::Run();
        uint32_t fromOther = 0;
        for (const auto& packet : link.packets)
        {
            packet->RemoveAtStart(2);
            Ipv4Header header;
            packet->PeekHeader(header);
            fromOther += header.GetSource() == Ipv4Address("10.0.0.9");
        }
        NS_TEST_EXPECT_MSG_EQ_TOL(fromOther, 100U, 3U, "half of " << link.packets.size());
    }
};

/// The device asks for packets.
class LaxityUnpacedTestCase : public TestCase
{
  public:
    LaxityUnpacedTestCase()
        : TestCase("Without Pace the device sets the pace")
    {
    }

  private:
    void DoRun() override
    {
        LaxityHelper helper(TWO);
        helper.Set("DefaultClass", StringValue("web"));
        helper.Set("Pace", BooleanValue(false));
        Link link(helper);
        link.Send({5000, 1000});
        link.Send({4000, 1000});
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(link.begun.size(), 2, "both are sent");
        NS_TEST_EXPECT_MSG_EQ(link.begun[1], NanoSeconds(800), "1000 bytes at 10 Gbit/s");
    }
};

/// Attributes that are set count, whatever the helper knows by itself.
class LaxityHelperTestCase : public TestCase
{
  public:
    LaxityHelperTestCase()
        : TestCase("The helper keeps to the attributes that are set")
    {
    }

  private:
    void DoRun() override
    {
        LaxityHelper helper(TWO);
        helper.Set("Plan",
                   StringValue("version = 1\nlink.rate = '8mbit'\nscheduler.kind = 'fifo'\n"
                               "[class.first]\nmatch = 'udp dport 4001'\n"
                               "[class.other]\nmatch = 'udp dport 4000'\n"));
        helper.Set("FrameOverhead", UintegerValue(52));
        {
            Link link(helper);
            link.Send({4000, 1000});
            link.Send({4000, 1000});
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ(link.begun.size(), 2, "both are sent");
            NS_TEST_EXPECT_MSG_EQ(link.SentOf("other"), 2, "by the match of the plan that is set");
            NS_TEST_EXPECT_MSG_EQ(link.begun[1], MicroSeconds(1050), "50 bytes more than PPP has");
        }
        LaxityHelper faster("version = 1\nlink.rate = '20gbit'\nscheduler.kind = 'fifo'\n"
                            "[class.all]\nmatch = 'any'\n");
        faster.Set("Pace", BooleanValue(false));
        Link link(faster);
        link.Send({4000, 1000});
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(link.begun.size(), 1, "a device may be slower without Pace");
    }
};

/// The suite.
class LaxityTestSuite : public TestSuite
{
  public:
    LaxityTestSuite()
        : TestSuite("laxity", UNIT)
    {
        AddTestCase(new LaxityClassesTestCase, TestCase::QUICK);
        AddTestCase(new LaxityLinkTestCase, TestCase::QUICK);
        AddTestCase(new LaxityUpperLimitTestCase, TestCase::QUICK);
        AddTestCase(new LaxityQueuesTestCase, TestCase::QUICK);
        AddTestCase(new LaxityHostsTestCase, TestCase::QUICK);
        AddTestCase(new LaxityUnpacedTestCase, TestCase::QUICK);
        AddTestCase(new LaxityHelperTestCase, TestCase::QUICK);
    }
};

static LaxityTestSuite g_laxityTestSuite;
