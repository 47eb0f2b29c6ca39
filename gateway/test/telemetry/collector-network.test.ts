import { afterAll, beforeAll, expect, test } from "bun:test";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { readEnvironment } from "#config/index.ts";
import { networkOf } from "#main/control.ts";
import { systemClock } from "#system/index.ts";
import { probeCollector } from "#telemetry/index.ts";
import { createTransport } from "#upstream/index.ts";
import { type EgressFixture, openEgressFixture } from "../egress-fixture.ts";

const fixtures = new URL("../fixtures/tls/", import.meta.url).pathname;
const certificateFile = `${fixtures}upstream.example.cert.pem`;
const keyFile = `${fixtures}upstream.example.key.pem`;

let collector: Server;
let proxy: EgressFixture;
beforeAll(async () => {
  const own = await Bun.file(certificateFile).text();
  // Accepts any client with a certificate of the same CA.
  collector = createServer({
    cert: own,
    key: await Bun.file(keyFile).text(),
    requestCert: true,
    rejectUnauthorized: false,
    ca: own,
  });
  collector.on("request", (request, response) => {
    const { authorized } = request.socket as typeof request.socket & { readonly authorized: boolean };
    request.resume().on("end", () => response.writeHead(authorized || request.url === "/open" ? 200 : 403).end());
  });
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
  proxy = await openEgressFixture();
});
afterAll(async () => {
  collector.close();
  await proxy.close();
});

/** The result of an export with these variables. The collector's name resolves only here. */
async function probed(variables: Readonly<Record<string, string>>): Promise<string | null> {
  const environment = readEnvironment(variables);
  const resolve = async () => ["127.0.0.1"];
  const transport = createTransport({ clock: systemClock, resolve, ...networkOf(environment) });
  const traces = environment.otlp?.traces;
  if (traces == null) throw new Error("nothing is exported");
  return await probeCollector(traces, "traces", { transport, clock: systemClock });
}

const at = (path: string) => ({
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `https://upstream.example:${(collector.address() as AddressInfo).port}${path}`,
});

test("trusts a collector's certificate by OTEL_EXPORTER_OTLP_CERTIFICATE and the usual authorities", async () => {
  expect(await probed({ ...at("/open"), OTEL_EXPORTER_OTLP_TIMEOUT: "1" })).not.toBeNull();
  expect(await probed({ ...at("/open"), OTEL_EXPORTER_OTLP_CERTIFICATE: certificateFile })).toBeNull();
  expect(await probed({ ...at("/open"), SLUICE_CA: await Bun.file(certificateFile).text() })).toBeNull();
});

test("sends the client certificate of OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE to a collector that requests one", async () => {
  const believed = { ...at("/"), OTEL_EXPORTER_OTLP_CERTIFICATE: certificateFile };
  expect(await probed(believed)).toBe("it answered 403");
  const shown = { OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: certificateFile, OTEL_EXPORTER_OTLP_CLIENT_KEY: keyFile };
  expect(await probed({ ...believed, ...shown })).toBeNull();
  const unreadable = { ...believed, ...shown, OTEL_EXPORTER_OTLP_CLIENT_KEY: `${keyFile}.none` };
  expect(probed(unreadable)).rejects.toThrow("ENOENT");
});

test("telemetry uses the egress proxy as calls do, except for NO_PROXY", async () => {
  const inside = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://upstream.example/v1/traces" };
  const by = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
  expect(await probed({ ...inside, ...by, OTEL_EXPORTER_OTLP_CERTIFICATE: certificateFile })).toBeNull();
  expect(proxy.seen.map(({ line }) => line)).toEqual(["CONNECT upstream.example:443 HTTP/1.1"]);
  const straight = { ...at("/open"), ...by, NO_PROXY: "upstream.example" };
  expect(await probed({ ...straight, OTEL_EXPORTER_OTLP_CERTIFICATE: certificateFile })).toBeNull();
  expect(proxy.seen).toHaveLength(1);
});
