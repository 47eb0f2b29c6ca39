import { type ByteSource, bytesOf } from "../byte-source.ts";
import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import { fileOf, filesPath, type LinkedFile } from "../file-url.ts";
import { bytesExchange } from "../json-exchange.ts";
import type { SimulatorRequest } from "../request.ts";
import { contentScript } from "../task.ts";
import type { TaskBook } from "../task-desk.ts";
import { tinyMp4 } from "../tiny-mp4.ts";
import { tinyPng } from "../tiny-png.ts";
import { tinyWav } from "../tiny-wav.ts";

/** The store behind presigned links: GET only, ranges, and 403 once a link has expired. No credentials are wanted. */
export function files(taskBook: TaskBook): Dialect {
  return {
    id: "files",
    aside: true,
    matches: ({ path }) => path.includes(filesPath),
    read: (request) => readFile(request, taskBook),
    headers: ({ requestId }) => [["x-tos-request-id", requestId]],
    error: ({ status, message, code }, requestId) => {
      const usual = status === 404 ? "NoSuchKey" : status < 500 ? "AccessDenied" : "InternalError";
      return JSON.stringify({ Code: code ?? usual, RequestId: requestId, Message: message });
    },
  };
}

/** The bytes of a video, a picture or a sound, by its name's ending. */
export function fileBytes({ name, seconds, bytes }: LinkedFile): ByteSource {
  if (name.endsWith(".png")) return bytesOf("image/png", tinyPng);
  if (name.endsWith(".wav")) return bytesOf("audio/wav", tinyWav);
  return tinyMp4({ name, seconds, bytes });
}

function readFile(request: SimulatorRequest, taskBook: TaskBook): Exchange {
  const file = fileOf(request);
  // A link is bound to its method, so a HEAD has another signature than the one in it.
  if (request.method !== "GET" || file === null) {
    throw new Refusal(403, "The request signature we calculated does not match the signature you provided.", {
      code: "SignatureDoesNotMatch",
    });
  }
  if (Date.now() >= file.expiresAt) throw new Refusal(403, "Request has expired.");
  const task = taskBook.byId(file.name.replace(/(?:-last)?\.\w+$/, ""));
  if (task !== null) task.downloads += 1;
  return bytesExchange({
    model: task?.model ?? "",
    aside: "content",
    ...(task === null ? {} : { inherited: contentScript(task) }),
    act: () => fileBytes(file),
  });
}
