import { bounds, Failure, type PieceReader } from "#core/index.ts";
import type { ReportStore } from "#ports/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import type { StreamingCall } from "../handlers/calls.ts";

/** Streams a backup of the whole database. One at a time, since each takes as much disk space as the database. */
export function backupCall(dependencies: ConsoleDependencies): (call: StreamingCall) => Promise<Response> {
  const { reports, people, clock } = dependencies;
  let busy = false;
  const free = () => {
    busy = false;
  };
  return async ({ request, auditSource }) => {
    if (busy) throw new Failure("conflict", "A backup is already running. Try again when it has finished.");
    busy = true;
    let body: ReturnType<typeof streamCopy>;
    let size: number;
    try {
      const copy = await reports.backup();
      size = copy.size;
      body = streamCopy(copy, dependencies, free);
    } catch (thrown) {
      free();
      throw thrown;
    }
    try {
      // A backup is only sent once it is in the audit log.
      const after = { size_bytes: size };
      await people.note({ action: "download", object: "backup", workspaceId: null, after }, auditSource);
    } catch (thrown) {
      await body.end();
      throw thrown;
    }
    const dayAndTime = new Date(clock.now()).toISOString().slice(0, 19).replaceAll(":", "-");
    return new Response(body.stream(request.signal), {
      headers: {
        "content-type": "application/vnd.sqlite3",
        "content-length": String(size),
        "content-disposition": `attachment; filename="sluice-${dayAndTime}.sqlite"`,
      },
    });
  };
}

/** Sends a copy as fast as it is read, and deletes it at the end or after a failure. */
function streamCopy(
  copy: Awaited<ReturnType<ReportStore["backup"]>>,
  { clock, observer }: ConsoleDependencies,
  free: () => void,
) {
  const reader: PieceReader = copy.bytes.getReader();
  let ended: Promise<void> | null = null;
  let forgetTimer = (): void => undefined;
  const cleanUp = async (): Promise<void> => {
    forgetTimer();
    try {
      await reader.cancel();
      await copy.done();
    } catch (thrown) {
      observer.log("warn", "failed to delete the temporary file of a backup", { error: thrown });
    } finally {
      free();
    }
  };
  const end = (): Promise<void> => {
    ended ??= cleanUp();
    return ended;
  };
  // A client that stops reading must not block other backups.
  const watch = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    forgetTimer();
    forgetTimer = clock.after(bounds.stalledReaderMs, () => {
      if (ended !== null) return;
      controller.error(new Failure("request_timeout", "The client stopped reading the backup."));
      void end();
    });
  };
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    watch(controller);
    const piece = await reader.read().catch(async (thrown: unknown) => {
      await end();
      throw thrown;
    });
    if (!piece.done) return controller.enqueue(piece.value);
    await end();
    controller.close();
  };
  const stream = (signal: AbortSignal): ReadableStream<Uint8Array> => {
    if (signal.aborted) void end();
    else signal.addEventListener("abort", () => void end(), { once: true });
    return new ReadableStream<Uint8Array>({ start: watch, pull, cancel: end }, { highWaterMark: 0 });
  };
  return { end, stream };
}
