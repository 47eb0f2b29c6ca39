import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

const malloryKey = "sk-mallory-0123456789abcdefghij";
let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [upstream("shared", simulator, { kind: "openai" })],
    models: [{ name: "gpt-test", deployments: [{ provider: "shared", upstream_model: "upstream-gpt" }] }],
    moreWorkspaces: [{ slug: "rival", groups: [{ name: "default" }], keys: [{ name: "mallory", secret: malloryKey }] }],
  });
});
afterAll(() => gateway.stop());

const request = { model: "gpt-test", input: "Remember the number 42" };
const bearer = { authorization: `Bearer ${malloryKey}` };
const upstreamCalls = (): number => gateway.simulator.simulator.truth.list().data.length;

async function createResponse(): Promise<string> {
  const { id } = (await (await gateway.post("/v1/responses", request, { script: { tokens: 2 } })).json()) as {
    id: string;
  };
  return id;
}

async function errorOf(response: Response) {
  const { error } = (await response.json()) as { error: { message: string; code: string; param: string } };
  return { status: response.status, code: error.code, param: error.param, message: error.message };
}

test.each([
  ["GET", ""],
  ["GET", "?stream=true"],
  ["GET", "/input_items"],
  ["POST", "/cancel"],
  ["DELETE", ""],
])(
  "%s of another workspace's response%s returns the same 404 as for a missing one, without calling an upstream",
  async (method, rest) => {
    const id = await createResponse();
    const before = upstreamCalls();
    const theirs = await errorOf(await fetch(`${gateway.url}/v1/responses/${id}${rest}`, { method, headers: bearer }));
    const missing = await errorOf(
      await fetch(`${gateway.url}/v1/responses/resp_missing${rest}`, { method, headers: bearer }),
    );
    expect({ ...theirs, message: theirs.message.replace(id, "resp_missing") }).toEqual(missing);
    expect([theirs.status, theirs.code, upstreamCalls()]).toEqual([404, "not_found", before]);
    expect((await gateway.get(`/v1/responses/${id}`)).status).toBe(200);
  },
);

test.each(["/v1/responses", "/v1/responses/compact"])(
  "%s cannot continue from another workspace's response at a shared account",
  async (path) => {
    const id = await createResponse();
    const before = upstreamCalls();
    const errorAfter = async (previous: string) =>
      errorOf(await gateway.post(path, { ...request, previous_response_id: previous }, { key: malloryKey }));
    const theirs = await errorAfter(id);
    expect({ ...theirs, message: theirs.message.replace(id, "resp_missing") }).toEqual(
      await errorAfter("resp_missing"),
    );
    expect(theirs).toMatchObject({ status: 400, code: "invalid_request", param: "previous_response_id" });
    expect(upstreamCalls()).toBe(before);
    const own = await gateway.post(
      path,
      { ...request, previous_response_id: id },
      { key: aliceKey, script: { tokens: 1 } },
    );
    expect(own.status).toBe(200);
  },
);

test.each<[string, number]>([
  ["resp_1%0d%0ax-evil:1", 400],
  ["..", 404],
  ["resp_1%2F..%2F..%2Fmodels", 400],
  ["%00", 400],
  ["resp_ä", 404],
  ["r".repeat(300), 404],
  ["%zz", 400],
])("an id with unusual characters (%s) reaches no upstream", async (id, status) => {
  const before = upstreamCalls();
  expect((await gateway.get(`/v1/responses/${id}`)).status).toBe(status);
  expect(upstreamCalls()).toBe(before);
});
