#!/bin/sh
# Builds the GStreamer element `laxitysink` against an installed liblaxity:
#   crates/laxity-capi/gstreamer/build.sh FOLDER
# GST_PLUGIN_PATH=FOLDER has GStreamer find it. CC and CFLAGS are honoured.
set -eu
if [ $# -ne 1 ]; then
    echo "usage: build.sh FOLDER" >&2
    exit 2
fi
here=$(dirname "$0")
mkdir -p "$1"
# shellcheck disable=SC2046,SC2086
${CC:-cc} -std=gnu11 -Wall -Wextra -O2 ${CFLAGS:-} -shared -fPIC \
    "$here/laxitysink.c" "$here/link.c" -o "$1/libgstlaxity.so" \
    $(pkg-config --cflags --libs gstreamer-1.0 gstreamer-base-1.0 laxity)
