import { describe, expect, test } from "bun:test";
import type { Provider } from "#core/index.ts";
import { draftOf, kindOf, laneOf, parsed, providerOf } from "../../test/provider-fixture.ts";
import type { Lane } from "./kind.ts";
import { settingsProblem } from "./kind-form.ts";
import { lanesOf, laneUrl, rootOf } from "./lanes.ts";

describe("lane URLs", () => {
  const url = (kind: string, endpoint: Lane["endpoint"], with_: Partial<Provider> = {}, model = "m", stream = false) =>
    laneUrl(providerOf(kind, with_), laneOf(kind, endpoint, model), model, stream);

  test.each([
    ["anthropic", "https://api.anthropic.com", "https://api.anthropic.com/v1"],
    ["anthropic", "https://api.anthropic.com/v1/", "https://api.anthropic.com/v1"],
    ["gemini", "https://generativelanguage.googleapis.com", "https://generativelanguage.googleapis.com/v1beta"],
    ["gemini", "https://g.example/v1beta/openai", "https://g.example/v1beta"],
    ["ollama", "http://10.0.0.1:11434/", "http://10.0.0.1:11434/v1"],
    ["vllm", "http://gpu.example:8000", "http://gpu.example:8000/v1"],
    ["azure-openai", "https://r.openai.azure.com", "https://r.openai.azure.com/openai/v1"],
    ["azure-openai", "https://r.openai.azure.com/openai/deployments/x", "https://r.openai.azure.com/openai/v1"],
    ["azure-openai", "https://openai.example/", "https://openai.example/openai/v1"],
    ["openai", "https://o.example/v1/", "https://o.example/v1"],
  ])("normalizes the base URL of %s from %s to %s", (kind, baseUrl, root) => {
    expect(rootOf(providerOf(kind, { baseUrl }))).toBe(root);
  });

  test.each([
    ["deepseek", "https://api.deepseek.com/anthropic/v1/messages"],
    ["moonshot", "https://api.moonshot.ai/anthropic/v1/messages"],
    ["zhipu", "https://api.z.ai/api/anthropic/v1/messages"],
    ["dashscope", "https://dashscope.aliyuncs.com/apps/anthropic/v1/messages"],
    ["minimax", "https://api.minimax.io/anthropic/v1/messages"],
    ["openrouter", "https://openrouter.ai/api/v1/messages"],
    ["anthropic", "https://api.anthropic.com/v1/messages"],
  ])("sends Messages calls for %s to %s", (kind, expected) => {
    expect(url(kind, "messages")).toBe(expected);
  });

  test.each([
    ["https://r.openai.azure.com", "https://r.services.ai.azure.com/providers/cohere/v2/rerank"],
    ["https://r.cognitiveservices.azure.com/openai/v1", "https://r.services.ai.azure.com/providers/cohere/v2/rerank"],
    ["https://r.services.ai.azure.com/openai/v1/", "https://r.services.ai.azure.com/providers/cohere/v2/rerank"],
    ["https://own.example/openai/deployments/x", "https://own.example/providers/cohere/v2/rerank"],
  ])("sends rerank calls for Cohere models on Azure at %s to %s", (baseUrl, expected) => {
    expect(url("azure-openai", "rerank", { baseUrl })).toBe(expected);
  });

  test("uses regional hosts for cloud providers", () => {
    const at = (location: string) => rootOf(providerOf("vertex", { settings: { project: "p1", location } }));
    expect(at("global")).toBe("https://aiplatform.googleapis.com/v1/projects/p1/locations/global");
    expect(at("eu")).toBe("https://aiplatform.eu.rep.googleapis.com/v1/projects/p1/locations/eu");
    expect(at("us-east5")).toBe("https://us-east5-aiplatform.googleapis.com/v1/projects/p1/locations/us-east5");
    expect(rootOf(providerOf("bedrock"))).toBe("https://bedrock-runtime.eu-west-1.amazonaws.com");
    expect(rootOf(providerOf("azure-openai"))).toBe("https://res.openai.azure.com/openai/v1");
  });

  test("builds Vertex URLs for Google and Anthropic models", () => {
    const root = "https://us-central1-aiplatform.googleapis.com/v1/projects/proj/locations/us-central1";
    const claude = "claude-sonnet-4-5@20250929";
    expect(url("vertex", "generate", {}, "gemini-2.5-pro", true)).toBe(
      `${root}/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse`,
    );
    expect(url("vertex", "messages", {}, claude, true)).toBe(
      `${root}/publishers/anthropic/models/claude-sonnet-4-5%4020250929:streamRawPredict`,
    );
    expect(url("vertex", "count-tokens", {}, claude)).toBe(
      `${root}/publishers/anthropic/models/count-tokens:rawPredict`,
    );
  });

  test("uses Messages on Bedrock for Claude models with any prefix, and Converse for others", () => {
    const dialect = (model: string) => kindOf("bedrock").lanes.find((lane) => lane.fits?.(model))?.dialect;
    for (const model of [
      "anthropic.claude-3-haiku-20240307-v1:0",
      "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
      "arn:aws:bedrock:us-east-1:1:inference-profile/global.anthropic.claude-opus-4-5-v1:0",
    ]) {
      expect(dialect(model)).toBe("anthropic-messages");
    }
    for (const model of ["amazon.nova-pro-v1:0", "arn:aws:bedrock:us-east-1:1:application-inference-profile/abc"]) {
      expect(dialect(model)).toBe("bedrock-converse");
    }
  });

  test("puts the deployment in the path and the version in the query for Azure's dated API", () => {
    const provider = providerOf("azure-openai", { settings: { resource: "res", api_version: "2024-10-21" } });
    const dated = (endpoint: Lane["endpoint"]) => {
      const lane = laneOf("azure-openai", endpoint);
      const draft = draftOf(provider, lane, "my gpt");
      lane.adjust?.(draft);
      return draft.url;
    };
    expect(dated("chat")).toBe(
      "https://res.openai.azure.com/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21",
    );
    expect(dated("responses")).toBe("https://res.openai.azure.com/openai/responses?api-version=2024-10-21");
  });
});

describe("settings", () => {
  test("limits lanes to the `endpoints` setting, or uses the default lanes without it", () => {
    const kind = kindOf("openai-compatible");
    const offered = (endpoints?: unknown) =>
      lanesOf(kind, providerOf(kind.id, { settings: endpoints === undefined ? {} : { endpoints } })).map(
        (lane) => lane.endpoint,
      );
    expect(offered()).toEqual([
      "chat",
      "completions",
      "embeddings",
      "rerank",
      "moderations",
      "decisions",
      "transcriptions",
      "translations",
      "speech",
      "images",
      "image-edits",
    ]);
    expect(offered(["messages", "chat"])).toEqual(["chat", "messages"]);
    expect(settingsProblem(kind, providerOf(kind.id, { settings: { endpoints: ["chats"] } }))).toContain("endpoints");
    expect(settingsProblem(kind, providerOf(kind.id, { settings: { endpoints: "chat" } }))).toContain("endpoints");
  });

  test.each([
    ["vertex", {}, "project"],
    ["vertex", { project: "p", location: "evil.example/" }, "location"],
    ["bedrock", {}, "region"],
    ["bedrock", { region: "x.example/?" }, "region"],
    ["bedrock", { region: "us-east-1", access_key_id: "AK" }, "secret_access_key"],
    ["azure-openai", { resource: "evil.example/x" }, "resource"],
    ["azure-openai", { resource: "r", api_version: "1&x=2" }, "api_version"],
  ])("names the invalid setting of %s in %j", (kind, given, named) => {
    expect(settingsProblem(kindOf(kind), providerOf(kind, { settings: given, baseUrl: "https://x" }))).toContain(named);
  });
});

describe("adjusting an upstream request", () => {
  const asked = { model: "m", max_tokens: 5, stream: true, messages: [{ role: "user", content: "model" }] };
  const adjusted = (
    kind: string,
    endpoint: Lane["endpoint"],
    body: object,
    headers: Record<string, string> = {},
    model = "m",
  ) => {
    const lane = laneOf(kind, endpoint, model);
    const draft = draftOf(providerOf(kind), lane, model, body);
    Object.assign(draft.headers, headers);
    draft.url += "?beta=true";
    lane.adjust?.(draft);
    return draft;
  };

  test("sends the caller's Anthropic version, or the default", () => {
    expect(adjusted("anthropic", "messages", asked).headers["anthropic-version"]).toBe("2023-06-01");
    const sent = { "anthropic-version": "2026-10-21" };
    expect(adjusted("deepseek", "messages", asked, sent).headers["anthropic-version"]).toBe("2026-10-21");
  });

  test("moves the Claude model, version and betas to where Bedrock expects them", () => {
    const headers = {
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "context-1m-2025-08-07, claude-code-20250219 ,context-1m-2025-08-07",
    };
    const draft = adjusted(
      "bedrock",
      "messages",
      { ...asked, anthropic_beta: ["compact-2026-01-12"] },
      headers,
      "anthropic.claude-x",
    );
    expect(parsed(draft.body)).toEqual({
      anthropic_version: "bedrock-2023-05-31",
      anthropic_beta: ["context-1m-2025-08-07", "compact-2026-01-12"],
      max_tokens: 5,
      messages: asked.messages,
    });
    expect(Object.keys(draft.headers)).toEqual(["content-type"]);
    expect(draft.url).toEndWith("/invoke-with-response-stream");
  });

  test("puts the Claude version in the body and the model in the path for Vertex", () => {
    const draft = adjusted("vertex", "messages", asked, { "anthropic-beta": "x-1,compact-2026-01-12" }, "claude-x");
    const { model: _, ...rest } = asked;
    expect(parsed(draft.body)).toEqual({ anthropic_version: "vertex-2023-10-16", ...rest });
    expect(draft.headers["anthropic-beta"]).toBe("compact-2026-01-12");
    expect(draft.url).toEndWith(":streamRawPredict");
  });

  test("keeps betas that the account's settings allow and warns about others", () => {
    const lane = laneOf("vertex", "messages", "claude-x");
    const sent = (betas: readonly string[]): unknown => {
      const provider = providerOf("vertex", { settings: { project: "p", betas } });
      const draft = draftOf(provider, lane, "claude-x", asked);
      draft.headers["anthropic-beta"] = "new-1, new-2";
      const warnings: string[] = [];
      lane.adjust?.(draft, (what) => warnings.push(what));
      return [draft.headers["anthropic-beta"], warnings.length];
    };
    expect(sent(["new-2"])).toEqual(["new-2", 1]);
    expect(sent(["*"])).toEqual(["new-1,new-2", 0]);
    expect(sent([])).toEqual([undefined, 1]);
    expect(settingsProblem(kindOf("vertex"), providerOf("vertex", { settings: { project: "p", betas: 1 } }))).toContain(
      "betas",
    );
  });

  test("sends the output limit under the vendor's name and drops unsupported fields", () => {
    const body = { model: "m", max_completion_tokens: 9, stream_options: { include_usage: true } };
    expect(parsed(adjusted("mistral", "chat", body).body)).toEqual({ model: "m", max_tokens: 9 });
    expect(parsed(adjusted("cohere", "chat", body).body)).toEqual({ model: "m", max_tokens: 9 });
    expect(parsed(adjusted("deepseek", "chat", { ...body, max_tokens: 1 }).body)).toEqual({ ...body, max_tokens: 1 });
  });
});
