import { expect } from "bun:test";
import type { CallResult, CallSpec } from "./call-spec.ts";
import { type Case, type CaseContext, scripted, wholeAndStreamed } from "./case.ts";

/** An image of one pixel. */
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const pdf = Buffer.from("%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n").toString("base64");

export const textCases: readonly Case[] = [
  {
    name: "text whole",
    run: async (context) => {
      const result = await context.caller.whole(quickFoxCall(context));
      expect(result.text).toBe(" the quick brown fox jumps");
      expect(result.stop).toBe("stop");
      expectSameUsage(context, result);
    },
  },
  {
    name: "text streamed",
    run: async (context) => {
      const result = await context.caller.stream(quickFoxCall(context));
      expect(result.pieces.length).toBeGreaterThan(1);
      expect(result.pieces.join("")).toBe(" the quick brown fox jumps");
      expect(result.text).toBe(result.pieces.join(""));
      expect(result.stop).toBe("stop");
      expectSameUsage(context, result);
    },
  },
  {
    name: "system and history",
    run: (context) => {
      const spec: CallSpec = {
        model: context.model,
        system: "You are a careful assistant.",
        turns: [
          { by: "user", text: "one two three" },
          { by: "model", text: "four five" },
          scripted("six seven", { tokens: 2 }),
        ],
      };
      return wholeAndStreamed(context, spec, (result) => {
        expect(result.text).toBe(" the quick");
        context.checkLater(result.exchange, ({ truth }) => {
          // Every word arrived and nothing was added.
          expect(truth.prompt_tokens).toBe(12);
          for (const text of ["You are a careful assistant.", "one two three", "four five", "six seven"]) {
            expect(truth.body_text).toContain(text);
          }
        });
      });
    },
  },
  {
    name: "image input",
    run: (context) => {
      const turn = scripted("what is it", { tokens: 2 });
      const turns = [{ ...turn, imagePng: pixel }] as CallSpec["turns"];
      return wholeAndStreamed(context, { model: context.model, turns }, (result) => {
        expect(result.text).toBe(" the quick");
        context.checkLater(result.exchange, ({ truth }) => {
          expect(truth.body_text).toContain(pixel);
          expect(truth.body_text).toMatch(/image\/png|"format":"png"/);
        });
      });
    },
  },
  {
    name: "document input",
    run: (context) => {
      const turns = [{ ...scripted("read it", { tokens: 2 }), documentPdf: pdf }] as CallSpec["turns"];
      return wholeAndStreamed(context, { model: context.model, turns }, (result) => {
        expect(result.text).toBe(" the quick");
        context.checkLater(result.exchange, ({ truth }) => {
          expect(truth.body_text).toContain(pdf);
          expect(truth.body_text).toMatch(/application\/pdf|"format":"pdf"/);
        });
      });
    },
  },
  {
    name: "unusual SSE framing",
    run: async (context) => {
      const script = { tokens: 5, crlf: true, keep_alive_comments: true, reasoning_tokens: 0 };
      const result = await context.caller.stream({ model: context.model, turns: [scripted("odd", script)] });
      expect(result.text).toBe(" the quick brown fox jumps");
      expectSameUsage(context, result);
    },
  },
  {
    name: "refusal",
    run: (context) => {
      const turns = [scripted("do it", { finish: "refusal" })];
      return wholeAndStreamed(context, { model: context.model, turns }, (result) => {
        expect(result.text + result.refusal).toContain("I can't help with that.");
        expect(["length", "tool-calls"]).not.toContain(result.stop);
        if (context.caller.dialect === "messages") expect(result.stop).toBe("refusal");
        expectSameUsage(context, result);
      });
    },
  },
  {
    name: "no usage reported",
    run: (context) => {
      const turns = [scripted("a b c", { tokens: 5, no_usage: true })];
      return wholeAndStreamed(context, { model: context.model, turns }, (result) => expectEstimated(context, result));
    },
  },
  {
    name: "structured output",
    run: (context) => {
      const schema = {
        type: "object",
        properties: { city: { type: "string" }, days: { type: "integer" } },
        required: ["city", "days"],
        additionalProperties: false,
      };
      // Multibyte characters, split at every byte.
      const turns = [scripted("Ósló \u{1f30a}", { one_byte_chunks: true })];
      return wholeAndStreamed(context, { model: context.model, turns, schema }, (result) => {
        expect(JSON.parse(result.text)).toEqual({ city: "Ósló \u{1f30a}", days: 1 });
        expectSameUsage(context, result);
      });
    },
  },
  {
    name: "stop at length",
    run: (context) => {
      const turns = [scripted("continue", { tokens: 40 })];
      return wholeAndStreamed(context, { model: context.model, turns, outputMax: 16 }, (result) => {
        expect(result.stop).toBe("length");
        expect(result.usage().output).toBe(16);
        expectSameUsage(context, result);
      });
    },
  },
  {
    name: "cache usage",
    run: (context) => {
      // Some upstreams with the Messages API report zeros first and the real usage at the end.
      const script = { tokens: 3, prompt_tokens: 100, cached_tokens: 40, cache_write_tokens: 20, late_usage: true };
      return wholeAndStreamed(context, { model: context.model, turns: [scripted("cached", script)] }, (result) => {
        expect(result.usage()).toMatchObject({ input: 100, cacheRead: 40, output: 3 });
        expectSameUsage(context, result);
      });
    },
  },
  {
    name: "count tokens",
    run: async (context) => {
      const spec: CallSpec = { model: context.model, turns: [{ by: "user", text: "one two three four" }] };
      const counted = await context.caller.count?.(spec);
      // Only Messages can count tokens; the other dialects have nothing to test.
      if (counted === undefined) return;
      if (["anthropic", "vertex-claude"].includes(context.upstream.name)) {
        expect(counted.tokens).toBe(4);
        return;
      }
      expect(counted.tokens).toBeGreaterThan(0);
      expect(counted.exchange.headers.get("x-sluice-warnings")).toContain("estimate");
    },
  },
];

function quickFoxCall({ model }: CaseContext): CallSpec {
  return { model, turns: [scripted("one two three", { tokens: 5 })] };
}

/** If the upstream reports no usage, the answer is complete and the ledger has an estimate. */
export function expectEstimated(context: CaseContext, result: CallResult): void {
  expect(result.text).toBe(" the quick brown fox jumps");
  context.checkLater(result.exchange, ({ row }) => {
    expect(row).toMatchObject({ outcome: "succeeded", usage_source: "estimated" });
    expect(row.output).toBeGreaterThan(0);
    expect(row.input_uncached).toBeGreaterThan(0);
  });
}

/** The usage in the SDK, in the ledger and at the upstream must be the same. */
export function expectSameUsage(context: CaseContext, result: CallResult): void {
  context.checkLater(result.exchange, ({ row, truth }) => {
    const usage = result.usage();
    const cacheWrite = row.cache_write_5m + row.cache_write_1h;
    const ledger = {
      input: row.input_uncached + row.cache_read + cacheWrite,
      cacheRead: row.cache_read,
      cacheWrite: usage.cacheWrite === null ? null : cacheWrite,
      output: row.output,
      reasoning: usage.reasoning === null ? null : row.reasoning,
    };
    expect(ledger).toEqual(usage);
    expect(row).toMatchObject({ outcome: "succeeded", usage_source: "upstream" });
    const served = { prompt: truth.prompt_tokens, cached: truth.cached_tokens, output: truth.output_tokens_emitted };
    expect({ prompt: ledger.input, cached: row.cache_read, output: row.output }).toEqual(served);
  });
}
