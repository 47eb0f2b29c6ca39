import { describe, expect, test } from "bun:test";
import { kindOf } from "../../test/provider-fixture.ts";
import { providerKinds } from "./kinds.ts";
import { readModelsPage, suggestedModel, typesOf } from "./upstream-models.ts";

const untold = { contextWindow: null, outputTokensMax: null, deprecated: false, retiresAt: null };

describe("a page of a model list", () => {
  test("reads every vendor's format", () => {
    const openai = { object: "list", data: [{ id: "gpt-5", created: 1_700_000_000, owned_by: "openai" }] };
    expect(readModelsPage(openai)).toEqual({
      models: [{ id: "gpt-5", ownedBy: "openai", createdAt: 1_700_000_000_000, type: null, ...untold }],
      next: null,
    });
    const anthropic = {
      data: [{ type: "model", id: "claude", created_at: "2026-02-01T00:00:00Z" }],
      has_more: true,
      last_id: "claude",
    };
    expect(readModelsPage(anthropic)).toEqual({
      models: [{ id: "claude", ownedBy: null, createdAt: Date.UTC(2026, 1, 1), type: null, ...untold }],
      next: "after_id=claude",
    });
    const google = {
      models: [{ name: "models/embed", supportedGenerationMethods: ["embedContent"] }],
      nextPageToken: "a&b",
    };
    expect(readModelsPage(google)).toMatchObject({
      models: [{ id: "embed", type: "embedding" }],
      next: "pageToken=a%26b",
    });
    expect(readModelsPage([{ id: "flux", type: "image" }])?.models[0]).toMatchObject({ id: "flux", type: "image" });
  });

  test("reads context windows, output limits and retirement dates if the vendor sends them", () => {
    const read = (model: object) => readModelsPage({ data: [model] })?.models[0];
    const claude = { id: "c", type: "model", max_input_tokens: 200_000, max_tokens: 64_000, lifecycle: "deprecated" };
    expect(read(claude)).toMatchObject({ contextWindow: 200_000, outputTokensMax: 64_000, deprecated: true });
    const gemini = { name: "models/g", inputTokenLimit: 1_048_576, outputTokenLimit: 65_536 };
    expect(read(gemini)).toMatchObject({ contextWindow: 1_048_576, outputTokensMax: 65_536, deprecated: false });
    const mistral = { id: "m", max_context_length: 32_768, deprecation: "2026-12-31T00:00:00Z", max_tokens: 7 };
    expect(read(mistral)).toMatchObject({
      contextWindow: 32_768,
      outputTokensMax: null,
      deprecated: true,
      retiresAt: Date.UTC(2026, 11, 31),
    });
    for (const odd of [-1, 1.5, "5", null, 1e12]) {
      expect(read({ id: "x", type: "model", max_input_tokens: odd, max_tokens: odd, deprecation: odd })).toMatchObject({
        contextWindow: null,
        outputTokensMax: null,
      });
    }
  });

  test("skips invalid model ids, and returns null for a body that is no list", () => {
    for (const body of [null, 1, "x", {}, { data: {} }, { error: "x" }]) expect(readModelsPage(body)).toBeNull();
    const odd = [
      null,
      1,
      {},
      { id: "" },
      { id: 5 },
      { id: "a\nb" },
      { id: "x".repeat(257) },
      { id: "m", created: "x" },
    ];
    expect(readModelsPage({ data: odd })?.models.map((model) => [model.id, model.createdAt])).toEqual([["m", null]]);
    const far = { data: [{ id: "m" }], has_more: true, last_id: "x".repeat(9_000) };
    expect(readModelsPage(far)?.next).toBeNull();
  });
});

describe("suggested models", () => {
  const suggested = (kind: string, id: string) => suggestedModel(kindOf(kind), { id, type: null });

  test("suggests a type by model family, if the provider type supports it", () => {
    const types: [string, string, string][] = [
      ["openai", "text-embedding-3-small", "embedding"],
      ["openai", "gpt-image-1", "image"],
      ["openai", "sora-2", "video"],
      ["openai", "gpt-5", "chat"],
      ["gemini", "gemini-embedding-001", "embedding"],
      ["gemini", "veo-3.1-generate-preview", "video"],
      ["gemini", "gemini-2.5-flash-image", "image"],
      ["ark", "doubao-seedance-2-0", "video"],
      ["ark", "doubao-seedream-4-5", "image"],
      ["dashscope", "wan2.6-t2v", "video"],
      ["dashscope", "qwen-max", "chat"],
      ["openrouter", "google/gemini-2.5-flash-image", "chat"],
      ["together", "black-forest-labs/FLUX.1", "image"],
      ["fal", "fal-ai/anything", "video"],
      ["openai-compatible", "BAAI/bge-m3", "embedding"],
    ];
    for (const [kind, id, type] of types)
      expect([kind, id, suggested(kind, id).type]).toEqual([kind, id, type as never]);
  });

  test("always suggests a supported type and a valid name", () => {
    for (const kind of providerKinds) {
      expect(typesOf(kind).length).toBeGreaterThan(0);
      for (const id of ["m", "embed", "veo", "a b*c", "*"]) {
        const { name, type } = suggestedModel(kind, { id, type: null });
        expect(typesOf(kind)).toContain(type);
        expect(name).toMatch(/^[^\s*]{1,256}$/);
      }
    }
    expect(suggested("fireworks", "accounts/fireworks/models/kimi-k2").name).toBe("kimi-k2");
    expect(suggested("openrouter", "anthropic/claude-x:free").name).toBe("anthropic/claude-x:free");
  });
});
