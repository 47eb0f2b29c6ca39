import { afterAll, beforeAll, expect, test } from "bun:test";
import { readEnvironment } from "#config/index.ts";
import { aliceKey, hello, type StartedGateway, startGateway } from "../started-gateway.ts";

let gateway: StartedGateway;
let calls: string;
let console: string;
beforeAll(async () => {
  gateway = await startGateway({ environment: { admin: { host: "127.0.0.1", port: 0, url: null } } });
  calls = gateway.url;
  console = `http://localhost:${gateway.gateway.consolePort}`;
});
afterAll(() => gateway?.stop());

const bearer = { authorization: `Bearer ${aliceKey}` };
const get = (url: string, headers = {}) => fetch(url, { headers, redirect: "manual" });

test.each(["/console/", "/console", "/api/status", "/api/session", "/metrics", "/docs", "/openapi.json", "/"])(
  "with SLUICE_ADMIN_PORT, %s is served only on the admin port",
  async (path) => {
    expect(gateway.gateway.consolePort).not.toBe(gateway.gateway.server.port);
    expect((await get(`${calls}${path}`)).status).toBe(404);
    const { status } = await get(`${console}${path}`);
    // Without a built console the answer is 503.
    expect(status < 400 || (status === 503 && path.startsWith("/console")), `${status}`).toBe(true);
  },
);

test("refuses admin writes on the port for calls", async () => {
  const headers = { "content-type": "application/json" };
  for (const path of ["/api/setup", "/api/auth/sign-in/email", "/api/workspaces", "/v1/organizations/spend_limits"]) {
    expect((await fetch(`${calls}${path}`, { method: "POST", headers, body: "{}" })).status).toBe(404);
    expect((await fetch(`${console}${path}`, { method: "POST", headers, body: "{}" })).status).not.toBe(404);
  }
});

test("serves calls only on the port for calls", async () => {
  for (const path of ["/v1/models", "/v1/usage", "/v1/video/tasks"]) {
    expect((await get(`${calls}${path}`, bearer)).status).toBe(200);
    expect((await get(`${console}${path}`, bearer)).status).toBe(404);
  }
  expect((await gateway.chat(hello)).status).toBe(200);
  const onAdminPort = await fetch(`${console}/v1/chat/completions`, {
    method: "POST",
    headers: { ...bearer, "content-type": "application/json" },
    body: JSON.stringify(hello),
  });
  expect(onAdminPort.status).toBe(404);
  expect((await fetch(`${calls}/`, { method: "HEAD" })).status).toBe(200);
});

test("starts agent sign-in on the port for calls and confirms it in the console", async () => {
  const metadata = (await (await get(`${calls}/.well-known/oauth-authorization-server`)).json()) as { issuer: string };
  expect(metadata.issuer).toBe(calls.replace("127.0.0.1", "localhost"));
  const started = await fetch(`${calls}/oauth/device_authorization`, { method: "POST" });
  const device = (await started.json()) as { verification_uri: string };
  expect(device.verification_uri).toBe(`${console}/console/device`);
  for (const path of ["/.well-known/oauth-authorization-server", "/managed/settings", "/user/bootstrap", "/protocol"]) {
    expect([path, (await get(`${console}${path}`)).status]).toEqual([path, 404]);
  }
  for (const path of ["/oauth/device_authorization", "/oauth/token", "/oauth/revoke"]) {
    expect([path, (await fetch(`${console}${path}`, { method: "POST" })).status]).toEqual([path, 404]);
  }
});

test("serves health checks on both ports", async () => {
  for (const base of [calls, console]) {
    for (const path of ["/healthz", "/readyz"]) expect((await get(`${base}${path}`)).status).toBe(200);
  }
});

test("the console shows the address for calls and signs in at its own address", async () => {
  const session = (await (await get(`${console}/api/session`)).json()) as { public_url: string };
  expect(session.public_url).toBe(calls.replace("127.0.0.1", "localhost"));
  const description = (await (await get(`${console}/openapi.json`)).json()) as { servers: { url: string }[] };
  expect(description.servers[0]?.url).toBe(session.public_url);
  const setup = await fetch(`${console}/api/setup`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      token: "test-setup-token-0123456789",
      email: "ada@example.org",
      password: "correct horse battery",
    }),
  });
  expect(setup.status).toBe(201);
  const signedIn = await fetch(`${console}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: console },
    body: JSON.stringify({ email: "ada@example.org", password: "correct horse battery" }),
  });
  expect(signedIn.status).toBe(200);
});

test("reads port, host and URL from the environment, and refuses invalid ones", () => {
  const read = (more: Record<string, string>) => readEnvironment({ SLUICE_HOST: "10.0.0.1", ...more }).admin;
  expect(read({})).toBeNull();
  expect(read({ SLUICE_ADMIN_PORT: "9000" })).toEqual({ host: "10.0.0.1", port: 9000, url: null });
  const complete = {
    SLUICE_ADMIN_PORT: "9000",
    SLUICE_ADMIN_HOST: "127.0.0.1",
    SLUICE_ADMIN_URL: "https://console.example.com/",
  };
  expect(read(complete)).toEqual({ host: "127.0.0.1", port: 9000, url: "https://console.example.com" });
  expect(() => read({ SLUICE_ADMIN_PORT: "8787" })).toThrow("SLUICE_ADMIN_PORT must differ from SLUICE_PORT");
  expect(() => read({ SLUICE_ADMIN_HOST: "127.0.0.1" })).toThrow("SLUICE_ADMIN_HOST has no effect without");
  expect(() => read({ SLUICE_ADMIN_URL: "https://a.example" })).toThrow("SLUICE_ADMIN_URL has no effect without");
});
