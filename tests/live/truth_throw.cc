/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_throw SECONDS: throws exceptions through frames with destructors, so that most of its time
 * is spent in the C++ unwinder. */
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <string>

static unsigned long destroyed;

struct Guard {
	std::string text = "something that is not short enough for the string itself";
	~Guard() { destroyed += text.size(); }
};

__attribute__((noinline)) static int deep(int depth)
{
	Guard guard;

	if (!depth)
		throw std::runtime_error("the bottom");
	return deep(depth - 1) + (int)guard.text.size();
}

int main(int argc, char **argv)
{
	clock_t end = (clock_t)(std::strtod(argc > 1 ? argv[1] : "1", nullptr) * CLOCKS_PER_SEC);

	while (std::clock() < end) {
		try {
			destroyed += (unsigned long)deep(20);
		} catch (const std::exception &) {
			destroyed++;
		}
	}
	return destroyed == 0;
}
