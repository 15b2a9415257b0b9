# SPDX-License-Identifier: GPL-2.0-or-later
# Shared by the tests of php-fpm: a server of two pages, each with functions of its own. Needs lib.sh.
#
#	find_fpm || skip_all "no php-fpm"
#	start_fpm opcache.enable=1
#	ask_fpm 100 one two
#	stop_fpm

fpm=
pages=$dir/pages
mkdir "$pages"
for page in one two; do
	cat >"$pages/$page.php" <<-END
		<?php
		function spin_$page() { for (\$i = \$total = 0; \$i < 400000; \$i++) \$total += \$i & 7; return \$total; }
		function page_$page() { return spin_$page(); }
		echo page_$page();
	END
done

# find_fpm: whether there is a server for the PHP that is tested.
find_fpm()
{
	version=$(php -n -r 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION;' 2>/dev/null)
	server=$(PATH=$PATH:/usr/sbin command -v "php-fpm$version")
}

# start_fpm OPTION: starts the server, $fpm, with two workers that it forks at once.
start_fpm()
{
	cat >"$dir/fpm.conf" <<-END
		[global]
		error_log = $dir/fpm.log
		[pages]
		user = root
		listen = $dir/fpm
		pm = static
		pm.max_children = 2
	END
	rm -f "$dir/fpm"
	"$server" -n -F -R -y "$dir/fpm.conf" -d zend_extension=opcache -d "$1" 2>"$dir/output" &
	fpm=$!
	wait_for test -S "$dir/fpm"
}

# ask_fpm COUNT PAGE...: requests each page so many times; prints the last answer.
ask_fpm()
{
	count=$1
	shift
	for page; do
		set -- "$@" "$pages/$page.php"
		shift
	done
	python3 "$OP_SOURCE_ROOT/tests/live/fpm_client.py" "$dir/fpm" "$count" "$@"
}

stop_fpm()
{
	[ -z "$fpm" ] || { kill "$fpm" && wait "$fpm"; }
	fpm=
}
