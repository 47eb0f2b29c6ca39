import { expect, test } from "bun:test";
import { intentOf } from "../../test/ledger/history.ts";
import { interruptedEntry } from "./recover.ts";

const price = {
  id: "prc_1",
  model: "m",
  table: { audioSeconds: 100_000_000, images: 40_000_000_000 },
  effectiveFrom: 0,
};

test("charges an unsettled attempt for the audio and images of its intent", () => {
  const transcription = intentOf(1, { counted: { audioSeconds: 8 } });
  const entry = interruptedEntry({ intent: transcription, checkpoint: null }, price);
  expect(entry).toMatchObject({ usage: { audioSeconds: 8 }, usageSource: "estimated", costNanoUsd: 800_000 });
  expect(entry).not.toHaveProperty("counted");
  const drawing = intentOf(2, { counted: { images: 2 } });
  expect(interruptedEntry({ intent: drawing, checkpoint: null }, price).costNanoUsd).toBe(80_000_000);
});
