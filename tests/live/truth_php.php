<?php
// A program whose stacks are known: each kind of work ends in a function that belongs to it alone.
// Prints the CPU time of each kind, in ms; with the argument "stacks" the stacks instead, as PHP itself
// shows them, the outermost function first.

$shows = in_array('stacks', $argv);

function show_stack()
{
	$stack = [];
	foreach (array_slice(debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS), 1) as $frame) {
		$made = in_array($frame['function'], ['eval', 'include']);
		$stack[] = $made ? '{main}' : (isset($frame['class']) ? $frame['class'] . '::' : '') . $frame['function'];
	}
	$stack[] = '{main}';
	echo implode(';', array_reverse($stack)), "\n";
}

function spin($n)
{
	global $shows;
	if ($shows)
		return show_stack();
	$total = 0;
	for ($i = 0; $i < $n; $i++)
		$total += $i & 7;
	return $total;
}

function work_plain()
{
	return spin(20000);
}

function leaf_recursive($n)
{
	return $n == 0 ? spin(20000) : leaf_recursive($n - 1);
}

function work_recursive()
{
	return leaf_recursive(20);
}

class Compared
{
	static function compare($a, $b)
	{
		spin(400);
		return $a <=> $b;
	}

	function __call($name, $arguments)
	{
		return spin(20000);
	}
}

function work_sorted()
{
	$list = range(31, 0);
	usort($list, ['Compared', 'compare']);
}

function work_called()
{
	return (new Compared)->missing();
}

function work_mapped()
{
	return array_map(function ($x) { return spin(400); }, range(0, 49));
}

function leaf_generator()
{
	for ($i = 0; $i < 50; $i++)
		yield spin(400);
}

function work_generator()
{
	foreach (leaf_generator() as $value)
		;
}

function leaf_thrown()
{
	spin(400);
	throw new Exception;
}

function work_thrown()
{
	for ($i = 0; $i < 50; $i++) {
		try {
			leaf_thrown();
		} catch (Exception $e) {
		}
	}
}

function work_made()
{
	eval('spin(20000);');
}

function work_größe()
{
	return spin(20000);
}

$kinds = ['work_plain', 'work_recursive', 'work_sorted', 'work_called', 'work_mapped', 'work_generator', 'work_thrown',
	'work_made', 'work_größe'];

function cpu_ms()
{
	$usage = getrusage();
	return $usage['ru_utime.tv_sec'] * 1000 + $usage['ru_utime.tv_usec'] / 1000;
}

function main($seconds, $kinds)
{
	$spent = array_fill_keys($kinds, 0);
	$end = cpu_ms() + $seconds * 1000;
	do {
		foreach ($kinds as $kind) {
			$begin = cpu_ms();
			for ($i = 0; $i < 5; $i++)
				$kind();
			$spent[$kind] += cpu_ms() - $begin;
		}
	} while (cpu_ms() < $end);
	return $spent;
}

$spent = main($shows ? 0 : (float)$argv[1], $kinds);
foreach ($shows ? [] : $spent as $kind => $ms)
	printf("%s %d\n", $kind, $ms);
