import { bounds, Failure } from "#core/index.ts";
import type { ReportStore } from "#ports/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import type { StreamingCall } from "../handlers/calls.ts";

type Copy = Awaited<ReturnType<ReportStore["backup"]>>;

/** A copy of the whole database, one at a time: each is as large as the database while it lasts. */
export function backupCall(dependencies: ConsoleDependencies): (call: StreamingCall) => Promise<Response> {
  let busy = false;
  return async ({ request, auditSource, patient }) => {
    if (busy) throw new Failure("conflict", "A backup is being made already. Wait for its end.");
    busy = true;
    const free = () => {
      busy = false;
    };
    let body: CopyStream;
    try {
      // Making the copy takes as long as the database is large.
      patient();
      body = new CopyStream(await dependencies.reports.backup(), dependencies, free);
    } catch (thrown) {
      free();
      throw thrown;
    }
    try {
      // Nobody takes one that the log does not know of.
      const after = { size_bytes: body.size };
      await dependencies.people.note({ action: "download", object: "backup", workspaceId: null, after }, auditSource);
    } catch (thrown) {
      await body.end();
      throw thrown;
    }
    return new Response(body.stream(request.signal), {
      headers: {
        "content-type": "application/vnd.sqlite3",
        "content-length": String(body.size),
        "content-disposition": `attachment; filename="sluice-${dayAndTime(dependencies.clock.now())}.sqlite"`,
      },
    });
  };
}

/** Hands a copy on as fast as it is read, and takes it away at the end, whichever end that is. */
class CopyStream {
  readonly #copy: Copy;
  readonly #dependencies: ConsoleDependencies;
  readonly #free: () => void;
  readonly #reader: PieceReader;
  #ended: Promise<void> | null = null;
  #forgetTimer = (): void => undefined;

  constructor(copy: Copy, dependencies: ConsoleDependencies, free: () => void) {
    this.#copy = copy;
    this.#dependencies = dependencies;
    this.#free = free;
    this.#reader = copy.bytes.getReader();
  }

  get size(): number {
    return this.#copy.size;
  }

  stream(signal: AbortSignal): ReadableStream<Uint8Array> {
    const gone = () => void this.end();
    if (signal.aborted) gone();
    else signal.addEventListener("abort", gone, { once: true });
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => this.#watch(controller),
        pull: async (controller) => {
          this.#watch(controller);
          const piece = await this.#reader.read().catch(async (thrown: unknown) => {
            await this.end();
            throw thrown;
          });
          if (!piece.done) return controller.enqueue(piece.value);
          await this.end();
          controller.close();
        },
        cancel: () => this.end(),
      },
      { highWaterMark: 0 },
    );
  }

  end(): Promise<void> {
    this.#ended ??= this.#takeAway();
    return this.#ended;
  }

  /** Whoever does not read for long is taken to be gone: nobody else can have a backup meanwhile. */
  #watch(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#forgetTimer();
    this.#forgetTimer = this.#dependencies.clock.after(bounds.stalledReaderMs, () => {
      if (this.#ended !== null) return;
      controller.error(new Failure("request_timeout", "Nobody reads this backup."));
      void this.end();
    });
  }

  async #takeAway(): Promise<void> {
    this.#forgetTimer();
    try {
      await this.#reader.cancel();
      await this.#copy.done();
    } catch (thrown) {
      this.#dependencies.observer.log("warn", "The copy of a backup could not be taken away.", { error: thrown });
    } finally {
      this.#free();
    }
  }
}

/** What both of the runtime's kinds of readers can. */
interface PieceReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

function dayAndTime(now: number): string {
  return new Date(now).toISOString().slice(0, 19).replaceAll(":", "-");
}
