import { requestFields } from "@sluice/contract/words";
import { noUsage } from "#core/index.ts";
import { QUOTE, type Span } from "../json/cursor.ts";
import { editBody } from "../json/edit.ts";
import { invalid, missingParam, textOf } from "../json/value.ts";
import { GovernedNames } from "../request/governed-names.ts";
import { MemberChecks, readModel, readSmall } from "../request/members.ts";
import { RequestBody } from "../request/request-body.ts";
import { continuedResponse } from "./request.ts";
import { bareResponse } from "./response-object.ts";
import { writeResponsesUsage } from "./usage.ts";

const socketStreamIdCharactersMax = 128;

/** No member is required. */
const checks = new MemberChecks(requestFields["responses-compact"]);
const readMembers = new GovernedNames([
  ...["type", "stream_id", "event_id", "model", "input", "previous_response_id", "generate", "store"],
  ...["stream", "stream_options", "background"],
]);

/** Members of the frame, not of the request. */
const frameMembers = ["type", "stream_id", "event_id", "generate", "stream_options", "background"];

/**
 * A `response.create` frame of Responses over a WebSocket. Source: OpenAI, "WebSocket mode"; Open Responses,
 * WebSocketResponseCreateEvent.
 */
export class CreateFrame {
  /** Requests of one stream are answered in order. Null: the unnamed stream. */
  readonly streamId: string | null;
  readonly model: string;
  readonly previous: string | null;
  /** False: the input is only stored for a later request. */
  readonly generates: boolean;
  readonly size: number;
  readonly #bytes: Buffer;
  readonly #input: Span | null;

  constructor(bytes: Buffer, frame: RequestBody) {
    checks.check(bytes, frame.members);
    this.#bytes = bytes;
    this.size = bytes.length;
    this.streamId = readStreamId(bytes, frame.nonNull("stream_id"));
    this.model = readModel(bytes, frame.get("model"));
    this.previous = continuedResponse(bytes, frame.nonNull("previous_response_id"))?.id ?? null;
    this.generates = frame.nonNull("generate") === null || frame.isOn("generate");
    this.#input = frame.nonNull("input");
    if (frame.isOn("background")) throw invalid("background", "cannot be true over a WebSocket");
  }

  /** The items of the input as comma-separated JSON. */
  items(): string {
    const bytes = this.#bytes;
    const input = this.#input;
    if (input === null) return "";
    const { start, end } = input;
    if (bytes[start] === QUOTE)
      return `{"type":"message","role":"user","content":${bytes.toString("utf8", start, end)}}`;
    return bytes.toString("utf8", start + 1, end - 1).trim();
  }

  /** The same request over HTTP, streaming. `before`: items that replace the previous response. Null: the upstream has it. */
  body(before: readonly string[] | null): Uint8Array {
    const remove = before === null ? frameMembers : [...frameMembers, "previous_response_id"];
    const input =
      before === null ? {} : { input: `[${[...before, this.items()].filter((text) => text !== "").join(",")}]` };
    return editBody(this.#bytes, { remove, add: { stream: "true", ...input } });
  }
}

/** Returns a frame, the answer to a steer request, or null if nothing is to be done. Throws Failure for invalid frames. */
export function readClientFrame(text: string): CreateFrame | string | null {
  const bytes = Buffer.from(text, "utf8");
  const frame = new RequestBody(bytes, readMembers, null);
  const type = frame.get("type");
  if (type === undefined) throw missingParam("type");
  const named = textOf(readSmall(bytes, type));
  if (named === "response.processed") return null;
  if (named === "response.steer") return steerFailedEvent(bytes, frame);
  if (named !== "response.create") throw invalid("type", "must be response.create or response.steer");
  return new CreateFrame(bytes, frame);
}

/** Returns the input, so that the client can send it later. Source: the SDK's ResponseSteerFailedEvent. */
function steerFailedEvent(bytes: Buffer, frame: RequestBody): string {
  const input = frame.nonNull("input");
  const previous = continuedResponse(bytes, frame.nonNull("previous_response_id"))?.id ?? null;
  const isWhole = input !== null && previous !== null;
  const error = {
    type: "invalid_request_error",
    code: isWhole ? "steering_not_supported" : "invalid_input",
    message: isWhole
      ? "Responses cannot be steered here. Send the input with response.create when this one is done."
      : "response.steer needs previous_response_id and input.",
  };
  const inputJson = input === null ? '""' : bytes.toString("utf8", input.start, input.end);
  const steer = `{"previous_response_id":${JSON.stringify(previous ?? "")},"input":${inputJson}}`;
  return `{"type":"response.steer.failed","sequence_number":0,"error":${JSON.stringify(error)},"steer":${steer}}`;
}

/** Events for a request that generates nothing. */
export function warmUpEvents(model: string, id: string, createdAt: number): readonly string[] {
  const started = bareResponse({ id, model, created_at: createdAt, status: "in_progress" });
  const usage = writeResponsesUsage(noUsage);
  const done = bareResponse({ id, model, created_at: createdAt, completed_at: createdAt, usage });
  return [
    JSON.stringify({ type: "response.created", response: started, sequence_number: 0 }),
    JSON.stringify({ type: "response.completed", response: done, sequence_number: 1 }),
  ];
}

function readStreamId(bytes: Buffer, span: Span | null): string | null {
  if (span === null) return null;
  const id = textOf(readSmall(bytes, span));
  if (id === null || id === "" || id.length > socketStreamIdCharactersMax) {
    throw invalid("stream_id", "must be a short text");
  }
  return id;
}
