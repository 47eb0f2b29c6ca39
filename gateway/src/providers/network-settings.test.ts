import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:https";
import { defaultTimeouts, type Provider } from "#core/index.ts";
import { systemClock } from "#system/index.ts";
import { createTransport } from "#upstream/index.ts";
import { outbound } from "../../test/outbound.ts";
import { settingsProblem } from "./kind-form.ts";
import { providerKind } from "./kinds.ts";
import { networkOf } from "./network-settings.ts";
import { shownSettings } from "./setting-secrets.ts";

const fixtures = new URL("../../test/fixtures/tls/", import.meta.url).pathname;
const certificate = await Bun.file(`${fixtures}upstream.example.cert.pem`).text();
const key = await Bun.file(`${fixtures}upstream.example.key.pem`).text();
const otherKey = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" });

const account = (settings: Record<string, unknown>): Provider => ({
  id: "own",
  kind: "openai-compatible",
  baseUrl: "https://upstream.example/v1",
  secret: null,
  allowPrivateNetwork: true,
  timeouts: defaultTimeouts,
  disconnect: "cancel",
  settings,
  enabled: true,
});
const kind = providerKind("openai-compatible");
if (kind === null) throw new Error("no such kind");

test("uses the default connections without network settings", () => {
  expect(networkOf(account({}))).toBeUndefined();
  expect(networkOf(account({ proxy: "none" }))).toMatchObject({ proxy: null });
});

test.each([
  [{ proxy: "socks5://x" }, "settings.proxy must begin with http://"],
  [{ ca: "hello" }, "settings.ca must be PEM"],
  [{ client_certificate: certificate }, "settings.client_key is missing: a certificate requires its key"],
  [{ client_key: key }, "settings.client_certificate is missing: a certificate requires its key"],
  [{ client_certificate: certificate, client_key: "x" }, "settings.client_key must be a private key in PEM"],
  [
    { client_certificate: certificate, client_key: otherKey },
    "settings.client_key is not the key of settings.client_certificate",
  ],
])("rejects invalid network settings: %#", (settings, message) => {
  expect(settingsProblem(kind, account(settings))).toStartWith(message);
});

test("redacts the client key and the proxy, which may contain a password", () => {
  const settings = { proxy: "http://me:hunter2hunter2@p", client_key: key, ca: certificate };
  expect(shownSettings("openai-compatible", settings)).toEqual({
    proxy: "[redacted]",
    client_key: "[redacted]",
    ca: certificate,
  });
});

test("reaches an upstream with a private CA and mutual TLS only with the account's settings", async () => {
  const server = createServer(
    { cert: certificate, key, requestCert: true, rejectUnauthorized: true, ca: [certificate] },
    (_request, response) => response.end("welcome"),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = `https://upstream.example:${typeof address === "object" && address !== null ? address.port : 0}/`;
  const own = { ca: certificate, client_certificate: certificate, client_key: key };
  const transport = createTransport({ clock: systemClock, resolve: async () => ["127.0.0.1"] });
  const say = async (settings: Record<string, unknown>) => {
    const network = networkOf(account(settings));
    const { body } = await transport.send(outbound(url, { network }), new AbortController().signal);
    return new TextDecoder().decode(await body.readAll(100, "idle", 5_000));
  };
  expect(await say(own)).toBe("welcome");
  expect(say({})).rejects.toMatchObject({ accountFault: "certificate" });
  expect(say({ ca: certificate })).rejects.toMatchObject({ code: "upstream_unreachable" });
  server.closeAllConnections();
  server.close();
});
