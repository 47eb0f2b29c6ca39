import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, type StartedGateway, startGateway } from "../../started-gateway.ts";

const bobKey = "sk-bob-0123456789abcdefghijk";
let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    models: [
      { name: "zeta", deployments: [{ provider: "main" }], owned_by: "vendor" },
      { name: "alpha/with/slashes", deployments: [{ provider: "main" }] },
      { name: "picture", type: "image", deployments: [{ provider: "main" }] },
      { name: "disabled", deployments: [{ provider: "main", enabled: false }] },
    ],
    keys: [
      { name: "alice", secret: aliceKey },
      { name: "bob", secret: bobKey, models: ["z*"] },
    ],
  });
});
afterAll(() => gateway.stop());

const ids = async (response: Response): Promise<string[]> =>
  ((await response.json()) as { data: { id: string }[] }).data.map((model) => model.id);

test("lists the models that the key may use, sorted, in OpenAI's shape", async () => {
  const response = await gateway.get("/v1/models");
  expect(response.headers.get("x-request-id")).toMatch(/^req_/);
  const body = (await response.json()) as { object: string; data: Record<string, unknown>[] };
  expect(body.object).toBe("list");
  expect(body.data.map((model) => model["id"])).toEqual(["alpha/with/slashes", "picture", "zeta"]);
  expect(body.data[2]).toMatchObject({
    id: "zeta",
    object: "model",
    owned_by: "vendor",
    type: "chat",
    endpoints: [
      "/v1/chat/completions",
      "/v1/messages",
      "/v1/responses",
      "/v1/responses/compact",
      "/v1beta/models/{model}:generateContent",
      "/v1beta/interactions",
      "/v1/completions",
    ],
    available: true,
  });
  expect(body.data[2]?.["created"]).toBeGreaterThan(1_500_000_000);
});

test("filters by `?type=`, and lists other models for another key", async () => {
  expect(await ids(await gateway.get("/v1/models?type=image"))).toEqual(["picture"]);
  expect(await ids(await gateway.get("/v1/models", { "x-api-key": bobKey }))).toEqual(["zeta"]);
});

test("returns an empty list of Codex models to Codex, and otherwise the usual list", async () => {
  const { models, ...list } = (await (await gateway.get("/v1/models?client_version=0.169.0")).json()) as {
    models: unknown;
  };
  expect(models).toEqual([]);
  expect(list).toEqual((await (await gateway.get("/v1/models")).json()) as typeof list);
});

test("finds a model whose name contains slashes", async () => {
  for (const path of ["alpha/with/slashes", "alpha%2Fwith%2Fslashes"]) {
    expect(await (await gateway.get(`/v1/models/${path}`)).json()).toMatchObject({ id: "alpha/with/slashes" });
  }
});

test("answers in Anthropic's shape when the request has an anthropic-version header", async () => {
  const headers = { "x-api-key": aliceKey, "anthropic-version": "2023-06-01" };
  expect(await (await gateway.get("/v1/models", headers)).json()).toMatchObject({
    has_more: false,
    first_id: "alpha/with/slashes",
    last_id: "zeta",
    data: [{ type: "model", display_name: "alpha/with/slashes" }, {}, {}],
  });
  expect(await (await gateway.get("/v1/models/zeta", headers)).json()).toMatchObject({ type: "model", id: "zeta" });
});
