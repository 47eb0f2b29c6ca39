import type OpenAI from "openai";
import type { Caller, CallResult, CallSpec, ToolChoice, Turn, Usage } from "./call-spec.ts";
import { openAiClient, openAiErrorOf } from "./caller-chat.ts";
import type { GatewayAccess } from "./gateway-access.ts";
import { createRecorder, type Recorder } from "./recorder.ts";

type ResponseParams = OpenAI.Responses.ResponseCreateParamsNonStreaming;
type InputItem = OpenAI.Responses.ResponseInputItem;
type ModelResponse = OpenAI.Responses.Response;

/** Responses with the official `openai` package, without server state, as agents call it. */
export function responsesCaller(access: GatewayAccess, version: "latest" | "previous"): Caller {
  return {
    name: version === "latest" ? "openai responses" : "openai-previous responses",
    dialect: "responses",
    async whole(ask) {
      const recorder = createRecorder(access.onExchange);
      const response = await openAiClient(access, version, recorder).responses.create(paramsOf(ask));
      return resultOf(response, recorder, []);
    },
    async stream(ask) {
      const recorder = createRecorder(access.onExchange);
      const stream = openAiClient(access, version, recorder).responses.stream({ ...paramsOf(ask), stream: true });
      const pieces: string[] = [];
      let last = -1;
      for await (const event of stream) {
        if (event.sequence_number <= last) throw new Error("events are not in order");
        last = event.sequence_number;
        if (event.type === "response.output_text.delta") pieces.push(event.delta);
      }
      return resultOf(await stream.finalResponse(), recorder, pieces);
    },
    errorOf: (thrown) => openAiErrorOf(thrown) ?? errorEventOf(thrown),
  };
}

/** The previous major version throws the `error` event itself. */
function errorEventOf(thrown: unknown): ReturnType<Caller["errorOf"]> {
  if (typeof thrown !== "object" || thrown === null || !("type" in thrown) || thrown.type !== "error") return null;
  return { status: undefined, kind: "ResponseErrorEvent", message: "message" in thrown ? String(thrown.message) : "" };
}

function paramsOf(ask: CallSpec): ResponseParams {
  const { model, system, turns, tools, thinks, schema, outputMax, toolChoice } = ask;
  return {
    model,
    input: turns.flatMap(itemsOf),
    store: false,
    ...(system === undefined ? {} : { instructions: system }),
    ...(tools === undefined
      ? {}
      : { tools: tools.map((tool) => ({ type: "function" as const, ...tool, strict: false })) }),
    ...(thinks === true
      ? { reasoning: { effort: "medium", summary: "auto" }, include: ["reasoning.encrypted_content"] }
      : {}),
    ...(schema === undefined
      ? {}
      : { text: { format: { type: "json_schema", name: "answer", schema: { ...schema }, strict: true } } }),
    ...(outputMax === undefined ? {} : { max_output_tokens: outputMax }),
    ...(toolChoice === undefined ? {} : { tool_choice: choiceOf(toolChoice) }),
  };
}

function choiceOf(choice: ToolChoice): NonNullable<ResponseParams["tool_choice"]> {
  if (choice === "none") return "none";
  return choice === "any" ? "required" : { type: "function", name: choice.name };
}

function itemsOf(turn: Turn): readonly InputItem[] {
  switch (turn.by) {
    case "model":
      return [{ role: "assistant", content: turn.text }];
    case "echo":
      return turn.result.echo as readonly InputItem[];
    case "tools":
      return turn.results.map(({ id, text }) => ({ type: "function_call_output", call_id: id, output: text }));
    case "user":
      return [{ role: "user", content: partsOf(turn) }];
  }
}

function partsOf(turn: Extract<Turn, { by: "user" }>): string | OpenAI.Responses.ResponseInputContent[] {
  const parts: OpenAI.Responses.ResponseInputContent[] = [{ type: "input_text", text: turn.text }];
  if (turn.imagePng !== undefined) {
    parts.push({ type: "input_image", image_url: `data:image/png;base64,${turn.imagePng}`, detail: "low" });
  }
  if (turn.documentPdf !== undefined) {
    const data = `data:application/pdf;base64,${turn.documentPdf}`;
    parts.push({ type: "input_file", filename: "paper.pdf", file_data: data });
  }
  return parts.length === 1 ? turn.text : parts;
}

function refusalIn(output: ModelResponse["output"]): string {
  const parts = output.flatMap((item) => (item.type === "message" ? item.content : []));
  return parts.flatMap((part) => (part.type === "refusal" ? [part.refusal] : [])).join("");
}

function resultOf(response: ModelResponse, recorder: Recorder, pieces: readonly string[]): CallResult {
  const { output } = response;
  const calls = output.flatMap((item) =>
    item.type === "function_call" ? [{ id: item.call_id, name: item.name, args: JSON.parse(item.arguments) }] : [],
  );
  const thinking = output.flatMap((item) =>
    item.type === "reasoning" ? [...item.summary, ...(item.content ?? [])].map((part) => part.text) : [],
  );
  return {
    text: response.output_text,
    refusal: refusalIn(output),
    thinking: thinking.join(""),
    calls,
    stop: stopOf(response, calls.length > 0),
    usage: () => usageOf(response),
    echo: output,
    pieces,
    exchange: recorder.last(),
  };
}

function stopOf(response: ModelResponse, calls: boolean): string {
  if (response.status === "completed") return calls ? "tool-calls" : "stop";
  const reason = response.incomplete_details?.reason;
  return response.status === "incomplete" && reason === "max_output_tokens" ? "length" : `${response.status} ${reason}`;
}

function usageOf({ usage }: ModelResponse): Usage {
  if (usage === undefined || usage === null) throw new Error("the answer has no usage");
  if (usage.total_tokens !== usage.input_tokens + usage.output_tokens) throw new Error("the total is not the sum");
  return {
    input: usage.input_tokens,
    cacheRead: usage.input_tokens_details.cached_tokens,
    cacheWrite: usage.input_tokens_details.cache_write_tokens,
    output: usage.output_tokens,
    reasoning: usage.output_tokens_details.reasoning_tokens,
  };
}
