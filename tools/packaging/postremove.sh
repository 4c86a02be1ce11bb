#!/bin/sh
# Journals, keys and the account stay: they hold what has been promised and paid.
set -e
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
