import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { bucketPieceBytes } from "#storage/blobs/bucket-blob-store.ts";
import { bucketTriesMax } from "#storage/blobs/bucket-requests.ts";
import { blobLeftoverMs } from "#storage/blobs/disk-blob-store.ts";
import {
  type BucketBlobStoreOptions,
  createBucketBlobStore,
  createBucketObjects,
  createDiskBlobStore,
  createSpool,
} from "#storage/index.ts";
import { createIds, systemClock } from "#system/index.ts";
import { createTransport } from "#upstream/index.ts";
import { until } from "../../../test/until.ts";
import { FakeClock } from "../fake-clock.ts";
import { type BlobFixture, blobBytes, blobStoreSuite, putBytes, sha256, streamOf } from "./blob-store-suite.ts";
import { bucketKeys, bucketName } from "./bucket-server.ts";

const ids = createIds(systemClock);
let bucketServer: Bun.Subprocess<"ignore", "pipe", "inherit">;
let endpoint = "";

beforeAll(async () => {
  bucketServer = Bun.spawn([process.execPath, join(import.meta.dir, "bucket-server.ts")], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const { value } = await bucketServer.stdout.getReader().read();
  endpoint = `http://127.0.0.1:${new TextDecoder().decode(value).trim()}`;
});

afterAll(() => bucketServer.kill());

const directories: string[] = [];
afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "sluice-blobs-"));
  directories.push(directory);
  return directory;
}

async function diskFixture(): Promise<BlobFixture> {
  const directory = newDirectory();
  return {
    blobStore: createDiskBlobStore({ directory, clock: systemClock }),
    async names() {
      const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
      const blobs = files.filter((file) => basename(file.parentPath) === file.name.slice(0, 2));
      const others = files.filter((file) => !blobs.includes(file));
      return { blobs: blobs.map((file) => file.name), others: others.map((file) => file.name) };
    },
    async [Symbol.asyncDispose]() {
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

interface BucketFixture extends BlobFixture {
  readonly prefix: string;
}

let bucketFixtures = 0;

async function bucketFixture(changes: Partial<BucketBlobStoreOptions> = {}): Promise<BucketFixture> {
  const directory = newDirectory();
  // A bucket signs the encoded form of these characters, in whatever form they were sent.
  const prefix = `tests/nr ${bucketFixtures++}+ä=(100%)*!'/`;
  const clock: Clock = changes.clock ?? systemClock;
  const blobStore = createBucketBlobStore({
    ...bucketKeys,
    endpoint,
    bucket: bucketName,
    prefix,
    allowPrivateNetwork: true,
    transport: createTransport({ clock, resolve: async () => ["127.0.0.1"] }),
    spool: createSpool({ directory, nextName: () => ids.next("spool_") }),
    clock,
    ...changes,
  });
  return {
    blobStore,
    prefix,
    async names() {
      const all = (await (await fetch(`${endpoint}/-/objects`)).json()) as { key: string }[];
      const keys = all.map(({ key }) => key).filter((key) => key.startsWith(prefix));
      const form = /^([0-9a-f]{2})\/(\1[0-9a-f]{62})$/;
      const found = keys.map((key) => form.exec(key.slice(prefix.length))?.[2] ?? key);
      return {
        blobs: found.filter((name) => !name.startsWith(prefix)),
        others: [
          ...found.filter((name) => name.startsWith(prefix)),
          ...readdirSync(directory),
          ...(await openFilesBelow(directory)),
        ],
      };
    },
    async [Symbol.asyncDispose]() {
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/**
 * Spooled bodies have no names, but their files stay open while they are in use. Closing takes the runtime a moment.
 */
async function openFilesBelow(directory: string): Promise<string[]> {
  const open = () =>
    readdirSync("/proc/self/fd").filter((file) => {
      try {
        return readlinkSync(`/proc/self/fd/${file}`).startsWith(directory);
      } catch {
        return false;
      }
    });
  await until(() => open().length === 0);
  return open();
}

blobStoreSuite("disk", diskFixture);
blobStoreSuite("bucket", () => bucketFixture());

describe("blobs on disk", () => {
  test("are readable only by their owner", async () => {
    const directory = join(newDirectory(), "blobs");
    const store = createDiskBlobStore({ directory, clock: systemClock });
    const { hash } = await putBytes(store, blobBytes(10));
    for (const path of [directory, join(directory, hash.slice(0, 2)), join(directory, hash.slice(0, 2), hash)]) {
      expect(statSync(path).mode & 0o077).toBe(0);
    }
    rmSync(directory, { recursive: true });
  });

  test("removes unfinished files of an earlier run at start, but not those that another process is writing", () => {
    const directory = newDirectory();
    const arriving = join(directory, "arriving");
    mkdirSync(arriving);
    for (const name of ["old", "fresh"]) writeFileSync(join(arriving, name), "x");
    const clock = new FakeClock();
    const timeBefore = (ms: number): Date => new Date(clock.now() - ms);
    utimesSync(join(arriving, "old"), timeBefore(0), timeBefore(blobLeftoverMs + 1_000));
    utimesSync(join(arriving, "fresh"), timeBefore(0), timeBefore(blobLeftoverMs - 1_000));
    createDiskBlobStore({ directory, clock });
    expect(readdirSync(arriving)).toEqual(["fresh"]);
    rmSync(directory, { recursive: true });
  });

  test("reports a failing disk as the gateway's error", async () => {
    const directory = newDirectory();
    const store = createDiskBlobStore({ directory, clock: systemClock });
    rmSync(directory, { recursive: true });
    await expect(putBytes(store, blobBytes(10))).rejects.toMatchObject({ code: "internal_error" });
  });

  test("does not create a folder again that is removed during an upload", async () => {
    const directory = newDirectory();
    const store = createDiskBlobStore({ directory, clock: systemClock });
    const bytes = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          rmSync(directory, { recursive: true });
          controller.enqueue(blobBytes(10));
          controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    await expect(store.put(bytes, 100, new AbortController().signal)).rejects.toMatchObject({ code: "internal_error" });
    expect(existsSync(directory)).toBe(false);
  });
});

describe("blobs in a bucket", () => {
  const requests = async () => (await (await fetch(`${endpoint}/-/requests`)).json()) as string[];

  test("are sent once, and the bucket checks them against their hash", async () => {
    await using fixture = await bucketFixture();
    await requests();
    const bytes = blobBytes(3_000_000);
    await putBytes(fixture.blobStore, bytes);
    await putBytes(fixture.blobStore, bytes);
    const puts = (await requests()).filter((line) => line.startsWith("PUT"));
    expect(puts).toHaveLength(1);
    expect(decodeURIComponent(puts[0] ?? "")).toContain(
      `/${bucketName}/${fixture.prefix}${sha256(bytes).slice(0, 2)}/`,
    );
  });

  test("are read piece by piece as the reader consumes them", async () => {
    await using fixture = await bucketFixture();
    const bytes = blobBytes(5 * bucketPieceBytes);
    const { hash } = await putBytes(fixture.blobStore, bytes);
    await requests();
    const reader = (await fixture.blobStore.read(hash, 0, bytes.length))?.getReader();
    const ranges = async () => (await requests()).map((line) => line.split(" ").at(-1));
    expect(await ranges()).toEqual(["bytes=0-1048575"]);
    await reader?.read();
    expect(await ranges()).toEqual([]);
    await reader?.read();
    expect(await ranges()).toEqual(["bytes=1048576-2097151"]);
    await reader?.cancel();
    expect(await ranges()).toEqual([]);
  });

  test("are addressed by the bucket's host name when configured", async () => {
    const port = new URL(endpoint).port;
    await using fixture = await bucketFixture({ endpoint: `http://s3.test:${port}`, inHost: true });
    await requests();
    const { hash } = await putBytes(fixture.blobStore, blobBytes(10));
    expect((await requests()).every((line) => !line.includes(`/${bucketName}/`))).toBe(true);
    expect(await fixture.blobStore.stat(hash)).toEqual({ hash, size: 10 });
  });

  test("retries a busy bucket, then returns a retryable error without secrets", async () => {
    await using fixture = await bucketFixture();
    await fetch(`${endpoint}/-/fail/503/2`);
    const { hash } = await putBytes(fixture.blobStore, blobBytes(10));
    expect(await fixture.blobStore.stat(hash)).toEqual({ hash, size: 10 });
    await fetch(`${endpoint}/-/fail/503/${bucketTriesMax}`);
    const refused = await fixture.blobStore.stat(hash).catch((thrown: unknown) => thrown);
    expect(refused).toMatchObject({
      code: "storage_unavailable",
      retryAfterMs: bounds.storageRetryAfterMs,
      cause: { message: "the bucket answered 503 SlowDown" },
    });
    expect(Bun.inspect(refused)).not.toContain(bucketKeys.secretAccessKey);
  });

  test.each<[string, Partial<BucketBlobStoreOptions>, string]>([
    ["a wrong secret", { secretAccessKey: "wrong" }, "SignatureDoesNotMatch"],
    ["an unknown key", { accessKeyId: "unknown" }, "InvalidAccessKeyId"],
    ["another region", { region: "us-east-1" }, "AuthorizationHeaderMalformed"],
    ["a bucket that does not exist", { bucket: "elsewhere" }, "NoSuchBucket"],
  ])("reports %s as an error at once instead of as an empty store", async (_what, changes, code) => {
    await using fixture = await bucketFixture(changes);
    await requests();
    const failure = { code: "internal_error", cause: { message: expect.stringContaining(code) } };
    await expect(fixture.blobStore.stat(sha256(blobBytes(1)))).rejects.toMatchObject(failure);
    expect(await requests()).toHaveLength(1);
    await expect(putBytes(fixture.blobStore, blobBytes(10))).rejects.toMatchObject(failure);
    expect((await fixture.names()).others).toEqual([]);
  });

  test("retries a bucket that does not answer", async () => {
    const clock = new FakeClock(Date.now());
    await using fixture = await bucketFixture({ clock });
    await requests();
    await fetch(`${endpoint}/-/stall/GET`);
    const answer = fixture.blobStore.stat(sha256(blobBytes(1)));
    while ((await requests()).length === 0) await new Promise(setImmediate);
    clock.advance(bounds.bucketSilenceMs);
    while (clock.pending === 0) await new Promise(setImmediate);
    clock.advance(bounds.backoffMsMax);
    expect(await answer).toBeNull();
  });

  test("aborts an upload during any of its requests", async () => {
    await using fixture = await bucketFixture();
    const bytes = blobBytes(3_000_000);
    for (const method of ["GET", "PUT"]) {
      const stop = new AbortController();
      await requests();
      await fetch(`${endpoint}/-/stall/${method}`);
      const result = fixture.blobStore
        .put(streamOf(bytes), bytes.length, stop.signal)
        .catch((thrown: unknown) => thrown);
      while (!(await requests()).some((line) => line.startsWith(method))) await new Promise(setImmediate);
      stop.abort();
      expect(await result).toMatchObject({ code: "client_closed" });
    }
    expect(await fixture.names()).toEqual({ blobs: [], others: [] });
    expect(await putBytes(fixture.blobStore, bytes)).toMatchObject({ size: bytes.length });
  });
});

test("stores an object under the given name, replaces it, and rejects bytes that do not match the hash", async () => {
  const store = createBucketObjects({
    ...bucketKeys,
    ...{ endpoint, bucket: bucketName, prefix: "ledger/", allowPrivateNetwork: true },
    transport: createTransport({ clock: systemClock, resolve: async () => ["127.0.0.1"] }),
    clock: systemClock,
  });
  const stored = async () => {
    const all = (await (await fetch(`${endpoint}/-/objects`)).json()) as { key: string; size: number }[];
    return all.filter(({ key }) => key.startsWith("ledger/"));
  };
  const never = new AbortController().signal;
  const name = "date=2026-11-23/hour=07/part-00000.jsonl.gz";
  for (const size of [10, 300_000]) {
    const bytes = blobBytes(size);
    await store.put(name, bytes, sha256(bytes), never);
    expect(await stored()).toEqual([{ key: `ledger/${name}`, size }]);
  }
  expect(store.put(name, blobBytes(5), sha256(blobBytes(6)), never)).rejects.toThrow();
});
