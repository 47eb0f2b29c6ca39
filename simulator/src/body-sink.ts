import { MultipartReader, multipartBoundary } from "./multipart-reader.ts";
import type { SimulatorRequest } from "./request.ts";

/** Receives a request body in pieces. Multipart is parsed as it arrives; other bodies are collected. */
export interface BodySink {
  take(bytes: Uint8Array): void;
  finish(): Pick<SimulatorRequest, "body" | "upload">;
}

export function createBodySink(contentType: string | undefined): BodySink {
  const boundary = multipartBoundary(contentType);
  return boundary === null ? collectingSink() : multipartSink(boundary);
}

function collectingSink(): BodySink {
  const pieces: Uint8Array[] = [];
  return {
    take(bytes) {
      pieces.push(bytes);
    },
    finish() {
      const only = pieces.length === 1 ? pieces[0] : undefined;
      return { body: only ?? Buffer.concat(pieces) };
    },
  };
}

function multipartSink(boundary: string): BodySink {
  const reader = new MultipartReader(boundary);
  return {
    take: (bytes) => reader.feed(bytes),
    finish: () => ({ body: new Uint8Array(0), upload: reader.finish() }),
  };
}
