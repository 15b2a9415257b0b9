// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program that sorts, searches and compares strings, for java_walked.sh: C2 has code of its own for that,
 * which pushes words onto the stack. It runs for as many seconds as the first argument says.
 */
import java.util.Arrays;
import java.util.Random;

public class TruthWords {
	static String[] words(Random random, int count) {
		String[] words = new String[count];
		for (int i = 0; i < count; i++) {
			StringBuilder word = new StringBuilder("all/words/begin/like/this/");
			for (int length = 3 + random.nextInt(20); length > 0; length--)
				word.append((char) ('a' + random.nextInt(3)));
			words[i] = word.toString();
		}
		return words;
	}

	static int sorted(String[] words) {
		String[] copy = words.clone();
		Arrays.sort(copy);
		return copy[0].length();
	}

	static int found(String[] words) {
		int n = 0;
		for (String word : words)
			if (word.indexOf("abcab") >= 0)
				n++;
		return n;
	}

	public static void main(String[] arguments) {
		String[] words = words(new Random(1), 20000);
		long end = System.nanoTime() + (long) (Double.parseDouble(arguments[0]) * 1e9);
		int sink = 0;
		while (System.nanoTime() < end)
			sink += sorted(words) + found(words);
		System.out.println(sink);
	}
}
