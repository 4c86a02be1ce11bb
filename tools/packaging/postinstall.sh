#!/bin/sh
# Nothing is started, and what runs is not restarted: which process goes first is the
# operator's (docs/OPERATING.md).
set -e
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
