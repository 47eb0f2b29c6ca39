import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sluice } from "../command-line.ts";
import { bucketKeys, bucketName } from "../conformance/bucket-server.ts";

let bucketServer: Bun.Subprocess<"ignore", "pipe", "inherit">;
let endpoint = "";
beforeAll(async () => {
  const program = join(import.meta.dir, "../conformance/bucket-server.ts");
  bucketServer = Bun.spawn([process.execPath, program], { stdout: "pipe", stderr: "inherit" });
  const { value } = await bucketServer.stdout.getReader().read();
  endpoint = `http://127.0.0.1:${new TextDecoder().decode(value).trim()}`;
});
afterAll(() => bucketServer.kill());

let dataDir = "";
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "sluice-doctor-blobs-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const report = async (variables: Readonly<Record<string, string>> = {}, check = "blobs"): Promise<string> => {
  const { stdout } = await sluice(["doctor"], dataDir, variables);
  return stdout.split("\n").find((line) => line.slice(4).trimStart().startsWith(`${check}: `)) ?? stdout;
};
const bucket = () => ({
  SLUICE_S3_BUCKET: bucketName,
  SLUICE_S3_ENDPOINT: endpoint,
  SLUICE_S3_REGION: bucketKeys.region,
  SLUICE_S3_ACCESS_KEY_ID: bucketKeys.accessKeyId,
  SLUICE_S3_SECRET_ACCESS_KEY: bucketKeys.secretAccessKey,
});
const ask = async (path: string) => await (await fetch(`${endpoint}/-/${path}`)).text();

test("checks the blob folder: missing, writable, or no folder; leaves nothing behind", async () => {
  expect(await report()).toStartWith(`ok    blobs: ${dataDir}/blobs will be created`);
  const folder = join(dataDir, "blobs");
  mkdirSync(folder);
  expect(await report()).toBe(`ok    blobs: ${folder}: written, read and removed`);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files).toEqual([]);
  rmSync(folder, { recursive: true });
  writeFileSync(folder, "a file");
  expect(await report()).toStartWith(`fail  blobs: ${folder}: `);
});

test("checks the blob bucket: writable, refused keys, missing bucket, no answer", async () => {
  expect(await report(bucket())).toBe(`ok    blobs: bucket ${bucketName} (${endpoint}): written, read and removed`);
  expect(JSON.parse(await ask("objects"))).toEqual([]);
  const wrong = [
    { SLUICE_S3_SECRET_ACCESS_KEY: "another" },
    { SLUICE_S3_BUCKET: "nobodys" },
    { SLUICE_S3_ENDPOINT: "http://127.0.0.1:1" },
  ];
  for (const variables of wrong) {
    const line = await report({ ...bucket(), ...variables });
    expect(line).toStartWith("fail  blobs: bucket ");
    expect(line).toContain("may get, put, delete and list");
    expect(line).not.toContain(bucketKeys.secretAccessKey);
  }
});

test("checks the bucket of the ledger export: not set, writable with its own keys, refused; deletes nothing", async () => {
  const of = async (variables: Readonly<Record<string, string>> = {}) => await report(variables, "ledger export");
  expect(await of()).toBe("ok    ledger export: disabled (settings.ledger.export is not set)");
  const file = join(dataDir, "sluice.yaml");
  const place = { bucket: bucketName, prefix: "a=b/", region: bucketKeys.region, endpoint };
  writeFileSync(file, JSON.stringify({ settings: { ledger: { export: place } } }));
  expect((await sluice(["apply", file], dataDir)).status).toBe(0);
  expect(await of()).toContain("SLUICE_LEDGER_EXPORT_ACCESS_KEY_ID and its secret are not set");
  const keys = {
    SLUICE_LEDGER_EXPORT_ACCESS_KEY_ID: bucketKeys.accessKeyId,
    SLUICE_LEDGER_EXPORT_SECRET_ACCESS_KEY: bucketKeys.secretAccessKey,
  };
  const where = `ledger export: bucket ${bucketName} (${endpoint})`;
  expect(await of(keys)).toBe(`ok    ${where}: a=b/_doctor.txt was written`);
  expect(JSON.parse(await ask("objects"))).toMatchObject([{ key: "a=b/_doctor.txt" }]);
  const refused = await of({ ...keys, SLUICE_LEDGER_EXPORT_SECRET_ACCESS_KEY: "another" });
  expect(refused).toStartWith(`fail  ${where}: the bucket answered 403 SignatureDoesNotMatch → `);
  expect(refused).not.toContain("another");
});
