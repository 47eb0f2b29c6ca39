import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCertificate, startCertificate } from "./certificate.ts";

const fixtures = join(import.meta.dir, "..", "..", "test", "fixtures", "tls");
const certificate = join(fixtures, "gateway.example.cert.pem");
const key = join(fixtures, "gateway.example.key.pem");
let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-certificate-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test("reads a pair with its names and expiry; a chain may follow the certificate", async () => {
  const chain = fileOf("chain.crt", `${readFileSync(certificate, "utf8")}\n${readFileSync(certificate, "utf8")}`);
  const read = await readCertificate({ certificate: chain, key });
  expect(read.names).toEqual(["gateway.example", "localhost", "127.0.0.1"]);
  expect(new Date(read.endsAt).getUTCFullYear()).toBeGreaterThan(2100);
});

test("names the file of an unusable pair without showing its content", async () => {
  const secret = "hush-hush";
  const wrong = join(folder, "other.key");
  copyFileSync(join(fixtures, "upstream.example.key.pem"), wrong);
  const cases: readonly (readonly [{ certificate: string; key: string }, string])[] = [
    [{ certificate: "/nowhere/tls.crt", key }, "/nowhere/tls.crt cannot be read (ENOENT)."],
    [{ certificate: folder, key }, `${folder} cannot be read (EISDIR).`],
    [{ certificate, key: wrong }, `The key in ${wrong} does not match the certificate in ${certificate}.`],
    [{ certificate: key, key }, `${key} contains no certificate`],
    [{ certificate, key: fileOf("k1", secret) }, `${join(folder, "k1")} contains no valid private key`],
    [{ certificate: fileOf("c1", ""), key }, `${join(folder, "c1")} contains no certificate`],
    [
      {
        certificate: fileOf("c2", `-----BEGIN CERTIFICATE-----\n${btoa(secret)}\n-----END CERTIFICATE-----\n`),
        key,
      },
      `${join(folder, "c2")} contains an invalid certificate.`,
    ],
    [{ certificate: fileOf("c3", "x".repeat(300 * 1024)), key }, `${join(folder, "c3")} is larger than 256 KiB.`],
  ];
  for (const [files, message] of cases) {
    const thrown = await startCertificate(files).then(
      () => null,
      (error: unknown) => error,
    );
    expect(thrown).toHaveProperty("name", "CannotStart");
    expect((thrown as Error).message).toStartWith(message);
    expect((thrown as Error).message).not.toContain(secret);
  }
});
