import { expect } from "bun:test";
import type { Ask, Heard } from "./ask.ts";
import { bothWays, type Case, type Ground, scripted } from "./case.ts";

/** A picture of one pixel. */
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const paper = Buffer.from("%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n").toString("base64");

export const textCases: readonly Case[] = [
  {
    name: "text whole",
    run: async (ground) => {
      const heard = await ground.caller.whole(quickFox(ground));
      expect(heard.text).toBe(" the quick brown fox jumps");
      expect(heard.stop).toBe("stop");
      usageAgrees(ground, heard);
    },
  },
  {
    name: "text streamed",
    run: async (ground) => {
      const heard = await ground.caller.stream(quickFox(ground));
      expect(heard.pieces.length).toBeGreaterThan(1);
      expect(heard.pieces.join("")).toBe(" the quick brown fox jumps");
      expect(heard.text).toBe(heard.pieces.join(""));
      expect(heard.stop).toBe("stop");
      usageAgrees(ground, heard);
    },
  },
  {
    name: "system and history",
    run: (ground) => {
      const ask: Ask = {
        model: ground.model,
        system: "You are a careful house.",
        turns: [
          { by: "user", text: "one two three" },
          { by: "model", text: "four five" },
          scripted("six seven", { tokens: 2 }),
        ],
      };
      return bothWays(ground, ask, (heard) => {
        expect(heard.text).toBe(" the quick");
        ground.later(heard.exchange, ({ truth }) => {
          // Every word arrived, and nothing was added.
          expect(truth.prompt_tokens).toBe(12);
          for (const said of ["You are a careful house.", "one two three", "four five", "six seven"]) {
            expect(truth.body_text).toContain(said);
          }
        });
      });
    },
  },
  {
    name: "image input",
    run: (ground) => {
      const said = scripted("what is it", { tokens: 2 });
      const turns = [{ ...said, imagePng: pixel }] as Ask["turns"];
      return bothWays(ground, { model: ground.model, turns }, (heard) => {
        expect(heard.text).toBe(" the quick");
        ground.later(heard.exchange, ({ truth }) => {
          expect(truth.body_text).toContain(pixel);
          expect(truth.body_text).toMatch(/image\/png|"format":"png"/);
        });
      });
    },
  },
  {
    name: "document input",
    run: (ground) => {
      const turns = [{ ...scripted("read it", { tokens: 2 }), documentPdf: paper }] as Ask["turns"];
      return bothWays(ground, { model: ground.model, turns }, (heard) => {
        expect(heard.text).toBe(" the quick");
        ground.later(heard.exchange, ({ truth }) => {
          expect(truth.body_text).toContain(paper);
          expect(truth.body_text).toMatch(/application\/pdf|"format":"pdf"/);
        });
      });
    },
  },
  {
    name: "odd framing",
    run: async (ground) => {
      const script = { tokens: 5, crlf: true, keep_alive_comments: true, reasoning_tokens: 0 };
      const heard = await ground.caller.stream({ model: ground.model, turns: [scripted("odd", script)] });
      expect(heard.text).toBe(" the quick brown fox jumps");
      usageAgrees(ground, heard);
    },
  },
  {
    name: "refusal",
    run: (ground) => {
      const turns = [scripted("do it", { finish: "refusal" })];
      return bothWays(ground, { model: ground.model, turns }, (heard) => {
        expect(heard.text + heard.refusal).toContain("I can't help with that.");
        expect(["length", "tool-calls"]).not.toContain(heard.stop);
        if (ground.caller.dialect === "messages") expect(heard.stop).toBe("refusal");
        usageAgrees(ground, heard);
      });
    },
  },
  {
    name: "no usage told",
    run: (ground) => {
      const turns = [scripted("a b c", { tokens: 5, no_usage: true })];
      return bothWays(ground, { model: ground.model, turns }, (heard) => isEstimated(ground, heard));
    },
  },
  {
    name: "structured output",
    run: (ground) => {
      const schema = {
        type: "object",
        properties: { city: { type: "string" }, days: { type: "integer" } },
        required: ["city", "days"],
        additionalProperties: false,
      };
      // Characters of several bytes, cut everywhere.
      const turns = [scripted("Ósló \u{1f30a}", { one_byte_chunks: true })];
      return bothWays(ground, { model: ground.model, turns, schema }, (heard) => {
        expect(JSON.parse(heard.text)).toEqual({ city: "Ósló \u{1f30a}", days: 1 });
        usageAgrees(ground, heard);
      });
    },
  },
  {
    name: "stop at length",
    run: (ground) => {
      const turns = [scripted("go on", { tokens: 40 })];
      return bothWays(ground, { model: ground.model, turns, outputMax: 16 }, (heard) => {
        expect(heard.stop).toBe("length");
        expect(heard.usage().output).toBe(16);
        usageAgrees(ground, heard);
      });
    },
  },
  {
    name: "cache usage",
    run: (ground) => {
      // Some upstreams of the Messages dialect tell zeros first and the truth at the end.
      const script = { tokens: 3, prompt_tokens: 100, cached_tokens: 40, cache_write_tokens: 20, late_usage: true };
      return bothWays(ground, { model: ground.model, turns: [scripted("cached", script)] }, (heard) => {
        expect(heard.usage()).toMatchObject({ input: 100, cacheRead: 40, output: 3 });
        usageAgrees(ground, heard);
      });
    },
  },
  {
    name: "count tokens",
    run: async (ground) => {
      const ask: Ask = { model: ground.model, turns: [{ by: "user", text: "one two three four" }] };
      const counted = await ground.caller.count?.(ask);
      // Only Messages has a way to count; for the others there is nothing that could fail.
      if (counted === undefined) return;
      if (["anthropic", "vertex-claude"].includes(ground.upstream.name)) {
        expect(counted.tokens).toBe(4);
        return;
      }
      expect(counted.tokens).toBeGreaterThan(0);
      expect(counted.exchange.headers.get("x-sluice-warnings")).toContain("estimate");
    },
  },
];

function quickFox({ model }: Ground): Ask {
  return { model, turns: [scripted("one two three", { tokens: 5 })] };
}

/** An answer whose upstream told no usage is whole, and has an estimate in the ledger. */
export function isEstimated(ground: Ground, heard: Heard): void {
  expect(heard.text).toBe(" the quick brown fox jumps");
  ground.later(heard.exchange, ({ row }) => {
    expect(row).toMatchObject({ outcome: "succeeded", usage_source: "estimated" });
    expect(row.output).toBeGreaterThan(0);
    expect(row.input_uncached).toBeGreaterThan(0);
  });
}

/** What the SDK was told is what the ledger has and what the upstream served. */
export function usageAgrees(ground: Ground, heard: Heard): void {
  ground.later(heard.exchange, ({ row, truth }) => {
    const usage = heard.usage();
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
