import { createHash } from "node:crypto";
import { bounds, Failure, type FileUpload, type PieceReader, pulledStream, type StoredFile } from "#core/index.ts";
import type { BlobStore } from "#ports/index.ts";
import type { ArrivingFiles, FileOwner } from "./arriving-files.ts";
import type { FilesDependencies } from "./dependencies.ts";

export type NewUpload = Pick<FileUpload, "purpose" | "filename" | "mediaType" | "sizeBytes" | "fileLifeMs">;

/**
 * Files that arrive in parts. Each part is stored like a file. Completing the upload joins the parts that the caller lists into one file,
 * and the worker removes the parts. An upload that is not completed in time is removed with its parts.
 */
export class Uploads {
  readonly #dependencies: FilesDependencies;
  readonly #arriving: ArrivingFiles;
  readonly #wake: () => void;

  constructor(dependencies: FilesDependencies, arriving: ArrivingFiles, wake: () => void) {
    this.#dependencies = dependencies;
    this.#arriving = arriving;
    this.#wake = wake;
  }

  /** Throws Failure rate_limit_exceeded for too many open uploads, file_quota_exceeded, request_too_large. */
  async create({ workspaceId, keyId, personId }: FileOwner, upload: NewUpload): Promise<FileUpload> {
    const { store, clock, ids } = this.#dependencies;
    const now = clock.now();
    const { sizeBytes } = upload;
    if (sizeBytes !== null && sizeBytes > bounds.fileBytesMax) throw tooLarge();
    if ((await store.pendingUploads(workspaceId, now)) >= bounds.filePendingUploadsMax) {
      const why = `A workspace may have ${bounds.filePendingUploadsMax} open uploads. Complete or cancel some.`;
      throw new Failure("rate_limit_exceeded", why, { retryAfterMs: bounds.storageRetryAfterMs });
    }
    await this.#arriving.requireRoom(workspaceId, sizeBytes ?? 0);
    const made: FileUpload = {
      ...{ id: ids.next("upload_"), workspaceId, keyId, personId, ...upload },
      ...{ status: "pending", fileId: null, createdAt: now, expiresAt: now + bounds.fileUploadMs },
    };
    await store.createUpload(made);
    return made;
  }

  /** Throws Failure not_found. */
  async get(workspaceId: string, id: string): Promise<FileUpload> {
    const { store, clock } = this.#dependencies;
    const upload = await store.findUpload(workspaceId, id);
    if (upload === null) throw new Failure("not_found", "There is no upload with this id.", { param: "upload_id" });
    return upload.status === "pending" && upload.expiresAt <= clock.now() ? { ...upload, status: "expired" } : upload;
  }

  /** The same, and throws Failure conflict if it has ended. */
  async getPending(workspaceId: string, id: string): Promise<FileUpload> {
    const upload = await this.get(workspaceId, id);
    requirePending(upload);
    return upload;
  }

  /** Throws Failure conflict if the upload has ended, and what `Files.create` throws. */
  async addPart(
    owner: FileOwner,
    upload: FileUpload,
    sizeBytes: number,
    bytes: ReadableStream<Uint8Array>,
    signal: AbortSignal,
  ): Promise<StoredFile> {
    const { store } = this.#dependencies;
    requirePending(upload);
    const parts = await store.parts(upload.id);
    if (parts.length >= bounds.filePartsMax) {
      throw new Failure("invalid_request", `An upload may have ${bounds.filePartsMax} parts.`, { param: "data" });
    }
    if (sizesOf(parts) + sizeBytes > (upload.sizeBytes ?? bounds.fileBytesMax)) {
      const message = "The parts are larger than the declared size of the upload.";
      throw new Failure("invalid_request", message, { param: "data" });
    }
    const facts = { purpose: upload.purpose, filename: upload.filename, mediaType: upload.mediaType };
    const part = { ...facts, expiresAt: null, sizeBytes };
    const role = { status: "part", uploadId: upload.id, dueAt: upload.expiresAt } as const;
    return this.#arriving.store(owner, part, role, bytes, signal);
  }

  /** In the order in which they arrived. */
  parts(upload: FileUpload): Promise<readonly StoredFile[]> {
    return this.#dependencies.store.parts(upload.id);
  }

  /** The bytes of parts, joined. */
  read(parts: readonly StoredFile[]): ReadableStream<Uint8Array> {
    return joined(parts, this.#dependencies.blobs, null);
  }

  /** The parts with these ids, in their order. Throws Failure conflict, and invalid_request for parts that are missing or repeated. */
  async choose(upload: FileUpload, partIds: readonly string[]): Promise<readonly StoredFile[]> {
    const { store } = this.#dependencies;
    requirePending(upload);
    const stored = new Map((await store.parts(upload.id)).map((part) => [part.id, part]));
    const parts = partIds.map((id) => {
      const part = stored.get(id);
      if (part === undefined) throw invalidParts("names a part that the upload does not have");
      return part;
    });
    if (new Set(partIds).size < parts.length) throw invalidParts("names a part twice");
    return parts;
  }

  /**
   * Makes the file of these parts, in this order. `md5`: of the whole, in hex; null: not checked. Throws Failure conflict, and
   * invalid_request for another size or MD5.
   */
  async complete(
    owner: FileOwner,
    upload: FileUpload,
    parts: readonly StoredFile[],
    { md5, signal }: { readonly md5: string | null; readonly signal: AbortSignal },
  ): Promise<{ readonly upload: FileUpload; readonly file: StoredFile }> {
    const { store, blobs, clock } = this.#dependencies;
    requirePending(upload);
    const size = sizesOf(parts);
    if (upload.sizeBytes !== null && size !== upload.sizeBytes) {
      throw invalidParts(`has ${size} bytes, but the upload was created with ${upload.sizeBytes}`);
    }
    const { purpose, filename, mediaType, fileLifeMs } = upload;
    const expiresAt = fileLifeMs === null ? null : clock.now() + fileLifeMs;
    const file = await this.#arriving.store(
      owner,
      { purpose, filename, mediaType, expiresAt, sizeBytes: size },
      { status: "ready", uploadId: null, replaces: upload.id },
      joined(parts, blobs, md5),
      signal,
    );
    const end = { status: "completed", fileId: file.id } as const;
    if (!(await store.endUpload(upload.id, end))) {
      await store.update(file.id, { status: "removing", dueAt: clock.now() }, { status: ["ready"] });
      this.#wake();
      throw ended({ ...upload, status: "completed" });
    }
    await store.dropParts(upload.id, clock.now());
    this.#wake();
    return { upload: { ...upload, ...end }, file };
  }

  /** Throws Failure conflict if it has ended. */
  async cancel(upload: FileUpload): Promise<FileUpload> {
    const { store, clock } = this.#dependencies;
    requirePending(upload);
    const end = { status: "cancelled", fileId: null } as const;
    if (!(await store.endUpload(upload.id, end))) throw ended({ ...upload, status: "completed" });
    await store.dropParts(upload.id, clock.now());
    this.#wake();
    return { ...upload, ...end };
  }
}

/** The bytes of all parts. Fails with Failure invalid_request if they have another MD5. */
function joined(parts: readonly StoredFile[], blobs: BlobStore, md5: string | null): ReadableStream<Uint8Array> {
  const hash = md5 === null ? null : createHash("md5");
  const left = [...parts];
  let reader: PieceReader | null = null;
  const next = async (): Promise<Uint8Array | null> => {
    for (;;) {
      if (reader === null) {
        const part = left.shift();
        if (part === undefined) break;
        const stream = part.sha256 === null ? null : await blobs.read(part.sha256, 0, part.sizeBytes);
        if (stream === null) throw invalidParts("names a part that was removed");
        reader = stream.getReader();
      }
      const piece = await reader.read();
      if (piece.done) {
        reader = null;
        continue;
      }
      hash?.update(piece.value);
      return piece.value;
    }
    if (hash !== null && hash.digest("hex") !== md5?.toLowerCase()) {
      throw new Failure("invalid_request", "The file has another MD5.", { param: "md5" });
    }
    return null;
  };
  return pulledStream(next, () => reader?.cancel());
}

function sizesOf(parts: readonly StoredFile[]): number {
  return parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

function requirePending(upload: FileUpload): void {
  if (upload.status !== "pending") throw ended(upload);
}

function ended({ status }: FileUpload): Failure {
  return new Failure("conflict", `The upload is ${status}.`, { param: "upload_id" });
}

function tooLarge(): Failure {
  return new Failure("request_too_large", `A file may have ${bounds.fileBytesMax} bytes.`, { param: "bytes" });
}

function invalidParts(problem: string): Failure {
  return new Failure("invalid_request", `part_ids ${problem}.`, { param: "part_ids" });
}
