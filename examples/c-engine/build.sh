#!/bin/sh
# Usage: build.sh <directory>. Makes a directory that `openclaw plugins install -l` takes.
set -eu
here=$(dirname "$0")
case "$(uname)" in Darwin) library=libc_engine.dylib ;; *) library=libc_engine.so ;; esac
mkdir -p "$1"
# Written beside and renamed: a running host never sees half a library.
${CC:-cc} -std=c11 -Wall -Wextra -shared -fPIC -fvisibility=hidden -O2 -o "$1/$library.new" "$here/engine.c" \
    -I"$here/../../crates/interface/include"
mv "$1/$library.new" "$1/$library"
cp "$here/openclaw.plugin.json" "$1/"
