import { expect, test } from "bun:test";
import { isLeftOut, placeWords, troubleWords, walkLines } from "./plan-words.ts";
import { samplePlace } from "./sample-request.ts";

const open = [
  { code: "fallback_model", params: {} },
  { code: "breaker_open", params: { seconds: 30 } },
  { code: "failures_in_a_row", params: { count: 5 } },
] as const;

test("a deployment shows the reasons for its place, and its problems separately", () => {
  const place = samplePlace("dep_1", "a fallback model; breaker open for 30.0 s: 5 failures in a row", [...open]);
  expect(placeWords(place)).toBe("fallback model, circuit breaker open for 30 s, 5 failures in a row");
  expect(troubleWords(place)).toBe("circuit breaker open for 30 s, 5 failures in a row");
  expect(isLeftOut(place)).toBe(false);
  expect(isLeftOut(samplePlace("dep_2", "left out: …", [{ code: "no_weight", params: {} }]))).toBe(true);
  expect(placeWords(samplePlace("dep_3", null))).toBeNull();
});

test("shows the gateway's sentence for a place with an unknown code", () => {
  const newer = samplePlace("dep_1", "the moon is full", [{ code: "moon" as "full", params: {} }]);
  expect(placeWords(newer)).toBe("the moon is full");
});

test("steps use the plan's names of deployments, in the console's and the gateway's texts", () => {
  const plan = [samplePlace("dep_1", null), samplePlace("dep_12", null)];
  const walk = ["attempt 1 to dep_12: first in order", "dep_1 failed: x, retry same"];
  const rest = { plan, walk, refusal: null, failures: [] };
  const unknown = walk.map(() => ({ code: "moon" as "failed", params: {} }));
  expect(walkLines({ ...rest, steps: unknown })).toEqual([
    "attempt 1 to dep_12 (gpt-up): first in order",
    "dep_1 (gpt-up) failed: x, retry same",
  ]);
  const steps = [
    { code: "try_first" as const, params: { attempt: 1, deployment: "dep_12" } },
    { code: "failed" as const, params: { deployment: "dep_1", code: "x", retry: "same" } },
  ];
  expect(walkLines({ ...rest, steps })).toEqual([
    "Attempt 1 to dep_12 (gpt-up): first in order",
    "dep_1 (gpt-up) failed with x: may be retried there",
  ]);
});
