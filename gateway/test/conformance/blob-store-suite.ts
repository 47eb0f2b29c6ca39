import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { Failure } from "#core/index.ts";
import type { BlobStore } from "#ports/index.ts";

/** An empty blob store. */
export interface BlobGround extends AsyncDisposable {
  readonly blobStore: BlobStore;
  /** Hashes of what is kept, and the names of everything else that lies about. */
  names(): Promise<{ readonly blobs: readonly string[]; readonly others: readonly string[] }>;
}

export type BlobGroundFactory = () => Promise<BlobGround>;

/** What every implementation of the port `BlobStore` guarantees. */
export function blobStoreSuite(name: string, make: BlobGroundFactory): void {
  describe(`blob store: ${name}`, () => {
    keepTests(make);
    readTests(make);
    refuseTests(make);
    memoryTests(make);
  });
}

const megabyte = 1024 * 1024;
/** For what collects garbage many times over, on a machine that is busy. */
const never = new AbortController().signal;

/** Bytes that tell their own place, so that a piece at a wrong one shows. */
export function blobBytes(size: number, seed = 0): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at++) bytes[at] = (at * 31 + (at >> 8) * 7 + (at >> 16) + seed) & 0xff;
  return bytes;
}

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** The bytes in pieces, each made when it is asked for. */
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

function keepTests(make: BlobGroundFactory): void {
  test("bytes are kept under their SHA-256, and come back as they were, whatever their size and pieces", async () => {
    await using ground = await make();
    const size = fc.oneof(fc.nat(300), fc.nat(300_000), fc.constantFrom(0, 1, 131_072, megabyte, 2 * megabyte + 1));
    await fc.assert(
      fc.asyncProperty(
        size,
        fc.integer({ min: 40_000, max: 3 * megabyte }),
        fc.nat(255),
        async (length, piece, seed) => {
          const bytes = blobBytes(length, seed);
          const info = { hash: sha256(bytes), size: length };
          expect(await ground.blobStore.put(streamOf(bytes, piece), length, never)).toEqual(info);
          expect(await ground.blobStore.stat(info.hash)).toEqual(info);
          expect((await readBytes(ground.blobStore, info.hash, 0, length))?.equals(bytes)).toBe(true);
          expect(Buffer.from((await ground.blobStore.head(info.hash, 16)) ?? "")).toEqual(
            Buffer.from(bytes.slice(0, 16)),
          );
        },
      ),
      { numRuns: 20 },
    );
    expect((await ground.names()).others).toEqual([]);
  });

  test("the same bytes are kept once, also when they come at the same time", async () => {
    await using ground = await make();
    const bytes = blobBytes(300_000);
    const infos = await Promise.all(Array.from({ length: 5 }, () => putBytes(ground.blobStore, bytes)));
    expect(new Set(infos.map((info) => info.hash))).toEqual(new Set([sha256(bytes)]));
    expect(await ground.names()).toEqual({ blobs: [sha256(bytes)], others: [] });
    expect((await readBytes(ground.blobStore, sha256(bytes), 0, bytes.length))?.equals(bytes)).toBe(true);
  });

  test("what was removed is not there, and removing it again does nothing", async () => {
    await using ground = await make();
    const { hash } = await putBytes(ground.blobStore, blobBytes(10));
    const other = await putBytes(ground.blobStore, blobBytes(11));
    await ground.blobStore.remove(hash);
    await ground.blobStore.remove(hash);
    expect(await ground.blobStore.stat(hash)).toBeNull();
    expect(await ground.names()).toEqual({ blobs: [other.hash], others: [] });
  });
}

function readTests(make: BlobGroundFactory): void {
  test("any range is read, cut at the end of what there is", async () => {
    await using ground = await make();
    const bytes = blobBytes(2_500_000);
    const { hash } = await putBytes(ground.blobStore, bytes);
    const place = fc.nat(2_600_000);
    const ends = fc.oneof(place, fc.constant(Number.MAX_SAFE_INTEGER));
    await fc.assert(
      fc.asyncProperty(place, ends, async (start, end) => {
        const read = await readBytes(ground.blobStore, hash, start, end);
        expect(read?.equals(bytes.subarray(start, Math.max(start, Math.min(end, bytes.length))))).toBe(true);
      }),
      { numRuns: 30 },
    );
    expect((await ground.blobStore.head(hash, 5))?.length).toBe(5);
    expect((await ground.blobStore.head(hash, 0))?.length).toBe(0);
  });

  test("what is not there is null, and so is what is no hash at all", async () => {
    await using ground = await make();
    const { hash } = await putBytes(ground.blobStore, blobBytes(10));
    const strange = ["", "x", "../../etc/passwd", `${hash}/..`, hash.toUpperCase(), hash.slice(1), `${hash}\n`];
    for (const name of [sha256(blobBytes(11)), ...strange]) {
      expect(await ground.blobStore.stat(name)).toBeNull();
      expect(await ground.blobStore.read(name, 0, 9)).toBeNull();
      expect(await ground.blobStore.head(name, 9)).toBeNull();
      await ground.blobStore.remove(name);
    }
    expect((await ground.names()).blobs).toEqual([hash]);
  });

  test("a reader may go away in the middle, or before the first byte", async () => {
    await using ground = await make();
    const { hash } = await putBytes(ground.blobStore, blobBytes(3_000_000));
    const before = openFiles();
    for (let turn = 0; turn < 5; turn++) {
      const stream = await ground.blobStore.read(hash, 0, 3_000_000);
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

function refuseTests(make: BlobGroundFactory): void {
  test("one byte too many is refused, the rest is not read, and nothing is left", async () => {
    await using ground = await make();
    expect(await ground.blobStore.put(streamOf(blobBytes(100_000)), 100_000, never)).toMatchObject({ size: 100_000 });
    await expect(ground.blobStore.put(streamOf(blobBytes(100_001)), 100_000, never)).rejects.toMatchObject({
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
    await expect(ground.blobStore.put(endless, 3 * megabyte, never)).rejects.toMatchObject({ status: 413 });
    expect(pulled).toBeLessThanOrEqual(3 * megabyte + 131_072);
    expect(cancelled).toBe(true);
    expect(await ground.names()).toMatchObject({ blobs: [sha256(blobBytes(100_000))], others: [] });
  });

  test("a sender that fails says so itself, and nothing is left", async () => {
    await using ground = await make();
    const failure = new Failure("upstream_truncated", "cut");
    let sent = 0;
    const cut = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (++sent > 30) controller.error(failure);
        else controller.enqueue(blobBytes(65_536));
      },
    });
    await expect(ground.blobStore.put(cut, 9 * megabyte, never)).rejects.toBe(failure);
    expect(await ground.names()).toEqual({ blobs: [], others: [] });
  });

  test("bytes that nobody waits for any more are let go of at once, also while the sender is silent", async () => {
    await using ground = await make();
    for (const before of [true, false]) {
      const stop = new AbortController();
      let cancelled = false;
      let asked: () => void = () => undefined;
      const silent = new Promise<void>((resolve) => {
        asked = resolve;
      });
      let sent = 0;
      const stalled = new ReadableStream<Uint8Array>(
        {
          pull(controller) {
            if (++sent <= 20) return controller.enqueue(blobBytes(131_072));
            asked();
            return new Promise(() => undefined);
          },
          cancel() {
            cancelled = true;
          },
        },
        { highWaterMark: 0 },
      );
      if (before) stop.abort();
      const ended = ground.blobStore.put(stalled, 9 * megabyte, stop.signal).catch((thrown: unknown) => thrown);
      if (!before) await silent;
      stop.abort();
      expect(await ended).toMatchObject({ code: "client_closed" });
      expect(cancelled).toBe(true);
    }
    expect(await ground.names()).toEqual({ blobs: [], others: [] });
  });
}

function memoryTests(make: BlobGroundFactory): void {
  test("fifty megabytes pass in and out with at most two megabytes held", async () => {
    await using ground = await make();
    const size = 50 * megabyte;
    const piece = blobBytes(65_536);
    let hash = "";
    const written = await leastHeld(160, async (look) => {
      let sent = 0;
      const source = new ReadableStream<Uint8Array>(
        {
          pull(controller) {
            if (sent >= size) return controller.close();
            sent += piece.length;
            look();
            controller.enqueue(piece.slice());
          },
        },
        { highWaterMark: 0 },
      );
      hash = (await ground.blobStore.put(source, size, never)).hash;
    });
    expect(written).toBeLessThan(2 * megabyte);
    const read = await leastHeld(40, async (look) => {
      let bytes = 0;
      for await (const part of (await ground.blobStore.read(hash, 0, size)) ?? []) {
        bytes += part.length;
        look();
      }
      expect(bytes).toBe(size);
    });
    expect(read).toBeLessThan(2 * megabyte);
  });

  test("a reader that stops reading stops the reading", async () => {
    await using ground = await make();
    const { hash } = await putBytes(ground.blobStore, blobBytes(20 * megabyte));
    const held = new Held(100);
    const reader = (await ground.blobStore.read(hash, 0, 20 * megabyte))?.getReader();
    await reader?.read();
    for (let turn = 0; turn < 500; turn++) {
      await new Promise(setImmediate);
      held.look();
    }
    expect(held.peak).toBeLessThan(2 * megabyte);
    await reader?.cancel();
  });
}

/**
 * The peak of the best of three passes: on a busy machine the system may let a program wait while its socket fills, which
 * says nothing of the program. What a store keeps, it keeps each time.
 */
async function leastHeld(every: number, pass: (look: () => void) => Promise<void>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let time = 0; time < 3 && least >= 2 * megabyte; time++) {
    const held = new Held(every);
    await pass(() => held.look());
    held.look();
    least = Math.min(least, held.peak);
  }
  return least;
}

/** What buffers hold above what they held when it was made; what is garbage already is not counted. */
class Held {
  readonly #before: number;
  readonly #every: number;
  peak = 0;
  #looks = 0;

  /** Of so many looks only one is taken: to look is to collect all garbage first. */
  constructor(every: number) {
    this.#every = every;
    Bun.gc(true);
    this.#before = process.memoryUsage().arrayBuffers;
  }

  look(): void {
    if (this.#looks++ % this.#every !== 0) return;
    Bun.gc(true);
    this.peak = Math.max(this.peak, process.memoryUsage().arrayBuffers - this.#before);
  }
}
