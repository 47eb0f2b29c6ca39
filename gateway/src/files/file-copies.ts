import {
  bounds,
  type CallSignal,
  Failure,
  type FileCopy,
  type Provider,
  type StoredFile,
  sleep,
  throwIfGone,
  within,
} from "#core/index.ts";
import type { WholeAnswer } from "#provider-client/index.ts";
import { type FileApi, type FileRequest, fileApiOf, outboundDraft, providerKind } from "#providers/index.ts";
import type { FilesDependencies } from "./dependencies.ts";
import { fileBytes, fileForm } from "./file-form.ts";

interface RunningUpload {
  readonly workspaceId: string;
  readonly copy: Promise<FileCopy>;
  readonly end: AbortController;
  waiting: number;
}

/**
 * Copies of files in vendors' accounts. A file is uploaded to an account when a call first needs it there, once at a time; calls wait
 * for the same upload, which ends when no call waits any more.
 */
export class FileCopies {
  readonly #dependencies: FilesDependencies;
  readonly #open: (file: StoredFile) => Promise<ReadableStream<Uint8Array>>;
  readonly #counts: { copied: number; copyFailures: number };
  readonly #running = new Map<string, RunningUpload>();

  constructor(
    dependencies: FilesDependencies,
    open: (file: StoredFile) => Promise<ReadableStream<Uint8Array>>,
    counts: { copied: number; copyFailures: number },
  ) {
    this.#dependencies = dependencies;
    this.#open = open;
    this.#counts = counts;
  }

  stop(): void {
    for (const { end } of this.#running.values()) end.abort();
  }

  /** The account's copy, perhaps uploaded first. Throws Failure, with `retry` for another account. */
  async at(file: StoredFile, provider: Provider, api: FileApi, signal: CallSignal): Promise<FileCopy> {
    const { store, clock } = this.#dependencies;
    const copy = await store.copy(file.id, provider.id);
    if (copy !== null && isUsable(copy, clock.now())) return copy;
    const key = `${file.id} ${provider.id}`;
    let running = this.#running.get(key);
    if (running === undefined) {
      this.#requirePlace(file);
      const end = new AbortController();
      const made = this.#upload(file, provider, api, end.signal).finally(() => this.#running.delete(key));
      // Every call may have gone.
      made.then(
        () => this.#counts.copied++,
        () => this.#counts.copyFailures++,
      );
      running = { workspaceId: file.workspaceId, copy: made, end, waiting: 0 };
      this.#running.set(key, running);
    }
    const upload = running;
    upload.waiting++;
    const late = (): never => {
      throwIfGone(signal);
      const message = "The file could not be uploaded to the provider in time.";
      throw new Failure("upstream_timeout", message, { retry: "other" });
    };
    try {
      return await within(clock, bounds.fileCopyMs, upload.copy, late, signal as AbortSignal);
    } finally {
      upload.waiting--;
      if (upload.waiting === 0) upload.end.abort();
    }
  }

  /** Slow uploads of one workspace leave places for the others. */
  #requirePlace({ workspaceId }: StoredFile): void {
    const own = [...this.#running.values()].filter((upload) => upload.workspaceId === workspaceId).length;
    if (own >= bounds.fileCopiesOfWorkspaceMax || this.#running.size >= bounds.fileCopiesAtOnceMax) throw busy();
  }

  /** Deletes a copy from its account. False: try again. Never throws. */
  async delete(copy: FileCopy, signal: AbortSignal): Promise<boolean> {
    const { configSnapshot, observer, store } = this.#dependencies;
    const provider = configSnapshot().providers.get(copy.provider);
    const api = provider === undefined ? null : fileApiOf(provider.kind);
    const facts = { file: copy.fileId, provider: copy.provider };
    if (provider === undefined || api === null) {
      observer.log("warn", "a copy of a file stays in an account that is no longer set up", facts);
    } else {
      try {
        const answer = await this.#ask(provider, api.delete(provider, copy.upstreamId), null, signal);
        if (!answer.good && answer.status !== 404) throw this.#refusal(provider, answer);
      } catch (thrown) {
        observer.log("warn", "failed to delete a copy of a file from a provider", { ...facts, error: thrown });
        return false;
      }
    }
    await store.removeCopy(copy);
    return true;
  }

  async #upload(file: StoredFile, provider: Provider, api: FileApi, signal: AbortSignal): Promise<FileCopy> {
    const { store, clock, observer } = this.#dependencies;
    let answer = await this.#ask(provider, api.create(provider, file), file, signal);
    if (answer.good && api.send !== undefined) {
      const { headers } = answer;
      const request = api.send(provider, file, (name) => headers.get(name));
      if (request === null) throw unreadable();
      answer = await this.#ask(provider, request, file, signal);
    }
    if (!answer.good) throw this.#refusal(provider, answer);
    let made = api.read(parsed(answer.body));
    if (made === null) throw unreadable();
    for (
      let waitMs: number = bounds.fileReadyPollMs;
      !made.isReady;
      waitMs = Math.min(waitMs * 2, bounds.fileReadyPollMs * 8)
    ) {
      await sleep(clock, waitMs, signal);
      throwIfGone(signal);
      const read = await this.#ask(provider, api.get(provider, made.id), null, signal);
      if (!read.good) throw this.#refusal(provider, read);
      made = api.read(parsed(read.body)) ?? made;
    }
    const { id: upstreamId, uri, expiresAt } = made;
    const copy: FileCopy = {
      fileId: file.id,
      provider: provider.id,
      upstreamId,
      uri,
      createdAt: clock.now(),
      expiresAt,
    };
    observer.log("debug", "copied a file to a provider", { file: file.id, provider: provider.id });
    if (await store.putCopy(copy)) return copy;
    // The file was deleted meanwhile, or another process was first.
    await this.delete(copy, signal);
    const other = await store.copy(file.id, provider.id);
    if (other !== null && isUsable(other, clock.now())) return other;
    throw new Failure("not_found", "There is no file with this id.");
  }

  async #ask(
    provider: Provider,
    request: FileRequest,
    file: StoredFile | null,
    signal: AbortSignal,
  ): Promise<WholeAnswer> {
    const { providerClient, ids } = this.#dependencies;
    const kind = providerKind(provider.kind);
    if (kind === null) throw new Failure("no_deployment_available", "The provider was deleted.", { retry: "other" });
    const headers: Record<string, string> = { ...request.headers };
    let body: Parameters<typeof providerClient.send>[3] = null;
    if (request.body instanceof Uint8Array) body = request.body;
    else if (request.body === "file" && file !== null) {
      const open = (): Promise<ReadableStream<Uint8Array>> => this.#open(file);
      if (request.form === null) body = fileBytes(file, open);
      else {
        const boundary = ids.next("sluice-");
        headers["content-type"] = `multipart/form-data; boundary=${boundary}`;
        body = fileForm(boundary, request.form, file, open);
      }
    }
    const draft = outboundDraft(provider, request.url, { method: request.method, headers });
    await providerClient.authorize(kind, draft, signal);
    const { connectMs } = provider.timeouts;
    const totalMs = bounds.fileCopyMs;
    // On a kept connection, an upload could be sent twice.
    const clocks = { connectMs, headersMs: totalMs, totalMs, ownConnection: file !== null };
    const answer = await providerClient.send(draft, clocks, signal, body);
    return providerClient.read(provider, answer, {
      bytesMax: bounds.fileAnswerBytesMax,
      limitMs: totalMs,
      clock: "total",
    });
  }

  #refusal(provider: Provider, answer: WholeAnswer): Failure {
    const failure = providerKind(provider.kind)?.classify(answer) ?? unreadable();
    return failure.with({ message: `The provider did not accept the file: ${failure.message}`, retry: "other" });
  }
}

function isUsable({ expiresAt }: FileCopy, now: number): boolean {
  return expiresAt === null || expiresAt - bounds.fileCopySpareMs > now;
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return null;
  }
}

function unreadable(): Failure {
  const message = "The provider's answer to the upload of a file is not readable.";
  return new Failure("upstream_error", message, { retry: "other" });
}

function busy(): Failure {
  return new Failure("overloaded", "Too many files are being uploaded to providers. Try again.", {
    retryAfterMs: bounds.storageRetryAfterMs,
  });
}
