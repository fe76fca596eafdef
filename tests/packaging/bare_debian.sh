#!/usr/bin/env bash
# Proves the README's two commands on a Debian 12 that has git and nothing else.
#
#   sudo tests/packaging/bare_debian.sh [FOLDER] [demo] [test]
#
# Makes a minimal system in FOLDER (default: a temporary one, 25 GB needed) with debootstrap, and for each command a fresh copy of it
# with a clone of this checkout's HEAD, where that command is the first thing ever called. No CUDA toolkit exists there, so nvcc comes
# from PyPI. Certificates that this machine trusts locally are trusted there too. Run by hand; prints how long each part took and the
# most memory that all its processes together held at one time (their anonymous pages, looked at every second).
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
[ "$(id -u)" -eq 0 ] || { echo "bare_debian.sh: needs root, for debootstrap and chroot" >&2; exit 4; }
command -v debootstrap >/dev/null || { echo "bare_debian.sh: install the Debian package debootstrap first" >&2; exit 4; }

folder=""
commands=()
for argument in "$@"; do
  case "$argument" in
    demo | test) commands+=("$argument") ;;
    *) folder="$argument" ;;
  esac
done
[ "${#commands[@]}" -gt 0 ] || commands=(demo test)
made=""
if [ -z "$folder" ]; then
  folder=$(mktemp -d)
  made="$folder"
fi
trap '[ -z "$made" ] || rm -rf "$made"' EXIT

base="$folder/base"
if [ ! -f "$base.complete" ]; then
  begin=$SECONDS
  rm -rf "$base"
  debootstrap --variant=minbase --include=git bookworm "$base" >"$folder/debootstrap.log" 2>&1 ||
    { tail -n 5 "$folder/debootstrap.log" >&2; exit 1; }
  mkdir -p "$base/usr/local/share/ca-certificates"
  cp -r /usr/local/share/ca-certificates/. "$base/usr/local/share/ca-certificates/" 2>/dev/null || true
  cp /etc/resolv.conf "$base/etc/resolv.conf"
  touch "$base.complete"
  echo "bare system: $((SECONDS - begin)) s"
fi

status=0
for command in "${commands[@]}"; do
  system="$folder/$command"
  rm -rf "$system"
  cp -a --reflink=auto "$base" "$system"
  git clone -q --no-hardlinks "$root" "$system/root/vitrine"
  begin=$SECONDS
  # A mount namespace of its own: nothing stays mounted whatever happens. A clean environment: nothing of this machine leaks in.
  if unshare --mount --pid --fork --kill-child env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb \
    bash -c '
      mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount -t tmpfs tmpfs "$1/tmp" &&
      { most=0
        while sleep 1; do
          now=$(cat "$1"/proc/[0-9]*/status 2>/dev/null | awk "/^RssAnon/ { sum += \$2 } END { print int(sum / 1024) }")
          [ "$now" -le "$most" ] || { most=$now; echo "$most" >"$1.peak"; }
        done & } &&
      chroot "$1" bash -c "cd /root/vitrine && ./vitrine $2"' bare "$system" "$command" >"$folder/$command.log" 2>&1; then
    echo "./vitrine $command as the first command: passed in $((SECONDS - begin)) s"
  else
    echo "./vitrine $command as the first command: FAILED after $((SECONDS - begin)) s; the end of $folder/$command.log:"
    tail -n 20 "$folder/$command.log"
    made="" # kept, to be looked at
    status=1
  fi
  echo "most memory at one time: $(cat "$system.peak") MB"
  grep -E '^Built in|tests passed|accuracy' "$folder/$command.log" || true
  [ "$status" -ne 0 ] || rm -rf "$system"
done
exit "$status"
