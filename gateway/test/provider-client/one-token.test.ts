import { afterAll, beforeAll, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import type { Script } from "@sluice/simulator";
import { settledTask } from "../endpoints/video-tasks/video-gateway.ts";
import { MovedClock } from "../moved-clock.ts";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const keyPem = privateKey.export({ type: "pkcs8", format: "pem" });
const password = "correct horse battery staple";

const clock = new MovedClock();
let gateway: StartedGateway;
let session = "";
beforeAll(async () => {
  gateway = await startGateway({
    clock,
    providers: (simulator) => {
      const origin = new URL(simulator.url).origin;
      const account = { client_email: "robot@proj.example", private_key: keyPem, token_uri: `${origin}/token` };
      const settings = { project: "proj", location: "us-central1", storage_uri: "gs://bucket/videos" };
      const cloud = { kind: "vertex", base_url: origin, api_key: JSON.stringify(account), settings };
      return [upstream("cloud", simulator, cloud)];
    },
    models: [
      { name: "talk", deployments: [{ provider: "cloud", upstream_model: "gemini-2.5-pro" }], price: { output: 1 } },
      {
        name: "clip",
        type: "video",
        deployments: [{ provider: "cloud", upstream_model: "veo-3.1-generate-preview" }],
        price: { video: 0.4 },
      },
    ],
    workspace: {
      pass_through: ["cloud"],
      groups: [{ name: "default", pass_through: ["cloud"] }],
      keys: [{ name: "alice", secret: aliceKey, pass_through: ["cloud"] }],
    },
  });
  await console("/api/setup", { token: "test-setup-token-0123456789", email: "ada@example.org", password });
  const entered = await console("/api/auth/sign-in/email", { email: "ada@example.org", password });
  session = entered.headers
    .getSetCookie()
    .map((line) => line.split(";", 1)[0] ?? "")
    .join("; ");
});
afterAll(() => gateway.stop());

const console = (path: string, body: object): Promise<Response> =>
  gateway.post(path, body, { key: null, headers: { origin: gateway.url, cookie: session } });
const truth = () => gateway.simulator.simulator.truth.list().data;
const tokensHad = () => truth().filter(({ dialect }) => dialect === "oauth-token").length;

async function passed(script: Script = {}): Promise<Response> {
  const path = "/v1/providers/cloud/publishers/google/models/gemini-2.5-pro:generateContent";
  const answer = await gateway.post(path, { contents: [{ role: "user", parts: [{ text: "Say hello" }] }] }, { script });
  await answer.arrayBuffer();
  return answer;
}

const waysToTheAccount: Readonly<Record<string, () => Promise<void>>> = {
  "a chat": async () => {
    const answer = await gateway.chat({ model: "talk", messages: [{ role: "user", content: "Say hello" }] });
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
  },
  "a video, from its submission to its result": async () => {
    const made = await gateway.post("/v1/video/tasks", { model: "clip", prompt: "a boat", duration: 8 });
    expect(made.status).toBe(200);
    const { id } = (await made.json()) as { readonly id: string };
    expect(await settledTask(gateway, id)).toMatchObject({ status: "succeeded" });
  },
  "a passed-through call": async () => {
    expect((await passed()).status).toBe(200);
  },
  "an administrator's provider test": async () => {
    const answer = await console("/api/providers/cloud/test", { upstream_model: "gemini-2.5-pro" });
    expect(await answer.json()).toMatchObject({ ok: true });
  },
  "a call after the config snapshot was reloaded": async () => {
    const before = gateway.gateway.configSnapshot.current;
    const cloud = before.providers.get("cloud");
    await console("/api/models", { name: "more", type: "chat", deployments: [] });
    await gateway.gateway.configSnapshot.refresh();
    expect(gateway.gateway.configSnapshot.current.providers.get("cloud")).not.toBe(cloud);
    await waysToTheAccount["a chat"]?.();
  },
};

test("all parts of the gateway share one token of an account", async () => {
  const had: Record<string, number> = {};
  for (const [name, go] of Object.entries(waysToTheAccount)) {
    await go();
    had[name] = tokensHad();
  }
  expect(had).toEqual(Object.fromEntries(Object.keys(waysToTheAccount).map((name) => [name, 1])));
});

test("replaces a token that the upstream rejects, but not repeatedly", async () => {
  const refuse = async () => expect((await passed({ status: 401 })).status).toBe(502);
  const had = tokensHad();
  await refuse();
  await passed();
  // The token is brand new, so another one would not help.
  expect(tokensHad()).toBe(had);
  clock.move(11_000);
  await refuse();
  await passed();
  expect(tokensHad()).toBe(had + 1);
  await refuse();
  await passed();
  expect(tokensHad()).toBe(had + 1);
});
