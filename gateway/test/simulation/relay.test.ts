import { describe, expect, test } from "bun:test";
import { callsPerHour, playHour } from "./relay-hour.ts";

describe("a seeded hour of calls, native, translated and about kept answers, with failures and callers that leave", () => {
  test.each([1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 11_352, 11_763, 11_867])(
    "seed %d: every attempt is settled once, nothing stays reserved or open, and the money is the same on both sides",
    async (seed) => {
      const { shutdown, journal, upstream, counter, router, heard, faults, spentUsd, ...ends } = await playHour(seed);
      expect(faults).toEqual([]);
      expect(heard.length).toBeGreaterThanOrEqual(callsPerHour);
      expect(counter.outstanding).toBe(0);
      expect(upstream.openStreams).toBe(0);
      expect([ends.streamEnds, ends.repeatedEndings]).toEqual([ends.streams, 0]);
      expect(router.states().map((state) => state.inFlight)).toEqual(router.states().map(() => 0));

      const cost = journal.entries.reduce((sum, entry) => sum + entry.costNanoUsd, 0);
      expect(Math.round(spentUsd * 1e9)).toBe(cost);

      const entries = new Map(journal.entries.map((entry) => [entry.attemptId, entry]));
      for (const { attemptId, outputTokens, complete } of upstream.served) {
        const entry = entries.get(attemptId);
        expect(entry).toBeDefined();
        // A task learns later what that has used.
        if (entry?.outcome === "pending") expect([entry.costNanoUsd, entry.upstreamId === null]).toEqual([0, false]);
        else if (entry?.outcome === "succeeded") expect([complete, entry.usage.output]).toEqual([true, outputTokens]);
        else expect(entry?.usage.output).toBeLessThanOrEqual(outputTokens);
      }
      for (const [upstreamId, { tokens, shown, background }] of upstream.kept) {
        const paid = journal.entries.filter((entry) => entry.upstreamId === upstreamId && entry.usageSource !== "none");
        if (background) {
          // Whoever looks, ends or leaves it: there is the one entry of the call that made it.
          expect(paid.length).toBeLessThanOrEqual(1);
          for (const { outcome, usage } of paid) if (outcome !== "pending") expect(usage.output).toBe(tokens);
        } else {
          expect(paid.length).toBeLessThanOrEqual(1);
          if (shown) expect(paid).toHaveLength(1);
        }
      }
      for (const { requestId, habit, text, streamed, left } of heard) {
        const ends = journal.entries.filter((entry) => entry.requestId === requestId).map((entry) => entry.outcome);
        expect(ends.filter((outcome) => outcome === "succeeded").length).toBeLessThanOrEqual(1);
        if (left || !streamed) continue;
        expect([habit.goodEnd.test(text), habit.badEnd.test(text)]).not.toEqual([
          habit.badEnd.test(text),
          habit.goodEnd.test(text),
        ]);
        if (ends.length > 0) expect(habit.goodEnd.test(text)).toBe(ends.includes("succeeded"));
      }
    },
  );

  test("the same seed plays the same hour", async () => {
    const told = async () =>
      (await playHour(7)).journal.entries.map((entry) => [entry.attemptId, entry.outcome, entry.costNanoUsd]);
    expect(await told()).toEqual(await told());
  });
});
