// What the networks under ns-3 have in common: their options, the TCP of `dumbbell.tcl`, links, and what is measured.

#pragma once

#include <chrono>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>

#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>

namespace peer
{
using namespace ns3;

// The length of a segment on the wire, and what TCP, IP and PPP take of it.
const uint32_t length = 1000;
const uint32_t payload = length - 42;

struct Options : std::map<std::string, std::string>
{
    Options(std::map<std::string, std::string> known, int count, char** arguments)
        : std::map<std::string, std::string>(known)
    {
        for (int i = 1; i < count; ++i)
        {
            std::string argument = arguments[i];
            auto equals = argument.find('=');
            auto option = find(argument.substr(0, equals));
            if (equals == std::string::npos || option == end())
            {
                std::cerr << "what is " << argument << "?\n";
                std::exit(2);
            }
            option->second = argument.substr(equals + 1);
        }
    }

    uint32_t number(const std::string& name) const
    {
        return std::stoul(at(name));
    }
};

// TCP of 2001, but for what ns-3 does not leave to choose: a handshake, and round trips that are not measured in ticks.
inline void settle(const Options& options)
{
    RngSeedManager::SetRun(options.number("seed"));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue("ns3::TcpClassicRecovery"));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(false));
    // Three ticks are where the timer of ns-2 comes to while round trips are shorter than a tick.
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", StringValue("100ms"));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", StringValue("300ms"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(payload));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    // The sender's buffer is the window: ns-3.37 crashes in a recovery where all of the receiver's is sent.
    auto window = options.number("window") * payload;
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4 * window));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window));
}

// A link with a queue at each end, which holds as many packets as it says beside the one that is sent.
inline NetDeviceContainer link(Ptr<Node> one, Ptr<Node> other, const std::string& rate, const std::string& delay,
                               const std::string& limit)
{
    PointToPointHelper link;
    // A packet that finds the queue full is dropped there.
    link.DisableFlowControl();
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", StringValue(delay));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(limit + "p"));
    return link.Install(one, other);
}

// A connection that is greedy, or ends after so many segments.
struct Connection
{
    Ptr<Node> from;
    Ptr<Node> to;
    InetSocketAddress source;
    InetSocketAddress sink;
    bool measured;
    uint32_t segments = 0;

    uint32_t given = 0;
    Ptr<Socket> sender;
    Ptr<Socket> receiver;
    std::set<SequenceNumber32> arrived;
    SequenceNumber32 next{0};
    uint64_t retransmitted = 0;
    uint64_t timeouts = 0;
    Time first;
    Time last;

    Connection(Ptr<Node> from, Ipv4Address source, Ptr<Node> to, Ipv4Address sink, uint16_t port, bool measured)
        : from(from), to(to), source(source, port), sink(sink, port), measured(measured)
    {
        receiver = Socket::CreateSocket(to, TcpSocketFactory::GetTypeId());
        receiver->Bind(this->sink);
        receiver->Listen();
        receiver->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                    MakeCallback(&Connection::accept, this));
    }

    void begin()
    {
        sender = Socket::CreateSocket(from, TcpSocketFactory::GetTypeId());
        sender->Bind(source);
        sender->SetSendCallback(MakeCallback(&Connection::send, this));
        if (measured)
        {
            sender->TraceConnectWithoutContext("Tx", MakeCallback(&Connection::sent, this));
            sender->TraceConnectWithoutContext("RTO", MakeCallback(&Connection::timer, this));
        }
        sender->Connect(sink);
    }

    void send(Ptr<Socket>, uint32_t available)
    {
        while (available >= payload && (segments == 0 || given < segments))
        {
            sender->Send(Create<Packet>(payload));
            given += 1;
            available = sender->GetTxAvailable();
            if (given == segments)
            {
                sender->Close();
            }
        }
    }

    void accept(Ptr<Socket> accepted, const Address&)
    {
        accepted->SetRecvCallback(MakeCallback(&Connection::receive, this));
        accepted->SetCloseCallbacks(MakeCallback(&Connection::close, this), MakeNullCallback<void, Ptr<Socket>>());
        if (measured)
        {
            accepted->TraceConnectWithoutContext("Rx", MakeCallback(&Connection::came, this));
        }
    }

    void receive(Ptr<Socket> accepted)
    {
        while (accepted->Recv())
        {
        }
    }

    void close(Ptr<Socket> accepted)
    {
        receiver->Close();
        accepted->Close();
    }

    void sent(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
    {
        if (packet->GetSize() > 0)
        {
            first = next == SequenceNumber32(0) ? Simulator::Now() : first;
            retransmitted += header.GetSequenceNumber() < next;
            next = std::max(next, header.GetSequenceNumber() + packet->GetSize());
        }
    }

    void came(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
    {
        if (packet->GetSize() > 0 && arrived.insert(header.GetSequenceNumber()).second)
        {
            last = Simulator::Now();
        }
    }

    // ns-3 does not tell of timeouts, but each doubles the timer.
    void timer(Time before, Time after)
    {
        timeouts += after == before + before;
    }
};

// The queue of a device.
struct Bottleneck
{
    std::deque<Time> queue;
    uint64_t sent = 0;
    uint64_t dropped = 0;
    double sum = 0;
    double squares = 0;

    explicit Bottleneck(Ptr<NetDevice> device)
    {
        auto queue = device->GetObject<PointToPointNetDevice>()->GetQueue();
        queue->TraceConnectWithoutContext("Enqueue", MakeCallback(&Bottleneck::enqueue, this));
        queue->TraceConnectWithoutContext("Dequeue", MakeCallback(&Bottleneck::dequeue, this));
        queue->TraceConnectWithoutContext("Drop", MakeCallback(&Bottleneck::drop, this));
    }

    void enqueue(Ptr<const Packet>)
    {
        queue.push_back(Simulator::Now());
    }

    void dequeue(Ptr<const Packet>)
    {
        double wait = (Simulator::Now() - queue.front()).GetSeconds();
        queue.pop_front();
        sent += 1;
        sum += wait;
        squares += wait * wait;
    }

    void drop(Ptr<const Packet>)
    {
        dropped += 1;
    }
};

struct Hops
{
    uint64_t count = 0;

    Hops()
    {
        Config::ConnectWithoutContext("/NodeList/*/DeviceList/*/$ns3::PointToPointNetDevice/PhyTxEnd",
                                      MakeCallback(&Hops::sent, this));
    }

    void sent(Ptr<const Packet>)
    {
        count += 1;
    }
};

using Connections = std::list<Connection>;

// Each begins at a random time within the first second.
inline void begin(Connections& connections)
{
    auto start = CreateObject<UniformRandomVariable>();
    for (auto& connection : connections)
    {
        Simulator::Schedule(Seconds(start->GetValue(0, 1)), &Connection::begin, &connection);
    }
}

// Simulates and prints what `dumbbell.tcl` prints, and `hops`.
inline void simulate(const Options& options, const Connections& connections, Ptr<NetDevice> bottleneck)
{
    bool measured = options.number("measure");
    std::unique_ptr<Bottleneck> at;
    std::unique_ptr<Hops> hops;
    if (measured)
    {
        at = std::make_unique<Bottleneck>(bottleneck);
        hops = std::make_unique<Hops>();
    }
    Simulator::Stop(Seconds(options.number("seconds")));
    using Clock = std::chrono::steady_clock;
    Clock::time_point begin;
    Simulator::ScheduleNow(+[](Clock::time_point* begin) { *begin = Clock::now(); }, &begin);
    Simulator::Run();
    auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin);
    if (measured)
    {
        for (auto& connection : connections)
        {
            std::cout << "connection " << connection.arrived.size() * length << " " << connection.retransmitted << " "
                      << connection.timeouts << " 0\n";
        }
        double mean = at->sum / at->sent;
        std::cout << "bottleneck 1 " << at->sent + at->queue.size() + at->dropped << " " << at->sent << " "
                  << at->dropped << " " << mean << " " << at->squares / at->sent - mean * mean << "\n"
                  << "hops " << hops->count << "\n";
    }
    std::cout << "took " << took.count() << std::endl;
}
} // namespace peer
