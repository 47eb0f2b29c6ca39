import { describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import type { TestAnswer } from "@sluice/contract";
import { startRawUpstream } from "../raw-upstream.ts";
import { type ModelsFixture, openModelsFixture } from "./models-fixture.ts";

const canary = "sk-canary-4713-of-the-provider";

async function testProvider(fixture: ModelsFixture, provider: string, model?: string): Promise<TestAnswer> {
  const answer = await fixture.call("administrator", "providers.test", {
    params: { provider },
    body: model === undefined ? {} : { upstream_model: model },
  });
  expect(answer.status).toBe(200);
  expect(JSON.stringify(answer.body)).not.toContain(canary);
  return answer.body;
}

const namesOf = (answer: TestAnswer) => answer.steps.map((step) => `${step.name}: ${step.ok ? step.status : "no"}`);
const originOf = (fixture: ModelsFixture) => new URL(fixture.simulator.url).origin;
const listed = (fixture: ModelsFixture, provider = "main") =>
  fixture.call("administrator", "providers.upstreamModels", { params: { provider } });

/** A vendor that answers with `answer`; stopped with the test's console. */
async function vendor(fixture: ModelsFixture, answer: (request: Request) => Response | Promise<Response>) {
  const server = Bun.serve({ idleTimeout: 0, port: 0, hostname: "127.0.0.1", fetch: answer });
  const made = await fixture.makeProvider("main", { base_url: `http://127.0.0.1:${server.port}/v1`, api_key: canary });
  expect(made.status).toBe(201);
  return { [Symbol.dispose]: () => void server.stop(true) };
}

describe("provider test", () => {
  test("lists the models and sends one a minimal request, in the API of the provider type", async () => {
    await using fixture = await openModelsFixture();
    for (const [kind, url] of [
      ["openai", fixture.simulator.url],
      ["anthropic", originOf(fixture)],
      ["gemini", `${originOf(fixture)}/v1beta`],
      ["openai-compatible", fixture.simulator.url],
    ] as const) {
      await fixture.makeProvider(kind, { kind, base_url: url, api_key: canary });
      const answer = await testProvider(fixture, kind);
      expect([kind, answer.ok, ...namesOf(answer)]).toEqual([kind, true, "list models: 200", "chat with demo: 200"]);
    }
    expect(namesOf(await testProvider(fixture, "openai", "gpt-other"))).toContain("chat with gpt-other: 200");
    expect(namesOf(await testProvider(fixture, "openai", "text-embedding-3-small"))).toContain(
      "embed with text-embedding-3-small: 200",
    );
  });

  test.each([
    ["completion", "complete with", "openai-completions"],
    ["rerank", "rerank with", "rerank"],
    ["moderation", "moderate with", "openai-moderations"],
    ["transcription", "transcribe with", "openai-transcriptions"],
    ["speech", "speak with", "openai-speech"],
  ] as const)("sends a %s model a request at its endpoint", async (type, words, dialect) => {
    await using fixture = await openModelsFixture();
    await fixture.makeProvider("main");
    await fixture.makeModel("mine", { type, deployments: [{ provider: "main", upstream_model: "up/mine" }] });
    const answer = await testProvider(fixture, "main", "up/mine");
    expect([answer.ok, ...namesOf(answer)]).toEqual([true, "list models: 200", `${words} up/mine: 200`]);
    expect(fixture.simulator.simulator.truth.list().data.map((record) => record.dialect)).toEqual([dialect]);
  });

  test("looks up a model in the vendor's list when the vendor rejects the voice", async () => {
    await using fixture = await openModelsFixture();
    using _ = await vendor(fixture, (request) =>
      request.url.endsWith("/models")
        ? Response.json({ data: [{ id: "speaker-tts" }] })
        : Response.json({ error: { message: "voice must be one of Fritz-PlayAI" } }, { status: 400 }),
    );
    const answer = await testProvider(fixture, "main", "speaker-tts");
    expect([answer.ok, ...namesOf(answer)]).toEqual([true, "list models: 200", "find speaker-tts in the list: 200"]);
  });

  test("prefers a deployed model, and generates no pictures", async () => {
    await using fixture = await openModelsFixture();
    await fixture.makeProvider("main");
    const servedBy = (upstream_model: string) => [{ provider: "main", upstream_model }];
    await fixture.makeModel("draw", { type: "image", deployments: servedBy("sd-3") });
    expect(namesOf(await testProvider(fixture, "main"))).toEqual(["list models: 200", "find sd-3 in the list: no"]);
    await fixture.makeModel("talk", { deployments: servedBy("up/talk") });
    expect(namesOf(await testProvider(fixture, "main"))).toEqual(["list models: 200", "chat with up/talk: 200"]);
    expect(fixture.simulator.simulator.truth.list().data.map((record) => record.dialect)).toEqual(["openai-chat"]);
  });

  test("uses tokens and signatures as calls do", async () => {
    await using fixture = await openModelsFixture();
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const account = JSON.stringify({
      client_email: "robot@proj.example",
      private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
      token_uri: `${originOf(fixture)}/token`,
    });
    const vertex = { kind: "vertex", base_url: originOf(fixture), settings: { project: "proj" } };
    await fixture.makeProvider("vertex", { ...vertex, api_key: account });
    expect(namesOf(await testProvider(fixture, "vertex", "gemini-x"))).toEqual(["chat with gemini-x: 200"]);
    const settings = { region: "eu-west-1", access_key_id: "AKIDEXAMPLE", secret_access_key: canary };
    await fixture.makeProvider("aws", { kind: "bedrock", base_url: originOf(fixture), settings });
    expect(namesOf(await testProvider(fixture, "aws", "eu.amazon.nova-pro-v1:0"))).toEqual([
      "chat with eu.amazon.nova-pro-v1:0: 200",
    ]);
    await fixture.makeProvider("broken", { ...vertex, api_key: '{"client_email":"x","private_key":"no key"}' });
    const broken = await testProvider(fixture, "broken", "gemini-x");
    expect(broken.steps[0]).toMatchObject({ status: 0, problem: expect.stringContaining("cannot be used") });
    expect(broken.steps[0]?.advice).toContain("service account");
  });

  test("asks a video vendor for a task, and distinguishes a wrong key from an unknown task", async () => {
    await using fixture = await openModelsFixture();
    const kling = { kind: "kling", base_url: originOf(fixture), settings: { access_key: "AKKLINGEXAMPLE" } };
    await fixture.makeProvider("kling", { ...kling, api_key: "kling-secret-example" });
    const good = await testProvider(fixture, "kling");
    expect([good.ok, good.steps[0]?.name]).toEqual([true, "look for a video task"]);
    await fixture.makeProvider("wrong", { ...kling, api_key: canary });
    const wrong = await testProvider(fixture, "wrong");
    expect([wrong.ok, wrong.steps[0]?.status]).toEqual([false, 401]);
    expect(wrong.steps[0]?.advice).toContain("key");
    expect(fixture.simulator.simulator.tasks.list().data).toEqual([]);
  });

  test("reports a wrong key and where to get one, and stops", async () => {
    await using fixture = await openModelsFixture();
    const requests: string[] = [];
    using _ = await vendor(fixture, (request) => {
      requests.push(new URL(request.url).pathname);
      const authorization = request.headers.get("authorization");
      return Response.json({ error: { message: `Incorrect API key provided: ${authorization}` } }, { status: 401 });
    });
    const answer = await testProvider(fixture, "main");
    expect([answer.ok, answer.steps.length]).toEqual([false, 1]);
    expect(answer.steps[0]).toMatchObject({ name: "list models", status: 401 });
    expect(answer.steps[0]?.problem).toContain("Incorrect API key provided: Bearer [redacted]");
    expect(answer.steps[0]?.advice).toContain("wrong");
    expect(answer.steps[0]).toMatchObject({
      tried: { code: "list_models", params: {} },
      fault: { code: "credential", params: {} },
      upstream_message: "Incorrect API key provided: Bearer [redacted]",
      remedy: { code: "check_key", params: {} },
    });
    expect(requests).toEqual(["/v1/models"]);
  });

  test("continues without a model list and reports that", async () => {
    await using fixture = await openModelsFixture();
    using _ = await vendor(fixture, (request) =>
      request.url.endsWith("/chat/completions")
        ? Response.json({ choices: [] })
        : Response.json({ detail: "Not Found" }, { status: 404 }),
    );
    const answer = await testProvider(fixture, "main", "llama");
    expect([answer.ok, ...namesOf(answer)]).toEqual([true, "list models: no", "chat with llama: 200"]);
    expect(answer.steps[0]?.advice).toContain("no list of models");
    expect(answer.steps).toMatchObject([
      { fault: { code: "answered", params: { status: 404 } }, remedy: { code: "name_models_yourself", params: {} } },
      { tried: { code: "ask_model", params: { type: "chat", model: "llama" } }, fault: null, remedy: null },
    ]);
    expect((await testProvider(fixture, "main")).ok).toBe(false);
  });

  const bad: readonly [string, () => Response, string, string, readonly (string | undefined)[]][] = [
    [
      "a redirect",
      () => Response.redirect("https://real.example/v1/models?key=x", 302),
      "302",
      "https://real.example/v1",
      ["answered", "use_address"],
    ],
    ["a page instead of an API", () => new Response("<html>"), "not JSON", "/v1", ["not_json", "check_base_url_path"]],
    [
      "other JSON",
      () => Response.json({ hello: 1 }),
      "not a list of models",
      "base URL",
      ["no_model_list", "check_base_url"],
    ],
    ["an unpaid bill", () => Response.json({}, { status: 402 }), "credit", "Top it up", ["credit", "top_up"]],
    [
      "a rate limit",
      () => Response.json({}, { status: 429 }),
      "rate limit",
      "quota",
      ["rate_limited", "wait_or_raise_quota"],
    ],
    [
      "has an outage",
      () => Response.json({}, { status: 503 }),
      "overloaded",
      "has an outage",
      ["overloaded", "wait_for_provider"],
    ],
    [
      "an endless list",
      () => Response.json({ data: "x".repeat(9 * 1024 * 1024) }),
      "larger",
      "",
      [undefined, undefined],
    ],
  ];
  test.each(bad)("explains %s and gives advice", async (_name, answer, problem, advice, codes) => {
    await using fixture = await openModelsFixture();
    using _ = await vendor(fixture, answer);
    const list = (await testProvider(fixture, "main", "m")).steps[0];
    expect(list?.ok).toBe(false);
    expect(list?.problem).toContain(problem);
    expect(list?.advice ?? "").toContain(advice);
    const reported: readonly (string | undefined)[] = [list?.fault?.code, list?.remedy?.code];
    expect(reported).toEqual(codes);
    expect(list?.advice ?? "").not.toContain("key=x");
  });

  test("explains what is wrong with a base URL", async () => {
    await using fixture = await openModelsFixture();
    const at = async (id: string, more: Record<string, unknown>) => {
      await fixture.makeProvider(id, more);
      return (await testProvider(fixture, id)).steps[0];
    };
    const refused = await at("private", { allow_private_network: false });
    expect(refused).toMatchObject({ status: 0, problem: expect.stringContaining("not public") });
    expect(refused?.advice).toContain("allow the private network");
    const nobody = await at("nobody", { base_url: "https://no-such-name.invalid/v1" });
    expect(nobody?.advice).toContain("host name of the base URL");
    const closed = await at("closed", { base_url: "http://127.0.0.1:9/v1" });
    expect(closed?.advice).toContain("does not respond");
    const never = await at("never", { base_url: "http://169.254.169.254/v1" });
    expect([never?.status, never?.ok]).toEqual([0, false]);
    const line = await at("line", { api_key: "sk-with\na-line-break" });
    expect(line?.advice).toContain("character");
  });

  test("ends when the upstream does not answer", async () => {
    await using fixture = await openModelsFixture();
    const silent = await startRawUpstream(() => {});
    try {
      await fixture.makeProvider("main", { base_url: `${silent.url}/v1`, timeouts: { headers_ms: 300 } });
      const answer = await testProvider(fixture, "main", "m");
      expect(answer.steps[0]?.problem).toContain("headers timeout, 300 ms");
      expect(answer.steps[0]?.advice).toContain("too slow");
    } finally {
      silent.stop();
    }
  });
});

const unknownFacts = {
  ...{ price: null, price_guessed: false },
  context_window: null,
  max_output_tokens: null,
  deprecated: false,
  retires_at: null,
};
describe("models of an account", () => {
  test("include our models that use them, and suggest a name and a type", async () => {
    await using fixture = await openModelsFixture();
    await fixture.makeProvider("main");
    await fixture.makeModel("house/talk", { deployments: [{ provider: "main", upstream_model: "demo" }] });
    const { body } = await listed(fixture);
    expect(body.data).toEqual([
      {
        id: "demo",
        owned_by: "sluice-simulator",
        created_at: 1_700_000_000_000,
        served_as: ["house/talk"],
        suggested: { name: "demo", type: "chat" },
        ...unknownFacts,
      },
      expect.objectContaining({ id: "demo-mini", served_as: [] }),
    ]);
  });

  test("are read page by page, each once, up to 5,000", async () => {
    await using fixture = await openModelsFixture();
    const requests: string[] = [];
    using _ = await vendor(fixture, (request) => {
      const query = new URL(request.url).search;
      requests.push(query);
      const from = Number(new URLSearchParams(query).get("after_id") ?? 0);
      const data = Array.from({ length: 900 }, (_, index) => ({ id: `${from + index}` }));
      return Response.json({ data, has_more: true, last_id: `${from + 900}` });
    });
    const { body } = await listed(fixture);
    expect(body.data).toHaveLength(5_000);
    expect(new Set(body.data.map((model: { id: string }) => model.id)).size).toBe(5_000);
    expect(requests).toEqual([
      "",
      "?after_id=900",
      "?after_id=1800",
      "?after_id=2700",
      "?after_id=3600",
      "?after_id=4500",
    ]);
  });

  test("stop at an upstream that repeats the same page", async () => {
    await using fixture = await openModelsFixture();
    let count = 0;
    using _ = await vendor(fixture, () => {
      count++;
      return Response.json({ models: [{ name: "models/one" }], nextPageToken: "again" });
    });
    expect((await listed(fixture)).body.data).toHaveLength(1);
    expect(count).toBe(2);
  });

  test("are refused with a reason if the provider has no list", async () => {
    await using fixture = await openModelsFixture();
    await fixture.makeProvider("kling", { kind: "kling", base_url: null });
    expect(await listed(fixture, "kling")).toMatchObject({ status: 409, code: "conflict" });
    await fixture.makeProvider("gone", { base_url: "http://127.0.0.1:9/v1" });
    const gone = await listed(fixture, "gone");
    expect([gone.status, gone.code]).toEqual([502, "upstream_error"]);
    expect(gone.body.error.message).toContain("does not respond");
    expect((await listed(fixture, "unknown")).code).toBe("not_found");
  });
});

describe("model import", () => {
  const importModels = (fixture: ModelsFixture, models: readonly object[], provider = "main") =>
    fixture.call("administrator", "providers.import", { params: { provider }, body: { models } });
  const requested = (name: string, upstream_model = name, type = "chat") => ({ name, upstream_model, type });

  test("creates models, adds the provider to existing ones, and reports what it skipped", async () => {
    await using fixture = await openModelsFixture();
    await fixture.makeProvider("main");
    await fixture.makeProvider("spare");
    await fixture.controlStore.apply(
      {
        providers: [{ id: "filed", kind: "openai" }],
        models: [{ name: "of-the-file", deployments: [{ provider: "filed" }] }],
      },
      "file",
    );
    await fixture.makeModel("there", { deployments: [{ provider: "spare", weight: 7, priority: 3 }] });
    const answer = await importModels(fixture, [
      requested("new/model", "up/new:1"),
      requested("there", "up-there"),
      requested("there", "up-there"),
      requested("there", "x", "image"),
      requested("of-the-file"),
      requested("embed", "text-embedding-9", "embedding"),
    ]);
    expect(answer.body).toMatchObject({
      created: ["new/model", "embed"],
      extended: ["there"],
      refused: [
        { name: "there", code: "already_there", params: {}, reason: "It already has this deployment." },
        { name: "there", code: "other_type", params: { type: "chat" }, reason: expect.stringContaining("type chat") },
        { name: "of-the-file", code: "managed_by_file", params: {}, reason: expect.stringContaining("config file") },
      ],
    });
    const { models } = await fixture.controlStore.configSnapshot();
    const ways = models.get("there")?.deployments.map((each) => [each.provider.id, each.upstreamModel, each.weight]);
    expect(ways).toEqual([
      ["main", "up-there", 100],
      ["spare", "there", 7],
    ]);
    expect(models.get("new/model")?.deployments[0]?.upstreamModel).toBe("up/new:1");
    expect(models.get("embed")?.type).toBe("embedding");
  });

  test("takes a new model's owner from the provider's list or its type; existing models keep theirs", async () => {
    await using fixture = await openModelsFixture();
    await fixture.makeProvider("main", { kind: "openai-compatible" });
    await fixture.makeProvider("spare");
    await fixture.makeModel("there", { deployments: [{ provider: "spare" }], owned_by: "acme" });
    const owned = { ...requested("owned"), owned_by: "qwen" };
    const other = { ...requested("there", "up-there"), owned_by: "qwen" };
    expect((await importModels(fixture, [owned, requested("unowned"), other])).status).toBe(200);
    const { models } = await fixture.controlStore.configSnapshot();
    const owners = ["owned", "unowned", "there"].map((name) => models.get(name)?.ownedBy);
    expect(owners).toEqual(["qwen", "openai-compatible", "acme"]);
    expect((await importModels(fixture, [{ ...requested("long"), owned_by: "x".repeat(257) }])).status).toBe(400);
  });

  test("sets the price that the price list has, and none on other models", async () => {
    await using fixture = await openModelsFixture();
    await fixture.makeProvider("main", { kind: "openai" });
    await importModels(fixture, [requested("mini", "gpt-6-luna"), requested("other", "gpt-other")]);
    const price = async (model: string) =>
      (await fixture.call("administrator", "models.show", { params: { model } })).body.price;
    expect(await price("mini")).toEqual({
      ...{ input: 0.1, cache_read: 0.01, cache_write_5m: 0.125, cache_write_1h: 0.25, output: 0.5 },
      ...{ web_search: 10, file_search: 2.5, code_session: 30 },
      long_context: {
        ...{ above: 272_000, input: 0.2, cache_read: 0.02, cache_write_5m: 0.25, cache_write_1h: 0.5, output: 0.75 },
      },
    });
    expect(await price("other")).toBeNull();
  });

  test("is refused as a whole for an unknown provider or an invalid name", async () => {
    await using fixture = await openModelsFixture();
    await fixture.makeProvider("main");
    expect((await importModels(fixture, [requested("a")], "nobody")).code).toBe("not_found");
    expect((await importModels(fixture, [requested("a b")])).param).toBe("models.0.name");
    expect((await importModels(fixture, [])).param).toBe("models");
  });
});
