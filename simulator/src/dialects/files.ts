import { type ByteSource, bytesOf } from "../byte-source.ts";
import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import { fileOf, filesPath, type LinkedFile } from "../file-url.ts";
import { bytesExchange } from "../json-exchange.ts";
import type { SimulatorRequest } from "../request.ts";
import { contentScript } from "../task.ts";
import type { TaskStore } from "../task-store.ts";
import { tinyMp4 } from "../tiny-mp4.ts";
import { tinyPng } from "../tiny-png.ts";
import { tinyWav } from "../tiny-wav.ts";

/** The store of result files: GET only, with ranges, and 403 once a link has expired. Requires no credentials. */
export function files(taskStore: TaskStore): Dialect {
  return {
    id: "files",
    auxiliary: true,
    matches: ({ path }) => path.includes(filesPath),
    read: (request) => readFile(request, taskStore),
    headers: ({ requestId }) => [["x-tos-request-id", requestId]],
    error: ({ status, message, code }, requestId) => {
      const fallback = status === 404 ? "NoSuchKey" : status < 500 ? "AccessDenied" : "InternalError";
      return JSON.stringify({ Code: code ?? fallback, RequestId: requestId, Message: message });
    },
  };
}

/** The content of a video, image or audio file, chosen by its extension. */
export function fileBytes({ name, seconds, bytes }: LinkedFile): ByteSource {
  if (name.endsWith(".png")) return bytesOf("image/png", tinyPng);
  if (name.endsWith(".wav")) return bytesOf("audio/wav", tinyWav);
  return tinyMp4({ name, seconds, bytes });
}

function readFile(request: SimulatorRequest, taskStore: TaskStore): Exchange {
  const file = fileOf(request);
  // The signature of a link is for GET; HEAD would need another one.
  if (request.method !== "GET" || file === null) {
    throw new Refusal(403, "The request signature we calculated does not match the signature you provided.", {
      code: "SignatureDoesNotMatch",
    });
  }
  if (Date.now() >= file.expiresAt) throw new Refusal(403, "Request has expired.");
  const task = taskStore.byId(file.name.replace(/(?:-last)?\.\w+$/, ""));
  if (task !== null) task.downloads += 1;
  return bytesExchange({
    model: task?.model ?? "",
    presetName: "content",
    ...(task === null ? {} : { inherited: contentScript(task) }),
    act: () => fileBytes(file),
  });
}
