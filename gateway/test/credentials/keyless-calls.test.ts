import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { readEnvironment } from "#config/index.ts";
import { systemClock } from "#system/index.ts";
import { errorOf, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";
import { FakeAws } from "./fake-aws.ts";

const aws = new FakeAws(systemClock);
const metadata = Bun.serve({
  idleTimeout: 0,
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request) => aws.metadata(request),
});
const password = "correct horse battery staple";
let gateway: StartedGateway;
let session = "";

beforeAll(async () => {
  const { workload } = readEnvironment({
    SLUICE_CLOUD_IDENTITY: "aws",
    // Nothing listens at this port.
    AWS_CONTAINER_CREDENTIALS_FULL_URI: "http://127.0.0.1:1/credentials",
    AWS_EC2_METADATA_SERVICE_ENDPOINT: `http://127.0.0.1:${metadata.port}`,
  });
  gateway = await startGateway({
    environment: { workload },
    providers: (simulator) => {
      const base = { kind: "bedrock", base_url: new URL(simulator.url).origin, api_key: undefined };
      const settings = { region: "eu-west-1" };
      return [
        upstream("keyless", simulator, { ...base, settings: { ...settings, auth: "instance_role" } }),
        upstream("anew", simulator, { ...base, settings: { ...settings, auth: "instance_role", betas: ["x"] } }),
        upstream("cut", simulator, { ...base, settings: { ...settings, auth: "container" } }),
        upstream("pods", simulator, { ...base, settings: { ...settings, auth: "web_identity" } }),
        upstream("other", simulator),
      ].map(({ api_key, ...provider }) => (api_key === undefined ? provider : { ...provider, api_key }));
    },
    models: [
      { name: "nova", deployments: [{ provider: "keyless", upstream_model: "us.amazon.nova-pro-v1:0" }] },
      { name: "nova-pods", deployments: [{ provider: "pods", upstream_model: "us.amazon.nova-pro-v1:0" }] },
      { name: "cut-off-alone", deployments: [{ provider: "cut", upstream_model: "us.amazon.nova-pro-v1:0" }] },
      {
        name: "cut-off",
        deployments: [
          { provider: "cut", upstream_model: "us.amazon.nova-pro-v1:0", priority: 1 },
          { provider: "other", upstream_model: "gpt", priority: 2 },
        ],
      },
      {
        name: "safe",
        deployments: [
          { provider: "anew", upstream_model: "us.amazon.nova-pro-v1:0", priority: 1 },
          { provider: "other", upstream_model: "gpt", priority: 2 },
        ],
      },
    ],
  });
  await admin("/api/setup", { token: "test-setup-token-0123456789", email: "ada@example.org", password });
  const entered = await admin("/api/auth/sign-in/email", { email: "ada@example.org", password });
  session = entered.headers
    .getSetCookie()
    .map((line) => line.split(";", 1)[0] ?? "")
    .join("; ");
});
afterAll(async () => {
  await gateway.stop();
  await metadata.stop(true);
});
beforeEach(() => {
  aws.refuses = {};
});

const admin = (path: string, body: object): Promise<Response> =>
  gateway.post(path, body, { key: null, headers: { origin: gateway.url, cookie: session } });
const messages = [{ role: "user", content: "Hello" }];
const lastUpstream = () => gateway.simulator.simulator.truth.list().data.at(-1);

test("a call is signed with the keys of the instance's role, which are fetched once", async () => {
  for (let call = 0; call < 2; call++) {
    const content = 'Hello [[sim {"aws_secret":"secret+/1"}]]';
    const answer = await gateway.chat({ model: "nova", messages: [{ role: "user", content }] });
    expect([answer.status, lastUpstream()?.signature_verified]).toEqual([200, true]);
    await answer.arrayBuffer();
  }
});

test("a call goes to the next deployment while the metadata service refuses", async () => {
  aws.refuses = { imds: "refused" };
  const answer = await gateway.chat({ model: "safe", messages });
  expect([answer.status, answer.headers.get("x-sluice-provider") ?? lastUpstream()?.dialect]).toEqual([200, "other"]);
});

test("a call goes to the next deployment while the metadata service is down, and its failure has no address", async () => {
  const answer = await gateway.chat({ model: "cut-off", messages });
  expect([answer.status, lastUpstream()?.dialect]).toEqual([200, "openai-chat"]);
  await answer.arrayBuffer();
  const { message } = await errorOf(await gateway.chat({ model: "cut-off-alone", messages }));
  expect(message).toContain("the container credentials service did not answer");
  expect(message).not.toContain("127.0.0.1");
});

test("a call without another deployment fails in the caller's dialect, without a path", async () => {
  const failed = await gateway.chat({ model: "nova-pods", messages });
  const { status, code, message } = await errorOf(failed);
  expect([status, code]).toEqual([502, "upstream_error"]);
  expect(message).toContain("AWS_ROLE_ARN");
  const claude = await gateway.post(
    "/v1/messages",
    { model: "nova-pods", max_tokens: 10, messages },
    { headers: { "anthropic-version": "2023-06-01" } },
  );
  expect([claude.status, await claude.json()]).toMatchObject([502, { type: "error", error: { type: "api_error" } }]);
});

test("the test of a provider names what is missing", async () => {
  const tested = await admin("/api/providers/pods/test", { upstream_model: "us.amazon.nova-pro-v1:0" });
  const { ok, steps } = (await tested.json()) as { ok: boolean; steps: readonly Record<string, unknown>[] };
  expect(ok).toBe(false);
  expect(steps.at(-1)).toMatchObject({
    problem: expect.stringContaining("AWS_ROLE_ARN"),
    fault: { code: "identity", params: { reason: expect.stringContaining("AWS_ROLE_ARN") } },
    remedy: { code: "check_identity", params: {} },
  });
});
