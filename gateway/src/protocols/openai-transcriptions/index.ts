import { Failure } from "#core/index.ts";
import type { Wire } from "../dialect.ts";
import { TypedEventsTap } from "../typed-events-tap.ts";
import { readTranscript } from "./reply.ts";
import { transcriptUsage } from "./usage.ts";

/**
 * Sounds as text: forms in, and JSON, plain text, subtitles or events out, as `response_format` and `stream` ask. Source: OpenAI
 * API reference, "Create transcription" and "Create translation".
 */
export const transcriptionsWire: Wire = {
  readRequest() {
    throw onlyForms();
  },
  requestEdits() {
    throw onlyForms();
  },
  readReply: readTranscript,
  tapStream: () => new TypedEventsTap({ content: /\.(?:delta|segment)$/, end: /\.done$/, usageOf: transcriptUsage }),
};

function onlyForms(): Failure {
  return new Failure(
    "unsupported_media_type",
    "A sound is sent as a form: `multipart/form-data` with `file` and `model`.",
  );
}
