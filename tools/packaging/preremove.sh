#!/bin/sh
# When the package goes, its services end in order; at an upgrade they go on.
# dpkg says remove, rpm says 0.
set -e
case "$1" in
remove | 0)
  if [ -d /run/systemd/system ]; then
    systemctl disable --now bourse-site.service bourse-site-slurm.service bourse-broker.service
  fi
  ;;
esac
