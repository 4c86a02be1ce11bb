#!/bin/sh
# The account of the services, before files of the package belong to it.
set -e
getent group bourse >/dev/null || groupadd --system bourse
getent passwd bourse >/dev/null ||
  useradd --system --gid bourse --home-dir /var/lib/bourse --no-create-home --shell /usr/sbin/nologin bourse
