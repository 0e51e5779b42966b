#!/bin/sh
# The Debian packages that Scanpoint's tests need, each with a program or file that proves it is there.
# Installs the missing ones when it may; otherwise says what to install and fails.
set -eu

# package   proof: a program on PATH, or a command line after "!".
# g++, make, python3 and libkrb5-dev build the native modules of the VS Code server (kerberos is one of them).
needed='
chromium            chromium
g++                 g++
make                make
libkrb5-dev         !ls /usr/include/gssapi/gssapi.h
python3             python3
python3-venv        !python3 -c "import ensurepip, venv"
fonts-dejavu-core   !ls /usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf
'

# Prints the packages whose proof fails.
missing() {
  printf '%s' "$needed" | while read -r package proof; do
    [ -n "$package" ] || continue
    case "$proof" in
      !*) sh -c "${proof#!}" >/dev/null 2>&1 || printf '%s ' "$package" ;;
      *) command -v "$proof" >/dev/null 2>&1 || printf '%s ' "$package" ;;
    esac
  done
}

wanted=$(missing)
if [ -z "$wanted" ]; then
  exit 0
fi

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing: $wanted" >&2
  export DEBIAN_FRONTEND=noninteractive
  log=$(mktemp)
  # Word splitting is wanted here: one argument for each package.
  # shellcheck disable=SC2086
  { apt-get -qq update && apt-get -qq install --yes --no-install-recommends $wanted; } >"$log" 2>&1 ||
    tail -n 20 "$log" >&2
  rm -f "$log"
  wanted=$(missing)
  if [ -z "$wanted" ]; then
    exit 0
  fi
  echo "Still missing after apt-get: $wanted" >&2
  exit 1
fi

echo "The tests need programs that are missing here; install these (Debian's names): $wanted" >&2
exit 1
