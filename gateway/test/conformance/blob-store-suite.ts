import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { Failure } from "#core/index.ts";
import type { BlobStore } from "#ports/index.ts";

/** An empty blob store. */
export interface BlobFixture extends AsyncDisposable {
  readonly blobStore: BlobStore;
  /** Hashes of the stored blobs, and the names of all other files or objects. */
  names(): Promise<{ readonly blobs: readonly string[]; readonly others: readonly string[] }>;
}

export type BlobFixtureFactory = () => Promise<BlobFixture>;

/** Guarantees of every implementation of the port `BlobStore`. */
export function blobStoreSuite(name: string, make: BlobFixtureFactory): void {
  describe(`blob store: ${name}`, () => {
    putTests(make);
    announceTests(make);
    readTests(make);
    failureTests(make);
    memoryTests(make);
  });
}

const megabyte = 1024 * 1024;
/** For tests that never abort. */
const never = new AbortController().signal;

/** Bytes that differ by position, so that a misplaced piece is noticed. */
export function blobBytes(size: number, seed = 0): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at++) bytes[at] = (at * 31 + (at >> 8) * 7 + (at >> 16) + seed) & 0xff;
  return bytes;
}

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** The bytes as a stream of pieces, each created on demand. */
export function streamOf(bytes: Uint8Array, pieceBytes = 65_536): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (at >= bytes.length) controller.close();
        else controller.enqueue(bytes.slice(at, at + pieceBytes));
        at += pieceBytes;
      },
    },
    { highWaterMark: 0 },
  );
}

export const putBytes = (store: BlobStore, bytes: Uint8Array) => store.put(streamOf(bytes), bytes.length, never);

async function readBytes(store: BlobStore, hash: string, start: number, end: number): Promise<Buffer | null> {
  const stream = await store.read(hash, start, end);
  return stream === null ? null : Buffer.from(await new Response(stream).arrayBuffer());
}

function putTests(make: BlobFixtureFactory): void {
  test("stores bytes of any size under their SHA-256 and returns them unchanged", async () => {
    await using fixture = await make();
    const size = fc.oneof(fc.nat(300), fc.nat(300_000), fc.constantFrom(0, 1, 131_072, megabyte, 2 * megabyte + 1));
    await fc.assert(
      fc.asyncProperty(
        size,
        fc.integer({ min: 40_000, max: 3 * megabyte }),
        fc.nat(255),
        async (length, piece, seed) => {
          const bytes = blobBytes(length, seed);
          const info = { hash: sha256(bytes), size: length };
          expect(await fixture.blobStore.put(streamOf(bytes, piece), length, never)).toEqual(info);
          expect(await fixture.blobStore.stat(info.hash)).toEqual(info);
          expect((await readBytes(fixture.blobStore, info.hash, 0, length))?.equals(bytes)).toBe(true);
          expect(Buffer.from((await fixture.blobStore.head(info.hash, 16)) ?? "")).toEqual(
            Buffer.from(bytes.slice(0, 16)),
          );
        },
      ),
      { numRuns: 20 },
    );
    expect((await fixture.names()).others).toEqual([]);
  });

  test("stores equal bytes once, also when they arrive concurrently", async () => {
    await using fixture = await make();
    const bytes = blobBytes(300_000);
    const infos = await Promise.all(Array.from({ length: 5 }, () => putBytes(fixture.blobStore, bytes)));
    expect(new Set(infos.map((info) => info.hash))).toEqual(new Set([sha256(bytes)]));
    expect(await fixture.names()).toEqual({ blobs: [sha256(bytes)], others: [] });
    expect((await readBytes(fixture.blobStore, sha256(bytes), 0, bytes.length))?.equals(bytes)).toBe(true);
  });

  test("deletes a blob, and ignores a second deletion", async () => {
    await using fixture = await make();
    const { hash } = await putBytes(fixture.blobStore, blobBytes(10));
    const other = await putBytes(fixture.blobStore, blobBytes(11));
    await fixture.blobStore.remove(hash);
    await fixture.blobStore.remove(hash);
    expect(await fixture.blobStore.stat(hash)).toBeNull();
    expect(await fixture.names()).toEqual({ blobs: [other.hash], others: [] });
  });
}

function announceTests(make: BlobFixtureFactory): void {
  test("announces the hash before a blob can be read, and stores nothing if that fails", async () => {
    await using fixture = await make();
    const { blobStore } = fixture;
    const bytes = blobBytes(200_000);
    const info = { hash: sha256(bytes), size: bytes.length };
    const announced: unknown[] = [];
    await blobStore.put(streamOf(bytes), bytes.length, never, async (named) => {
      announced.push(named, await blobStore.stat(named.hash));
    });
    expect(announced).toEqual([info, null]);
    expect(await blobStore.stat(info.hash)).toEqual(info);
    const refused = blobStore.put(streamOf(blobBytes(10, 7)), 10, never, () => Promise.reject(new Error("no row")));
    await expect(refused).rejects.toThrow("no row");
    expect(await fixture.names()).toEqual({ blobs: [info.hash], others: [] });
  });
}

function readTests(make: BlobFixtureFactory): void {
  test("reads any range, up to the end of the blob", async () => {
    await using fixture = await make();
    const bytes = blobBytes(2_500_000);
    const { hash } = await putBytes(fixture.blobStore, bytes);
    const place = fc.nat(2_600_000);
    const ends = fc.oneof(place, fc.constant(Number.MAX_SAFE_INTEGER));
    await fc.assert(
      fc.asyncProperty(place, ends, async (start, end) => {
        const read = await readBytes(fixture.blobStore, hash, start, end);
        expect(read?.equals(bytes.subarray(start, Math.max(start, Math.min(end, bytes.length))))).toBe(true);
      }),
      { numRuns: 30 },
    );
    expect((await fixture.blobStore.head(hash, 5))?.length).toBe(5);
    expect((await fixture.blobStore.head(hash, 0))?.length).toBe(0);
  });

  test("returns null for a missing blob and for an invalid hash", async () => {
    await using fixture = await make();
    const { hash } = await putBytes(fixture.blobStore, blobBytes(10));
    const invalid = ["", "x", "../../etc/passwd", `${hash}/..`, hash.toUpperCase(), hash.slice(1), `${hash}\n`];
    for (const name of [sha256(blobBytes(11)), ...invalid]) {
      expect(await fixture.blobStore.stat(name)).toBeNull();
      expect(await fixture.blobStore.read(name, 0, 9)).toBeNull();
      expect(await fixture.blobStore.head(name, 9)).toBeNull();
      await fixture.blobStore.remove(name);
    }
    expect((await fixture.names()).blobs).toEqual([hash]);
  });

  test("releases the file when a reader cancels, at any point", async () => {
    await using fixture = await make();
    const { hash } = await putBytes(fixture.blobStore, blobBytes(3_000_000));
    const before = openFiles();
    for (let turn = 0; turn < 5; turn++) {
      const stream = await fixture.blobStore.read(hash, 0, 3_000_000);
      const reader = stream?.getReader();
      if (turn > 0) expect((await reader?.read())?.done).toBe(false);
      await reader?.cancel();
    }
    expect(openFiles()).toBeLessThanOrEqual(before);
  });
}

function openFiles(): number {
  return [...new Bun.Glob("*").scanSync({ cwd: "/proc/self/fd", onlyFiles: false })].length;
}

function failureTests(make: BlobFixtureFactory): void {
  test("rejects a blob that is one byte too large, stops reading and keeps nothing", async () => {
    await using fixture = await make();
    expect(await fixture.blobStore.put(streamOf(blobBytes(100_000)), 100_000, never)).toMatchObject({ size: 100_000 });
    await expect(fixture.blobStore.put(streamOf(blobBytes(100_001)), 100_000, never)).rejects.toMatchObject({
      code: "request_too_large",
    });
    let pulled = 0;
    let cancelled = false;
    const endless = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulled += 65_536;
          controller.enqueue(new Uint8Array(65_536));
        },
        cancel() {
          cancelled = true;
        },
      },
      { highWaterMark: 0 },
    );
    await expect(fixture.blobStore.put(endless, 3 * megabyte, never)).rejects.toMatchObject({ status: 413 });
    expect(pulled).toBeLessThanOrEqual(3 * megabyte + 131_072);
    expect(cancelled).toBe(true);
    expect(await fixture.names()).toMatchObject({ blobs: [sha256(blobBytes(100_000))], others: [] });
  });

  test("passes the error of a failing source and keeps nothing", async () => {
    await using fixture = await make();
    const failure = new Failure("upstream_truncated", "cut");
    let sent = 0;
    const cut = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (++sent > 30) controller.error(failure);
        else controller.enqueue(blobBytes(65_536));
      },
    });
    await expect(fixture.blobStore.put(cut, 9 * megabyte, never)).rejects.toBe(failure);
    expect(await fixture.names()).toEqual({ blobs: [], others: [] });
  });

  test("stops at once when the caller aborts, even while the source stalls", async () => {
    await using fixture = await make();
    for (const abortFirst of [true, false]) {
      const stop = new AbortController();
      let cancelled = false;
      let stalledNow: () => void = () => undefined;
      const stallReached = new Promise<void>((resolve) => {
        stalledNow = resolve;
      });
      let sent = 0;
      const stalled = new ReadableStream<Uint8Array>(
        {
          pull(controller) {
            if (++sent <= 20) return controller.enqueue(blobBytes(131_072));
            stalledNow();
            return new Promise(() => undefined);
          },
          cancel() {
            cancelled = true;
          },
        },
        { highWaterMark: 0 },
      );
      if (abortFirst) stop.abort();
      const result = fixture.blobStore.put(stalled, 9 * megabyte, stop.signal).catch((thrown: unknown) => thrown);
      if (!abortFirst) await stallReached;
      stop.abort();
      expect(await result).toMatchObject({ code: "client_closed" });
      expect(cancelled).toBe(true);
    }
    expect(await fixture.names()).toEqual({ blobs: [], others: [] });
  });
}

function memoryTests(make: BlobFixtureFactory): void {
  test("streams fifty megabytes in and out with at most two megabytes in memory", async () => {
    await using fixture = await make();
    const size = 50 * megabyte;
    const piece = blobBytes(65_536);
    let hash = "";
    const written = await leastMemory(160, async (measure) => {
      let sent = 0;
      const source = new ReadableStream<Uint8Array>(
        {
          pull(controller) {
            if (sent >= size) return controller.close();
            sent += piece.length;
            measure();
            controller.enqueue(piece.slice());
          },
        },
        { highWaterMark: 0 },
      );
      hash = (await fixture.blobStore.put(source, size, never)).hash;
    });
    expect(written).toBeLessThan(2 * megabyte);
    const read = await leastMemory(40, async (measure) => {
      let bytes = 0;
      for await (const part of (await fixture.blobStore.read(hash, 0, size)) ?? []) {
        bytes += part.length;
        measure();
      }
      expect(bytes).toBe(size);
    });
    expect(read).toBeLessThan(2 * megabyte);
  });

  test("stops reading when its reader pauses", async () => {
    await using fixture = await make();
    const { hash } = await putBytes(fixture.blobStore, blobBytes(20 * megabyte));
    const memory = new MemoryGrowth(100);
    const reader = (await fixture.blobStore.read(hash, 0, 20 * megabyte))?.getReader();
    await reader?.read();
    for (let turn = 0; turn < 500; turn++) {
      await new Promise(setImmediate);
      memory.measure();
    }
    expect(memory.peak).toBeLessThan(2 * megabyte);
    await reader?.cancel();
  });
}

/**
 * The lowest peak of three passes. On a busy machine the system may delay the process while its socket fills, which is
 * not the store's fault; memory that the store holds would show in every pass.
 */
async function leastMemory(every: number, pass: (measure: () => void) => Promise<void>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let time = 0; time < 3 && least >= 2 * megabyte; time++) {
    const memory = new MemoryGrowth(every);
    await pass(() => memory.measure());
    memory.measure();
    least = Math.min(least, memory.peak);
  }
  return least;
}

/** The growth of buffers since this was created, without garbage. */
class MemoryGrowth {
  readonly #before: number;
  readonly #every: number;
  peak = 0;
  #calls = 0;

  /** Measures at every n-th call, because each measurement collects all garbage first. */
  constructor(every: number) {
    this.#every = every;
    Bun.gc(true);
    this.#before = process.memoryUsage().arrayBuffers;
  }

  measure(): void {
    if (this.#calls++ % this.#every !== 0) return;
    Bun.gc(true);
    this.peak = Math.max(this.peak, process.memoryUsage().arrayBuffers - this.#before);
  }
}
