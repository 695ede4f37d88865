#!/usr/bin/env bash
# Makes sure that commands are there: installs the Debian packages of the same names, as root
# or with a sudo that asks for no password. Fails if a command is still missing.
set -euo pipefail

missing=()
for command in "$@"; do
    command -v "$command" >/dev/null || missing+=("$command")
done
[ ${#missing[@]} -gt 0 ] || exit 0

# Where there is no network this must not take forever.
as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo -n)
"${as_root[@]}" timeout 240 env DEBIAN_FRONTEND=noninteractive sh -c \
    'apt-get update -q && apt-get install -qy --no-install-recommends "$@"' apt "${missing[@]}" \
    >/dev/null 2>&1 || true

for command in "${missing[@]}"; do
    command -v "$command" >/dev/null || { echo "$command cannot be installed here" >&2; exit 1; }
done
