import { describe, expect, test } from "bun:test";
import { callsPerHour, playHour } from "./relay-hour.ts";

describe("a seeded hour of native and translated calls and reads of stored responses, with failures and disconnecting callers", () => {
  test.each([1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 11_352, 11_763, 11_867])(
    "seed %d: settles every attempt once, leaves nothing reserved or open, and charges what the upstream counts",
    async (seed) => {
      const { shutdown, journal, upstream, counter, router, results, faults, spentUsd, ...ends } = await playHour(seed);
      expect(faults).toEqual([]);
      expect(results.length).toBeGreaterThanOrEqual(callsPerHour);
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
        // The task of a background response learns its usage later.
        if (entry?.outcome === "pending") expect([entry.costNanoUsd, entry.upstreamId === null]).toEqual([0, false]);
        else if (entry?.outcome === "succeeded") expect([complete, entry.usage.output]).toEqual([true, outputTokens]);
        else expect(entry?.usage.output).toBeLessThanOrEqual(outputTokens);
      }
      for (const [upstreamId, { tokens, wasSent, background }] of upstream.responses) {
        const charged = journal.entries.filter(
          (entry) => entry.upstreamId === upstreamId && entry.usageSource !== "none",
        );
        if (background) {
          // However it is read, cancelled or disconnected, only the call that created it has an entry.
          expect(charged.length).toBeLessThanOrEqual(1);
          for (const { outcome, usage } of charged) if (outcome !== "pending") expect(usage.output).toBe(tokens);
        } else {
          expect(charged.length).toBeLessThanOrEqual(1);
          if (wasSent) expect(charged).toHaveLength(1);
        }
      }
      for (const { requestId, pattern, text, streamed, isDisconnected } of results) {
        const ends = journal.entries.filter((entry) => entry.requestId === requestId).map((entry) => entry.outcome);
        expect(ends.filter((outcome) => outcome === "succeeded").length).toBeLessThanOrEqual(1);
        if (isDisconnected || !streamed) continue;
        expect([pattern.goodEnd.test(text), pattern.badEnd.test(text)]).not.toEqual([
          pattern.badEnd.test(text),
          pattern.goodEnd.test(text),
        ]);
        if (ends.length > 0) expect(pattern.goodEnd.test(text)).toBe(ends.includes("succeeded"));
      }
    },
  );

  test("plays the same hour for the same seed", async () => {
    const entries = async () =>
      (await playHour(7)).journal.entries.map((entry) => [entry.attemptId, entry.outcome, entry.costNanoUsd]);
    expect(await entries()).toEqual(await entries());
  });
});
