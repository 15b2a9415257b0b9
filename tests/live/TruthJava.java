// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program with known call chains for java_walked.sh: each of its methods has only certain callers.
 * There are recursion, exceptions, methods called by the library, threads, and calls of which only
 * the object knows the method. It runs for as many seconds of CPU time as the first argument says. With an
 * argument more, it prints its stacks, the outermost method first.
 */
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;

public class TruthJava {
	static volatile boolean over;
	static boolean tells;
	static int sink;

	static void tell() {
		if (!tells)
			return;
		StringBuilder stack = new StringBuilder();
		for (StackTraceElement e : Thread.currentThread().getStackTrace())
			if (e.getClassName().startsWith("TruthJava") && !e.getMethodName().equals("tell"))
				stack.insert(0, ";" + e.getClassName() + "." + e.getMethodName());
		System.out.println(stack.substring(1));
	}

	static int spin(int n) {
		tell();
		int s = 0;
		for (int i = 0; i < n; i++)
			s = s * 31 + i;
		return s;
	}

	static int first(int n) {
		return spin(n) + 1;
	}

	static int second(int n) {
		return first(n) ^ 3;
	}

	static int deep(int depth, int n) {
		return depth == 0 ? bottom(n) : deep(depth - 1, n) + 1;
	}

	static int bottom(int n) {
		tell();
		int s = 1;
		for (int i = 0; i < n; i++)
			s = s * 17 ^ i;
		return s;
	}

	static void thrower(int n) {
		if (n > 0)
			throw new IllegalStateException();
	}

	static int catcher(int n) {
		try {
			thrower(n);
			return 0;
		} catch (IllegalStateException e) {
			return handled(n);
		}
	}

	static int handled(int n) {
		tell();
		int s = 2;
		for (int i = 0; i < n; i++)
			s = s * 13 + i;
		return s;
	}

	static int compare(Integer a, Integer b) {
		int s = 0;
		for (int i = 0; i < 50; i++)
			s = s * 7 + i;
		sink += s;
		return Integer.compare(a, b);
	}

	static void sorts(Integer[] all) {
		Integer[] copy = all.clone();
		Arrays.sort(copy, TruthJava::compare);
		sink += copy[0];
	}

	static int worker(int n) {
		return inThread(n) + 5;
	}

	static int inThread(int n) {
		tell();
		int s = 3;
		for (int i = 0; i < n; i++)
			s = s * 11 + i;
		return s;
	}

	interface Shape {
		int area(int n);
	}

	static class Round implements Shape {
		public int area(int n) {
			return ofRound(n);
		}
	}

	static class Square implements Shape {
		public int area(int n) {
			return ofSquare(n);
		}
	}

	static class Flat implements Shape {
		public int area(int n) {
			return n;
		}
	}

	static int ofRound(int n) {
		tell();
		int s = 4;
		for (int i = 0; i < n; i++)
			s = s * 5 + i;
		return s;
	}

	static int ofSquare(int n) {
		tell();
		int s = 5;
		for (int i = 0; i < n; i++)
			s = s * 3 + i;
		return s;
	}

	static int shapes(Shape[] all, int n) {
		int s = 0;
		for (Shape one : all)
			s += one.area(n);
		return s;
	}

	static void round(Integer[] all, Shape[] shapes) {
		sink += second(2000);
		sink += deep(30, 1000);
		for (int i = 0; i < 20; i++)
			sink += catcher(200);
		sorts(all);
		sink += shapes(shapes, 300);
	}

	/* Seconds of CPU time, by the clock ticks that the kernel counts. */
	static double used() throws Exception {
		String stat = Files.readString(Path.of("/proc/self/stat"));
		String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
		return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / 100.0;
	}

	public static void main(String[] args) throws Exception {
		tells = args.length > 1;
		Thread thread = new Thread(() -> {
			while (!over)
				sink += worker(3000);
		});
		Integer[] all = new Integer[64];
		Random random = new Random(1);
		for (int i = 0; i < all.length; i++)
			all[i] = random.nextInt();
		Shape[] shapes = { new Round(), new Square(), new Flat() };
		thread.start();
		double most = Double.parseDouble(args[0]);
		for (long next = 0; !over; round(all, shapes)) {
			if (System.nanoTime() < next)
				continue;
			over = used() >= most;
			next = System.nanoTime() + 20_000_000;
		}
	}
}
