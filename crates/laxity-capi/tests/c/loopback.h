/* Sockets of this machine, for the tests of the UDP sink. */
#ifndef LOOPBACK_H
#define LOOPBACK_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "check.h"

/* A socket, and where it is reached. */
struct receiver {
    int socket;
    struct sockaddr_in address;
};

static inline struct receiver receiver_open(void) {
    struct receiver receiver;
    struct timeval patience = {2, 0};
    socklen_t length = sizeof receiver.address;
    int on = 1;
    memset(&receiver, 0, sizeof receiver);
    receiver.address.sin_family = AF_INET;
    receiver.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    receiver.socket = socket(AF_INET, SOCK_DGRAM, 0);
    CHECK(bind(receiver.socket, (struct sockaddr *)&receiver.address, length) == 0);
    CHECK(getsockname(receiver.socket, (struct sockaddr *)&receiver.address, &length) == 0);
    CHECK(setsockopt(receiver.socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0);
    CHECK(setsockopt(receiver.socket, IPPROTO_IP, IP_RECVTOS, &on, sizeof on) == 0);
    return receiver;
}

/* Waits for a datagram. Returns its first byte, or -1; `tos` and `port` get what its head says. */
static inline int receiver_next(const struct receiver *receiver, int *tos, uint16_t *port) {
    unsigned char bytes[2048] = {0};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct sockaddr_in from;
    struct iovec vector = {bytes, sizeof bytes};
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_name = &from;
    message.msg_namelen = sizeof from;
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    if (recvmsg(receiver->socket, &message, 0) < 0) {
        return -1;
    }
    *tos = message.msg_controllen > 0 ? *CMSG_DATA(&control.header) : 0;
    *port = ntohs(from.sin_port);
    return bytes[0];
}

#endif
