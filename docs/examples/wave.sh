#!/bin/sh
# What a job of batch.toml may run in place of its command: each of its parts, on
# its own site, when the window begins.
echo "part $BOURSE_LEG of $BOURSE_LEGS of $BOURSE_JOB runs at $BOURSE_SITE on $BOURSE_NODES"
