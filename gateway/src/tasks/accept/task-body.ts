import { type BodyBytes, type OpenAiVideoBody, outcomeOf } from "#bodies/index.ts";
import { bounds, Failure, LastingFault, ownerOf, streamOfBytes, type Task } from "#core/index.ts";
import type { BlobInfo, BlobStore } from "#ports/index.ts";
import { isObject, type JsonObject, type RenamedMembers } from "#protocols/index.ts";
import type { HeldRoom, VideoTasksOptions } from "../options.ts";

/** The body of a task as it was read: small, whatever its caller sent. */
export interface TaskBody {
  /** Of the task that is made of it. */
  readonly taskId: string;
  /** JSON; marks stand in it for material that is kept apart. */
  readonly text: string;
  readonly value: JsonObject;
  /** The same for the same request: see the job that reads it. */
  readonly digest: string;
  /** What the caller called members of it, where that is another name. */
  readonly renamed: RenamedMembers;
  /** null: it holds little or none, and is whole. */
  readonly material: (BlobInfo & { readonly bytes: Uint8Array }) | null;
}

/** A body as it came. */
export interface SentBody {
  readonly bytes: BodyBytes;
  /** null: its members are a task's own, in JSON. */
  readonly openai: OpenAiVideoBody | null;
}

/**
 * Reads a body, a large one in a thread: what it costs is its sender's choice. `sent`: what was given, to be used from now on in
 * its place. Throws Failure invalid_json and request_too_large, and what stands in the way of threads.
 */
export async function readTaskBody(
  { bodies, blobs }: Pick<VideoTasksOptions, "bodies" | "blobs">,
  taskId: string,
  { bytes, openai }: SentBody,
  signal: AbortSignal | null,
): Promise<{ readonly body: TaskBody; readonly sent: Uint8Array }> {
  const worked = await bodies.do("video-body", { taskId, apart: blobs !== null, openai }, bytes, { signal });
  const { made, answer } = outcomeOf(worked);
  const { text, digest, renamed, material } = answer;
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new Failure("invalid_json", "The body is not a JSON object.");
  const kept = material === null || made === null ? null : { ...material, bytes: made };
  return { body: { taskId, text, value, digest, renamed, material: kept }, sent: worked.body };
}

/** How long material may take into the blob store, and when it belongs to nobody. */
const taskMaterialPutMs = 120_000;
const taskMaterialUnownedMs = 900_000;
/** How often unowned material is deleted, and how much at once. */
export const taskMaterialSweepMs = 60_000;
const taskMaterialSweepMax = 32;

type Dependencies = Pick<VideoTasksOptions, "store" | "blobs" | "memory" | "clock" | "observer">;

/**
 * Material of tasks as blobs, each of one task alone. A note in the store comes before the bytes, so that those of a process
 * that was killed are found; they are let go of as soon as their task is not sent again.
 */
export class Materials {
  readonly #dependencies: Dependencies;
  #sweptMs = Number.NEGATIVE_INFINITY;
  readonly #kept: LastingFault;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    const { clock, observer } = dependencies;
    const fault = "Material of video tasks could not be removed; it is tried again.";
    const over = "Material of video tasks is removed again.";
    this.#kept = new LastingFault({ clock, observer, level: "warn", fault, over });
  }

  /** Safe on the disk or in the bucket once it resolves. `signal` ends it; then `drop` is to be called. */
  async keep({ taskId, material }: TaskBody, signal: AbortSignal): Promise<void> {
    const { store, clock } = this.#dependencies;
    if (material === null) return;
    const { hash, size, bytes } = material;
    await store.noteMaterial(taskId, { hash, size }, clock.now());
    const patience = new AbortController();
    const unbook = clock.after(taskMaterialPutMs, () => patience.abort());
    try {
      const put = await this.#blobs().put(
        streamOfBytes(bytes, bounds.spoolPieceBytes),
        size,
        AbortSignal.any([signal, patience.signal]),
      );
      if (put.hash !== hash) throw new Error("material is not what it was when it was read");
    } catch (thrown) {
      if (!patience.signal.aborted) throw thrown;
      throw new Failure("overloaded", "The material could not be stored in time; try again.", { cause: thrown });
    } finally {
      unbook();
    }
  }

  /** What a task that was accepted earlier is sent with; null for one without. Throws what reading it throws. */
  async open(task: Pick<Task, "id" | "keyId" | "workspaceId">): Promise<MaterialInHand | null> {
    const info = await this.#dependencies.store.material(task.id);
    if (info === null) return null;
    const hand = this.inHand(info, null, this.#dependencies.memory.open(ownerOf(task), "request"));
    try {
      hand.give(await hand.take());
      return hand;
    } catch (thrown) {
      hand.release();
      throw thrown;
    }
  }

  /** `bytes` null: they are read when they are wanted. */
  inHand(info: BlobInfo, bytes: Uint8Array | null, held: HeldRoom): MaterialInHand {
    return new MaterialInHand(info, bytes, held, () => this.#read(info));
  }

  /** After a task was sent or given up, or was never made. What fails here is done by a later sweep. */
  async drop(taskId: string): Promise<void> {
    const now = this.#dependencies.clock.now();
    await this.#remove(now + 1, 1, taskId).catch((thrown: unknown) => this.#notRemoved(thrown));
  }

  /** Now and then: what belongs to no task, or to one that is not sent again. */
  async sweep(): Promise<void> {
    const { clock, blobs } = this.#dependencies;
    const nowMs = clock.monotonic();
    if (blobs === null || nowMs - this.#sweptMs < taskMaterialSweepMs) return;
    this.#sweptMs = nowMs;
    const unownedBefore = clock.now() - taskMaterialUnownedMs;
    await this.#remove(unownedBefore, taskMaterialSweepMax).then(
      () => this.#kept.passed(),
      (thrown: unknown) => this.#notRemoved(thrown),
    );
  }

  async #remove(unownedBefore: number, limit: number, taskId?: string): Promise<void> {
    const { store } = this.#dependencies;
    for (const spent of await store.spentMaterial(unownedBefore, limit, taskId)) {
      await this.#blobs().remove(spent.hash);
      await store.forgetMaterial(spent.taskId);
    }
  }

  #notRemoved(thrown: unknown): void {
    this.#kept.failed({ error: thrown });
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

/** The bytes are not there any more, and will not be again. */
export class MaterialLost extends Failure {
  constructor() {
    super("internal_error", "The material of the task is not in the blob store any more.");
  }
}

/** Material of a task that is being sent. It holds room until it is released. */
export class MaterialInHand {
  readonly info: BlobInfo;
  readonly #held: HeldRoom;
  readonly #read: () => Promise<Uint8Array>;
  #bytes: Uint8Array | null;

  constructor(info: BlobInfo, bytes: Uint8Array | null, held: HeldRoom, read: () => Promise<Uint8Array>) {
    this.info = info;
    this.#bytes = bytes;
    this.#held = held;
    this.#read = read;
  }

  /** The bytes, to be given back unless they are lost. Room is taken for them and for the request that they become part of. */
  async take(): Promise<Uint8Array> {
    this.#held.hold(2 * this.info.size);
    const bytes = this.#bytes ?? (await this.#read());
    this.#bytes = null;
    return bytes;
  }

  give(bytes: Uint8Array): void {
    this.#bytes = bytes;
  }

  release(): void {
    this.#bytes = null;
    this.#held.release();
  }
}
