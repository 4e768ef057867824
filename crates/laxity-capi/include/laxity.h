/* liblaxity: packet schedulers with proofs. MIT OR Apache-2.0.
 *
 * Made from crates/laxity-capi/src by `LAXITY_RECORD=1 cargo test -p laxity-capi --test header`.
 *
 * - A handle (lx_plan, lx_scheduler, ...) is made by a call and freed by its lx_..._free.
 * - Time is an argument, in nanoseconds of the caller's clock. Nothing calls back, and there is no
 *   global state. A panic of the library is caught: see LX_ERR_PANIC.
 * - Calls return an lx_status: 0 and above without an error. The last argument, `error`, may be
 *   NULL. Otherwise it gets NULL, or what went wrong, which the caller frees by lx_error_free.
 *   After an error, places for results are as they were, and places for handles are NULL.
 * - Pointers are NULL or valid for what the call does with them. NULL, where nothing says that it
 *   may be, is LX_ERR_NULL. A freed handle must not be used.
 * - Texts end with a NUL and are UTF-8. Texts that are given out are not freed and live as long as
 *   the handle, unless the call says that lx_text_free frees them.
 * - A struct begins with `size`: the caller sets it to sizeof of the struct, as LX_INIT does. The
 *   library reads and writes no more than that. Fields that the caller does not know are zero for
 *   the library, and fields that the library does not know become zero. So structs grow, and
 *   programs need not be compiled again.
 * - Enums may grow, too: a program has a default for numbers that it does not know.
 *
 * Threads: plans and proofs never change and are shared freely. Any other handle is used by one
 * thread at a time, unless its type says otherwise. Builds of the library with debug assertions
 * look: a second thread gets LX_ERR_THREAD. Different handles never wait for one another.
 */

#ifndef LAXITY_H
#define LAXITY_H

#include <stddef.h>
#include <stdint.h>
/* A struct with its size, the rest zero: lx_packet packet = LX_INIT(lx_packet);
 * C++ has laxity::sized<lx_packet>() in laxity.hpp. */
#ifndef __cplusplus
#define LX_INIT(type) {.size = (uint32_t)sizeof(type)}
#endif

/**
 * The version of the binary interface. It changes when a program that was compiled before does
 * not work any more.
 */
#define LX_ABI_VERSION 0

/**
 * The latest time that a call takes, in ns: about 292 years. A clock that counts from 1970 is far
 * below it.
 */
#define LX_TIME_MAX (uint64_t)INT64_MAX

/**
 * No time: a deadline that is not there, an end that does not come.
 */
#define LX_NEVER UINT64_MAX

/**
 * No ticket: the packet is not queued.
 */
#define LX_NO_TICKET 0

/**
 * How many drop reasons there are: their numbers are below.
 */
#define LX_DROP_REASONS 15

/**
 * The most drops that wait to be taken: with more, `lx_push` is refused with `LX_ERR_DROPS`.
 */
#define LX_DROPS_KEPT 65536

/**
 * How a call ended: zero and above without an error.
 */
typedef enum {
  /**
   * It did what it was asked for.
   */
  LX_OK = 0,
  /**
   * There is nothing to return: no packet to be sent now, no bound, no drop, no such class.
   */
  LX_NONE = 1,
  /**
   * There is no room now: the packet was not taken.
   */
  LX_FULL = 2,
  /**
   * The engine has ended, and all that it sent and dropped has been received.
   */
  LX_END = 3,
  /**
   * A pointer is NULL or not aligned.
   */
  LX_ERR_NULL = -1,
  /**
   * A value is out of its range.
   */
  LX_ERR_ARGUMENT = -2,
  /**
   * The `size` of a struct is below that of its first version, or absurd.
   */
  LX_ERR_SIZE = -3,
  /**
   * A text is not UTF-8.
   */
  LX_ERR_TEXT = -4,
  /**
   * A plan or the keys of a class make no sense; the message points at the place.
   */
  LX_ERR_PLAN = -5,
  /**
   * A file cannot be read.
   */
  LX_ERR_FILE = -6,
  /**
   * A time is before that of an earlier call, or above `LX_TIME_MAX`.
   */
  LX_ERR_TIME = -7,
  /**
   * The handle is of another kind, or was freed.
   */
  LX_ERR_HANDLE = -8,
  /**
   * An earlier call with this handle ended in `LX_ERR_PANIC`. It can only be freed.
   */
  LX_ERR_POISONED = -9,
  /**
   * A fault of the library, which was caught.
   */
  LX_ERR_PANIC = -10,
  /**
   * Another thread is in a call with this handle. Builds without debug assertions do not look.
   */
  LX_ERR_THREAD = -11,
  /**
   * The plan's discipline or kind does not have this.
   */
  LX_ERR_UNSUPPORTED = -12,
  /**
   * Drops wait to be taken: more are not kept.
   */
  LX_ERR_DROPS = -13,
  /**
   * Producers of the engine are not freed yet.
   */
  LX_ERR_BUSY = -14,
  /**
   * The engine takes no more, or its thread has ended.
   */
  LX_ERR_STOPPED = -15,
  /**
   * A reservation does not fit; the offer says what would.
   */
  LX_ERR_NO_ROOM = -16,
  /**
   * No reservation has this name, another one has it, or its time is over.
   */
  LX_ERR_RESERVATION = -17,
  /**
   * The system gives no socket, or one does not take what is asked of it.
   */
  LX_ERR_SOCKET = -18,
} lx_status;

/**
 * Whether everything that a plan promises holds.
 */
typedef enum {
  /**
   * It does not.
   */
  LX_REFUSED = 0,
  /**
   * It does: this is proved.
   */
  LX_ADMITTED = 1,
  /**
   * It is not known.
   */
  LX_UNKNOWN = 2,
} lx_admission;

/**
 * The ECN bits of an IP header, in the `ecn` of a packet.
 */
typedef enum {
  /**
   * Not-ECT: congestion drops this packet.
   */
  LX_ECN_NOT_CAPABLE = 0,
  /**
   * ECT(1): the same as ECT(0), and marked early and often (L4S).
   */
  LX_ECN_L4S = 1,
  /**
   * ECT(0): congestion may mark this packet where it would drop it.
   */
  LX_ECN_CAPABLE = 2,
  /**
   * CE: a queue has marked this packet.
   */
  LX_ECN_EXPERIENCED = 3,
} lx_ecn;

/**
 * Why a packet was not sent.
 */
typedef enum {
  /**
   * The queue's limit was reached.
   */
  LX_DROP_QUEUE_FULL = 0,
  /**
   * It broke its class's arrival curve, and the plan says to drop such packets.
   */
  LX_DROP_CONTRACT = 1,
  /**
   * Its class takes no packets: there is none of this number, it is not a leaf, or was removed.
   */
  LX_DROP_NO_CLASS = 2,
  /**
   * Its deadline had passed, and its class or stream does not want late packets.
   */
  LX_DROP_LATE = 3,
  /**
   * Random early detection: its queue was long on average.
   */
  LX_DROP_RED = 4,
  /**
   * CHOKe: it and another packet of its flow met.
   */
  LX_DROP_CHOKE = 5,
  /**
   * CoDel: packets had been waiting for too long.
   */
  LX_DROP_CODEL = 6,
  /**
   * It missed its time frame, or there is none that it can be sent in.
   */
  LX_DROP_FRAME = 7,
  /**
   * It is longer than any packet that is expected of its class.
   */
  LX_DROP_TOO_LONG = 8,
  /**
   * The scheduler wants it no more, for a reason of its own.
   */
  LX_DROP_SCHEDULER = 9,
  /**
   * PIE: packets wait for too long, and chance chose it.
   */
  LX_DROP_PIE = 10,
  /**
   * DualPI2: packets of its queue wait for too long, or marks are not enough any more.
   */
  LX_DROP_DUALPI2 = 11,
  /**
   * COBALT: packets had been waiting for too long, or too many had come before.
   */
  LX_DROP_COBALT = 12,
  /**
   * A later acknowledgement of its flow made it superfluous.
   */
  LX_DROP_ACK_FILTER = 13,
  /**
   * It had been demoted, and there was no room left for it.
   */
  LX_DROP_DEMOTED = 14,
} lx_drop_reason;

/**
 * The rule by which a packet was chosen.
 */
typedef enum {
  /**
   * It had arrived first.
   */
  LX_CHOSEN_ARRIVAL_ORDER = 0,
  /**
   * It had the earliest deadline.
   */
  LX_CHOSEN_EARLIEST_DEADLINE = 1,
  /**
   * It had the smallest virtual finishing time.
   */
  LX_CHOSEN_VIRTUAL_FINISH = 2,
  /**
   * It had the smallest virtual finishing time of those that the fluid would have begun to
   * serve.
   */
  LX_CHOSEN_ELIGIBLE_VIRTUAL_FINISH = 3,
  /**
   * It was its class's turn.
   */
  LX_CHOSEN_ROUND_ROBIN = 4,
  /**
   * Nothing was waiting on a level before its own.
   */
  LX_CHOSEN_PRIORITY = 5,
  /**
   * Its leaf was eligible and its deadline the earliest.
   */
  LX_CHOSEN_REAL_TIME = 6,
  /**
   * From the root down, its classes had the smallest virtual times.
   */
  LX_CHOSEN_LINK_SHARING = 7,
  /**
   * Nothing with a guarantee was waiting.
   */
  LX_CHOSEN_BACKGROUND = 8,
  /**
   * Its stream came first by loss tolerance and deadline.
   */
  LX_CHOSEN_WINDOW_CONSTRAINT = 9,
  /**
   * The time frame in which it is to be sent had begun.
   */
  LX_CHOSEN_RESERVED_FRAME = 10,
  /**
   * It had the least rank.
   */
  LX_CHOSEN_RANK = 11,
  /**
   * A rule that this version has no number for.
   */
  LX_CHOSEN_OTHER = 12,
} lx_criterion;

/**
 * The verdict of a policer on a packet.
 */
typedef enum {
  /**
   * It keeps to its class's arrival curve.
   */
  LX_CONFORMING = 0,
  /**
   * It breaks the curve and gets in: as best effort if `demoted` is 1 now.
   */
  LX_NONCONFORMING = 1,
  /**
   * It breaks the curve and does not get in: the caller drops it.
   */
  LX_ENTRY_REFUSED = 2,
} lx_entry;

/**
 * What an engine has done with a packet.
 */
typedef enum {
  /**
   * It was sent.
   */
  LX_SENT = 0,
  /**
   * It was dropped.
   */
  LX_DROPPED = 1,
  /**
   * A UDP sink could not send it.
   */
  LX_LOST = 2,
  /**
   * A datagram that was sent has left, as the kernel says. Only `handle`, `starts_at` and
   * `left_at` are known.
   */
  LX_DEPARTED = 3,
} lx_event_kind;

/**
 * What a producer does with a packet while its ring is full.
 */
typedef enum {
  /**
   * Gives it back at once: `LX_FULL`.
   */
  LX_SEND_TRY = 0,
  /**
   * Sleeps until there is room.
   */
  LX_SEND_WAIT = 1,
  /**
   * Drops it, and counts that: `LX_FULL`.
   */
  LX_SEND_DROP = 2,
} lx_send_mode;

/**
 * Why a datagram is handed back.
 */
typedef enum {
  /**
   * It has expired.
   */
  LX_UNSENT_EXPIRED = 0,
  /**
   * It was its turn, and it would have arrived after it expires.
   */
  LX_UNSENT_TOO_LATE = 1,
} lx_unsent_reason;

/**
 * Which group of a track is sent first.
 */
typedef enum {
  /**
   * The oldest one.
   */
  LX_GROUPS_ASCENDING = 0,
  /**
   * The newest one.
   */
  LX_GROUPS_DESCENDING = 1,
} lx_group_order;

/**
 * Whether the kernel is told when each datagram is to start.
 */
typedef enum {
  /**
   * It is not told.
   */
  LX_TRANSMIT_AT_ONCE = 0,
  /**
   * For an interface with the discipline `fq`.
   */
  LX_TRANSMIT_BY_FQ = 1,
  /**
   * For an interface with the discipline `etf`.
   */
  LX_TRANSMIT_BY_ETF = 2,
} lx_transmit_time;

/**
 * Why a datagram was lost.
 */
typedef enum {
  /**
   * The socket's buffer had no room in time.
   */
  LX_LOST_NO_ROOM = 0,
  /**
   * A queue of this machine, or its memory, was full.
   */
  LX_LOST_LOCAL_QUEUE = 1,
  /**
   * It is too long for the path.
   */
  LX_LOST_TOO_LONG = 2,
  /**
   * There is no way to its destination, or nobody there.
   */
  LX_LOST_UNREACHABLE = 3,
  /**
   * A filter or a right that is missing forbids it.
   */
  LX_LOST_FORBIDDEN = 4,
  /**
   * Any other error.
   */
  LX_LOST_OTHER = 5,
} lx_loss;

/**
 * The reservations of a plan. Each is one more class; it is granted exactly if the admission test
 * admits the plan with it, at every time of its period. One thread uses a book at a time. Times
 * are those of the caller and do not go back.
 */
typedef struct lx_book lx_book;

/**
 * The `match` of the classes of a plan. It never changes: any number of threads may use one at a
 * time.
 */
typedef struct lx_classifier lx_classifier;

/**
 * Datagrams that wait to be sent, in place of the queue of a program that sends by a congestion
 * control. Of what waits it sends the lowest level first; in a level what has a deadline, by the
 * earliest one; then equal shares of the level's streams. One thread uses it at a time. Time is an
 * argument, in ns of any clock that does not go back; it never reads one.
 */
typedef struct lx_deadline_queue lx_deadline_queue;

/**
 * A scheduler on a thread of its own, with a clock that counts from its start. Producers hand
 * packets to it, each on any thread; the caller receives what it sends and drops.
 *
 * Any number of threads use it at a time, but one receives: `lx_engine_receive` and
 * `lx_engine_shutdown` of a second one at the same time are `LX_ERR_THREAD`.
 */
typedef struct lx_engine lx_engine;

/**
 * Why a call failed. It belongs to the caller, who frees it.
 */
typedef struct lx_error lx_error;

/**
 * Spaces packets on a link of a rate, exactly: rounding never adds up. One thread uses it at a
 * time.
 *
 * A sender that is woken late makes up for at most `catch_up` ns of that. So in any interval it
 * sends no more than the link carries in it and in `catch_up`, and one packet.
 */
typedef struct lx_pacer lx_pacer;

/**
 * A plan, whole and right. It never changes: any number of threads may use one at a time, and it
 * may be freed as soon as no call uses it. What is built of it keeps what it needs.
 */
typedef struct lx_plan lx_plan;

/**
 * Token buckets for the classes of a plan, full at the start. One thread uses it at a time.
 */
typedef struct lx_policer lx_policer;

/**
 * Hands packets to an engine, through a ring of its own. It belongs to one thread at a time, any
 * thread, and its packets keep their order on the way to the scheduler.
 */
typedef struct lx_producer lx_producer;

/**
 * What is proved of a plan. It never changes: any number of threads may use one.
 */
typedef struct lx_proof lx_proof;

/**
 * A scheduler of a plan of one link. One thread uses it at a time. Time is an argument, in ns of
 * any clock that does not go back; it never reads one.
 */
typedef struct lx_scheduler lx_scheduler;

/**
 * Hands datagrams to a UDP sink, through a ring of its own. It belongs to one thread at a time,
 * any thread.
 */
typedef struct lx_udp_producer lx_udp_producer;

/**
 * Sends datagrams by UDP, paced by a rate, on a thread of its own, with a clock that counts from
 * its start. Only on Linux. Producers hand datagrams to it, each on any thread. It never waits for
 * who receives events.
 *
 * Any number of threads use it at a time, but one receives events: a second one at the same time
 * gets `LX_ERR_THREAD`.
 */
typedef struct lx_udp_sink lx_udp_sink;

/**
 * A packet. Payloads do not cross: `handle` says which one it is.
 */
typedef struct {
  /**
   * `sizeof(lx_packet)`.
   */
  uint32_t size;
  /**
   * The number of its class in the plan.
   */
  uint32_t class_id;
  /**
   * The flow within the class, as the caller numbers it.
   */
  uint32_t flow;
  /**
   * Length on the link in bytes, at least 1.
   */
  uint32_t length;
  /**
   * When its last bit arrived, in ns; not after `now`.
   */
  uint64_t arrival;
  /**
   * The caller's own mark, which comes out unchanged.
   */
  uint64_t handle;
  /**
   * How an acknowledgement of TCP stands to those before it, for CAKE's filter; 0 for none. See
   * `lx_ack_tag`.
   */
  uint16_t ack;
  /**
   * An `lx_ecn`: the two bits of the IP header.
   */
  uint8_t ecn;
  /**
   * 1 if the packet broke its class's arrival curve and goes as best effort.
   */
  uint8_t demoted;
  /**
   * Zero.
   */
  uint32_t reserved;
} lx_packet;

/**
 * Why a packet was chosen.
 */
typedef struct {
  /**
   * `sizeof(lx_choice)`.
   */
  uint32_t size;
  /**
   * An `lx_criterion`: the rule that chose it.
   */
  uint32_t criterion;
  /**
   * The deadline that ordered it, in ns; `LX_NEVER` without one.
   */
  uint64_t deadline;
} lx_choice;

/**
 * Settings of an engine. A field that is zero has its default, but for `bits_per_second`.
 */
typedef struct {
  /**
   * `sizeof(lx_engine_settings)`.
   */
  uint32_t size;
  /**
   * The most packets that are sent between two looks at the producers. Default 64.
   */
  uint32_t burst;
  /**
   * The rate of the link, which paces packets; 0 for as fast as events are received.
   */
  uint64_t bits_per_second;
  /**
   * Packets that each producer's ring holds, up to 2^24. Default 1024.
   */
  uint64_t ring;
  /**
   * Packets of each producer that may be in the scheduler, up to 2^24. Default 4096.
   */
  uint64_t backlog;
  /**
   * Events that wait to be received, up to 2^24. Default 4096.
   */
  uint64_t events;
} lx_engine_settings;

/**
 * What an engine or a UDP sink has done with a packet. Times are in ns from its start.
 */
typedef struct {
  /**
   * `sizeof(lx_event)`.
   */
  uint32_t size;
  /**
   * An `lx_event_kind`.
   */
  uint32_t kind;
  /**
   * An `lx_criterion` if it was sent, an `lx_drop_reason` if it was dropped, an `lx_loss` if it
   * was lost.
   */
  uint32_t reason;
  /**
   * The number of its class, in the plan that is followed.
   */
  uint32_t class_id;
  /**
   * The flow within the class.
   */
  uint32_t flow;
  /**
   * Length on the link in bytes.
   */
  uint32_t length;
  /**
   * The producer's own mark.
   */
  uint64_t handle;
  /**
   * When the scheduler thread took it from its producer.
   */
  uint64_t arrival;
  /**
   * When its transmission starts; `LX_NEVER` if it was dropped or lost.
   */
  uint64_t starts_at;
  /**
   * The deadline that ordered it; `LX_NEVER` without one.
   */
  uint64_t deadline;
  /**
   * An `lx_ecn`.
   */
  uint8_t ecn;
  /**
   * 1 if it broke its class's arrival curve and went as best effort.
   */
  uint8_t demoted;
  /**
   * Zero.
   */
  uint8_t reserved[6];
  /**
   * When the driver of the interface got it; `LX_NEVER` if nobody knows.
   */
  uint64_t left_at;
} lx_event;

/**
 * Counts of an engine: received = sent + dropped + queued.
 */
typedef struct {
  /**
   * `sizeof(lx_statistics)`.
   */
  uint32_t size;
  /**
   * Zero.
   */
  uint32_t reserved;
  /**
   * Packets that the scheduler thread took from producers.
   */
  uint64_t received;
  /**
   * Packets that were sent.
   */
  uint64_t sent;
  /**
   * Their bytes.
   */
  uint64_t bytes_sent;
  /**
   * Packets that the scheduler dropped.
   */
  uint64_t dropped;
  /**
   * Packets that are in the scheduler.
   */
  uint64_t queued;
  /**
   * Producers that there were.
   */
  uint64_t producers;
  /**
   * How often a producer found its ring full.
   */
  uint64_t ring_full;
  /**
   * Packets that producers dropped because their ring was full; they never came in.
   */
  uint64_t ring_dropped;
} lx_statistics;

/**
 * A datagram. Payloads do not cross: `handle` says which one it is.
 */
typedef struct {
  /**
   * `sizeof(lx_datagram)`.
   */
  uint32_t size;
  /**
   * Length in bytes, as it counts for the budget; at least 1.
   */
  uint32_t length;
  /**
   * The caller's own mark, which comes out unchanged.
   */
  uint64_t handle;
  /**
   * When it is due, in ns; 0 or `LX_NEVER` if it only has a share of what others leave. A
   * datagram that is late is still sent.
   */
  uint64_t deadline;
  /**
   * From when on it is of no use, in ns; 0 or `LX_NEVER` if it always is. It is sent if it
   * arrives by then.
   */
  uint64_t expires;
  /**
   * The stream that has a share of the level. Datagrams with a deadline need none.
   */
  uint64_t stream;
  /**
   * The place within the stream, its upper half: the least goes first, of equal ones the first
   * to come. Datagrams with a deadline need none.
   */
  uint64_t order_high;
  /**
   * The lower half.
   */
  uint64_t order_low;
  /**
   * Lower levels go first, whatever waits in higher ones.
   */
  uint32_t level;
  /**
   * Zero.
   */
  uint32_t reserved;
} lx_datagram;

/**
 * Settings of a deadline queue. A field that is zero has its default.
 */
typedef struct {
  /**
   * `sizeof(lx_deadline_queue_settings)`.
   */
  uint32_t size;
  /**
   * The most datagrams that wait, up to 2^24. Default 65536.
   */
  uint32_t limit;
} lx_deadline_queue_settings;

/**
 * What congestion control lets out now.
 */
typedef struct {
  /**
   * `sizeof(lx_budget)`.
   */
  uint32_t size;
  /**
   * Zero.
   */
  uint32_t reserved;
  /**
   * The most bytes that may leave now. Forecasts do not look at it.
   */
  uint64_t bytes;
  /**
   * The rate at which the path carries bytes; 0 if it is not known, and datagrams count as
   * arrived when they leave.
   */
  uint64_t bits_per_second;
  /**
   * Bytes that have left and not arrived: they arrive before all that leaves now.
   */
  uint64_t in_flight;
} lx_budget;

/**
 * Settings of a UDP sink. A field that is zero has its default.
 */
typedef struct {
  /**
   * `sizeof(lx_udp_settings)`.
   */
  uint32_t size;
  /**
   * How many `sockets` there are. With 0 the sink opens one of its own, of any family.
   */
  uint32_t socket_count;
  /**
   * Bound UDP sockets, which the sink duplicates and sends by. The caller may receive by them,
   * and closes them at any time. With `transmit_time`, `local_drops` or `departures` the sink
   * sets options of them that stay set: the caller's calls may then return errors that the
   * network reports.
   */
  const int32_t *sockets;
  /**
   * The rate of the link, which paces datagrams. Default that of the plan; without a plan as
   * fast as the sockets take them.
   */
  uint64_t bits_per_second;
  /**
   * Datagrams go to the kernel in batches of this time of the link, in ns. Default each one when
   * the link is free.
   */
  uint64_t batch;
  /**
   * The most time, in ns, that is made up for when the sink's thread was late. Default 10 ms.
   */
  uint64_t catch_up;
  /**
   * How long before its start a batch goes to the kernel, in ns: with `transmit_time`.
   */
  uint64_t lead;
  /**
   * How long a full buffer of a socket is waited for, in ns. Default 1 ms.
   */
  uint64_t patience;
  /**
   * Datagrams that each producer's ring holds, up to 2^24. Default 1024.
   */
  uint64_t ring;
  /**
   * Datagrams of each producer that may be in the scheduler, up to 2^24. Default 4096.
   */
  uint64_t backlog;
  /**
   * Events that wait to be received, up to 2^24. Default none: the sink tells of nothing.
   */
  uint64_t events;
  /**
   * The most datagrams that wait where no plan orders them, up to 2^24. Default 65536.
   */
  uint32_t limit;
  /**
   * An `lx_transmit_time`: whether the kernel is told when each datagram is to start.
   */
  uint32_t transmit_time;
  /**
   * 1 to be told when datagrams have left, as `LX_DEPARTED`. Nobody else may send by the sockets
   * then.
   */
  uint8_t departures;
  /**
   * 1 to be told that a queue of this machine has dropped a datagram, as `LX_LOST`.
   */
  uint8_t local_drops;
  /**
   * 1 to send nothing until `lx_udp_sink_set_rate`.
   */
  uint8_t held;
  /**
   * Zero.
   */
  uint8_t reserved[5];
} lx_udp_settings;

/**
 * Counts of a UDP sink: received = sent + lost + dropped + queued, but for datagrams that are
 * being handed to the kernel.
 */
typedef struct {
  /**
   * `sizeof(lx_udp_statistics)`.
   */
  uint32_t size;
  /**
   * Zero.
   */
  uint32_t reserved;
  /**
   * Datagrams that came from producers.
   */
  uint64_t received;
  /**
   * Datagrams that the kernel has taken.
   */
  uint64_t sent;
  /**
   * Their bytes, without headers.
   */
  uint64_t bytes_sent;
  /**
   * Datagrams that were not sent, or that the kernel has dropped at once.
   */
  uint64_t lost;
  /**
   * Datagrams that the queue or the plan's scheduler has dropped.
   */
  uint64_t dropped;
  /**
   * Datagrams that wait.
   */
  uint64_t queued;
  /**
   * How often a producer found its ring full.
   */
  uint64_t ring_full;
  /**
   * Datagrams that producers dropped because their ring was full; they never came in.
   */
  uint64_t ring_dropped;
  /**
   * Calls of the kernel.
   */
  uint64_t calls;
  /**
   * How often the sink has waited for room in a socket's buffer.
   */
  uint64_t waits;
  /**
   * Datagrams that a discipline below has dropped because they missed their transmit time.
   */
  uint64_t missed;
  /**
   * Events that found no room.
   */
  uint64_t events_lost;
} lx_udp_statistics;

/**
 * A datagram and where it goes. Its bytes are copied once, so that they may be freed at once.
 */
typedef struct {
  /**
   * `sizeof(lx_udp_datagram)`.
   */
  uint32_t size;
  /**
   * How many bytes it carries, at most 65 507.
   */
  uint32_t length;
  /**
   * The bytes; may be NULL if there are none.
   */
  const void *bytes;
  /**
   * Where it goes: a `struct sockaddr_in` or `struct sockaddr_in6`.
   */
  const void *to;
  /**
   * When it is due, when it expires, and its rank, where no plan orders datagrams. `length` and
   * `handle` of it are not looked at. NULL if it only has a share of what others leave.
   */
  const lx_datagram *terms;
  /**
   * The caller's own mark, which events have.
   */
  uint64_t handle;
  /**
   * The size of what `to` points to.
   */
  uint32_t to_length;
  /**
   * The number of its class, where a plan orders datagrams; else 0.
   */
  uint32_t class_id;
  /**
   * The flow within the class, as the caller numbers it.
   */
  uint32_t flow;
  /**
   * What it takes of the link in bytes; 0 for its length and the headers of UDP and IP, 28 or 48
   * bytes.
   */
  uint32_t link_length;
  /**
   * The number of the socket that sends it, in the order of the settings.
   */
  uint32_t socket;
  /**
   * The differentiated services code point, 0 to 63. With 0, and no ECN, the socket's own
   * setting counts.
   */
  uint8_t dscp;
  /**
   * An `lx_ecn`: the two bits of the IP header.
   */
  uint8_t ecn;
  /**
   * Zero.
   */
  uint16_t reserved;
} lx_udp_datagram;

/**
 * What is asked for. A time that is 0 is `now` for `from`, and none for the others.
 */
typedef struct {
  /**
   * `sizeof(lx_request)`.
   */
  uint32_t size;
  /**
   * How many nodes `path` has; 0 on one link.
   */
  uint32_t path_length;
  /**
   * The name of the class.
   */
  const char *name;
  /**
   * Its keys, as lines of a plan: `deadline = "5ms"`, `arrival = { ... }`.
   */
  const char *keys;
  /**
   * In a network, the names of the nodes of its path, or of its two ends.
   */
  const char *const *path;
  /**
   * When its first packet may come.
   */
  uint64_t from;
  /**
   * When no packet may come any more; 0 or `LX_NEVER` if it lasts until it is released.
   */
  uint64_t until;
  /**
   * Until when it has to be committed; 0 or `LX_NEVER` if it is granted at once.
   */
  uint64_t commit_by;
} lx_request;

/**
 * What is granted.
 */
typedef struct {
  /**
   * `sizeof(lx_grant)`.
   */
  uint32_t size;
  /**
   * Zero.
   */
  uint32_t reserved;
  /**
   * No packet that conforms takes longer, in ns, whatever is granted later. `LX_NEVER` if no
   * delay was asked for.
   */
  uint64_t bound;
  /**
   * When its first packet may come.
   */
  uint64_t from;
  /**
   * When no packet may come any more; `LX_NEVER` if it lasts until it is released.
   */
  uint64_t until;
} lx_grant;

/**
 * What of a request would fit, each with all else as requested. Zero where nothing would, or
 * nobody knows.
 */
typedef struct {
  /**
   * `sizeof(lx_offer)`.
   */
  uint32_t size;
  /**
   * Zero.
   */
  uint32_t reserved;
  /**
   * The first time at which the request does not fit.
   */
  uint64_t at;
  /**
   * The shortest deadline, in ns.
   */
  uint64_t deadline;
  /**
   * The highest rate of its slowest token bucket, in bits per second.
   */
  uint64_t bits_per_second;
  /**
   * The largest size of its slowest token bucket, in bytes.
   */
  uint64_t bucket;
} lx_offer;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The `LX_ABI_VERSION` of the library that is loaded. A program compares it with that of its
 * header.
 */
uint32_t lx_abi_version(void);

/**
 * The word for a status; "unknown" for any other number. It is never freed.
 */
const char *lx_status_name(int32_t status);

/**
 * What went wrong, in a sentence. For a plan it begins with the place: `file:line:column:`. The
 * text lives as long as the error; NULL for NULL.
 */
const char *lx_error_message(const lx_error *error);

/**
 * The status that the call returned; `LX_OK` for NULL.
 */
lx_status lx_error_status(const lx_error *error);

/**
 * The line of the plan, from 1; 0 where there is none.
 */
uint32_t lx_error_line(const lx_error *error);

/**
 * The column of the plan, from 1; 0 where there is none.
 */
uint32_t lx_error_column(const lx_error *error);

/**
 * Frees an error; NULL is none.
 */
void lx_error_free(lx_error *error);

/**
 * Frees a text that a call gave out to be freed; NULL is none.
 */
void lx_text_free(char *text);

/**
 * Reads a plan from its text, which ends with a NUL. `name` stands before the line in messages.
 * Files that the plan names are looked for from `folder`; NULL is the current one.
 */
lx_status lx_plan_parse(const char *toml,
                        const char *name,
                        const char *folder,
                        lx_plan **plan,
                        lx_error **error);

/**
 * Reads a plan from a file.
 */
lx_status lx_plan_read(const char *path, lx_plan **plan, lx_error **error);

/**
 * The same plan under another discipline, which is called as in plans: "edf", "wf2q", "cake".
 */
lx_status lx_plan_under(const lx_plan *plan,
                        const char *scheduler,
                        lx_plan **other,
                        lx_error **error);

/**
 * Frees a plan; NULL is none.
 */
void lx_plan_free(lx_plan *plan);

/**
 * The number of classes. Their numbers are below.
 */
lx_status lx_plan_classes(const lx_plan *plan, uint32_t *count, lx_error **error);

/**
 * The name of a class, which lives as long as the plan. `LX_NONE` if no class has the number.
 */
lx_status lx_plan_class_name(const lx_plan *plan,
                             uint32_t class_id,
                             const char **name,
                             lx_error **error);

/**
 * The number of the class of a name. `LX_NONE` if no class is called so.
 */
lx_status lx_plan_class(const lx_plan *plan,
                        const char *name,
                        uint32_t *class_id,
                        lx_error **error);

/**
 * The name of the plan's discipline, which lives as long as the plan.
 */
lx_status lx_plan_scheduler(const lx_plan *plan, const char **name, lx_error **error);

/**
 * The rate of the plan's link, in bits per second.
 */
lx_status lx_plan_rate(const lx_plan *plan, uint64_t *bits_per_second, lx_error **error);

/**
 * Proves what can be proved of a plan, as `laxity check` does.
 */
lx_status lx_plan_check(const lx_plan *plan, lx_proof **proof, lx_error **error);

/**
 * Frees a proof; NULL is none.
 */
void lx_proof_free(lx_proof *proof);

/**
 * Whether everything that the plan promises holds: writes an `lx_admission`.
 */
lx_status lx_proof_admission(const lx_proof *proof, lx_admission *admission, lx_error **error);

/**
 * Why, in a few sentences, which live as long as the proof.
 */
lx_status lx_proof_statement(const lx_proof *proof, const char **statement, lx_error **error);

/**
 * The whole proof: the JSON of `laxity check --json`, which lives as long as the proof.
 */
lx_status lx_proof_json(const lx_proof *proof, const char **json, lx_error **error);

/**
 * The delay of a class that no conforming packet exceeds, in ns. `LX_NONE` without one, and in a
 * network, where bounds are of paths: the JSON has them.
 */
lx_status lx_proof_bound(const lx_proof *proof,
                         uint32_t class_id,
                         uint64_t *bound,
                         lx_error **error);

/**
 * The `ack` of a packet that acknowledges, for CAKE's filter of acknowledgements.
 *
 * Acknowledgements without data are numbered in each flow. `number` is that of this one if
 * `is_numbered` is not 0, else that of the last one before it. It makes the last `reach` numbered
 * ones before it superfluous, at most 4.
 */
uint16_t lx_ack_tag(uint16_t number, uint32_t is_numbered, uint16_t reach);

/**
 * The word for an `lx_drop_reason`; "unknown" for any other number. It is never freed.
 */
const char *lx_drop_reason_name(uint32_t reason);

/**
 * The word for an `lx_criterion`; "unknown" for any other number. It is never freed.
 */
const char *lx_criterion_name(uint32_t criterion);

/**
 * Builds the scheduler of a plan, with its queue management, whose random draws are made from
 * `seed`.
 */
lx_status lx_scheduler_new(const lx_plan *plan,
                           uint64_t seed,
                           lx_scheduler **scheduler,
                           lx_error **error);

/**
 * Frees a scheduler with all that it holds; NULL is none. Handles of packets that are queued, or
 * dropped and not taken, do not come out any more: `lx_clear` and `lx_next_drop` give them back
 * before.
 */
void lx_scheduler_free(lx_scheduler *scheduler);

/**
 * Takes in a packet at a time. It, or others for it, may be dropped: see `lx_next_drop`.
 *
 * `ticket` may be NULL. It gets what `lx_withdraw` takes, or `LX_NO_TICKET` if the packet was
 * dropped. Packets longer than the plan has them in their class are dropped, so that proofs hold.
 */
lx_status lx_push(lx_scheduler *scheduler,
                  uint64_t now,
                  const lx_packet *packet,
                  uint64_t *ticket,
                  lx_error **error);

/**
 * Chooses the packet whose transmission starts now; `choice` says why, and may be NULL. `LX_NONE`
 * if nothing may be sent now: nothing is queued, or `lx_next_time` says when that changes.
 */
lx_status lx_pop(lx_scheduler *scheduler,
                 uint64_t now,
                 lx_packet *packet,
                 lx_choice *choice,
                 lx_error **error);

/**
 * The earliest time at which `lx_pop` may return a packet without another arrival, not before
 * `now`. `LX_NONE` if nothing is queued.
 */
lx_status lx_next_time(lx_scheduler *scheduler, uint64_t now, uint64_t *time, lx_error **error);

/**
 * Takes the oldest drop that was not taken yet: the packet, and an `lx_drop_reason`. `LX_NONE` if
 * there is none.
 */
lx_status lx_next_drop(lx_scheduler *scheduler,
                       lx_packet *packet,
                       uint32_t *reason,
                       lx_error **error);

/**
 * Takes out the packet of a ticket, as if it had been dropped instead of sent. `LX_NONE` if that
 * is not queued any more.
 *
 * `LX_ERR_UNSUPPORTED` where queue management stands before the scheduler, or a class holds a
 * scheduler of its own.
 */
lx_status lx_withdraw(lx_scheduler *scheduler,
                      uint64_t now,
                      uint64_t ticket,
                      lx_packet *packet,
                      lx_error **error);

/**
 * Lets another plan take over all that is queued, whatever its limits, in the order of arrival.
 *
 * A packet stays in the class of its name, which may have another number; where that is gone, it
 * is dropped as `LX_DROP_NO_CLASS`. Deadlines count from the arrival, shares of the link from
 * `now`. Tickets stay. Hosts of flows are to be introduced anew. After an error nothing has
 * changed: a packet that is queued may be longer than its class has them under the plan.
 */
lx_status lx_reconfigure(lx_scheduler *scheduler,
                         const lx_plan *plan,
                         uint64_t seed,
                         uint64_t now,
                         lx_error **error);

/**
 * Drops all that is queued, as `LX_DROP_SCHEDULER`, in the order of arrival. The scheduler goes on
 * as a new one of the plan.
 */
lx_status lx_clear(lx_scheduler *scheduler, const lx_plan *plan, uint64_t seed, lx_error **error);

/**
 * Packets and bytes that are queued. Either place may be NULL.
 */
lx_status lx_backlog(lx_scheduler *scheduler, uint64_t *packets, uint64_t *bytes, lx_error **error);

/**
 * Whether the limits of queues let a packet in: writes 1 or 0. It may still be dropped for other
 * reasons. Always 1 without a limit.
 */
lx_status lx_has_room(lx_scheduler *scheduler,
                      const lx_packet *packet,
                      uint32_t *has_room,
                      lx_error **error);

/**
 * Says between which hosts a flow goes, as the caller numbers hosts, before its packets come. It
 * matters to disciplines that share by hosts, such as CAKE.
 */
lx_status lx_introduce(lx_scheduler *scheduler,
                       uint32_t class_id,
                       uint32_t flow,
                       uint32_t source,
                       uint32_t destination,
                       lx_error **error);

/**
 * Bytes of memory that it holds for queues and history.
 */
lx_status lx_footprint(lx_scheduler *scheduler, uint64_t *bytes, lx_error **error);

/**
 * Makes the classifier of a plan, which may be freed then.
 */
lx_status lx_classifier_new(const lx_plan *plan, lx_classifier **classifier, lx_error **error);

/**
 * Frees a classifier; NULL is none.
 */
void lx_classifier_free(lx_classifier *classifier);

/**
 * The number of the first class whose `match` holds for a packet of IP. `LX_NONE` if there is
 * none.
 *
 * The `length` bytes at `packet` begin with the header of IPv4 or IPv6, and may be cut short after
 * the ports. With any other bytes, or none, the packet is not one of IP.
 */
lx_status lx_classify(const lx_classifier *classifier,
                      const uint8_t *packet,
                      size_t length,
                      uint32_t *class_id,
                      lx_error **error);

/**
 * Makes the policer of a plan: what breaks the `arrival` of its class is counted, demoted or
 * refused as the plan's `police` says.
 */
lx_status lx_policer_new(const lx_plan *plan, lx_policer **policer, lx_error **error);

/**
 * Frees a policer; NULL is none.
 */
void lx_policer_free(lx_policer *policer);

/**
 * Judges a packet that comes now: writes an `lx_entry` to `entry`, and sets `demoted` of the
 * packet if it gets in as best effort.
 */
lx_status lx_police(lx_policer *policer,
                    uint64_t now,
                    lx_packet *packet,
                    uint32_t *entry,
                    lx_error **error);

/**
 * How many packets of a class broke its arrival curve.
 */
lx_status lx_policer_nonconforming(lx_policer *policer,
                                   uint32_t class_id,
                                   uint64_t *packets,
                                   lx_error **error);

/**
 * Makes the pacer of an idle link.
 */
lx_status lx_pacer_new(uint64_t bits_per_second,
                       uint64_t catch_up,
                       lx_pacer **pacer,
                       lx_error **error);

/**
 * Makes the pacer of a plan's idle link, whose rate may vary as the plan says.
 */
lx_status lx_pacer_of_plan(const lx_plan *plan,
                           uint64_t catch_up,
                           lx_pacer **pacer,
                           lx_error **error);

/**
 * Frees a pacer; NULL is none.
 */
void lx_pacer_free(lx_pacer *pacer);

/**
 * When the link is free: the time at which to ask for the next packet.
 */
lx_status lx_pacer_free_at(lx_pacer *pacer, uint64_t *time, lx_error **error);

/**
 * Starts a packet of `length` bytes now, not before the link is free. It was ready to be sent at
 * `ready`. Writes when it counts as started, and when the link is free again; either place may be
 * NULL.
 */
lx_status lx_pacer_start(lx_pacer *pacer,
                         uint64_t ready,
                         uint64_t now,
                         uint32_t length,
                         uint64_t *from,
                         uint64_t *until,
                         lx_error **error);

/**
 * Sets another rate, from the next packet on.
 */
lx_status lx_pacer_set_rate(lx_pacer *pacer, uint64_t bits_per_second, lx_error **error);

/**
 * Starts an engine with the scheduler of a plan. `settings` may be NULL: then they are those of
 * `lx_engine_settings_default` for the plan.
 */
lx_status lx_engine_start(const lx_plan *plan,
                          uint64_t seed,
                          const lx_engine_settings *settings,
                          lx_engine **engine,
                          lx_error **error);

/**
 * Frees an engine; NULL is none. Without `lx_engine_shutdown` before, it runs on until its
 * producers are freed and all is sent, and nobody receives it.
 */
void lx_engine_free(lx_engine *engine);

/**
 * Receives packets that were sent and dropped, in their order: writes 1 to `capacity` of them to
 * `events` and their number to `count`, or waits for the first one for up to `timeout` ns.
 *
 * All structs of the array have the `size` of the first one. `LX_NONE` when the time is over,
 * `LX_END` when the engine was shut down and everything was received. The scheduler thread waits
 * while `events` of the settings are not received.
 */
lx_status lx_engine_receive(const lx_engine *engine,
                            lx_event *events,
                            size_t capacity,
                            uint64_t timeout,
                            size_t *count,
                            lx_error **error);

/**
 * Lets another plan take over all that is queued, between two packets: see `lx_reconfigure`. The
 * link's rate is that of the settings until `lx_engine_set_rate`.
 */
lx_status lx_engine_reconfigure(const lx_engine *engine,
                                const lx_plan *plan,
                                uint64_t seed,
                                lx_error **error);

/**
 * Sets the rate of the link, in bits per second, from the next packet on; 0 for as fast as events
 * are received.
 */
lx_status lx_engine_set_rate(const lx_engine *engine, uint64_t bits_per_second, lx_error **error);

/**
 * The counts so far.
 */
lx_status lx_engine_statistics(const lx_engine *engine,
                               lx_statistics *statistics,
                               lx_error **error);

/**
 * Ends an engine whose producers are all freed, else `LX_ERR_BUSY`: waits until all packets are
 * sent or dropped, and writes the counts, unless the place is NULL. No packet is lost: what was
 * not received is received afterwards, until `LX_END`.
 */
lx_status lx_engine_shutdown(const lx_engine *engine, lx_statistics *statistics, lx_error **error);

/**
 * A new producer of an engine, with a ring of its own. It may outlive the engine's handle.
 */
lx_status lx_engine_producer(const lx_engine *engine, lx_producer **producer, lx_error **error);

/**
 * Frees a producer; NULL is none. Packets in its ring are still scheduled.
 */
void lx_producer_free(lx_producer *producer);

/**
 * Sends a packet; `mode` is an `lx_send_mode`. Its `arrival` is not looked at: it becomes the time
 * at which the scheduler thread takes it. `LX_FULL` if the ring is full and the packet was not
 * taken.
 */
lx_status lx_producer_send(lx_producer *producer,
                           const lx_packet *packet,
                           uint32_t mode,
                           lx_error **error);

/**
 * Gives a datagram the rank of an object of Media over QUIC Transport: by the priority of the
 * subscriber, then by that of the publisher, where 0 is the highest; in a track by its group order
 * and then by the number of the object or subgroup. `group_order` is an `lx_group_order`. Tracks
 * of the same priorities share alike.
 */
lx_status lx_datagram_rank_moq(lx_datagram *datagram,
                               uint8_t subscriber,
                               uint8_t publisher,
                               uint64_t track,
                               uint32_t group_order,
                               uint64_t group,
                               uint64_t object,
                               lx_error **error);

/**
 * Gives a datagram the rank of what a response of HTTP sends (RFC 9218): by urgency, from 0, the
 * highest, to 7; higher values count as 7. Responses that are not incremental go one after
 * another, by the number of their stream. Each incremental one of an urgency, and all others
 * together, have equal shares.
 */
lx_status lx_datagram_rank_http(lx_datagram *datagram,
                                uint8_t urgency,
                                uint32_t is_incremental,
                                uint64_t stream,
                                lx_error **error);

/**
 * Makes an empty queue. `settings` may be NULL for the defaults.
 */
lx_status lx_deadline_queue_new(const lx_deadline_queue_settings *settings,
                                lx_deadline_queue **queue,
                                lx_error **error);

/**
 * Frees a queue with all that it holds; NULL is none. Handles of datagrams that wait, or were
 * handed back and not taken, do not come out any more.
 */
void lx_deadline_queue_free(lx_deadline_queue *queue);

/**
 * Takes in a datagram; `LX_FULL` if the queue is full: nothing else is dropped for it. `ticket`
 * may be NULL; it gets what `lx_deadline_queue_withdraw` takes.
 */
lx_status lx_deadline_queue_push(lx_deadline_queue *queue,
                                 const lx_datagram *datagram,
                                 uint64_t *ticket,
                                 lx_error **error);

/**
 * Takes out the datagram to send now. `arrives` gets when its last byte arrives by the budget, and
 * may be NULL. `LX_NONE` if none waits or the next one is longer than the budget. Datagrams that
 * are of no use any more are handed back: see `lx_deadline_queue_next_unsent`.
 */
lx_status lx_deadline_queue_pop(lx_deadline_queue *queue,
                                uint64_t now,
                                const lx_budget *budget,
                                lx_datagram *datagram,
                                uint64_t *arrives,
                                lx_error **error);

/**
 * Hands back what has expired now; `lx_deadline_queue_pop` does so, too.
 */
lx_status lx_deadline_queue_expire(lx_deadline_queue *queue, uint64_t now, lx_error **error);

/**
 * When the next datagram expires: nothing else happens by time alone. `LX_NONE` if none will.
 */
lx_status lx_deadline_queue_next_expiry(lx_deadline_queue *queue, uint64_t *time, lx_error **error);

/**
 * Takes the first datagram that was handed back and not taken yet, and an `lx_unsent_reason`,
 * whose place may be NULL. `LX_NONE` if there is none. Up to `LX_DROPS_KEPT` wait: with more,
 * `lx_deadline_queue_push` is refused with `LX_ERR_DROPS`.
 */
lx_status lx_deadline_queue_next_unsent(lx_deadline_queue *queue,
                                        lx_datagram *datagram,
                                        uint32_t *reason,
                                        lx_error **error);

/**
 * Takes out the datagram of a ticket, as when its stream is reset. `LX_NONE` if it waits no more.
 */
lx_status lx_deadline_queue_withdraw(lx_deadline_queue *queue,
                                     uint64_t ticket,
                                     lx_datagram *datagram,
                                     lx_error **error);

/**
 * When the last byte of a datagram would arrive that were pushed now, if nothing else comes and
 * congestion control lets out bytes at the budget's rate. `LX_NONE` if it would be handed back.
 */
lx_status lx_deadline_queue_forecast(lx_deadline_queue *queue,
                                     uint64_t now,
                                     const lx_datagram *datagram,
                                     const lx_budget *budget,
                                     uint64_t *arrives,
                                     lx_error **error);

/**
 * Whether a datagram would arrive by its deadline, and before it expires, if it were pushed now:
 * writes 1 or 0. See `lx_deadline_queue_forecast`.
 */
lx_status lx_deadline_queue_will_arrive(lx_deadline_queue *queue,
                                        uint64_t now,
                                        const lx_datagram *datagram,
                                        const lx_budget *budget,
                                        uint32_t *will_arrive,
                                        lx_error **error);

/**
 * Datagrams and bytes that wait. Either place may be NULL.
 */
lx_status lx_deadline_queue_backlog(lx_deadline_queue *queue,
                                    uint64_t *datagrams,
                                    uint64_t *bytes,
                                    lx_error **error);

/**
 * Starts a UDP sink. With a plan of one link its scheduler orders datagrams by their classes, made
 * with `seed`, and its rate paces them. With NULL they go by their deadlines, expiries and ranks,
 * as in an `lx_deadline_queue`. `settings` may be NULL for the defaults.
 */
lx_status lx_udp_sink_start(const lx_plan *plan,
                            uint64_t seed,
                            const lx_udp_settings *settings,
                            lx_udp_sink **sink,
                            lx_error **error);

/**
 * Frees a UDP sink; NULL is none. Without `lx_udp_sink_shutdown` before, it runs on until its
 * producers are freed and all is sent.
 */
void lx_udp_sink_free(lx_udp_sink *sink);

/**
 * The time on the sink's clock, in ns from its start: deadlines, expiries and events count so.
 */
lx_status lx_udp_sink_now(const lx_udp_sink *sink, uint64_t *now, lx_error **error);

/**
 * Receives what became of datagrams, as `lx_engine_receive` does: `LX_NONE` when the time is over,
 * `LX_END` when the sink was shut down and everything was received. `events` of the settings say
 * how many are kept; others are lost, and counted.
 */
lx_status lx_udp_sink_receive(const lx_udp_sink *sink,
                              lx_event *events,
                              size_t capacity,
                              uint64_t timeout,
                              size_t *count,
                              lx_error **error);

/**
 * Sets the rate of the link, in bits per second, from the next datagram on; 0 for as fast as the
 * sockets take them.
 */
lx_status lx_udp_sink_set_rate(const lx_udp_sink *sink, uint64_t bits_per_second, lx_error **error);

/**
 * Sends nothing until `lx_udp_sink_set_rate`, as while the window of a congestion control is full.
 * Datagrams expire meanwhile.
 */
lx_status lx_udp_sink_hold(const lx_udp_sink *sink, lx_error **error);

/**
 * Lets another plan take over all that is queued, between two datagrams: see `lx_reconfigure`. The
 * rate stays. `LX_ERR_UNSUPPORTED` if the sink was started without a plan.
 */
lx_status lx_udp_sink_reconfigure(const lx_udp_sink *sink,
                                  const lx_plan *plan,
                                  uint64_t seed,
                                  lx_error **error);

/**
 * The counts so far.
 */
lx_status lx_udp_sink_statistics(const lx_udp_sink *sink,
                                 lx_udp_statistics *statistics,
                                 lx_error **error);

/**
 * Ends a UDP sink whose producers are all freed, else `LX_ERR_BUSY`: waits until all datagrams are
 * sent, lost or dropped, and writes the counts, unless the place is NULL. A sink that is held
 * waits until it has a rate, or all has expired. Events are received afterwards, until `LX_END`.
 */
lx_status lx_udp_sink_shutdown(const lx_udp_sink *sink,
                               lx_udp_statistics *statistics,
                               lx_error **error);

/**
 * A new producer of an engine, with a ring of its own. It may outlive the engine's handle.
 */
lx_status lx_engine_producer(const lx_engine *engine, lx_producer **producer, lx_error **error);

/**
 * Frees a producer; NULL is none. Packets in its ring are still scheduled.
 */
void lx_producer_free(lx_producer *producer);

/**
 * Sends a packet; `mode` is an `lx_send_mode`. Its `arrival` is not looked at: it becomes the time
 * at which the scheduler thread takes it. `LX_FULL` if the ring is full and the packet was not
 * taken.
 */
lx_status lx_producer_send(lx_producer *producer,
                           const lx_packet *packet,
                           uint32_t mode,
                           lx_error **error);

/**
 * A new producer of a UDP sink, with a ring of its own. It may outlive the sink's handle.
 */
lx_status lx_udp_sink_producer(const lx_udp_sink *sink,
                               lx_udp_producer **producer,
                               lx_error **error);

/**
 * Frees a producer; NULL is none. Datagrams in its ring are still sent.
 */
void lx_udp_producer_free(lx_udp_producer *producer);

/**
 * Sends a datagram; `mode` is an `lx_send_mode`. Its bytes are copied before the call returns.
 * `LX_FULL` if the ring is full and it was not taken.
 */
lx_status lx_udp_send(lx_udp_producer *producer,
                      const lx_udp_datagram *datagram,
                      uint32_t mode,
                      lx_error **error);

/**
 * Makes the empty book of a plan, which has to be admitted by itself.
 */
lx_status lx_book_new(const lx_plan *plan, lx_book **book, lx_error **error);

/**
 * Frees a book; NULL is none.
 */
void lx_book_free(lx_book *book);

/**
 * Asks for a reservation. `grant` gets what is granted, and `offer` what would fit if the status
 * is `LX_ERR_NO_ROOM`; either may be NULL. After an error the book is as before.
 */
lx_status lx_book_admit(lx_book *book,
                        uint64_t now,
                        const lx_request *request,
                        lx_grant *grant,
                        lx_offer *offer,
                        lx_error **error);

/**
 * Gives a reservation other keys, from the `from` of the grant on: there has to be room for both
 * until the former are no longer felt. `grant` and `offer` are as for `lx_book_admit`.
 */
lx_status lx_book_change(lx_book *book,
                         uint64_t now,
                         const char *name,
                         const char *keys,
                         lx_grant *grant,
                         lx_offer *offer,
                         lx_error **error);

/**
 * Grants a reservation that was only held.
 */
lx_status lx_book_commit(lx_book *book, uint64_t now, const char *name, lx_error **error);

/**
 * Gives a reservation another end; `LX_NEVER` if it is to last until it is released.
 */
lx_status lx_book_renew(lx_book *book,
                        uint64_t now,
                        const char *name,
                        uint64_t until,
                        lx_error **error);

/**
 * Ends a reservation. It keeps its place until it is no longer felt.
 */
lx_status lx_book_release(lx_book *book, uint64_t now, const char *name, lx_error **error);

/**
 * Takes out what has ended and is no longer felt, and writes how many these are; `count` may be
 * NULL.
 */
lx_status lx_book_expire(lx_book *book, uint64_t now, size_t *count, lx_error **error);

/**
 * When the plan with its reservations changes next by itself. `LX_NONE` if it does not.
 */
lx_status lx_book_next_change(lx_book *book, uint64_t now, uint64_t *change, lx_error **error);

/**
 * All reservations, as a list in JSON: `name`, `state` ("ahead", "held", "active", "leaving"),
 * `start`, `end`, `commit_by` and `path` of each. The caller frees it by `lx_text_free`.
 */
lx_status lx_book_json(lx_book *book, uint64_t now, char **json, lx_error **error);

/**
 * The plan with all that is promised at a time, for a scheduler that follows it.
 */
lx_status lx_book_plan(lx_book *book, uint64_t now, lx_plan **plan, lx_error **error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LAXITY_H */
