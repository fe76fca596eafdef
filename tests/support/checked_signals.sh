#!/bin/sh
# kill(-1) ends every process of the user, for root of the machine, and -1 is what fork() returns when the process table is
# full: tests fork and send signals through tests/support/child.h, which refuses both.
cd "$(dirname "$0")/../.." || exit 2
if grep -rnE '(^|[^A-Za-z0-9_>.])::kill\(|(=|return|push_back\() *::fork\(\)|pkill|killall' tests --include='*.cpp' --include='*.h' --include='*.sh' |
  grep -vE '^tests/(support/child\.h|support/checked_signals\.sh|fault/fault_worker\.cpp):'; then
  echo "use forkChild, signalProcess and signalGroup of tests/support/child.h in these lines" >&2
  exit 1
fi
