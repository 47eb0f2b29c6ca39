import { expect } from "bun:test";
import type { Script } from "@sluice/simulator";
import type { CallerDialect } from "./ask.ts";
import { type Case, type Ground, scripted } from "./case.ts";

/** Models of their own that the failing cases need. */
export const failingPurposes = ["refused", "limited", "broken", "overloaded", "cut", "failed"] as const;

export const failureCases: readonly Case[] = [
  {
    name: "upstream 400",
    run: async (ground) => {
      const body = "The request was refused (400).";
      for (const way of ["whole", "stream"] as const) {
        const { error } = await refusedBy(ground, "refused", { status: 400 }, way);
        expect(error).toMatchObject({ status: 400, kind: kindOf(ground, "bad") });
        expect(error.said).toContain(body);
      }
    },
  },
  {
    name: "upstream 429",
    run: async (ground) => {
      const { error } = await refusedBy(ground, "limited", { status: 429, retry_after: 900 }, "whole");
      expect(error).toMatchObject({ status: 429, kind: kindOf(ground, "limited") });
    },
  },
  {
    name: "upstream 500",
    run: async (ground) => {
      const { error } = await refusedBy(ground, "broken", { status: 500 }, "whole");
      expect(error).toMatchObject({ status: 502, kind: kindOf(ground, "broken") });
    },
  },
  {
    name: "upstream 529",
    run: async (ground) => {
      const { error } = await refusedBy(ground, "overloaded", { status: 529 }, "stream");
      expect(error.status).toBeGreaterThanOrEqual(500);
      // A client may have a class of its own for an upstream that has too much to do.
      expect(["OverloadedError", kindOf(ground, "broken")]).toContain(error.kind);
    },
  },
  {
    name: "cut in mid-stream",
    run: (ground) => breaksOff(ground, "cut", { tokens: 9, event_ms: 10, cut_after_events: 6 }),
  },
  {
    name: "error in mid-stream",
    run: (ground) => breaksOff(ground, "failed", { tokens: 9, event_ms: 10, error_event_after: 6 }),
  },
];

type ErrorKinds = Readonly<Record<CallerDialect, string>>;
const openAiAnd = (name: string): ErrorKinds => ({ chat: name, responses: name, messages: name, generate: "ApiError" });
const kinds = {
  bad: openAiAnd("BadRequestError"),
  limited: openAiAnd("RateLimitError"),
  broken: openAiAnd("InternalServerError"),
};

function kindOf({ caller }: Ground, fault: keyof typeof kinds): string {
  return caller.errorClass ?? kinds[fault][caller.dialect];
}

async function refusedBy(ground: Ground, purpose: string, script: Script, way: "whole" | "stream") {
  const call = ground.caller[way]({ model: ground.failing(purpose), turns: [scripted("x", script)] });
  return { error: errorIn(ground, await thrownBy(call)) };
}

/** The SDK must throw; an answer that ends as if it were whole would be a lie. */
async function breaksOff(ground: Ground, purpose: string, script: Script): Promise<void> {
  const statuses: unknown[] = [];
  // On a busy machine the break may come together with the first event, and is then an ordinary error: another case.
  for (let time = 0; time < 4; time++) {
    const call = ground.caller.stream({ model: ground.failing(purpose), turns: [scripted("x", script)] });
    const { status } = errorIn(ground, await thrownBy(call));
    if (status === undefined || status === 200 || ground.caller.dialect === "generate") return;
    statuses.push(status);
  }
  expect(statuses).toEqual([]);
}

async function thrownBy(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => {
      throw new Error("it ended cleanly");
    },
    (reason: unknown) => reason,
  );
}

function errorIn({ caller }: Ground, thrown: unknown) {
  const error = caller.errorOf(thrown);
  if (error === null) throw new Error(`not the SDK's own error: ${String(thrown)}`, { cause: thrown });
  return error;
}
