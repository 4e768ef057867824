// The mesh of `mesh.tcl` under ns-3:
//
//   mesh folder=FOLDER KEY=VALUE ...
//
// The folder holds `mesh.csv` and `mesh.toml`. It prints what `mesh.tcl` prints.

#include <fstream>
#include <regex>

#include "ns3.h"

using namespace peer;

// A way out of a node.
struct Exit
{
    Ptr<Node> to;
    uint32_t interface;
    uint64_t delay;
};

std::map<std::string, Ptr<Node>> nodes;
std::map<Ptr<Node>, std::vector<Exit>> exits;

Ptr<Node> node(const std::string& name)
{
    auto& node = nodes[name];
    if (!node)
    {
        node = CreateObject<Node>();
    }
    return node;
}

// A node has one address at all its links, so that it takes one route.
Ipv4Address address(Ptr<Node> node)
{
    return Ipv4Address(0x0a000001 + node->GetId());
}

uint32_t attach(Ptr<Node> node, Ptr<NetDevice> device)
{
    auto ipv4 = node->GetObject<Ipv4>();
    auto interface = ipv4->AddInterface(device);
    ipv4->AddAddress(interface, Ipv4InterfaceAddress(address(node), Ipv4Mask::GetOnes()));
    ipv4->SetUp(interface);
    return interface;
}

// Dijkstra's tree from a node, and the first step of its paths as routes.
void route(Ptr<Node> from)
{
    auto routes = Ipv4StaticRoutingHelper().GetStaticRouting(from->GetObject<Ipv4>());
    std::map<Ptr<Node>, uint32_t> known;
    // By delay: where to, and by which interface of `from`.
    std::multimap<uint64_t, std::pair<Ptr<Node>, uint32_t>> next{{0, {from, 0}}};
    while (!next.empty())
    {
        auto [delay, end] = *next.begin();
        next.erase(next.begin());
        auto [to, interface] = end;
        if (!known.emplace(to, interface).second)
        {
            continue;
        }
        if (to != from)
        {
            routes->AddHostRouteTo(address(to), interface);
        }
        for (const auto& exit : exits[to])
        {
            next.emplace(delay + exit.delay, std::make_pair(exit.to, to == from ? exit.interface : interface));
        }
    }
}

int main(int count, char** arguments)
{
    Options options({{"seed", "1"}, {"seconds", "20"}, {"measure", "1"}, {"window", "20"}, {"folder", "."}}, count,
                    arguments);
    settle(options);

    InternetStackHelper stack;
    stack.SetRoutingHelper(Ipv4StaticRoutingHelper());
    Ptr<NetDevice> bottleneck;
    std::ifstream csv(options.at("folder") + "/mesh.csv");
    std::string line;
    std::getline(csv, line);
    while (std::getline(csv, line))
    {
        std::istringstream fields(line);
        std::string from, to, delay;
        std::getline(std::getline(std::getline(fields, from, ','), to, ','), delay);
        for (auto end : {node(from), node(to)})
        {
            if (!end->GetObject<Ipv4>())
            {
                stack.Install(end);
            }
        }
        auto devices = link(node(from), node(to), "100Mbps", delay, "1000");
        exits[node(from)].push_back({node(to), attach(node(from), devices.Get(0)), std::stoul(delay)});
        exits[node(to)].push_back({node(from), attach(node(to), devices.Get(1)), std::stoul(delay)});
        if (from == "r1" && to == "r2")
        {
            bottleneck = devices.Get(0);
        }
    }
    for (auto& [name, node] : nodes)
    {
        route(node);
    }

    Connections connections;
    std::ifstream plan(options.at("folder") + "/mesh.toml");
    std::regex end("(from|to) = \"(.*)\"");
    std::smatch found;
    std::string from;
    while (std::getline(plan, line))
    {
        if (!std::regex_match(line, found, end))
        {
            continue;
        }
        if (found[1] == "from")
        {
            from = found[2];
            continue;
        }
        auto to = node(found[2]);
        connections.emplace_back(node(from), address(node(from)), to, address(to), connections.size() + 1,
                                 options.number("measure"));
    }
    begin(connections);
    simulate(options, connections, bottleneck);
}
