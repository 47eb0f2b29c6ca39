import { expect } from "bun:test";
import type { Script } from "@sluice/simulator";
import type { CallerDialect } from "./call-spec.ts";
import { type Case, type CaseContext, scripted } from "./case.ts";

/** Failing cases use separate models, one for each purpose. */
export const failingPurposes = ["refused", "limited", "broken", "overloaded", "cut", "failed"] as const;

export const failureCases: readonly Case[] = [
  {
    name: "upstream 400",
    run: async (context) => {
      const body = "The request was refused (400).";
      for (const mode of ["whole", "stream"] as const) {
        const { error } = await refusedBy(context, "refused", { status: 400 }, mode);
        expect(error).toMatchObject({ status: 400, kind: kindOf(context, "bad") });
        expect(error.message).toContain(body);
      }
    },
  },
  {
    name: "upstream 429",
    run: async (context) => {
      const { error } = await refusedBy(context, "limited", { status: 429, retry_after: 900 }, "whole");
      expect(error).toMatchObject({ status: 429, kind: kindOf(context, "limited") });
    },
  },
  {
    name: "upstream 500",
    run: async (context) => {
      const { error } = await refusedBy(context, "broken", { status: 500 }, "whole");
      expect(error).toMatchObject({ status: 502, kind: kindOf(context, "broken") });
    },
  },
  {
    name: "upstream 529",
    run: async (context) => {
      const { error } = await refusedBy(context, "overloaded", { status: 529 }, "stream");
      expect(error.status).toBeGreaterThanOrEqual(500);
      // A client may have a separate error class for an overloaded upstream.
      expect(["OverloadedError", kindOf(context, "broken")]).toContain(error.kind);
    },
  },
  {
    name: "stream cut in the middle",
    run: (context) => failsMidStream(context, "cut", { tokens: 9, event_ms: 10, cut_after_events: 6 }),
  },
  {
    name: "error event in the middle of a stream",
    run: (context) => failsMidStream(context, "failed", { tokens: 9, event_ms: 10, error_event_after: 6 }),
  },
];

type ErrorKinds = Readonly<Record<CallerDialect, string>>;
const openAiAnd = (name: string): ErrorKinds => ({
  chat: name,
  responses: name,
  messages: name,
  generate: "ApiError",
  interactions: name,
});
const kinds = {
  bad: openAiAnd("BadRequestError"),
  limited: openAiAnd("RateLimitError"),
  broken: openAiAnd("InternalServerError"),
};

function kindOf({ caller }: CaseContext, fault: keyof typeof kinds): string {
  return caller.errorClass ?? kinds[fault][caller.dialect];
}

async function refusedBy(context: CaseContext, purpose: string, script: Script, mode: "whole" | "stream") {
  const call = context.caller[mode]({ model: context.failing(purpose), turns: [scripted("x", script)] });
  return { error: errorIn(context, await thrownBy(call)) };
}

/** The SDK must throw: an incomplete answer must not look complete. */
async function failsMidStream(context: CaseContext, purpose: string, script: Script): Promise<void> {
  const statuses: unknown[] = [];
  // On a busy machine the failure may arrive together with the first event and become an ordinary error, so try again.
  for (let time = 0; time < 4; time++) {
    const call = context.caller.stream({ model: context.failing(purpose), turns: [scripted("x", script)] });
    const { status } = errorIn(context, await thrownBy(call));
    if (status === undefined || status === 200 || context.caller.dialect === "generate") return;
    statuses.push(status);
  }
  expect(statuses).toEqual([]);
}

async function thrownBy(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => {
      throw new Error("the call succeeded");
    },
    (reason: unknown) => reason,
  );
}

function errorIn({ caller }: CaseContext, thrown: unknown) {
  const error = caller.errorOf(thrown);
  if (error === null) throw new Error(`not the SDK's own error: ${String(thrown)}`, { cause: thrown });
  return error;
}
