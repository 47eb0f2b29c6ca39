import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { until } from "../until.ts";
import { chatBody } from "./chat-call.ts";
import { type Gateway, startGateway } from "./start-gateway.ts";
import { type SimulatorProcess, startSimulator } from "./start-simulator.ts";
import { keys, testConfig } from "./test-config.ts";

/** Two self-signed certificates, used only in tests. */
const fixtures = join(import.meta.dir, "..", "..", "gateway", "test", "fixtures", "tls");
const certificateOf = (name: string) => join(fixtures, `${name}.cert.pem`);
const keyOf = (name: string) => join(fixtures, `${name}.key.pem`);

describe("over TLS", () => {
  let folder: string;
  let simulator: SimulatorProcess;
  let gateway: Gateway;
  let files: { certificate: string; key: string };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "sluice-tls-"));
    files = { certificate: join(folder, "tls.crt"), key: join(folder, "tls.key") };
    copyFileSync(certificateOf("gateway.example"), files.certificate);
    copyFileSync(keyOf("gateway.example"), files.key);
    simulator = await startSimulator();
    gateway = await startGateway({
      config: testConfig(simulator.url),
      env: { SLUICE_TLS_CERT_FILE: files.certificate, SLUICE_TLS_KEY_FILE: files.key },
    });
  });

  afterAll(async () => {
    await gateway?.remove();
    await simulator?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Replaces a file with a rename, as orchestrators do. */
  function replace(path: string, text: string): void {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  }

  interface Handshake {
    readonly name: string;
    readonly version: string | null;
  }

  /** The certificate and protocol of a new connection. */
  function handshake(maxVersion: "TLSv1.3" | "TLSv1.1" = "TLSv1.3"): Promise<Handshake> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port: gateway.port, host: "127.0.0.1", rejectUnauthorized: false, maxVersion }, () => {
        resolve({ name: String(socket.getPeerCertificate().subject.CN), version: socket.getProtocol() });
        socket.destroy();
      });
      socket.once("error", reject);
    });
  }

  /** Waits for a renewal. While it happens, new connections may get either certificate. */
  async function waitForRenewal(times: number): Promise<void> {
    await until(() => gateway.output().split("TLS certificate renewed").length > times);
  }

  /** The expiry of the current certificate from the metrics, in Unix milliseconds. */
  async function reportedExpiry(): Promise<number> {
    const text = await (await fetch(`${gateway.url}/metrics`, { tls: { rejectUnauthorized: false } })).text();
    return Number(/^sluice_tls_certificate_expires_timestamp_seconds (\S+)$/m.exec(text)?.[1]) * 1_000;
  }

  function expiryOf(name: string): number {
    return Date.parse(new X509Certificate(readFileSync(certificateOf(name))).validTo);
  }

  function call(options: Parameters<typeof chatBody>[0], ca: string | undefined): Promise<Response> {
    return fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${keys.main}` },
      body: JSON.stringify(chatBody(options)),
      tls: ca === undefined ? { rejectUnauthorized: false } : { ca },
    });
  }

  test("serves calls over TLS with the certificate from the files, and refuses versions before TLS 1.2", async () => {
    expect(await handshake()).toEqual({ name: "gateway.example", version: "TLSv1.3" });
    expect((await call({}, readFileSync(files.certificate, "utf8"))).status).toBe(200);
    expect(await reportedExpiry()).toBe(expiryOf("gateway.example"));
    expect(handshake("TLSv1.1")).rejects.toThrow();
    expect(fetch(gateway.url.replace("https", "http"))).rejects.toThrow();
  });

  test("CLI commands on this machine use TLS", async () => {
    expect(await gateway.cli("health", "/readyz")).toMatchObject({ status: 0 });
    const { stdout } = await gateway.cli("doctor");
    expect(stdout).toMatch(/certificate.*gateway\.example, localhost, 127\.0\.0\.1, until 21/);
    expect(stdout).toContain("a gateway is running there and ready");
  });

  test("uses a new certificate without a restart, and running streams are completed", async () => {
    const begun = await call({ stream: true, script: { tokens: 60, event_ms: 20 } }, undefined);
    // The files are copied one after the other; in between they do not match.
    replace(files.key, readFileSync(keyOf("upstream.example"), "utf8"));
    await until(() => gateway.output().includes("TLS certificate not renewed"));
    expect((await handshake()).name).toBe("gateway.example");
    replace(files.certificate, readFileSync(certificateOf("upstream.example"), "utf8"));
    await waitForRenewal(1);
    expect(await begun.text()).toEndWith("data: [DONE]\n\n");
    for (let again = 0; again < 12; again++) expect((await handshake()).name).toBe("upstream.example");
    expect((await call({}, undefined)).status).toBe(200);
    expect(await reportedExpiry()).toBe(expiryOf("upstream.example"));
  });

  test("also reloads the certificate on a signal, and ignores one that cannot be used", async () => {
    replace(files.key, "no key");
    replace(files.certificate, readFileSync(certificateOf("gateway.example"), "utf8"));
    gateway.reload();
    await until(() => gateway.output().includes(`${files.key} contains no valid private key`));
    expect((await handshake()).name).toBe("upstream.example");
    replace(files.key, readFileSync(keyOf("gateway.example"), "utf8"));
    await waitForRenewal(2);
    for (let again = 0; again < 12; again++) expect((await handshake()).name).toBe("gateway.example");
    expect(gateway.output()).not.toContain("PRIVATE KEY");
    expect(await gateway.stop()).toBe(0);
  });
});
