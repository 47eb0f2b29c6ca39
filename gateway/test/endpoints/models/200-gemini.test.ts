import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

const bobKey = "sk-bob-0123456789abcdefghijk";
const names = ["a", "b/b", "c", "d", "models/odd"];
let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [upstream("main", simulator), upstream("google", simulator, { kind: "gemini" })],
    models: [
      ...names.map((name) => ({ name, deployments: [{ provider: "main" }] })),
      { name: "picture", type: "image", max_output_tokens: 77, deployments: [{ provider: "google" }] },
    ],
    keys: [
      { name: "alice", secret: aliceKey },
      { name: "bob", secret: bobKey, models: ["c"] },
    ],
  });
});
afterAll(() => gateway.stop());

interface Page {
  readonly models: readonly { readonly name: string; readonly supportedGenerationMethods: readonly string[] }[];
  readonly nextPageToken?: string;
}
const page = async (path: string, key = aliceKey): Promise<Page> =>
  (await (await gateway.get(path, { "x-goog-api-key": key })).json()) as Page;

test.each(["/v1beta/models", "/v1/models"])(
  "pages at %s through the models that the key may use, each once",
  async (path) => {
    const listed: string[] = [];
    let token = "";
    for (let pages = 1; pages <= 3; pages++) {
      const { models, nextPageToken } = await page(`${path}?pageSize=2&pageToken=${token}`);
      listed.push(...models.map(({ name }) => name));
      expect([pages, nextPageToken === undefined]).toEqual([pages, pages === 3]);
      token = nextPageToken ?? "";
    }
    expect(listed).toEqual([...names, "picture"].map((name) => `models/${name}`));
    expect((await page(path, bobKey)).models.map(({ name }) => name)).toEqual(["models/c"]);
  },
);

test("returns the methods that a model supports, and leaves out unknown fields", async () => {
  for (const path of ["/v1beta/models/b/b", "/v1beta/models/b%2Fb"]) {
    expect<unknown>(await page(path)).toEqual({
      name: "models/b/b",
      displayName: "b/b",
      supportedGenerationMethods: ["generateContent", "countTokens"],
    });
  }
  expect<unknown>(await page("/v1beta/models/picture")).toMatchObject({
    outputTokenLimit: 77,
    supportedGenerationMethods: [],
  });
});

test("always returns Google's shape below /v1beta", async () => {
  const response = await gateway.get("/v1beta/models/a", { "x-api-key": aliceKey, "anthropic-version": "2023-06-01" });
  expect(await response.json()).toMatchObject({ name: "models/a" });
});

test("finds a name that starts with `models/` with and without the prefix, unless the key may not use it", async () => {
  expect((await gateway.get("/v1beta/models/d", { "x-goog-api-key": bobKey })).status).toBe(404);
  const refused = await gateway.get("/v1beta/models/odd", { "x-goog-api-key": bobKey });
  expect(await refused.text()).not.toContain("models/odd");
  for (const path of ["odd", "models/odd"]) {
    expect<unknown>(await page(`/v1beta/models/${path}`)).toMatchObject({ name: "models/models/odd" });
  }
});
