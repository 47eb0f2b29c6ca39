import { expect, test } from "bun:test";
import type { OutboundDraft } from "./kind.ts";
import { mistral } from "./kinds/mistral.ts";

function adjusted(request: object): { body: unknown; warnings: readonly string[] } {
  const warnings: string[] = [];
  const draft = { body: new TextEncoder().encode(JSON.stringify(request)), headers: {} } as OutboundDraft;
  mistral.lanes.find(({ endpoint }) => endpoint === "chat")?.adjust?.(draft, (what) => warnings.push(what));
  return { body: JSON.parse(new TextDecoder().decode(draft.body ?? new Uint8Array(0))), warnings };
}

const messages = [{ role: "user", content: "hello" }];

// Mistral rejects the whole request if it has an unknown field (422 extra_forbidden).
test("drops or renames fields that Mistral does not accept", () => {
  const ask = { model: "m", messages, user: "u", seed: 7, max_completion_tokens: 9, service_tier: "auto" };
  expect(adjusted(ask)).toEqual({ body: { model: "m", messages, random_seed: 7, max_tokens: 9 }, warnings: [] });
});

test("warns about dropped fields that would change the answer", () => {
  const { body, warnings } = adjusted({ model: "m", messages, verbosity: "low", service_tier: "flex" });
  expect(body).toEqual({ model: "m", messages });
  expect(warnings).toEqual([expect.stringContaining("verbosity"), expect.stringContaining("service_tier")]);
});
