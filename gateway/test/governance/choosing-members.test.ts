import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorOf, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("any", simulator, { kind: "demo" }),
      upstream("router", simulator, { kind: "openrouter" }),
      upstream("open", simulator, { kind: "demo", settings: { pass_members: ["service_tier", "models", "quality"] } }),
      upstream("claude", simulator, { kind: "anthropic" }),
      upstream("payer", simulator, {
        kind: "anthropic",
        settings: {
          pass_members: ["billing_policy", "user_profile_id"],
          forward_headers: ["anthropic-user-profile-id"],
        },
      }),
      upstream("gem", simulator, { kind: "gemini", settings: { endpoints: ["generate"] } }),
    ],
    models: [
      { name: "granted", deployments: [{ provider: "any", upstream_model: "up-granted" }] },
      { name: "other", deployments: [{ provider: "any", upstream_model: "up-other" }] },
      { name: "secret", deployments: [{ provider: "any", upstream_model: "up-secret" }] },
      { name: "routed", deployments: [{ provider: "router", upstream_model: "up-routed" }] },
      { name: "open", deployments: [{ provider: "open", upstream_model: "up-open" }] },
      { name: "claude", deployments: [{ provider: "claude", upstream_model: "up-claude" }] },
      { name: "adviser", deployments: [{ provider: "claude", upstream_model: "up-adviser" }] },
      { name: "payer", deployments: [{ provider: "payer", upstream_model: "up-payer" }] },
      { name: "gem", deployments: [{ provider: "gem", upstream_model: "up-gem" }] },
      {
        name: "films",
        type: "video",
        deployments: [{ provider: "any", upstream_model: "doubao-seedance-1-0-pro-250528" }],
        price: { video: 0.1 },
      },
    ],
    workspace: { models: ["granted", "other", "routed", "open", "gem", "films", "claude", "adviser", "payer"] },
  });
});
afterAll(() => gateway.stop());

const messages = [{ role: "user", content: "x" }];
const lastSent = (): Record<string, unknown> =>
  JSON.parse(gateway.simulator.simulator.truth.list().data.at(-1)?.body_text ?? "{}");

test("removes members that choose another model or a higher price, with a warning, and keeps the rest", async () => {
  const chosen = {
    models: ["up-secret"],
    fallbacks: [{ model: "up-secret" }],
    route: "fallback",
    preset: "p",
    plugins: [{ id: "web" }],
    api_base: "https://elsewhere.example",
    service_tier: "priority",
    speed: "fast",
    best_of: 20,
  };
  const rest = { temperature: 0.5, of_next_year: { models: ["x"] } };
  const response = await gateway.chat({ model: "granted", ...chosen, messages, ...rest }, { script: { tokens: 1 } });
  expect(response.status).toBe(200);
  expect(lastSent()).toEqual({ model: "up-granted", messages, ...rest });
  for (const name of Object.keys(chosen)) expect(response.headers.get("x-sluice-warnings")).toContain(name);
});

test("removes them from a body of megabytes too, which is processed outside the event loop", async () => {
  const long = [{ role: "user", content: "x".repeat(3_000_000) }];
  const response = await gateway.chat({
    model: "granted",
    models: ["up-secret"],
    messages: long,
    service_tier: "flex",
  });
  expect(response.status).toBe(200);
  expect(response.headers.get("x-sluice-warnings")).toContain("models");
  const truth = gateway.simulator.simulator.truth.list().data.at(-1);
  expect(truth?.model).toBe("up-granted");
  const sent = JSON.stringify({ model: "up-granted", messages: long, service_tier: "flex" });
  expect(truth?.body_sha256).toBe(new Bun.CryptoHasher("sha256").update(sent).digest("hex"));
});

test("removes members of top-level objects alone, or the whole object if it means nothing without them", async () => {
  const response = await gateway.post("/v1/responses", {
    model: "granted",
    input: "x",
    reasoning: { effort: "low", mode: "pro" },
    multi_agent: { enabled: true, max_concurrent_subagents: 4 },
    access_programs: { cyber: "daybreak_red" },
  });
  expect(response.status).toBe(200);
  expect(lastSent()).toEqual({ model: "up-granted", input: "x", reasoning: { effort: "low" } });
  for (const name of ["reasoning.mode", "multi_agent", "access_programs"]) {
    expect(response.headers.get("x-sluice-warnings")).toContain(name);
  }
  const plain = { reasoning: { mode: "standard" }, multi_agent: { enabled: false } };
  await gateway.post("/v1/responses", { model: "granted", input: "x", ...plain });
  expect(lastSent()).toEqual({ model: "up-granted", input: "x", ...plain });
});

test("removes the discount for delayed answers, because no answer reports its size", async () => {
  const ask = { model: "granted", input: "x", background_options: { completion_window: "8h", continuation_id: "a" } };
  const response = await gateway.post("/v1/responses", ask);
  expect(response.headers.get("x-sluice-warnings")).toContain("background_options.completion_window");
  expect(lastSent()).toEqual({ model: "up-granted", input: "x", background_options: { continuation_id: "a" } });
  const plain = { ...ask, background_options: { completion_window: "soonest" } };
  expect((await gateway.post("/v1/responses", plain)).headers.get("x-sluice-warnings")).toBeNull();
  expect(lastSent()).toEqual({ ...plain, model: "up-granted" });
});

test("rejects such a member in another spelling", async () => {
  const response = await gateway.post("/v1/responses", { model: "granted", input: "x", reasoning: { Mode: "pro" } });
  expect(await errorOf(response)).toMatchObject({ status: 400, code: "invalid_request" });
});

test("removes Gemini's own routing from its configuration", async () => {
  const contents = [{ role: "user", parts: [{ text: "x" }] }];
  const manual = { manualMode: { modelName: "up-secret" } };
  for (const config of [
    { routingConfig: manual, temperature: 0.5 },
    { temperature: 0.5, model_selection_config: { featureSelectionPreference: "PRIORITIZE_QUALITY" } },
  ]) {
    const response = await gateway.post("/v1beta/models/gem:generateContent", { contents, generationConfig: config });
    expect(response.status).toBe(200);
    expect(lastSent()).toEqual({ contents, generationConfig: { temperature: 0.5 } });
    expect(response.headers.get("x-sluice-warnings")).toContain("generationConfig.");
  }
});

const claude = { model: "claude", max_tokens: 9, messages };
const billed = { billing_policy: { type: "billing_policy", bill_to: "user_profile" }, user_profile_id: "uprof_1" };
const profile = { "anthropic-version": "2023-06-01", "anthropic-user-profile-id": "uprof_1" };
const lastHeaders = () => gateway.simulator.simulator.truth.list().data.at(-1)?.request_headers ?? {};

test("does not let callers choose who pays, in the body or in a header", async () => {
  const response = await gateway.post("/v1/messages", { ...claude, ...billed }, { headers: profile });
  expect(response.status).toBe(200);
  expect(lastSent()).toEqual({ ...claude, model: "up-claude" });
  expect(lastHeaders()).not.toHaveProperty("anthropic-user-profile-id");
  expect(response.headers.get("x-sluice-warnings")).toContain("billing_policy");
  const self = { billing_policy: { type: "billing_policy", bill_to: "self" } };
  await gateway.post("/v1/messages", { ...claude, ...self }, { headers: profile });
  expect(lastSent()).toEqual({ ...claude, model: "up-claude", ...self });
});

test("lets callers choose who pays if the operator allows it", async () => {
  await gateway.post("/v1/messages", { ...claude, model: "payer", ...billed }, { headers: profile });
  expect(lastSent()).toEqual({ ...claude, model: "up-payer", ...billed });
  expect(lastHeaders()).toHaveProperty("anthropic-user-profile-id", "uprof_1");
});

test("warns that a payer was removed from a translated call", async () => {
  const response = await gateway.post("/v1/messages", { ...claude, model: "granted", ...billed }, { headers: profile });
  expect(response.headers.get("x-sluice-warnings")).toContain("billing_policy");
});

test("keeps values that choose nothing and cost no more", async () => {
  const plain = { service_tier: "flex", speed: "standard", models: null, best_of: 1, inference_geo: "global" };
  const response = await gateway.chat({ model: "granted", ...plain, messages }, { script: { tokens: 1 } });
  expect(response.headers.get("x-sluice-warnings")).toBeNull();
  expect(lastSent()).toEqual({ model: "up-granted", ...plain, messages });
});

test("rejects the call if removing the member would break a promise to the caller", async () => {
  const geo = await gateway.chat({ model: "granted", messages, inference_geo: "us" });
  expect(await errorOf(geo)).toMatchObject({ status: 400, code: "invalid_request", param: "inference_geo" });
  const routed = await gateway.chat({ model: "routed", messages, provider: { data_collection: "deny" } });
  expect(await errorOf(routed)).toMatchObject({ status: 400, param: "provider" });
});

test("removes a more expensive tier from a translated call too", async () => {
  const body = { model: "gem", service_tier: "priority", messages };
  const response = await gateway.chat(body);
  expect(response.status).toBe(200);
  expect(lastSent()).not.toHaveProperty("serviceTier");
});

test("a Gemini body cannot name a model other than the path's", async () => {
  const contents = [{ parts: [{ text: "x" }] }];
  const response = await gateway.post("/v1beta/models/gem:generateContent", { model: "models/up-secret", contents });
  expect(response.status).toBe(200);
  expect(lastSent()).toEqual({ contents });
});

test("an operator allows members for one account", async () => {
  const body = { model: "open", models: ["up-second"], service_tier: "priority", messages };
  await (await gateway.chat(body, { script: { tokens: 1 } })).text();
  expect(lastSent()).toEqual({ ...body, model: "up-open" });
});

test("checks access to a tool's model like to the call's, in any spelling", async () => {
  const ask = (tool: string) =>
    gateway.post("/v1/responses", `{"model":"granted","input":"x","tools":[{"type":"image_generation",${tool}}]}`);
  for (const tool of ['"model":"up-secret"', '"m\\u006fdel":"up-secret"', '"model":"nobody-knows"']) {
    expect(await errorOf(await ask(tool))).toMatchObject({ status: 404, code: "model_not_found", param: "tools" });
  }
  expect((await ask('"model":["up-other"]')).status).toBe(400);
  expect((await ask('"model":"up-other"')).status).toBe(200);
  const schema = { type: "object", properties: { model: { type: "string" } } };
  const named = { type: "function", function: { name: "f", parameters: schema } };
  expect((await gateway.chat({ model: "granted", messages, tools: [named] })).status).toBe(200);
});

test.each([
  [
    "an adviser added by a message",
    "/v1/messages",
    (model: string) => ({
      ...claude,
      messages: [
        ...messages,
        {
          role: "system",
          content: [
            {
              type: "tool_addition",
              tool: { type: "tool_definition", definition: { type: "advisor_20260301", name: "advisor", model } },
            },
          ],
        },
      ],
    }),
    "up-adviser",
  ],
  [
    "tools added by the input",
    "/v1/responses",
    (model: string) => ({
      model: "granted",
      input: [
        { type: "additional_tools", role: "developer", tools: [{ type: "image_generation", model }] },
        { role: "user", content: "x" },
      ],
    }),
    "up-other",
  ],
  [
    "the image model of a tool",
    "/v1/responses",
    (model: string) => ({ model: "granted", input: "x", tools: [{ type: "image_generation", svg: { model } }] }),
    "up-other",
  ],
  [
    "a check of the answer (grader)",
    "/v1/chat/completions",
    (model: string) => ({ model: "granted", messages, moderation: { model } }),
    "up-other",
  ],
] as const)("checks access to the model of %s", async (_, path, bodyOf, granted) => {
  const headers = { "anthropic-version": "2023-06-01" };
  const refused = await gateway.post(path, bodyOf("up-secret"), { headers });
  expect(refused.status).toBe(404);
  expect(await refused.text()).toContain("up-secret");
  expect((await gateway.post(path, bodyOf(granted), { headers })).status).toBe(200);
});

test("a form does not accept them at all", async () => {
  const body = new FormData();
  body.set("model", "granted");
  body.set("prompt", "p");
  body.set("models", "up-secret");
  const headers = { authorization: `Bearer ${"sk-alice-0123456789abcdefghij"}` };
  const response = await fetch(`${gateway.url}/v1/images/edits`, { method: "POST", headers, body });
  expect(await errorOf(response)).toMatchObject({ status: 400, param: "models" });
});

test.each([
  [{ parameters: { sampleCount: 4 } }, "parameters.sampleCount", "1"],
  [{ parameters: { resolution: "4k" } }, "parameters.resolution", '"resolution"'],
  [{ n: 3 }, "n", "1"],
  [{ num_videos: 2 }, "num_videos", "1"],
  [{ frames: 289 }, "frames", '"duration"'],
  [{ quality: "1080p" }, "quality", '"resolution"'],
  [{ service_tier: "priority" }, "service_tier", '"flex"'],
  [{ storageUri: "gs://of-the-caller/x" }, "storageUri", "none"],
  [{ prompt: "a boat --rs 1080p --dur 12" }, "prompt", '"resolution"'],
])("a video is priced by our own fields: %j is refused before a task is created", async (more, param, allowed) => {
  const response = await gateway.post("/v1/video/tasks", {
    model: "films",
    prompt: "a boat",
    resolution: "480p",
    ...more,
  });
  const problem = await errorOf(response);
  expect(problem).toMatchObject({ status: 400, code: "invalid_request", param });
  expect(problem.message).toContain(allowed);
  const list = (await (await gateway.get("/v1/video/tasks")).json()) as { data: unknown[] };
  expect(list.data).toEqual([]);
});
