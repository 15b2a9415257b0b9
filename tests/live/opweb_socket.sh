#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# opweb with a socket that systemd has opened: the secret lasts, it ends when idle, and a client that
# sends nothing hurts nobody.
. "$OP_SOURCE_ROOT/tests/live/lib.sh"

if [ ! -x "$OP_BUILD_ROOT/tools/opweb" ]; then
	skip_all "built without libmicrohttpd"
fi
for needed in systemd-socket-activate curl python3; do
	command -v $needed >/dev/null || skip_all "$needed is missing"
done
service=
slow=
cleanup()
{
	for pid in $service $slow; do
		kill "$pid" 2>/dev/null
	done
	wait
}

# A port that is free now.
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
secret=$dir/secret

serve()
{
	: >"$dir/log" # of an earlier one
	systemd-socket-activate -l "127.0.0.1:$port" "$OP_BUILD_ROOT/tools/opweb" \
		--session-dir="$dir" --secret-file="$secret" "$@" >>"$dir/log" 2>&1 &
	service=$!
	for _ in $(seq 100); do
		! grep -q Listening "$dir/log" || return 0
		sleep 0.1
	done
}

# status PATH: of the answer.
status()
{
	curl -s -o "$dir/answer" -w '%{http_code}' --compressed --max-time 20 \
		"http://127.0.0.1:$port$1"
}

fails "without a service there is no address" 1 opweb --address --secret-file="$secret"
ok "  with a remedy" sh -c "opweb --address --secret-file='$secret' 2>&1 | grep -q 'systemctl start'"

serve --idle=3s
is "who does not know the secret gets nothing" "$(status /)" 404
is "the secret is the owner's alone" "$(stat -c %a "$secret")" 600
is "it is not printed, as others read the journal" "$(grep -c "$(cat "$secret")" "$dir/log")" 0
opweb --address --secret-file="$secret" --listen="$port" >"$dir/address"
is "--address prints it" "$(cat "$dir/address")" "http://127.0.0.1:$port/s/$(cat "$secret")/"
is "the page is there" "$(status "/s/$(cat "$secret")/")" 200
ok "  and is one" grep -q "<!doctype html>" "$dir/answer"
# The process that makes answers is stopped for longer than the service may be idle.
kill -STOP "$service"
status "/s/$(cat "$secret")/data" >"$dir/late" &
sleep 5
kill -CONT "$service"
wait $!
is "while a request waits, it is not idle" "$(cat "$dir/late")" 500
for _ in $(seq 40); do
	kill -0 "$service" 2>/dev/null || break
	sleep 0.5
done
fails "it ends when it is idle" 1 kill -0 "$service"

was=$(cat "$secret")
serve
is "the address is the same when it is started again" "$(status "/s/$was/")" 200
# A connection that sends half of a request, and one that sends nothing.
python3 -c "
import socket, time
a = socket.create_connection(('127.0.0.1', $port)); a.sendall(b'GET /s/')
b = socket.create_connection(('127.0.0.1', $port))
open('$dir/slow', 'w').close()
time.sleep(60)" &
slow=$!
for _ in $(seq 100); do
	[ ! -e "$dir/slow" ] || break
	sleep 0.1
done
is "others are served while clients are slow" "$(status "/s/$was/")" 200
kill "$service" "$slow"
wait "$service" "$slow" 2>/dev/null
service=
slow=

chmod 644 "$secret"
fails "a secret that others can read is refused" 1 \
	opweb --secret-file="$secret" --session-dir="$dir" --no-browser
chmod 600 "$secret"
echo short >"$secret"
fails "so is what is no secret" 1 opweb --secret-file="$secret" --session-dir="$dir" --no-browser
rm "$secret"
ln -s "$dir/other" "$secret"
fails "so is a link" 1 opweb --secret-file="$secret" --session-dir="$dir" --no-browser
fails "a socket is not opened twice" 1 sh -c "LISTEN_PID=\$\$ LISTEN_FDS=1 exec opweb --listen=0 \
	--session-dir='$dir' 3</dev/null"
done_testing
