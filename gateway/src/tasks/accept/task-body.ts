import { type BodyBytes, type OpenAiVideoBody, outcomeOf } from "#bodies/index.ts";
import { bounds, Failure, LastingFault, ownerOf, streamOfBytes, type Task } from "#core/index.ts";
import type { BlobInfo, BlobStore } from "#ports/index.ts";
import { isObject, type JsonObject, type RenamedMembers } from "#protocols/index.ts";
import type { MemoryHold, VideoTasksOptions } from "../options.ts";

/** A parsed task body without its large inline material. */
export interface TaskBody {
  readonly taskId: string;
  /** JSON with placeholders for inline material that is stored separately. */
  readonly text: string;
  readonly value: JsonObject;
  /** Equal requests have equal digests. */
  readonly digest: string;
  /** The caller's names of renamed fields. */
  readonly renamed: RenamedMembers;
  /** null: the body has no material to store separately. */
  readonly material: (BlobInfo & { readonly bytes: Uint8Array }) | null;
}

export interface SentBody {
  readonly bytes: BodyBytes;
  /** null: the body has the fields of a video task, as JSON. */
  readonly openai: OpenAiVideoBody | null;
}

/**
 * Parses a body, in a thread if it is large. Use `sent` instead of the given bytes afterward. Throws Failure invalid_json,
 * request_too_large, or the thread pool's own.
 */
export async function readTaskBody(
  { bodies, blobs }: Pick<VideoTasksOptions, "bodies" | "blobs">,
  taskId: string,
  { bytes, openai }: SentBody,
  signal: AbortSignal | null,
): Promise<{ readonly body: TaskBody; readonly sent: Uint8Array }> {
  const done = await bodies.do("video-body", { taskId, apart: blobs !== null, openai }, bytes, { signal });
  const { made, answer } = outcomeOf(done);
  const { text, digest, renamed, material } = answer;
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new Failure("invalid_json", "The body is not a JSON object.");
  const stored = material === null || made === null ? null : { ...material, bytes: made };
  return { body: { taskId, text, value, digest, renamed, material: stored }, sent: done.body };
}

/** Time limit for storing material, and the age at which material without a task is deleted. */
const taskMaterialPutMs = 120_000;
const taskMaterialUnownedMs = 900_000;
/** Interval and batch size of the deletion of unneeded material. */
export const taskMaterialSweepMs = 60_000;
const taskMaterialSweepMax = 32;

type Dependencies = Pick<VideoTasksOptions, "store" | "blobs" | "memory" | "clock" | "observer">;

/**
 * Inline material of tasks, stored as one blob per task. A row is written before the bytes, so that a sweep can delete what
 * a stopped process left. The blob is deleted once its task cannot be submitted again.
 */
export class Materials {
  readonly #dependencies: Dependencies;
  #sweptMs = Number.NEGATIVE_INFINITY;
  readonly #removalFault: LastingFault;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    const { clock, observer } = dependencies;
    const fault = "failed to delete material of video tasks; retrying";
    const over = "material of video tasks is deleted again";
    this.#removalFault = new LastingFault({ clock, observer, level: "warn", fault, over });
  }

  /** Resolves when the material is durable. If it rejects, call `drop`. */
  async store({ taskId, material }: TaskBody, signal: AbortSignal): Promise<void> {
    const { store, clock } = this.#dependencies;
    if (material === null) return;
    const { hash, size, bytes } = material;
    await store.recordMaterial(taskId, { hash, size }, clock.now());
    const timeout = new AbortController();
    const cancelTimeout = clock.after(taskMaterialPutMs, () => timeout.abort());
    try {
      const put = await this.#blobs().put(
        streamOfBytes(bytes, bounds.spoolPieceBytes),
        size,
        AbortSignal.any([signal, timeout.signal]),
      );
      if (put.hash !== hash) throw new Error("material is not what it was when it was read");
    } catch (thrown) {
      if (!timeout.signal.aborted) throw thrown;
      throw new Failure("overloaded", "The material could not be stored in time; try again.", { cause: thrown });
    } finally {
      cancelTimeout();
    }
  }

  /** The stored material of a task; null if it has none. */
  async open(task: Pick<Task, "id" | "keyId" | "workspaceId">): Promise<LoadedMaterial | null> {
    const info = await this.#dependencies.store.material(task.id);
    if (info === null) return null;
    const material = this.load(info, null, this.#dependencies.memory.open(ownerOf(task), "request"));
    try {
      material.putBack(await material.take());
      return material;
    } catch (thrown) {
      material.release();
      throw thrown;
    }
  }

  /** `bytes` null: read on first use. */
  load(info: BlobInfo, bytes: Uint8Array | null, held: MemoryHold): LoadedMaterial {
    return new LoadedMaterial(info, bytes, held, () => this.#read(info));
  }

  /** Never rejects: a later sweep retries. */
  async drop(taskId: string): Promise<void> {
    const now = this.#dependencies.clock.now();
    await this.#remove(now + 1, 1, taskId).catch((thrown: unknown) => this.#removalFailed(thrown));
  }

  /** Deletes material without a task, and of tasks that cannot be submitted again. */
  async sweep(): Promise<void> {
    const { clock, blobs } = this.#dependencies;
    const nowMs = clock.monotonic();
    if (blobs === null || nowMs - this.#sweptMs < taskMaterialSweepMs) return;
    this.#sweptMs = nowMs;
    const unownedBefore = clock.now() - taskMaterialUnownedMs;
    await this.#remove(unownedBefore, taskMaterialSweepMax).then(
      () => this.#removalFault.succeeded(),
      (thrown: unknown) => this.#removalFailed(thrown),
    );
  }

  async #remove(unownedBefore: number, limit: number, taskId?: string): Promise<void> {
    const { store } = this.#dependencies;
    for (const spent of await store.markUnneededMaterial(unownedBefore, limit, taskId)) {
      await this.#blobs().remove(spent.hash);
      await store.deleteMaterial(spent.taskId);
    }
  }

  #removalFailed(thrown: unknown): void {
    this.#removalFault.failed({ error: thrown });
  }

  async #read({ hash, size }: BlobInfo): Promise<Uint8Array> {
    const stream = await this.#blobs().read(hash, 0, size);
    if (stream === null) throw new MaterialLost();
    const bytes = new Uint8Array(size);
    let end = 0;
    for await (const piece of stream) {
      if (end + piece.length > size) throw new MaterialLost();
      bytes.set(piece, end);
      end += piece.length;
    }
    if (end !== size) throw new MaterialLost();
    return bytes;
  }

  #blobs(): BlobStore {
    const { blobs } = this.#dependencies;
    if (blobs === null) throw new Error("material without a place for it");
    return blobs;
  }
}

export class MaterialLost extends Failure {
  constructor() {
    super("internal_error", "The material of the task is missing from the blob store.");
  }
}

/** Material of a task during its submission. It holds memory until it is released. */
export class LoadedMaterial {
  readonly info: BlobInfo;
  readonly #held: MemoryHold;
  readonly #read: () => Promise<Uint8Array>;
  #bytes: Uint8Array | null;

  constructor(info: BlobInfo, bytes: Uint8Array | null, held: MemoryHold, read: () => Promise<Uint8Array>) {
    this.info = info;
    this.#bytes = bytes;
    this.#held = held;
    this.#read = read;
  }

  /** Holds memory for the bytes and for the request that they become part of. Return the bytes with `putBack`. */
  async take(): Promise<Uint8Array> {
    this.#held.hold(2 * this.info.size);
    const bytes = this.#bytes ?? (await this.#read());
    this.#bytes = null;
    return bytes;
  }

  putBack(bytes: Uint8Array): void {
    this.#bytes = bytes;
  }

  release(): void {
    this.#bytes = null;
    this.#held.release();
  }
}
