import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { Assets, createAssetStore } from "#assets/index.ts";
import { ProviderClient } from "#provider-client/index.ts";
import { createDiskBlobStore } from "#storage/index.ts";
import { createIds, systemChance, systemClock } from "#system/index.ts";
import { silentObserver } from "../../conformance/store-fixture.ts";
import { transportOf } from "../../sending-transport.ts";
import { errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { noWorkload } from "../../workload-fixture.ts";

const bytes = new TextEncoder().encode("the bytes of a picture");
let gateway: StartedGateway;
let url: string;

beforeAll(async () => {
  gateway = await startGateway();
  const { control } = gateway;
  const blobs = createDiskBlobStore({ directory: join(gateway.dataDir, "blobs"), clock: systemClock });
  const { hash } = await blobs.put(new Blob([bytes]).stream(), 1_024, new AbortController().signal);
  const transport = transportOf(() => Promise.reject(new Error("no call is expected")));
  // Signs links as another process of the same gateway, which knows the public address, would.
  const otherProcess = new Assets({
    store: createAssetStore({ database: control.database }),
    blobs,
    transport,
    providerClient: new ProviderClient(transport, systemClock, noWorkload),
    configSnapshot: () => {
      throw new Error("no config snapshot is needed");
    },
    clock: systemClock,
    ids: createIds(systemClock),
    chance: systemChance,
    observer: silentObserver,
    signer: { sign: (text) => control.vault.derive("blob link", text), signatures: () => [] },
    publicUrl: () => gateway.url,
  });
  const asset = { blobHash: hash, contentType: "image/png" };
  url = otherProcess.blobUrl(asset as never, 60_000) ?? "";
});
afterAll(() => gateway.stop());

test("serves a signed link without a key, whole or in ranges, and never as a page of the gateway", async () => {
  const whole = await fetch(url);
  expect([whole.status, await whole.text()]).toEqual([200, "the bytes of a picture"]);
  expect(Object.fromEntries(whole.headers)).toMatchObject({
    "content-type": "image/png",
    "accept-ranges": "bytes",
    "content-disposition": "attachment",
    "x-content-type-options": "nosniff",
    "content-security-policy": expect.stringContaining("sandbox"),
    "x-request-id": expect.stringMatching(/^req_/),
  } as never);
  const part = await fetch(url, { headers: { range: "bytes=4-8" } });
  expect([part.status, part.headers.get("content-range"), await part.text()]).toEqual([206, "bytes 4-8/22", "bytes"]);
  const beyond = await fetch(url, { headers: { range: "bytes=22-" } });
  expect([beyond.status, beyond.headers.get("content-range")]).toEqual([416, "bytes */22"]);
  const head = await fetch(url, { method: "HEAD" });
  expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, "22", ""]);
});

test("returns the same 404 for every link that was changed or leads nowhere", async () => {
  const { hash, query } = { hash: "0".repeat(64), query: new URL(url).search };
  const errors: unknown[] = [];
  for (const wrong of [
    url.replace(/signature=[^&]+/, "signature=wrong"),
    url.replace(/expires=\d+/, "expires=99999999999"),
    url.replace("image%2Fpng", "text%2Fhtml"),
    `${gateway.url}/v1/blobs/${hash}${query}`,
    url.replace(/\?.*/, ""),
  ]) {
    expect(wrong).not.toBe(url);
    errors.push(await errorOf(await fetch(wrong)));
  }
  for (const error of errors) expect(error).toEqual(errors[0]);
  expect(errors[0]).toMatchObject({ status: 404, code: "not_found" });
});
