# SPDX-License-Identifier: GPL-2.0-or-later
# A program whose stacks are known: each kind of work ends in a function that belongs to it alone.
# Prints the CPU time of each kind, in ms; with the argument "stacks" the stacks instead, as Ruby itself
# shows them, the outermost function first; with "lines" the lines that each function has.

$shows = ARGV[0] == "stacks"

def show_stack
  puts caller_locations(1).map(&:label).reverse.join(";")
  0
end

def spin(n)
  return show_stack if $shows
  total = 0
  i = 0
  while i < n
    total += i & 7
    i += 1
  end
  total
end

def work_plain
  spin(20000)
end

def leaf_recursive(n)
  n == 0 ? spin(20000) : leaf_recursive(n - 1)
end

def work_recursive
  leaf_recursive(20)
end

class Compared
  def <=>(other)
    spin(400)
    0
  end

  def method_missing(name)
    spin(20000)
  end

  define_method(:made_of_block) { spin(20000) }
end

def work_sorted
  (1..50).sort_by { |x| spin(400) + x }
end

def work_compared
  Array.new(32) { $compared }.sort
end

def work_called
  $compared.missing
end

def work_mapped
  [1, 2, 3].each { (0..9).map { |x| spin(600) } }
end

def work_generator
  Enumerator.new { |y| 40.times { y << spin(400) } }.each { |x| x }
end

def work_fiber
  Fiber.new { spin(20000) }.resume
end

def work_threaded
  Thread.new { spin(60000) }.join
end

def work_raised
  40.times do
    begin
      spin(200)
      raise "no"
    rescue RuntimeError
      spin(200)
    ensure
      spin(100)
    end
  end
end

def work_defined
  $compared.made_of_block
end

def work_made
  eval("spin(20000)")
end

def work_größe
  spin(20000)
end

def cpu_ms
  Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :float_millisecond)
end

KINDS = %w[plain recursive sorted compared called mapped generator fiber threaded raised defined made größe]

def main(seconds)
  spent = Hash.new(0)
  finish = cpu_ms + seconds * 1000
  loop do
    KINDS.each do |kind|
      start = cpu_ms
      3.times { send("work_#{kind}") }
      spent[kind] += cpu_ms - start
    end
    return spent if cpu_ms >= finish
  end
end

def show_lines(code)
  code.to_a.last.grep(Integer).each { |line| puts "#{line} #{code.label}" }
  code.each_child { |child| show_lines(child) }
end

$compared = Compared.new
if ARGV[0] == "lines"
  show_lines(RubyVM::InstructionSequence.compile_file(__FILE__))
else
  spent = main($shows ? 0 : ARGV[0].to_f)
  spent.each { |kind, ms| puts "work_#{kind} #{ms.to_i}" } unless $shows
end
