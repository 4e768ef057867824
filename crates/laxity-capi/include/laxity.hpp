// liblaxity for C++17: laxity.h with owners, texts and exceptions. MIT OR Apache-2.0.
//
// Handles are owners that move and are not copied. What goes wrong is thrown as laxity::Error;
// what is not there is an empty std::optional. Threads are as laxity.h says.
#ifndef LAXITY_HPP
#define LAXITY_HPP

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "laxity.h"

namespace laxity {

// A struct of laxity.h with its size, the rest zero.
template <typename T>
[[nodiscard]] T sized() noexcept {
    T made{};
    made.size = static_cast<std::uint32_t>(sizeof(T));
    return made;
}

// Why a call failed.
class Error : public std::runtime_error {
public:
    Error(lx_status status, const std::string &message, std::uint32_t line, std::uint32_t column)
        : std::runtime_error(message), status_(status), line_(line), column_(column) {}

    [[nodiscard]] lx_status status() const noexcept { return status_; }
    // Of a plan, from 1; 0 where there is none.
    [[nodiscard]] std::uint32_t line() const noexcept { return line_; }
    [[nodiscard]] std::uint32_t column() const noexcept { return column_; }

private:
    lx_status status_;
    std::uint32_t line_;
    std::uint32_t column_;
};

// A reservation that does not fit, with what would.
class NoRoom : public Error {
public:
    NoRoom(const Error &error, const lx_offer &offer) : Error(error), offer_(offer) {}
    [[nodiscard]] const lx_offer &offer() const noexcept { return offer_; }

private:
    lx_offer offer_;
};

namespace detail {

// Calls a function of laxity.h, whose last argument is its error. Throws what is below zero.
template <typename Function, typename... Arguments>
lx_status call(Function function, Arguments... arguments) {
    lx_error *raw = nullptr;
    const lx_status status = function(arguments..., &raw);
    if (status >= 0) {
        return status;
    }
    const std::unique_ptr<lx_error, decltype(&lx_error_free)> error(raw, &lx_error_free);
    const char *message = error ? lx_error_message(raw) : lx_status_name(status);
    throw Error(status, message, lx_error_line(raw), lx_error_column(raw));
}

template <typename T, void (*Free)(T *)>
class Owner {
public:
    [[nodiscard]] T *get() const noexcept { return handle_.get(); }

protected:
    template <typename Function, typename... Arguments>
    explicit Owner(Function function, Arguments... arguments) {
        T *made = nullptr;
        call(function, arguments..., &made);
        handle_.reset(made);
    }
    explicit Owner(T *handle) noexcept : handle_(handle) {}
    void reset() noexcept { handle_.reset(); }

private:
    struct Freed {
        void operator()(T *handle) const noexcept { Free(handle); }
    };
    std::unique_ptr<T, Freed> handle_;
};

}  // namespace detail

// What is proved of a plan.
class Proof : public detail::Owner<lx_proof, lx_proof_free> {
public:
    // Empty if it is not known.
    [[nodiscard]] std::optional<bool> admitted() const {
        lx_admission admission = LX_UNKNOWN;
        detail::call(lx_proof_admission, get(), &admission);
        if (admission == LX_UNKNOWN) {
            return std::nullopt;
        }
        return admission == LX_ADMITTED;
    }
    // Both live as long as the proof.
    [[nodiscard]] std::string_view json() const {
        const char *text = nullptr;
        detail::call(lx_proof_json, get(), &text);
        return text;
    }
    [[nodiscard]] std::string_view statement() const {
        const char *text = nullptr;
        detail::call(lx_proof_statement, get(), &text);
        return text;
    }
    // The delay that no conforming packet of the class exceeds, in ns.
    [[nodiscard]] std::optional<std::uint64_t> bound(std::uint32_t class_id) const {
        std::uint64_t bound = 0;
        const lx_status status = detail::call(lx_proof_bound, get(), class_id, &bound);
        return status == LX_OK ? std::optional(bound) : std::nullopt;
    }

private:
    friend class Plan;
    explicit Proof(const lx_plan *plan) : Owner(lx_plan_check, plan) {}
};

// A plan, whole and right.
class Plan : public detail::Owner<lx_plan, lx_plan_free> {
public:
    [[nodiscard]] static Plan parse(std::string_view text, std::string_view name = "plan.toml",
                                    std::string_view folder = "") {
        const std::string toml(text), called(name), from(folder);
        lx_plan *made = nullptr;
        detail::call(lx_plan_parse, toml.c_str(), called.c_str(), from.c_str(), &made);
        return Plan(made);
    }
    [[nodiscard]] static Plan read(std::string_view path) {
        const std::string file(path);
        lx_plan *made = nullptr;
        detail::call(lx_plan_read, file.c_str(), &made);
        return Plan(made);
    }
    // The same plan under another discipline.
    [[nodiscard]] Plan under(std::string_view scheduler) const {
        const std::string name(scheduler);
        lx_plan *made = nullptr;
        detail::call(lx_plan_under, static_cast<const lx_plan *>(get()), name.c_str(), &made);
        return Plan(made);
    }
    [[nodiscard]] Proof check() const { return Proof(get()); }
    [[nodiscard]] std::uint32_t classes() const {
        std::uint32_t count = 0;
        detail::call(lx_plan_classes, get(), &count);
        return count;
    }
    [[nodiscard]] std::optional<std::uint32_t> class_number(std::string_view name) const {
        const std::string called(name);
        std::uint32_t number = 0;
        const lx_status status = detail::call(lx_plan_class, get(), called.c_str(), &number);
        return status == LX_OK ? std::optional(number) : std::nullopt;
    }
    // It lives as long as the plan.
    [[nodiscard]] std::optional<std::string_view> class_name(std::uint32_t class_id) const {
        const char *name = nullptr;
        const lx_status status = detail::call(lx_plan_class_name, get(), class_id, &name);
        return status == LX_OK ? std::optional(std::string_view(name)) : std::nullopt;
    }
    [[nodiscard]] std::string_view scheduler() const {
        const char *name = nullptr;
        detail::call(lx_plan_scheduler, get(), &name);
        return name;
    }
    // In bits per second.
    [[nodiscard]] std::uint64_t rate() const {
        std::uint64_t rate = 0;
        detail::call(lx_plan_rate, get(), &rate);
        return rate;
    }

private:
    friend class Book;
    explicit Plan(lx_plan *made) noexcept : Owner(made) {}
};

// A packet of a class.
[[nodiscard]] inline lx_packet packet(std::uint32_t class_id, std::uint32_t length,
                                      std::uint64_t arrival, std::uint64_t handle) noexcept {
    auto made = sized<lx_packet>();
    made.class_id = class_id;
    made.length = length;
    made.arrival = arrival;
    made.handle = handle;
    return made;
}

struct Dispatch {
    lx_packet packet;
    lx_choice choice;
};

struct Drop {
    lx_packet packet;
    lx_drop_reason reason;
};

struct Backlog {
    std::uint64_t packets;
    std::uint64_t bytes;
};

// A scheduler of a plan of one link.
class Scheduler : public detail::Owner<lx_scheduler, lx_scheduler_free> {
public:
    explicit Scheduler(const Plan &plan, std::uint64_t seed = 0)
        : Owner(lx_scheduler_new, plan.get(), seed) {}

    // The ticket of a packet that is queued; empty if it was dropped.
    std::optional<std::uint64_t> push(std::uint64_t now, const lx_packet &packet) {
        std::uint64_t ticket = LX_NO_TICKET;
        detail::call(lx_push, get(), now, &packet, &ticket);
        return ticket != LX_NO_TICKET ? std::optional(ticket) : std::nullopt;
    }
    [[nodiscard]] std::optional<Dispatch> pop(std::uint64_t now) {
        Dispatch popped{sized<lx_packet>(), sized<lx_choice>()};
        const lx_status status = detail::call(lx_pop, get(), now, &popped.packet, &popped.choice);
        return status == LX_OK ? std::optional(popped) : std::nullopt;
    }
    [[nodiscard]] std::optional<std::uint64_t> next_time(std::uint64_t now) {
        std::uint64_t time = 0;
        const lx_status status = detail::call(lx_next_time, get(), now, &time);
        return status == LX_OK ? std::optional(time) : std::nullopt;
    }
    [[nodiscard]] std::optional<Drop> next_drop() {
        auto packet = sized<lx_packet>();
        std::uint32_t reason = 0;
        const lx_status status = detail::call(lx_next_drop, get(), &packet, &reason);
        if (status != LX_OK) {
            return std::nullopt;
        }
        return Drop{packet, static_cast<lx_drop_reason>(reason)};
    }
    std::optional<lx_packet> withdraw(std::uint64_t now, std::uint64_t ticket) {
        auto packet = sized<lx_packet>();
        const lx_status status = detail::call(lx_withdraw, get(), now, ticket, &packet);
        return status == LX_OK ? std::optional(packet) : std::nullopt;
    }
    void reconfigure(const Plan &plan, std::uint64_t now, std::uint64_t seed = 0) {
        detail::call(lx_reconfigure, get(), static_cast<const lx_plan *>(plan.get()), seed, now);
    }
    void clear(const Plan &plan, std::uint64_t seed = 0) {
        detail::call(lx_clear, get(), static_cast<const lx_plan *>(plan.get()), seed);
    }
    void introduce(std::uint32_t class_id, std::uint32_t flow, std::uint32_t source,
                   std::uint32_t destination) {
        detail::call(lx_introduce, get(), class_id, flow, source, destination);
    }
    [[nodiscard]] Backlog backlog() {
        Backlog backlog{0, 0};
        detail::call(lx_backlog, get(), &backlog.packets, &backlog.bytes);
        return backlog;
    }
    [[nodiscard]] bool has_room(const lx_packet &packet) {
        std::uint32_t has_room = 0;
        detail::call(lx_has_room, get(), &packet, &has_room);
        return has_room != 0;
    }
};

// The `match` of the classes of a plan.
class Classifier : public detail::Owner<lx_classifier, lx_classifier_free> {
public:
    explicit Classifier(const Plan &plan) : Owner(lx_classifier_new, plan.get()) {}
    // The class of a packet that begins with the header of IP; empty if no match holds.
    [[nodiscard]] std::optional<std::uint32_t> classify(const std::uint8_t *packet,
                                                        std::size_t length) const {
        std::uint32_t number = 0;
        const lx_status status = detail::call(lx_classify, get(), packet, length, &number);
        return status == LX_OK ? std::optional(number) : std::nullopt;
    }
};

// Token buckets for the classes of a plan.
class Policer : public detail::Owner<lx_policer, lx_policer_free> {
public:
    explicit Policer(const Plan &plan) : Owner(lx_policer_new, plan.get()) {}
    lx_entry police(std::uint64_t now, lx_packet &packet) {
        std::uint32_t entry = 0;
        detail::call(lx_police, get(), now, &packet, &entry);
        return static_cast<lx_entry>(entry);
    }
};

// Spaces packets on a link.
class Pacer : public detail::Owner<lx_pacer, lx_pacer_free> {
public:
    explicit Pacer(std::uint64_t bits_per_second, std::uint64_t catch_up = 0)
        : Owner(lx_pacer_new, bits_per_second, catch_up) {}
    // That of a plan's link, whose rate may vary.
    explicit Pacer(const Plan &plan, std::uint64_t catch_up = 0)
        : Owner(lx_pacer_of_plan, plan.get(), catch_up) {}
    [[nodiscard]] std::uint64_t free_at() {
        std::uint64_t time = 0;
        detail::call(lx_pacer_free_at, get(), &time);
        return time;
    }
    // When the link is free again.
    std::uint64_t start(std::uint64_t ready, std::uint64_t now, std::uint32_t length) {
        std::uint64_t until = 0;
        std::uint64_t *const no_from = nullptr;
        detail::call(lx_pacer_start, get(), ready, now, length, no_from, &until);
        return until;
    }
};

class Engine;

// Hands packets to an engine; one thread at a time.
class Producer : public detail::Owner<lx_producer, lx_producer_free> {
public:
    // Whether it was taken.
    bool send(const lx_packet &packet, lx_send_mode mode = LX_SEND_WAIT) {
        const auto number = static_cast<std::uint32_t>(mode);
        return detail::call(lx_producer_send, get(), &packet, number) == LX_OK;
    }

private:
    friend class Engine;
    explicit Producer(const lx_engine *engine) : Owner(lx_engine_producer, engine) {}
};

// A scheduler on a thread of its own.
class Engine : public detail::Owner<lx_engine, lx_engine_free> {
public:
    explicit Engine(const Plan &plan,
                    const lx_engine_settings &settings = sized<lx_engine_settings>(),
                    std::uint64_t seed = 0)
        : Owner(lx_engine_start, plan.get(), seed, &settings) {}

    [[nodiscard]] Producer producer() const { return Producer(get()); }
    // Replaces `events` by up to `most` new ones; returns LX_OK, LX_NONE or LX_END.
    lx_status receive(std::vector<lx_event> &events, std::size_t most, std::uint64_t timeout) {
        events.assign(most, sized<lx_event>());
        std::size_t count = 0;
        const lx_status status =
            detail::call(lx_engine_receive, get(), events.data(), most, timeout, &count);
        events.resize(count);
        return status;
    }
    void reconfigure(const Plan &plan, std::uint64_t seed = 0) {
        detail::call(lx_engine_reconfigure, get(), static_cast<const lx_plan *>(plan.get()), seed);
    }
    // All producers are gone before.
    lx_statistics shutdown() {
        auto statistics = sized<lx_statistics>();
        detail::call(lx_engine_shutdown, get(), &statistics);
        return statistics;
    }
};

// A datagram; a time that is LX_NEVER is none.
[[nodiscard]] inline lx_datagram datagram(std::uint32_t length, std::uint64_t deadline,
                                          std::uint64_t expires, std::uint64_t handle) noexcept {
    auto made = sized<lx_datagram>();
    made.length = length;
    made.deadline = deadline;
    made.expires = expires;
    made.handle = handle;
    return made;
}

// What congestion control lets out now; with the rate 0 it is not known.
[[nodiscard]] inline lx_budget budget(std::uint64_t bytes, std::uint64_t bits_per_second = 0,
                                      std::uint64_t in_flight = 0) noexcept {
    auto made = sized<lx_budget>();
    made.bytes = bytes;
    made.bits_per_second = bits_per_second;
    made.in_flight = in_flight;
    return made;
}

struct Arrival {
    lx_datagram datagram;
    std::uint64_t arrives;
};

struct Unsent {
    lx_datagram datagram;
    lx_unsent_reason reason;
};

// Datagrams that are due, expire and have ranks.
class DeadlineQueue : public detail::Owner<lx_deadline_queue, lx_deadline_queue_free> {
public:
    explicit DeadlineQueue(const lx_deadline_queue_settings &settings =
                               sized<lx_deadline_queue_settings>())
        : Owner(lx_deadline_queue_new, &settings) {}

    // The ticket of a datagram that waits; empty if the queue is full.
    std::optional<std::uint64_t> push(const lx_datagram &datagram) {
        std::uint64_t ticket = LX_NO_TICKET;
        const lx_status status =
            detail::call(lx_deadline_queue_push, get(), &datagram, &ticket);
        return status == LX_OK ? std::optional(ticket) : std::nullopt;
    }
    [[nodiscard]] std::optional<Arrival> pop(std::uint64_t now, const lx_budget &budget) {
        Arrival popped{sized<lx_datagram>(), 0};
        const lx_status status = detail::call(lx_deadline_queue_pop, get(), now, &budget,
                                              &popped.datagram, &popped.arrives);
        return status == LX_OK ? std::optional(popped) : std::nullopt;
    }
    void expire(std::uint64_t now) { detail::call(lx_deadline_queue_expire, get(), now); }
    [[nodiscard]] std::optional<std::uint64_t> next_expiry() {
        std::uint64_t time = 0;
        const lx_status status = detail::call(lx_deadline_queue_next_expiry, get(), &time);
        return status == LX_OK ? std::optional(time) : std::nullopt;
    }
    [[nodiscard]] std::optional<Unsent> next_unsent() {
        auto datagram = sized<lx_datagram>();
        std::uint32_t reason = 0;
        const lx_status status =
            detail::call(lx_deadline_queue_next_unsent, get(), &datagram, &reason);
        if (status != LX_OK) {
            return std::nullopt;
        }
        return Unsent{datagram, static_cast<lx_unsent_reason>(reason)};
    }
    std::optional<lx_datagram> withdraw(std::uint64_t ticket) {
        auto datagram = sized<lx_datagram>();
        const lx_status status =
            detail::call(lx_deadline_queue_withdraw, get(), ticket, &datagram);
        return status == LX_OK ? std::optional(datagram) : std::nullopt;
    }
    // When its last byte would arrive; empty if it would be handed back.
    [[nodiscard]] std::optional<std::uint64_t> forecast(std::uint64_t now,
                                                        const lx_datagram &datagram,
                                                        const lx_budget &budget) {
        std::uint64_t time = 0;
        const lx_status status =
            detail::call(lx_deadline_queue_forecast, get(), now, &datagram, &budget, &time);
        return status == LX_OK ? std::optional(time) : std::nullopt;
    }
    [[nodiscard]] bool will_arrive(std::uint64_t now, const lx_datagram &datagram,
                                   const lx_budget &budget) {
        std::uint32_t will_arrive = 0;
        detail::call(lx_deadline_queue_will_arrive, get(), now, &datagram, &budget, &will_arrive);
        return will_arrive != 0;
    }
    [[nodiscard]] Backlog backlog() {
        Backlog backlog{0, 0};
        detail::call(lx_deadline_queue_backlog, get(), &backlog.packets, &backlog.bytes);
        return backlog;
    }
};

class UdpSink;

// Hands datagrams to a UDP sink; one thread at a time.
class UdpProducer : public detail::Owner<lx_udp_producer, lx_udp_producer_free> {
public:
    // Whether it was taken. `datagram` is of laxity::sized<lx_udp_datagram>().
    bool send(const lx_udp_datagram &datagram, lx_send_mode mode = LX_SEND_WAIT) {
        const auto number = static_cast<std::uint32_t>(mode);
        return detail::call(lx_udp_send, get(), &datagram, number) == LX_OK;
    }

private:
    friend class UdpSink;
    explicit UdpProducer(const lx_udp_sink *sink) : Owner(lx_udp_sink_producer, sink) {}
};

// Sends datagrams by UDP, paced, on a thread of its own. Only on Linux.
class UdpSink : public detail::Owner<lx_udp_sink, lx_udp_sink_free> {
public:
    // By their deadlines, expiries and ranks.
    explicit UdpSink(const lx_udp_settings &settings = sized<lx_udp_settings>())
        : UdpSink(nullptr, 0, settings) {}
    // By the classes of a plan.
    explicit UdpSink(const Plan &plan,
                     const lx_udp_settings &settings = sized<lx_udp_settings>(),
                     std::uint64_t seed = 0)
        : UdpSink(plan.get(), seed, settings) {}

    [[nodiscard]] UdpProducer producer() const { return UdpProducer(get()); }
    [[nodiscard]] std::uint64_t now() const {
        std::uint64_t now = 0;
        detail::call(lx_udp_sink_now, get(), &now);
        return now;
    }
    // In bits per second; 0 for as fast as the sockets take datagrams.
    void set_rate(std::uint64_t rate) { detail::call(lx_udp_sink_set_rate, get(), rate); }
    void hold() { detail::call(lx_udp_sink_hold, get()); }
    void reconfigure(const Plan &plan, std::uint64_t seed = 0) {
        detail::call(lx_udp_sink_reconfigure, get(), static_cast<const lx_plan *>(plan.get()),
                     seed);
    }
    // Replaces `events` by up to `most` new ones; returns LX_OK, LX_NONE or LX_END.
    lx_status receive(std::vector<lx_event> &events, std::size_t most, std::uint64_t timeout) {
        events.assign(most, sized<lx_event>());
        std::size_t count = 0;
        const lx_status status =
            detail::call(lx_udp_sink_receive, get(), events.data(), most, timeout, &count);
        events.resize(count);
        return status;
    }
    [[nodiscard]] lx_udp_statistics statistics() const {
        auto statistics = sized<lx_udp_statistics>();
        detail::call(lx_udp_sink_statistics, get(), &statistics);
        return statistics;
    }
    // All producers are gone before.
    lx_udp_statistics shutdown() {
        auto statistics = sized<lx_udp_statistics>();
        detail::call(lx_udp_sink_shutdown, get(), &statistics);
        return statistics;
    }

private:
    UdpSink(const lx_plan *plan, std::uint64_t seed, const lx_udp_settings &settings)
        : Owner(lx_udp_sink_start, plan, seed, &settings) {}
};

// Reservations of a plan.
class Book : public detail::Owner<lx_book, lx_book_free> {
public:
    explicit Book(const Plan &plan) : Owner(lx_book_new, plan.get()) {}

    // Throws NoRoom if it does not fit. `request` is of laxity::sized<lx_request>().
    lx_grant admit(std::uint64_t now, const lx_request &request) {
        auto grant = sized<lx_grant>();
        auto offer = sized<lx_offer>();
        return offered(offer, [&] {
            detail::call(lx_book_admit, get(), now, &request, &grant, &offer);
            return grant;
        });
    }
    lx_grant admit(std::uint64_t now, std::string_view name, std::string_view keys) {
        const std::string called(name), table(keys);
        auto request = sized<lx_request>();
        request.name = called.c_str();
        request.keys = table.c_str();
        return admit(now, request);
    }
    lx_grant change(std::uint64_t now, std::string_view name, std::string_view keys) {
        const std::string called(name), table(keys);
        auto grant = sized<lx_grant>();
        auto offer = sized<lx_offer>();
        return offered(offer, [&] {
            detail::call(lx_book_change, get(), now, called.c_str(), table.c_str(), &grant, &offer);
            return grant;
        });
    }
    void commit(std::uint64_t now, std::string_view name) {
        const std::string called(name);
        detail::call(lx_book_commit, get(), now, called.c_str());
    }
    void renew(std::uint64_t now, std::string_view name, std::uint64_t until = LX_NEVER) {
        const std::string called(name);
        detail::call(lx_book_renew, get(), now, called.c_str(), until);
    }
    void release(std::uint64_t now, std::string_view name) {
        const std::string called(name);
        detail::call(lx_book_release, get(), now, called.c_str());
    }
    std::size_t expire(std::uint64_t now) {
        std::size_t count = 0;
        detail::call(lx_book_expire, get(), now, &count);
        return count;
    }
    [[nodiscard]] std::optional<std::uint64_t> next_change(std::uint64_t now) {
        std::uint64_t time = 0;
        const lx_status status = detail::call(lx_book_next_change, get(), now, &time);
        return status == LX_OK ? std::optional(time) : std::nullopt;
    }
    [[nodiscard]] std::string json(std::uint64_t now) {
        char *text = nullptr;
        detail::call(lx_book_json, get(), now, &text);
        const std::unique_ptr<char, decltype(&lx_text_free)> owned(text, &lx_text_free);
        return text;
    }
    [[nodiscard]] Plan plan(std::uint64_t now) {
        lx_plan *made = nullptr;
        detail::call(lx_book_plan, get(), now, &made);
        return Plan(made);
    }

private:
    template <typename Call>
    static lx_grant offered(const lx_offer &offer, Call call) {
        try {
            return call();
        } catch (const Error &error) {
            if (error.status() == LX_ERR_NO_ROOM) {
                throw NoRoom(error, offer);
            }
            throw;
        }
    }
};

}  // namespace laxity

#endif  // LAXITY_HPP
