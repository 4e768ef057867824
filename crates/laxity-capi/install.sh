#!/bin/sh
# Installs liblaxity for -llaxity and pkg-config:
#   cargo build --profile dist -p laxity-capi
#   crates/laxity-capi/install.sh target/dist /usr/local
# LIBDIR is where libraries go, by default PREFIX/lib. DESTDIR goes before everything.
set -eu
if [ $# -ne 2 ]; then
    echo "usage: install.sh FOLDER-OF-LIBRARIES PREFIX" >&2
    exit 2
fi
built=$1
prefix=$2
libdir=${LIBDIR:-$prefix/lib}
root=${DESTDIR:-}
here=$(dirname "$0")
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$here/../../Cargo.toml")
abi=$(sed -n 's/^#define LX_ABI_VERSION //p' "$here/include/laxity.h")

mkdir -p "$root$libdir/pkgconfig" "$root$prefix/include"
cp "$here/include/laxity.h" "$here/include/laxity.hpp" "$root$prefix/include/"
cp "$built/liblaxity_c.a" "$root$libdir/liblaxity.a"
cp "$built/liblaxity_c.so" "$root$libdir/liblaxity.so.$abi.$version"
ln -sf "liblaxity.so.$abi.$version" "$root$libdir/liblaxity.so.$abi"
ln -sf "liblaxity.so.$abi" "$root$libdir/liblaxity.so"
sed -e "s|@PREFIX@|$prefix|" -e "s|@LIBDIR@|$libdir|" -e "s|@VERSION@|$version|" \
    "$here/laxity.pc.in" > "$root$libdir/pkgconfig/laxity.pc"
