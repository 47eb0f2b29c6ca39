import { expect, test } from "bun:test";
import { remarkSentence, storedRemark } from "./remark-sentences.ts";

test("a sentence that was stored is found again by its code and its params", () => {
  const sent = { code: "sent", params: { provider: "ark-main", model: "ep 1 as video (v2)" } } as const;
  expect(remarkSentence("taskEvent", sent)).toBe("sent to ark-main as ep 1 as video (v2)");
  expect(storedRemark("taskEvent", remarkSentence("taskEvent", sent))).toEqual(sent);
  const answered = { code: "answered", params: { status: 503 } } as const;
  expect(storedRemark("alert", remarkSentence("alert", answered))).toEqual(answered);
  const off = { code: "channel_off", params: {} } as const;
  expect(storedRemark("alert", remarkSentence("alert", off))).toEqual(off);
});

test("another sentence has no code", () => {
  for (const sentence of [null, "", "sent to", "The address returned 503. Really.", "550 No such mailbox"]) {
    expect(storedRemark("callback", sentence)).toBeNull();
    expect(storedRemark("taskEvent", sentence)).toBeNull();
  }
});
