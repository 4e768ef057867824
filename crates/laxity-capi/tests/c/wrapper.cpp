// The wrapper for C++: owners, optionals, exceptions.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <type_traits>

#include "laxity.hpp"

#define CHECK(condition)                                                                 \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                                \
        }                                                                                \
    } while (0)

static_assert(std::is_move_constructible_v<laxity::Plan>);
static_assert(!std::is_copy_constructible_v<laxity::Plan>);
static_assert(std::is_move_assignable_v<laxity::Scheduler>);
static_assert(!std::is_copy_assignable_v<laxity::Scheduler>);

static const char *const PLAN =
    "version = 1\nlink.rate = '10mbit'\nscheduler.kind = 'edf'\n[class.voice]\ndeadline = '5ms'\n"
    "arrival = { bucket = '300b', rate = '80kB/s', packet = '300b' }\n[class.web]\n";

static void scheduling() {
    const auto plan = laxity::Plan::parse(PLAN);
    const auto proof = plan.check();
    CHECK(proof.admitted() == true && proof.json().size() > 100);
    CHECK(proof.bound(0).has_value() && !proof.bound(1).has_value());
    CHECK(plan.classes() == 2 && plan.class_number("web") == 1u && plan.class_name(0) == "voice");
    CHECK(!plan.class_number("mail").has_value());
    laxity::Scheduler first(plan);
    laxity::Scheduler scheduler = std::move(first);
    scheduler.push(0, laxity::packet(1, 1500, 0, 7));
    const auto ticket = scheduler.push(0, laxity::packet(0, 200, 0, 8));
    CHECK(ticket.has_value() && scheduler.backlog().packets == 2);
    // Best effort goes first as long as every deadline is kept.
    CHECK(scheduler.pop(1)->packet.handle == 7);
    scheduler.push(1, laxity::packet(1, 1500, 1, 9));
    scheduler.reconfigure(plan.under("priority"), 2);
    CHECK(scheduler.withdraw(2, *ticket)->handle == 8);
    CHECK(!scheduler.withdraw(2, *ticket).has_value());
    scheduler.reconfigure(plan, 2);
    scheduler.push(2, laxity::packet(0, 200, 2, 10));
    CHECK(scheduler.pop(2)->packet.handle == 9);
    const auto popped = scheduler.pop(2);
    CHECK(popped.has_value() && popped->packet.handle == 10);
    CHECK(popped->choice.deadline == 5000002);
    CHECK(!scheduler.pop(3).has_value() && !scheduler.next_drop().has_value());
    CHECK(!scheduler.next_time(3).has_value());
    CHECK(!scheduler.push(4, laxity::packet(9, 100, 4, 9)).has_value());
    CHECK(scheduler.next_drop()->reason == LX_DROP_NO_CLASS);
    laxity::Pacer pacer(8000000);
    CHECK(pacer.start(0, 0, 1000) == 1000000 && pacer.free_at() == 1000000);
    const laxity::Classifier classifier(
        laxity::Plan::parse("version = 1\nlink.rate = '1mbit'\nscheduler.kind = 'fifo'\n"
                            "[class.six]\nmatch = 'ip6'\n[class.any]\nmatch = 'any'\n"));
    const std::uint8_t six[40] = {0x60};
    CHECK(classifier.classify(six, sizeof six) == 0u && classifier.classify(nullptr, 0) == 1u);
    laxity::Policer policer(plan);
    auto packet = laxity::packet(0, 300, 0, 0);
    CHECK(policer.police(0, packet) == LX_CONFORMING);
}

static void datagrams() {
    laxity::DeadlineQueue queue;
    const auto budget = laxity::budget(1500, 8000000000);
    CHECK(queue.push(laxity::datagram(300, 900, LX_NEVER, 1)).has_value());
    const auto ticket = queue.push(laxity::datagram(200, 500, 600, 2));
    CHECK(queue.push(laxity::datagram(100, LX_NEVER, 450, 3)).has_value());
    CHECK(queue.backlog().packets == 3 && queue.backlog().bytes == 600);
    CHECK(queue.forecast(0, laxity::datagram(50, 800, 800, 4), budget) == 250u);
    CHECK(!queue.will_arrive(0, laxity::datagram(50, 49, LX_NEVER, 4), budget));
    CHECK(queue.next_expiry() == 450u);
    CHECK(queue.withdraw(*ticket)->handle == 2 && !queue.withdraw(*ticket).has_value());
    const auto popped = queue.pop(10, budget);
    CHECK(popped.has_value() && popped->datagram.handle == 1 && popped->arrives == 310);
    CHECK(!queue.next_unsent().has_value());
    queue.expire(450);
    const auto unsent = queue.next_unsent();
    CHECK(unsent.has_value() && unsent->datagram.handle == 3);
    CHECK(unsent->reason == LX_UNSENT_EXPIRED);
    CHECK(!queue.pop(451, budget).has_value() && !queue.next_expiry().has_value());
    // A full queue takes nothing.
    auto settings = laxity::sized<lx_deadline_queue_settings>();
    settings.limit = 1;
    laxity::DeadlineQueue small(settings);
    CHECK(small.push(laxity::datagram(1, 0, 0, 0)).has_value());
    CHECK(!small.push(laxity::datagram(1, 0, 0, 0)).has_value());
}

static void errors() {
    try {
        (void)laxity::Plan::parse("version = 1\nlink.rate = 5\n", "bad.toml");
        CHECK(false);
    } catch (const laxity::Error &error) {
        CHECK(error.status() == LX_ERR_PLAN && error.line() == 2);
        CHECK(std::string_view(error.what()).substr(0, 11) == "bad.toml:2:");
    }
    laxity::Book book(laxity::Plan::parse(
        "version = 1\nlink.rate = '10mbit'\nscheduler.kind = 'edf'\n[class.rest]\n"));
    const auto keys = "deadline = '20ms'\narrival = { bucket = '3kB', rate = '6mbit' }";
    const auto grant = book.admit(0, "a", keys);
    CHECK(grant.bound == 20000000);
    try {
        book.admit(1, "b", keys);
        CHECK(false);
    } catch (const laxity::NoRoom &refused) {
        CHECK(refused.offer().bits_per_second > 0 && refused.offer().bits_per_second <= 4000000);
    }
    CHECK(book.json(2).find("\"a\"") != std::string::npos);
    CHECK(book.plan(grant.from + 2).classes() == 2);
    book.release(grant.from + 3, "a");
}

static void engine() {
    laxity::Engine engine(laxity::Plan::parse(PLAN));
    std::thread sender([producer = engine.producer()]() mutable {
        for (std::uint64_t handle = 0; handle < 10000; handle++) {
            CHECK(producer.send(laxity::packet(handle % 2, 100, 0, handle)));
        }
    });
    std::vector<lx_event> events;
    std::size_t received = 0;
    while (received < 10000) {
        CHECK(engine.receive(events, 64, 2000000000) == LX_OK);
        received += events.size();
    }
    sender.join();
    // A lambda keeps its producer until its thread object is gone.
    sender = std::thread();
    CHECK(engine.shutdown().sent == 10000 && engine.receive(events, 1, 0) == LX_END);
}

static void udp() {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof to;
    const int receiver = socket(AF_INET, SOCK_DGRAM, 0);
    CHECK(bind(receiver, reinterpret_cast<sockaddr *>(&to), length) == 0);
    CHECK(getsockname(receiver, reinterpret_cast<sockaddr *>(&to), &length) == 0);
    auto settings = laxity::sized<lx_udp_settings>();
    settings.events = 16;
    settings.held = 1;
    laxity::UdpSink sink(settings);
    auto datagram = laxity::sized<lx_udp_datagram>();
    datagram.to = &to;
    datagram.to_length = length;
    datagram.length = 3;
    auto producer = std::optional(sink.producer());
    // Without a deadline the first one has only a share.
    datagram.bytes = "two";
    CHECK(producer->send(datagram));
    auto terms = laxity::datagram(0, sink.now() + 1000000000, LX_NEVER, 0);
    datagram.terms = &terms;
    datagram.bytes = "one";
    CHECK(producer->send(datagram));
    while (sink.statistics().queued < 2) {
        std::this_thread::yield();
    }
    sink.set_rate(1000000);
    char bytes[3];
    for (const char *expected : {"one", "two"}) {
        CHECK(recv(receiver, bytes, 3, 0) == 3 && std::string_view(bytes, 3) == expected);
    }
    producer.reset();
    CHECK(sink.shutdown().sent == 2);
    std::vector<lx_event> events;
    CHECK(sink.receive(events, 16, 0) == LX_OK && events.size() == 2);
    CHECK(events[0].kind == LX_SENT && sink.receive(events, 16, 0) == LX_END);
    close(receiver);
    laxity::UdpSink planned(laxity::Plan::parse(PLAN));
    CHECK(planned.shutdown().received == 0);
}

int main() {
    scheduling();
    datagrams();
    errors();
    engine();
    udp();
    return 0;
}
